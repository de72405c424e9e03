// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/exact/choices/choice.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <set>

#include "core/arithmetic.h"
#include "dse/mappers/exact/choices/batch_dim.h"
#include "dse/mappers/exact/choices/mirror.h"
#include "dse/mappers/exact/choices/unroller.h"
#include "dse/mappers/exact/lattice/windows.h"
#include "flex/mapspace/factors.h"
#include "flex/mapspace/rules.h"

namespace pliant::exact {

namespace {

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
      : rule_(task.factorization), size_(task.layer.dims[d].size), left_{size_} {
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

}  // namespace

Spatial::Spatial() {
  for (auto& level : factor) level.fill(1);
}

std::vector<SpatialLoop> Unrolling::loops(int dims) const {
  std::vector<SpatialLoop> all;
  for (int d = 0; d < dims; ++d) {
    if (rows[d] > 1) all.push_back({d, rows[d], Side::kRows});
    if (cols[d] > 1) all.push_back({d, cols[d], Side::kCols});
  }
  return all;
}

double least_steps(const Task& task, const Problem& problem, const Spatial& spatial) {
  double steps = problem.cycles_per_mac;
  for (int d = 0; d < problem.dims; ++d) {
    if (spatial.durations[d] > 0) {
      steps *= static_cast<double>(spatial.durations[d]);
      continue;
    }
    Count parallel = 1;
    for (std::uint32_t rest = problem.fanouts; rest != 0; rest &= rest - 1)
      parallel *= spatial.factor[std::countr_zero(rest)][d];
    const Count size = task.layer.dims[d].size;
    steps *= static_cast<double>(parallel == 1 ? size : ceil_div(size, parallel));
  }
  return steps;
}

SpatialChoices::SpatialChoices(const Task& task, const Problem& problem, SearchLimits& limits, LeftOut left_out)
    : most_steps_(left_out.most_steps) {
  const MapSpaceRules rules(task.layer, task.accelerator, task.flexibility, task.factorization);
  // With perfect factors there are few, and a certificate counts them all.
  const bool once = task.factorization == Factorization::kRubyS || task.factorization == Factorization::kRuby ||
                    task.factorization == Factorization::kRubyT;
  const std::optional<Mirror> mirror = once ? find_mirror(task.layer, rules) : std::nullopt;
  std::optional<BatchDim> batch = left_out.batches ? find_batch_dim(task, problem, rules) : std::nullopt;
  if (batch && mirror && (*mirror)[static_cast<std::size_t>(batch->dim)] != batch->dim)
    batch.reset();  // one of them is enough
  std::vector<SpatialBounds> bounds;
  for (int d = 0; d < problem.dims; ++d) bounds.emplace_back(task, problem, rules, d);
  for (int l = problem.levels - 1; l >= 0; --l) {
    if (problem.is_memory[l]) {
      for (SpatialBounds& dim : bounds) dim.pass_memory();
      continue;
    }
    const FanoutRules& fanout = rules.fanout(l);
    std::vector<DimBounds> dims;
    for (SpatialBounds& dim : bounds) dims.push_back(dim.pass_fanout(fanout.units()));
    fanouts_.push_back(l);
    // Steps of this fanout alone, the others taken to be full.
    double others = 1 / problem.cycles_per_mac;
    for (int other = 0; other < problem.levels; ++other)
      if (other != l && !problem.is_memory[other]) others *= static_cast<double>(rules.fanout(other).units());
    Unroller unroller(task, fanout, dims, limits, left_out.most_steps * others,
                      fanouts_.size() == 1 ? mirror : std::nullopt,  // it decides first
                      batch);
    if (left_out.floors != nullptr) unroller.leave_out(*left_out.floors, left_out.enough);
    unrollings_.push_back(unroller.run());
    dear_ = unroller.dear();
    unlisted_floor_ = unroller.unlisted_floor();
    slow_ = std::min(slow_, unroller.slow() / others);
    unlisted_ = std::min(unlisted_, unroller.unlisted() / others);
  }
  combine(task, problem, limits, mirror, rules, left_out);
}

void SpatialChoices::get(std::size_t i, Spatial& spatial) const {
  for (std::size_t f = 0; f < fanouts_.size(); ++f) {
    const Unrolling& unrolling = unrollings_[f][index_[i * fanouts_.size() + f]];
    auto& factor = spatial.factor[fanouts_[f]];
    for (int d = 0; d < kMaxDims; ++d) factor[d] = unrolling.factor(d);
    spatial.unrolling[fanouts_[f]] = &unrolling;
  }
}

bool SpatialChoices::same(std::size_t i, const SpatialChoices& other, std::size_t j) const {
  const std::size_t fanouts = fanouts_.size();
  bool same = steps_[i] == other.steps_[j];
  for (std::size_t f = 0; f < fanouts && same; ++f)
    same = unrollings_[f][index_[i * fanouts + f]] == other.unrollings_[f][other.index_[j * fanouts + f]];
  return same;
}

std::vector<std::uint32_t> keep_patterns(const MapSpaceRules& rules, int tensor) {
  std::vector<std::uint32_t> found{0};
  for (const MemoryRules& memory : rules.memories) {
    if ((memory.may_keep >> tensor & 1U) == 0) continue;
    const bool must = (memory.must_keep >> tensor & 1U) != 0;
    std::vector<std::uint32_t> next;
    for (const std::uint32_t levels : found) {
      next.push_back(levels | 1U << memory.level);
      if (!must) next.push_back(levels);
    }
    found.swap(next);
  }
  return found;
}

}  // namespace pliant::exact
