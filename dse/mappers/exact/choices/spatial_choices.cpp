// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/exact/choices/spatial_choices.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <tuple>

#include "core/arithmetic.h"
#include "dse/mappers/exact/choices/fanout_lists.h"
#include "dse/mappers/exact/choices/listed.h"
#include "dse/mappers/exact/choices/partial_floor.h"
#include "dse/mappers/exact/choices/unroller.h"
#include "dse/mappers/exact/task/effort.h"
#include "dse/mappers/exact/task/tolerances.h"

namespace pliant::exact {

namespace {

/// Branches that are looked at, without floors and with.
constexpr std::uint64_t kMostUnfloored = 200'000'000, kMostFloors = 40'000'000;

/// So many unrollings of the innermost fanout, floors of which are found at once, take as long.
constexpr std::size_t kLastPerFloor = 32;

/// Time and memory are looked at every so many.
constexpr std::uint64_t kBranchesBetween = 1024;

}  // namespace

/// Unrollings of several fanouts together are a tree: the unrolling of the outermost fanout first, dim by dim, then
/// that of the next one. Branches that take too many steps, or whose floor is no better than what is known, are left
/// out as one; of what is left the least floor comes first.
class SpatialChoices::Tree {
 public:
  Tree(SpatialChoices& choices, const Task& task, const Problem& problem, SearchLimits& limits, const LeftOut& left_out)
      : choices_(choices),
        lists_(*choices.lists_),
        task_(task),
        problem_(problem),
        limits_(limits),
        perfect_(task.factorization == Factorization::kPerfect),
        floors_(lists_.many ? left_out.partial : nullptr),
        enough_(left_out.enough),
        upto_(std::min(left_out.enough, left_out.upto)),
        before_(floors_ != nullptr ? left_out.before : nullptr),
        most_(left_out.most),
        beam_(left_out.beam),
        fanouts_(lists_.levels.size()),
        at_(fanouts_.size()) {
    parallel_.fill(1);
    if (lists_.network) last_fanouts_ = lists_.network->fanouts();
    if (floors_ == nullptr) return;
    const PartialFloor::Last last = floors_->decide_last(lists_.network, upto_, enough_);
    last_is_exact_ = last.exact;
    leave_out(last.beyond);
    look_more();
  }

  void run() {
    if (fanouts_.empty()) return add(least_steps(), 0);
    extend(fanouts_.size(), floors_ != nullptr ? floors_->least(least_steps(), 0) : 0);
    if (floors_ != nullptr) {
      limits_.effort += looked_ * effort::kBranch;
      choices_.listed_below_ = upto_;
      choices_.by_floors_ = true;
      for (std::size_t i = 0; before_ != nullptr && i < choices_.size(); ++i)
        before_->insert(std::span(choices_.index_).subspan(i * at_.size(), at_.size()));
    }
  }

 private:
  struct Fanout {
    Count used = 1;
    int decided = 0;  // dims
    std::vector<std::pair<double, std::uint32_t>> found{};
  };

  /// With s units along a dim of D iterations and t more to come, t * ceil(D / (s t)) >= ceil(D / s): open factors save
  /// no more than the units that are left.
  double least_steps() const {
    double steps = problem_.cycles_per_mac, open = 1;
    const int closed = fanouts_.empty() ? problem_.dims : fanouts_.front().decided;
    for (int d = 0; d < problem_.dims; ++d)
      (d < closed ? steps : open) *= static_cast<double>(ceil_div(task_.layer.dims[d].size, parallel_[d]));
    for (std::size_t f = 0; f < fanouts_.size(); ++f)
      if (fanouts_[f].decided < problem_.dims)
        open /= static_cast<double>(std::max<Count>(1, lists_.units[f] / fanouts_[f].used));
    return steps * std::max(1.0, open * (1 - kRoundingOfCombined));
  }

  /// May the loops over the dim stand where they do? From the inside out: what is left bounds the next factor. (Open
  /// ones leave less.)
  bool fits(int d) const {
    const Count size = task_.layer.dims[d].size;
    if (perfect_) return size % parallel_[d] == 0;
    Count left = size;
    for (std::size_t f = 0; f < fanouts_.size(); ++f) {
      if (fanouts_[f].decided <= d) continue;
      for (const Count b : {unrolling(f).cols[d], unrolling(f).rows[d]}) {
        if (b > left) return false;
        left = ceil_div(left, b);
      }
    }
    return true;
  }

  void decide(std::size_t f, std::uint32_t i, int d) {
    at_[f] = i;
    const Unrolling& here = unrolling(f);
    fanouts_[f].decided = d + 1;
    fanouts_[f].used *= here.factor(d);
    parallel_[d] *= here.factor(d);
    if (floors_ != nullptr) floors_->decide(lists_.levels[f], d, here.rows[d], here.cols[d]);
  }
  void reopen(std::size_t f, int d) {
    const Unrolling& here = unrolling(f);
    fanouts_[f].decided = d;
    fanouts_[f].used /= here.factor(d);
    parallel_[d] /= here.factor(d);
    if (floors_ != nullptr) floors_->reopen(lists_.levels[f], d);
  }

  /// Is there no time for what comes next, which costs at least so much?
  bool over(double least) {
    if (!over_ && ++looked_ >= next_look_) {
      next_look_ = looked_ + kBranchesBetween;
      over_ = looked_ > (floors_ != nullptr ? kMostFloors : kMostUnfloored) || limits_.expired();
    }
    if (!over_) return false;
    complete_ = false;
    if (floors_ != nullptr)
      choices_.unlisted_floor_ = std::min(choices_.unlisted_floor_, least);
    else
      choices_.unlisted_ = 0;
    return true;
  }

  /// Is what is decided no better than what is known? If it is, `least` need not be sharp while dims are open.
  bool closes(double& least, double& steps, bool all_dims) {
    steps = least_steps();
    if (steps > choices_.most_steps_ * (1 + kRoundingOfCombined)) {
      if (complete_) choices_.slow_ = std::min(choices_.slow_, steps);  // otherwise no faster than what went already
      return true;
    }
    if (floors_ == nullptr) return false;
    least = std::max(least, floors_->least(steps, all_dims ? 0 : upto_));
    look_more();
    if (least < upto_) return false;
    leave_out(least);
    return true;
  }
  /// What costs at least so much.
  void leave_out(double least) {
    double& out = least < enough_ ? choices_.unlisted_floor_ : choices_.dear_;
    out = std::min(out, least);
  }
  void look_more() {
    last_looked_ += floors_->newly_looked();
    looked_ += last_looked_ / kLastPerFloor;
    last_looked_ %= kLastPerFloor;
  }

  /// The fanouts inside number f, the outermost of them first.
  void extend(std::size_t f, double least) {
    if (f == 0) return;
    if (f == last_fanouts_) return finish(least);
    Fanout& fanout = fanouts_[f - 1];
    std::vector<std::pair<double, std::uint32_t>> found = std::move(fanout.found);
    found.clear();
    walk(f - 1, 0, {0, static_cast<std::uint32_t>(lists_.unrollings[f - 1]->size())}, least, found);
    if (floors_ != nullptr) std::sort(found.begin(), found.end());
    if (floors_ != nullptr) found.resize(std::min(found.size(), beam_));
    for (const auto& [floor, i] : found) {
      if (over(floor) || (floors_ != nullptr && floor >= upto_)) break;  // room was made meanwhile
      for (int d = 0; d < problem_.dims; ++d) decide(f - 1, i, d);
      extend(f - 1, floor);
      for (int d = problem_.dims; d-- > 0;) reopen(f - 1, d);
    }
    fanout.found = std::move(found);
  }

  /// The innermost fanouts, where the floors of all that they can be are found at once.
  void finish(double least) {
    if (floors_ == nullptr) return finish_without_floors();
    const PartialFloor::Others others =
        floors_->least_of_each(upto_, choices_.most_steps_ * (1 + kRoundingOfCombined), last_);
    look_more();
    if (complete_) choices_.slow_ = std::min(choices_.slow_, others.slow);
    leave_out(others.floor);
    for (const auto& [floor, unrollings] : last_) {
      double together = std::max(least, floor);
      for (std::size_t i = 0; i < unrollings.size() && !over(together); i += last_fanouts_)
        finish_with(unrollings.subspan(i, last_fanouts_), last_fanouts_, together);
    }
  }
  void finish_without_floors() {
    const NetworkUnrollings& network = *lists_.network;
    if (!network.complete()) {
      complete_ = false;
      choices_.unlisted_ = 0;
    }
    for (std::size_t i = 0; i < network.size(); ++i)
      for (std::size_t at = 0; at < network.unrollings(i).size() && !over(0); at += last_fanouts_)
        finish_with(network.unrollings(i).subspan(at, last_fanouts_), last_fanouts_, 0);
  }
  void finish_with(std::span<const std::uint32_t> unrollings, std::size_t f, double least) {
    if (f == 0) {
      double steps = least_steps();
      if (!last_is_exact_ && closes(least, steps, true)) return;
      least < upto_ ? add(steps, least) : leave_out(least);  // room was made meanwhile
      return;
    }
    int d = 0;
    bool stands = true;
    for (; stands && d < problem_.dims; ++d) {
      decide(f - 1, unrollings[f - 1], d);
      stands = fits(d);
    }
    if (stands) finish_with(unrollings, f - 1, least);
    while (d-- > 0) reopen(f - 1, d);
  }

  /// Unrollings of one fanout that begin alike: the loops of dim d.
  void walk(std::size_t f, int d, std::pair<std::uint32_t, std::uint32_t> range, double least,
            std::vector<std::pair<double, std::uint32_t>>& found) {
    const std::vector<int>& differs_at = lists_.differs_at[f];
    for (std::uint32_t i = range.first, next = i; i < range.second && !over(least); i = next) {
      for (next = i + 1; next < range.second && differs_at[next] > d;) ++next;
      // What stands alone is decided at once.
      int last = d;
      const bool alone = next == i + 1;
      bool stands = true;
      double floor = least, steps = 0;
      for (;; ++last) {
        decide(f, i, last);
        stands = fits(last);
        if (!stands || !alone || last + 1 == problem_.dims) break;
      }
      if (stands && !closes(floor, steps, last + 1 == problem_.dims)) {
        if (last + 1 < problem_.dims)
          walk(f, last + 1, {i, next}, floor, found);
        else if (f > 0)
          found.emplace_back(floor, i);
        else
          add(steps, floor);
      }
      for (; last >= d; --last) reopen(f, last);
    }
  }

  /// Is its image in the mirror listed, and is that another one? (Some with more units than iterations stand for those
  /// that have one for each. At the innermost network the products decide, for one stands for all that have them.)
  bool mirrored() const {
    for (std::size_t f = 0, next = 0; f < at_.size(); f = next) {
      next = f == 0 ? std::max<std::size_t>(last_fanouts_, 1) : f + 1;
      const auto units = [&](int d) {
        Count product = 1;
        for (std::size_t i = f; i < next; ++i) product *= unrolling(i).factor(d);
        return std::min(product, task_.layer.dims[d].size);
      };
      for (int d = 0; d < problem_.dims; ++d) {
        const Count here = units(d), there = units((*lists_.mirror)[d]);
        if (here != there) return here < there;
      }
    }
    return false;
  }

  void add(double steps, double least) {
    if (lists_.mirror && mirrored()) return;
    if (before_ != nullptr && before_->contains(at_)) return;
    if (task_.accelerator.hints.min_utilization > 0) {
      double units = 1;
      for (int d = 0; d < problem_.dims; ++d) units *= static_cast<double>(parallel_[d]);
      if (units < task_.accelerator.hints.min_utilization * problem_.built[problem_.levels]) return;
    }
    if (steps > choices_.most_steps_) {
      if (complete_) choices_.slow_ = std::min(choices_.slow_, steps);
      return;
    }
    for (const std::uint32_t i : at_) choices_.index_.push_back(i);
    choices_.steps_.push_back(steps);
    if (floors_ != nullptr) choices_.least_.push_back(least);
    const std::size_t count = choices_.steps_.size();
    if ((floors_ != nullptr && count / 2 >= most_) ||
        (count % kBranchesBetween == 0 &&
         limits_.too_long(static_cast<double>(count) * (16 + 4 * static_cast<double>(at_.size())))))
      make_room();
  }

  /// The better half stays: by floors, or the faster one.
  void make_room() {
    const auto fanouts = static_cast<std::ptrdiff_t>(at_.size());
    std::vector<double>& by = floors_ != nullptr ? choices_.least_ : choices_.steps_;
    std::size_t kept = 0;
    const double first = keep_faster_half(by, [&](std::size_t i) {
      const auto from = choices_.index_.begin() + static_cast<std::ptrdiff_t>(i) * fanouts;
      std::copy(from, from + fanouts, choices_.index_.begin() + static_cast<std::ptrdiff_t>(kept) * fanouts);
      if (floors_ != nullptr) choices_.steps_[kept] = choices_.steps_[i];
      ++kept;
    });
    choices_.index_.resize(kept * at_.size());
    choices_.steps_.resize(kept);
    complete_ = false;
    if (floors_ != nullptr) {
      choices_.unlisted_floor_ = std::min(choices_.unlisted_floor_, first);
      upto_ = first;
    } else {
      choices_.unlisted_ = std::min(choices_.unlisted_, first);
      choices_.most_steps_ = std::nextafter(first, 0);
    }
  }

  const Unrolling& unrolling(std::size_t f) const { return (*lists_.unrollings[f])[at_[f]]; }

  SpatialChoices& choices_;
  const FanoutLists& lists_;
  const Task& task_;
  const Problem& problem_;
  SearchLimits& limits_;
  const bool perfect_;
  PartialFloor* floors_;
  const double enough_;
  double upto_;
  ListedBefore* const before_;
  const std::size_t most_, beam_;
  std::vector<Fanout> fanouts_;    // from the innermost outwards
  std::vector<std::uint32_t> at_;  // by fanout: number in its list
  std::size_t last_fanouts_ = 0;
  bool last_is_exact_ = false;
  std::vector<PartialFloor::Found> last_;
  std::array<Count, kMaxDims> parallel_{};
  std::uint64_t looked_ = 0, last_looked_ = 0, next_look_ = kBranchesBetween;
  bool complete_ = true, over_ = false;
};

SpatialChoices::SpatialChoices(const Task& task, const Problem& problem, SearchLimits& limits, LeftOut left_out)
    : lists_(left_out.lists ? left_out.lists : std::make_shared<const FanoutLists>(task, problem, limits, left_out)),
      most_steps_(left_out.most_steps),
      slow_(lists_->slow),
      unlisted_(lists_->unlisted),
      dear_(lists_->dear),
      unlisted_floor_(lists_->unlisted_floor) {
  Tree(*this, task, problem, limits, left_out).run();
}

void SpatialChoices::get(std::size_t i, Spatial& spatial) const {
  const std::vector<int>& levels = lists_->levels;
  for (std::size_t f = 0; f < levels.size(); ++f) {
    const Unrolling& unrolling = (*lists_->unrollings[f])[index_[i * levels.size() + f]];
    auto& factor = spatial.factor[levels[f]];
    for (int d = 0; d < kMaxDims; ++d) factor[d] = unrolling.factor(d);
    spatial.unrolling[levels[f]] = &unrolling;
  }
}

}  // namespace pliant::exact
