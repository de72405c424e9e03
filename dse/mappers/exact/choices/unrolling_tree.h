// SPDX-License-Identifier: Apache-2.0
// Unrollings of several fanouts together are a tree: the unrolling of the outermost fanout first, dim by dim, then that
// of the next one. For spatial_choices.cpp alone.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <span>
#include <tuple>
#include <utility>

#include "core/arithmetic.h"
#include "dse/mappers/exact/choices/fanout_lists.h"
#include "dse/mappers/exact/choices/partial_floor.h"
#include "dse/mappers/exact/choices/spatial_choices.h"
#include "dse/mappers/exact/choices/unroller.h"
#include "dse/mappers/exact/choices/waiting_branches.h"
#include "dse/mappers/exact/task/effort.h"
#include "dse/mappers/exact/task/tolerances.h"

namespace pliant::exact {

/// Unrollings of several fanouts together are a tree: the unrolling of the outermost fanout first, dim by dim, then
/// that of the next one. Branches that take too many steps, or whose floor is no better than what is known, are left
/// out as one; those whose floor is too high for now wait as one. Of what is left the least floor comes first.
class SpatialChoices::Tree {
 public:
  Tree(SpatialChoices& choices, const Task& task, const Problem& problem, SearchLimits& limits, PartialFloor* floors)
      : choices_(choices),
        lists_(*choices.lists_),
        task_(task),
        problem_(problem),
        limits_(limits),
        perfect_(task.factorization == Factorization::kPerfect),
        floors_(floors),
        fanouts_(lists_.levels.size()),
        at_(fanouts_.size()),
        waiting_(at_.size()) {
    parallel_.fill(1);
    for (int d = 0; d < problem.dims; ++d) left_[d] = task.layer.dims[d].size;
    if (lists_.network) last_fanouts_ = lists_.network->fanouts();
  }

  /// All.
  void run() { fanouts_.empty() ? add(least_steps(), 0) : extend(fanouts_.size(), 0); }

  /// By their floors.
  void run(const LeftOut& left_out) {
    const std::uint64_t looked = looked_;
    enough_ = left_out.enough;
    most_ = left_out.most;
    const PartialFloor::Last last = floors_->decide_last(lists_.network, enough_);
    last_is_exact_ = last.exact;
    leave_out(last.beyond);
    look_more();
    if (!std::exchange(begun_, true))
      wait(branch(fanouts_.size(), problem_.dims, 0, 1, floors_->least(least_steps(), 0)));
    const double least = waiting_.least();
    // A band holds something, also where the least floor is zero; without an end it holds all.
    upto_ = left_out.band == kInfinity
                ? enough_
                : std::min(enough_, std::max(left_out.band * least, std::nextafter(least, kInfinity)));
    const WaitingBranches all = std::exchange(waiting_, WaitingBranches(at_.size()));
    std::vector<std::size_t> order(all.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return all[i].floor; });
    for (const std::size_t i : order) {
      std::ranges::copy(all.numbers(i), at_.begin());
      if (all[i].floor >= enough_)
        leave_out(all[i].floor);
      else if (all[i].floor >= upto_)
        wait(all[i]);
      else if (!over(all[i].floor))
        go_on(all[i]);
    }
    limits_.effort += (looked_ - looked) * effort::kBranch;
  }

  bool waits() const { return !over_ && waiting_.size() > 0; }
  double least_waiting() const { return waiting_.least(); }
  void put_back() {
    for (std::size_t i = 0; i < choices_.size(); ++i) {
      std::copy_n(index_of(i), at_.size(), at_.begin());
      wait(leaf(choices_.least_[i]));
    }
  }

 private:
  /// Branches that are looked at, without floors and with.
  static constexpr std::uint64_t kMostUnfloored = 200'000'000, kMostFloors = 40'000'000;

  /// So many unrollings of the innermost fanout, floors of which are found at once, take as long.
  static constexpr std::size_t kLastPerFloor = 32;

  /// Time and memory are looked at every so many.
  static constexpr std::uint64_t kBranchesBetween = 1024;

  using Branch = WaitingBranches::Branch;

  static Branch branch(std::size_t f, int dims, std::uint32_t first, std::uint32_t last, double floor) {
    return {floor, first, last, static_cast<std::uint16_t>(f), static_cast<std::uint16_t>(dims)};
  }
  Branch leaf(double floor) const { return branch(0, problem_.dims, at_[0], at_[0] + 1, floor); }
  /// With the fanouts as they are decided now.
  void wait(const Branch& branch) {
    waiting_.add(branch, at_);
    if (waiting_.size() % kBranchesBetween != 0 || !limits_.too_long(waiting_.bytes())) return;
    const double lost = waiting_.lose_half();
    upto_ = std::min(upto_, lost);
    lose(lost);
  }
  void lose(double floor) { choices_.lost_ = std::min(choices_.lost_, floor); }

  void go_on(const Branch& branch) {
    const std::vector<std::uint32_t> at = at_;
    const std::size_t f = branch.fanout, outside = std::max(f + 1, last_fanouts_);
    for (std::size_t outer = fanouts_.size(); outer-- > outside;)
      for (int d = 0; d < problem_.dims; ++d) decide(outer, at[outer], d);
    if (f < last_fanouts_) {
      finish_with(std::span(at).first(last_fanouts_), last_fanouts_, branch.floor);
    } else if (f == fanouts_.size()) {
      extend(f, branch.floor);
    } else {
      Found found;
      for (int d = 0; d < branch.dims; ++d) decide(f, branch.first, d);
      if (branch.dims < problem_.dims)
        walk(f, branch.dims, {branch.first, branch.last}, branch.floor, found);
      else
        extend(f, branch.floor);
      for (int d = branch.dims; d-- > 0;) reopen(f, d);
      extend_with(f, found);
    }
    for (std::size_t outer = outside; outer < fanouts_.size(); ++outer)
      for (int d = problem_.dims; d-- > 0;) reopen(outer, d);
  }

  struct Fanout {
    Count used = 1;
    int decided = 0;                                               // dims
    std::array<std::tuple<Count, Count, Count>, kMaxDims> before;  // by dim: used, parallel and left until then
  };
  using Found = std::vector<std::pair<double, std::uint32_t>>;

  /// With s units along a dim of D iterations and t more to come, t * ceil(D / (s t)) >= ceil(D / s): open factors save
  /// no more than the units that are left.
  double least_steps() const {
    double steps = problem_.cycles_per_mac, open = 1;
    const int closed = fanouts_.empty() ? problem_.dims : fanouts_.front().decided;
    for (int d = 0; d < problem_.dims; ++d) (d < closed ? steps : open) *= static_cast<double>(left_[d]);
    for (std::size_t f = 0; f < fanouts_.size(); ++f)
      if (fanouts_[f].decided < problem_.dims)
        open /= static_cast<double>(std::max<Count>(1, lists_.units[f] / fanouts_[f].used));
    return steps * std::max(1.0, open * (1 - kRoundingOfCombined));
  }

  /// May the loops over the dim stand where they do, now that those of this fanout are decided? From the inside out:
  /// what is left bounds the next factor. (Open ones leave less.)
  bool fits(std::size_t fanout, int d) const {
    if (unrolling(fanout).factor(d) == 1) return true;  // as they did before
    const Count size = task_.layer.dims[d].size;
    if (perfect_) return left_[d] * parallel_[d] == size;
    Count left = size;
    for (std::size_t f = 0; f < fanouts_.size(); ++f) {
      if (fanouts_[f].decided <= d) continue;
      for (const Count b : {unrolling(f).cols[d], unrolling(f).rows[d]}) {
        if (b == 1) continue;
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
    fanouts_[f].before[d] = {fanouts_[f].used, parallel_[d], left_[d]};
    if (const Count factor = here.factor(d); factor > 1) {
      fanouts_[f].used *= factor;
      parallel_[d] *= factor;
      left_[d] = ceil_div(task_.layer.dims[d].size, parallel_[d]);
    }
    if (floors_ != nullptr) floors_->decide(lists_.levels[f], d, here.rows[d], here.cols[d]);
  }
  void reopen(std::size_t f, int d) {
    fanouts_[f].decided = d;
    std::tie(fanouts_[f].used, parallel_[d], left_[d]) = fanouts_[f].before[d];
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
      lose(least);
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
    return least >= upto_;
  }
  /// What costs at least so much.
  void leave_out(double least) {
    if (least < enough_)
      lose(least);
    else
      choices_.dear_ = std::min(choices_.dear_, least);
  }
  /// The same where there is a branch.
  void leave_for_now(const Branch& branch) { branch.floor < enough_ ? wait(branch) : leave_out(branch.floor); }
  void look_more() {
    last_looked_ += floors_->newly_looked();
    looked_ += last_looked_ / kLastPerFloor;
    last_looked_ %= kLastPerFloor;
  }

  /// The fanouts inside number f, the outermost of them first.
  void extend(std::size_t f, double least) {
    if (f == last_fanouts_) return finish(least);
    Found found;
    walk(f - 1, 0, {0, static_cast<std::uint32_t>(lists_.unrollings[f - 1]->size())}, least, found);
    extend_with(f - 1, found);
  }
  void extend_with(std::size_t f, Found& found) {
    if (floors_ != nullptr) std::sort(found.begin(), found.end());
    for (const auto& [floor, i] : found) {
      if (over(floor)) break;
      for (int d = 0; d < problem_.dims; ++d) decide(f, i, d);
      if (floors_ != nullptr && floor >= upto_)
        leave_for_now(branch(f, problem_.dims, i, i + 1, floor));  // room was made meanwhile
      else
        extend(f, floor);
      for (int d = problem_.dims; d-- > 0;) reopen(f, d);
    }
  }

  /// The innermost fanouts, where the floors of all that they can be are found at once.
  void finish(double least) {
    if (floors_ == nullptr) return finish_without_floors();
    const PartialFloor::Others others =
        floors_->least_of_each(enough_, choices_.most_steps_ * (1 + kRoundingOfCombined), last_);
    look_more();
    if (complete_) choices_.slow_ = std::min(choices_.slow_, others.slow);
    leave_out(others.floor);
    for (const auto& [floor, unrollings] : last_) {
      const double together = std::max(least, floor);
      for (std::size_t i = 0; i < unrollings.size() && !over(together); i += last_fanouts_) {
        const auto here = unrollings.subspan(i, last_fanouts_);
        if (together >= upto_) {
          std::ranges::copy(here, at_.begin());
          leave_for_now(leaf(together));
        } else {
          finish_with(here, last_fanouts_, together);
        }
      }
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
      if (!last_is_exact_ && closes(least, steps, true) && least < upto_) return;  // too slow
      least < upto_ ? add(steps, least) : leave_for_now(leaf(least));
      return;
    }
    int d = 0;
    bool stands = true;
    for (; stands && d < problem_.dims; ++d) {
      decide(f - 1, unrollings[f - 1], d);
      stands = fits(f - 1, d);
    }
    if (stands) finish_with(unrollings, f - 1, least);
    while (d-- > 0) reopen(f - 1, d);
  }

  /// Unrollings of one fanout that begin alike: the loops of dim d.
  void walk(std::size_t f, int d, std::pair<std::uint32_t, std::uint32_t> range, double least, Found& found) {
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
        stands = fits(f, last);
        if (!stands || !alone || last + 1 == problem_.dims) break;
      }
      if (stands && closes(floor, steps, last + 1 == problem_.dims)) {
        if (floors_ != nullptr && floor >= upto_) leave_for_now(branch(f, last + 1, i, next, floor));
      } else if (stands) {
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
    if (floors_ != nullptr && count / 2 >= most_) keep_best();
    if (count % kBranchesBetween == 0 &&
        limits_.too_long(static_cast<double>(count) * (16 + 4 * static_cast<double>(at_.size()))))
      make_room();
  }

  /// Of what is listed the best stay, the others wait.
  void keep_best() {
    const std::vector<std::uint32_t> at = at_;
    const std::vector<double> floors = choices_.least_;
    upto_ = keep(most_, [&](std::size_t i) {
      std::copy_n(index_of(i), at_.size(), at_.begin());
      wait(leaf(floors[i]));
    });
    at_ = at;
  }

  /// There is no memory for all that is listed: the better half stays, by floors, or the faster one.
  void make_room() {
    const double first = keep(choices_.size() / 2);
    complete_ = false;
    if (floors_ != nullptr) {
      lose(first);
      upto_ = first;
    } else {
      choices_.unlisted_ = std::min(choices_.unlisted_, first);
      choices_.most_steps_ = std::nextafter(first, 0);
    }
  }

  double keep(std::size_t most, const std::function<void(std::size_t)>& goes = {}) {
    std::vector<double>& by = floors_ != nullptr ? choices_.least_ : choices_.steps_;
    std::size_t kept = 0;
    const auto stays = [&](std::size_t i) {
      std::copy_n(index_of(i), at_.size(), index_of(kept));
      if (floors_ != nullptr) choices_.steps_[kept] = choices_.steps_[i];
      ++kept;
    };
    const double first = keep_least(by, most, stays, goes);
    choices_.index_.resize(kept * at_.size());
    choices_.steps_.resize(kept);
    return first;
  }
  std::vector<std::uint32_t>::iterator index_of(std::size_t i) {
    return choices_.index_.begin() + static_cast<std::ptrdiff_t>(i * at_.size());
  }

  const Unrolling& unrolling(std::size_t f) const { return (*lists_.unrollings[f])[at_[f]]; }

  SpatialChoices& choices_;
  const FanoutLists& lists_;
  const Task& task_;
  const Problem& problem_;
  SearchLimits& limits_;
  const bool perfect_;
  PartialFloor* floors_;
  double enough_ = kInfinity, upto_ = kInfinity;
  std::size_t most_ = std::numeric_limits<std::size_t>::max();
  std::vector<Fanout> fanouts_;    // from the innermost outwards
  std::vector<std::uint32_t> at_;  // by fanout: number in its list
  std::size_t last_fanouts_ = 0;
  bool last_is_exact_ = false;
  std::array<Count, kMaxDims> parallel_{}, left_{};  // by dim: units, and iterations that they leave
  std::uint64_t looked_ = 0, last_looked_ = 0, next_look_ = kBranchesBetween;
  std::vector<PartialFloor::Found> last_;
  bool begun_ = false, complete_ = true, over_ = false;
  WaitingBranches waiting_;
};

}  // namespace pliant::exact
