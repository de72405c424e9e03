// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/exact/choices/fanout_lists.h"

#include <algorithm>
#include <bit>
#include <set>
#include <tuple>
#include <utility>

#include "core/arithmetic.h"
#include "costmodel/bits.h"
#include "dse/mappers/exact/choices/batch_dim.h"
#include "dse/mappers/exact/choices/unroller.h"
#include "dse/mappers/exact/task/facts.h"
#include "dse/mappers/exact/task/ledger.h"
#include "dse/mappers/exact/task/tolerances.h"
#include "flex/mapspace/factors.h"
#include "flex/mapspace/rules.h"

namespace pliant::exact {

namespace {

/// Floors are worth their time from so many combinations of several fanouts on. (Unrollings of one fanout are looked at
/// as fast as their floors are found.)
constexpr std::size_t kManyCombinations = 32'768;

/// The bounds b with different ceil(n / b), the smallest of each.
void smallest_bounds(Count n, Count most, std::set<Count>& found) {
  for (Count b = 1; b <= std::min(n, most);) {
    found.insert(b);
    const Count left = ceil_div(n, b);
    if (left == 1) break;
    b = ceil_div(n, left - 1);
  }
}

/// Different numbers of iterations left that are looked at one by one. Beyond, every factor counts: a longer list of
/// choices, but no list of sizes that outgrows it.
constexpr std::size_t kMostLookedAt = 5000;

/// Iterations that a fanout may find, if so many are worth knowing.
constexpr std::size_t kMostFound = 1000;

/// Which spatial bounds of a dim are worth trying, fanout by fanout from the inside out. With perfect factors the
/// divisors. With remainders any bound may do, but along a dim that moves no window the counts depend on the iterations
/// left only, and on the copies kept busy: of bounds that leave the same the smallest is as good as any. Unless outputs
/// do not mention the dim: then every copy more starts its partial sums afresh and fetches none. And unless some
/// fanouts share and others do not: then where a shared one has a single iteration left, those inside it may be short.
/// And unless temporal loops leave remainders too (Ruby): 10 in tiles of 3 are 4, on 3 units a full round of 3 steps
/// and a single tile of 1; on 2 units two rounds of 3 steps.
class SpatialBounds {
 public:
  SpatialBounds(const Task& task, const Problem& problem, const MapSpaceRules& rules, int d)
      : rule_(task.factorization), size_(task.layer.dims[d].size) {
    left_.insert(size_);
    smallest_only_ = rule_ != Factorization::kRuby && problem.windowed[d] == 0 && problem.is_coupled(problem.output, d);
    smallest_only_ &= rules.allows_smaller_tiles(d);
    // Demands are rounded after divisions whose error differs with the steps.
    smallest_only_ &= !rounds_demands(problem);
    // Shares of a box are dealt to idle units as well: more of them, more first arrivals.
    smallest_only_ &= !deals_boxes(problem);
    // Displacements are remembered where no dim leaves a remainder, and only there.
    smallest_only_ &= !displacement_walks(problem);
    // A bound that uses fewer units leaves fewer of the memories inside the fanouts to move words, and may be less than
    // the hint asks for.
    smallest_only_ &= task.accelerator.hints.min_utilization == 0;
    int fanout = -1;
    for (int l = 0; l < problem.levels; ++l) {
      if (problem.is_memory[l]) {
        smallest_only_ &=
            fanout < 0 || std::ranges::none_of(problem.ports, [l](const Port& p) { return p.level == l; });
        continue;
      }
      smallest_only_ &= fanout < 0 || problem.multicast[l] == problem.multicast[fanout];
      fanout = l;
    }
    smallest_only_ = sure<"L9.1">(smallest_only_);
    // Where nothing but the units that work counts, what they find is worth knowing.
    const bool idle_units_differ = deals_boxes(problem) || displacement_walks(problem) ||
                                   task.accelerator.hints.min_utilization > 0 || rounds_demands(problem);
    if ((rule_ == Factorization::kRubyS || rule_ == Factorization::kRuby) && !idle_units_differ) finds_ = {size_};
    // Padding: temporal loops do not matter, the spatial bounds of all fanouts together decide the padded size.
    if (rule_ == Factorization::kPadding) shrink(false);
  }

  void pass_memory() {
    if (rule_ != Factorization::kPadding) shrink(rule_ == Factorization::kPerfect || rule_ == Factorization::kRubyS);
    std::set<Count> after;
    for (const Count n : finds_) {
      if (rule_ == Factorization::kRubyS)
        for (const Count b : divisors(n)) after.insert(n / b);
      else
        add_all_left(n, n, after);
    }
    replace_finds(std::move(after));
  }

  DimBounds pass_fanout(Count units) {
    DimBounds dim;
    dim.finds.assign(finds_.begin(), finds_.end());
    dim.values = bounds_of(units);
    dim.smallest_only = smallest_only_;
    std::set<Count> after;
    for (const Count n : finds_) add_all_left(n, units, after);
    replace_finds(std::move(after));
    return dim;
  }

 private:
  std::vector<Count> bounds_of(Count units) {
    std::vector<Count> bounds;
    if (rule_ == Factorization::kPerfect) return divisors(size_);
    if (!smallest_only_) {
      for (Count b = 1; b <= std::min(size_, units); ++b) bounds.push_back(b);
      return bounds;
    }
    // The loops over the two sides of an array follow one another.
    std::set<Count> found;
    for (int side = 0; side < 2; ++side) {
      std::set<Count> once;
      for (const Count n : left_) {
        if (rule_ == Factorization::kRubyT) {
          for (const Count b : divisors(n))
            if (b <= units) once.insert(b);
        } else {
          smallest_bounds(n, units, once);
        }
      }
      std::set<Count> after;
      for (const Count n : left_)
        for (const Count b : once)
          if (b <= n) after.insert(ceil_div(n, b));
      left_.insert(after.begin(), after.end());
      found.insert(once.begin(), once.end());
      limit();
      if (!smallest_only_) return bounds_of(units);
    }
    return {found.begin(), found.end()};
  }

  /// Whatever bounds up to `most` leave of n iterations.
  static void add_all_left(Count n, Count most, std::set<Count>& after) {
    std::set<Count> bounds;
    smallest_bounds(n, most, bounds);
    for (const Count b : bounds) after.insert(ceil_div(n, b));
  }
  /// Too many to look at are not known.
  void replace_finds(std::set<Count> after) {
    finds_ = std::move(after);
    if (finds_.size() > kMostFound) finds_.clear();
  }

  /// Everything that loops of a memory can leave.
  void shrink(bool dividing) {
    if (!smallest_only_ || rule_ == Factorization::kPerfect) return;  // there all divisors are tried
    std::set<Count> after;
    for (const Count n : left_) {
      if (dividing) {
        for (const Count b : divisors(n)) after.insert(n / b);
      } else {
        std::set<Count> bounds;
        smallest_bounds(n, n, bounds);
        for (const Count b : bounds) after.insert(ceil_div(n, b));
      }
    }
    left_ = std::move(after);
    limit();
  }
  void limit() { smallest_only_ &= left_.size() <= kMostLookedAt; }

  Factorization rule_;
  Count size_;
  std::set<Count> left_;   // iterations that may be left
  std::set<Count> finds_;  // the same of whatever bounds; empty: not known
  bool smallest_only_ = true;
};

/// By dim, so that those that begin alike stand together. Returns the first dim along which each differs from the one
/// before.
std::vector<int> sort_by_dim(std::vector<Unrolling>& all, int dims) {
  const auto key = [](const Unrolling& one, int d) { return std::tuple(one.factor(d), one.rows[d]); };
  const auto first_difference = [&](const Unrolling& a, const Unrolling& b) {
    int d = 0;
    while (d < dims && key(a, d) == key(b, d)) ++d;
    return d;
  };
  std::sort(all.begin(), all.end(), [&](const Unrolling& a, const Unrolling& b) {
    const int d = first_difference(a, b);
    return d < dims && key(a, d) < key(b, d);
  });
  std::vector<int> differs_at(all.size(), 0);
  for (std::size_t i = 1; i < all.size(); ++i) differs_at[i] = first_difference(all[i - 1], all[i]);
  return differs_at;
}

}  // namespace

FanoutLists::FanoutLists(const Task& task, const Problem& problem, SearchLimits& limits,
                         const SpatialChoices::LeftOut& left_out) {
  const MapSpaceRules rules(task.layer, task.accelerator, task.flexibility, task.factorization);
  // With perfect factors there are few, and a certificate counts them all.
  const bool once = task.factorization == Factorization::kRubyS || task.factorization == Factorization::kRuby ||
                    task.factorization == Factorization::kRubyT;
  if (once) mirror = find_mirror(task.layer, rules);
  std::optional<BatchDim> batch = left_out.count_all ? std::nullopt : find_batch_dim(task, problem, rules);
  if (batch && mirror && (*mirror)[static_cast<std::size_t>(batch->dim)] != batch->dim)
    batch.reset();  // one of them is enough
  const int innermost = problem.fanouts == 0 ? -1 : static_cast<int>(std::bit_width(problem.fanouts)) - 1;
  bool alone = true;  // is the innermost fanout a network by itself?
  if (const std::uint32_t others = problem.fanouts & below(innermost); innermost >= 0 && others != 0)
    alone = !NetworkUnrollings::share_alike(problem, innermost, static_cast<int>(std::bit_width(others)) - 1);
  std::vector<SpatialBounds> bounds;
  for (int d = 0; d < problem.dims; ++d) bounds.emplace_back(task, problem, rules, d);
  std::vector<std::vector<Unrolling>> found;
  double combinations = 1;
  for (int l = problem.levels - 1; l >= 0; --l) {
    if (problem.is_memory[l]) {
      for (SpatialBounds& dim : bounds) dim.pass_memory();
      continue;
    }
    const FanoutRules& fanout = rules.fanout(l);
    std::vector<DimBounds> dims;
    for (SpatialBounds& dim : bounds) dims.push_back(dim.pass_fanout(fanout.units()));
    levels.push_back(l);
    units.push_back(fanout.units());
    // Steps of this fanout alone, the others taken to be full.
    double others = 1 / problem.cycles_per_mac;
    for (int other = 0; other < problem.levels; ++other)
      if (other != l && !problem.is_memory[other]) others *= static_cast<double>(rules.fanout(other).units());
    Unroller unroller(task, fanout, dims, limits, left_out.most_steps * others,
                      levels.size() == 1 && alone ? mirror : std::nullopt,  // it decides first
                      batch);
    if (left_out.floors != nullptr) unroller.leave_out(*left_out.floors, l, left_out.enough);
    found.push_back(unroller.run());
    combinations *= static_cast<double>(found.back().size());
    dear = std::min(dear, unroller.dear());
    unlisted_floor = std::min(unlisted_floor, unroller.unlisted_floor());
    slow = std::min(slow, unroller.slow() / others);
    unlisted = std::min(unlisted, unroller.unlisted() / others);
  }
  many = levels.size() > 1 && combinations > static_cast<double>(length(kManyCombinations, 2));
  for (std::vector<Unrolling>& all : found) {
    // Where time is up some are missing, and nobody will look for those that begin alike.
    const bool sorts = many && !limits.expired();
    differs_at.push_back(sorts ? sort_by_dim(all, problem.dims) : std::vector<int>(all.size(), 0));
    unrollings.push_back(std::make_shared<const std::vector<Unrolling>>(std::move(all)));
  }
  if (levels.empty() || (!many && alone)) return;
  std::vector<ListedFanout> fanouts;
  for (std::size_t f = 0; f < levels.size(); ++f) fanouts.push_back({levels[f], unrollings[f]});
  // Rounds of the network alone, the others taken to be full.
  double others = 1 / problem.cycles_per_mac;
  for (std::size_t f = 0; f < levels.size(); ++f)
    if (!NetworkUnrollings::share_alike(problem, innermost, levels[f])) others *= static_cast<double>(units[f]);
  network = std::make_shared<const NetworkUnrollings>(task, problem, fanouts, left_out.count_all,
                                                      left_out.most_steps * others * (1 + kRoundingOfCombined), limits);
  slow = std::min(slow, network->slow() / others);
}

}  // namespace pliant::exact
