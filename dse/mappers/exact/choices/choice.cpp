// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/exact/choices/choice.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "core/arithmetic.h"
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
    smallest_only_ &= problem.conventions.stall_rounding != Conventions::StallRounding::kDemandRatio;
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
    // Padding: temporal loops do not matter, the spatial bounds of all fanouts together decide the padded size.
    if (rule_ == Factorization::kPadding) shrink(false);
  }

  void pass_memory() {
    if (rule_ != Factorization::kPadding) shrink(rule_ == Factorization::kPerfect || rule_ == Factorization::kRubyS);
  }

  std::vector<Count> pass_fanout(Count units) {
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
      if (!smallest_only_) return pass_fanout(units);
    }
    return {found.begin(), found.end()};
  }

 private:
  /// Everything that loops of a memory can leave.
  void shrink(bool dividing) {
    if (!smallest_only_) return;
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
  std::set<Count> left_;  // iterations that may be left
  bool smallest_only_ = true;
};

/// Of unrollings with the same factors those that can stand wherever any of them can. What a fanout does depends on its
/// factors alone, but a bound must not exceed the iterations it finds left. Where remainders are allowed the columns
/// take `cols` of what is left and the rows ceil(left / cols): enough for both if left > factor - cols. So the
/// unrollings differ in what they need, and one that needs no more of any dim than another does as well.
std::vector<Unrolling> widest_layouts(std::vector<Unrolling>& all, int dims, Factorization rule) {
  using Counts = std::array<Count, kMaxDims>;
  const bool remainders = rule == Factorization::kRubyS || rule == Factorization::kRuby;
  const auto factors = [&](const Unrolling& u) {
    Counts product{};
    for (int d = 0; d < dims; ++d) product[d] = u.factor(d);
    return product;
  };
  const auto needs_no_more = [&](const Unrolling& a, const Unrolling& b) {
    const auto need = [&](const Unrolling& u, int d) {
      return remainders && u.rows[d] > 1 && u.cols[d] > 1 ? u.factor(d) - u.cols[d] + 1 : u.factor(d);
    };
    for (int d = 0; d < dims; ++d)
      if (need(a, d) > need(b, d)) return false;
    return true;
  };
  std::stable_sort(all.begin(), all.end(),
                   [&](const Unrolling& a, const Unrolling& b) { return factors(a) < factors(b); });
  std::vector<Unrolling> kept;
  std::size_t group = 0;  // where those with the factors at hand begin
  for (const Unrolling& unrolling : all) {
    if (kept.size() > group && factors(kept.back()) != factors(unrolling)) group = kept.size();
    const auto begin = kept.begin() + static_cast<std::ptrdiff_t>(group);
    if (std::any_of(begin, kept.end(), [&](const Unrolling& other) { return needs_no_more(other, unrolling); }))
      continue;
    kept.erase(
        std::remove_if(begin, kept.end(), [&](const Unrolling& other) { return needs_no_more(unrolling, other); }),
        kept.end());
    kept.push_back(unrolling);
  }
  return kept;
}

/// A list of unrollings may take one part in so many of the memory: a longer one could not be looked through in time.
constexpr double kShareOfMemory = 4;

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
    double parallel = 1;
    for (int l = 0; l < problem.levels; ++l) parallel *= static_cast<double>(spatial.factor[l][d]);
    steps *= std::ceil(static_cast<double>(task.layer.dims[d].size) / parallel - 1e-9);
  }
  return steps;
}

namespace {

/// Lists all legal unrollings of one fanout: rows first, then the columns that fit beside them.
class Unroller {
 public:
  /// Unrollings that take more steps are left out, however much of the rest the other fanouts take.
  Unroller(const Task& task, const FanoutRules& fanout, const std::vector<std::vector<Count>>& values,
           SearchLimits& limits, double most_steps, double& slow)
      : task_(task),
        fanout_(fanout),
        values_(values),
        limits_(limits),
        dims_(static_cast<int>(task.layer.dims.size())),
        most_(std::min(fanout.max_dims_per_side, dims_)),
        imperfect_(task.factorization != Factorization::kPerfect),
        most_steps_(most_steps),
        slow_(slow) {}

  std::vector<Unrolling> run(bool& complete) {
    for (const FanoutRules::Sides& sides : fanout_.assignments) {
      sides_ = &sides;
      now_.rows.fill(1);
      now_.cols.fill(1);
      // With perfect factors and any shape, whatever stands on both sides could stand on one.
      const bool one_side = !imperfect_ && fanout_.any_shape() && most_ == dims_ && (sides.rows & ~sides.cols) == 0;
      if (one_side)
        place(0, Side::kCols, 1, fanout_.units(), 0);
      else
        place(0, Side::kRows, 1, fanout_.longest(Side::kRows), 0);
    }
    complete &= complete_;
    if (!complete || (!both_sides_ && fanout_.assignments.size() == 1)) return std::move(found_);
    return widest_layouts(found_, dims_, task_.factorization);
  }

 private:
  /// Dims from d on are still to be placed on this side; `used` of its `limit` units and `count` dims are taken.
  void place(int d, Side side, Count used, Count limit, int count) {
    if (d == dims_) return side == Side::kRows ? place_columns(used) : keep();
    auto& bounds = side == Side::kRows ? now_.rows : now_.cols;
    place(d + 1, side, used, limit, count);
    const DimSet allowed = side == Side::kRows ? sides_->rows : sides_->cols;
    if ((allowed >> d & 1U) == 0 || count == most_) return;
    const Count size = task_.layer.dims[d].size, other = side == Side::kRows ? 1 : now_.rows[d];
    for (const Count b : values_[d]) {
      if (b == 1) continue;
      if (used * b > limit) break;
      // Both loops of a dim at one fanout act as one; the columns are inside. With remainders a factor need not divide
      // the whole dim; the chains judge what it must divide.
      if (imperfect_ ? ceil_div(size, b) < other : size % (b * other) != 0) continue;
      bounds[d] = static_cast<std::int32_t>(b);
      place(d + 1, side, used * b, limit, count + 1);
    }
    bounds[d] = 1;
  }

  void place_columns(Count rows) {
    both_sides_ |= rows > 1;
    if (const Count beside = fanout_.columns_beside(rows); beside > 0) place(0, Side::kCols, 1, beside, 0);
  }

  bool too_slow() const {
    if (most_steps_ == std::numeric_limits<double>::infinity()) return false;
    double steps = 1;
    for (int d = 0; d < dims_; ++d) steps *= static_cast<double>(ceil_div(task_.layer.dims[d].size, now_.factor(d)));
    if (steps <= most_steps_) return false;
    slow_ = std::min(slow_, steps);
    return true;
  }

  void keep() {
    if (too_slow()) return;
    if (found_.size() % 1024 == 0)
      complete_ &= !limits_.expired() &&
                   !limits_.too_large(kShareOfMemory * static_cast<double>(found_.size() * sizeof(Unrolling)));
    if (complete_) found_.push_back(now_);
  }

  const Task& task_;
  const FanoutRules& fanout_;
  const std::vector<std::vector<Count>>& values_;  // by dim: bounds worth trying, ascending
  SearchLimits& limits_;
  const int dims_, most_;
  const bool imperfect_;
  const double most_steps_;
  double& slow_;
  const FanoutRules::Sides* sides_ = nullptr;
  Unrolling now_;
  bool both_sides_ = false, complete_ = true;
  std::vector<Unrolling> found_;
};

}  // namespace

SpatialChoices::SpatialChoices(const Task& task, const Problem& problem, SearchLimits& limits, double most_steps)
    : most_steps_(most_steps) {
  const MapSpaceRules rules(task.layer, task.accelerator, task.flexibility, task.factorization);
  std::vector<SpatialBounds> bounds;
  for (int d = 0; d < problem.dims; ++d) bounds.emplace_back(task, problem, rules, d);
  for (int l = problem.levels - 1; l >= 0; --l) {
    if (problem.is_memory[l]) {
      for (SpatialBounds& dim : bounds) dim.pass_memory();
      continue;
    }
    const FanoutRules& fanout = rules.fanout(l);
    std::vector<std::vector<Count>> factors;
    for (SpatialBounds& dim : bounds) factors.push_back(dim.pass_fanout(fanout.units()));
    fanouts_.push_back(l);
    // Steps of this fanout alone, the others taken to be full.
    double others = 1 / problem.cycles_per_mac, slow = std::numeric_limits<double>::infinity();
    for (int other = 0; other < problem.levels; ++other)
      if (other != l && !problem.is_memory[other]) others *= static_cast<double>(rules.fanout(other).units());
    unrollings_.push_back(Unroller(task, fanout, factors, limits, most_steps * others, slow).run(complete_));
    slow_ = std::min(slow_, slow / others);
  }
  combine(task, problem, limits);
}

void SpatialChoices::combine(const Task& task, const Problem& problem, SearchLimits& limits) {
  const bool imperfect = task.factorization != Factorization::kPerfect;
  // From the innermost fanout outwards: what is left of a dim bounds the next factor.
  std::vector<std::uint32_t> at(fanouts_.size());
  using Sizes = std::array<Count, kMaxDims>;
  const auto extend = [&](auto&& self, std::size_t f, const Sizes& left, const Sizes& parallel) -> void {
    if (f == fanouts_.size()) {
      if (steps_.size() % 1024 == 0)
        complete_ &= !limits.expired() &&
                     !limits.too_large(static_cast<double>(steps_.size()) * (8 + 4 * static_cast<double>(at.size())));
      if (!complete_) return;
      double units = 1;
      for (int d = 0; d < problem.dims; ++d) units *= static_cast<double>(parallel[d]);
      if (units < task.accelerator.hints.min_utilization * problem.built[problem.levels]) return;
      double steps = problem.cycles_per_mac;
      for (int d = 0; d < problem.dims; ++d)
        steps *= static_cast<double>(ceil_div(task.layer.dims[d].size, parallel[d]));
      if (steps > most_steps_) {
        slow_ = std::min(slow_, steps);
        return;
      }
      index_.insert(index_.end(), at.begin(), at.end());
      steps_.push_back(steps);
      return;
    }
    for (std::size_t i = 0; i < unrollings_[f].size(); ++i) {
      const Unrolling& unrolling = unrollings_[f][i];
      Sizes after = left, factors = parallel;
      bool fits = true;
      for (int d = 0; d < problem.dims && fits; ++d) {
        const Count factor = unrolling.factor(d);
        if (factor == 1) continue;
        fits = imperfect || left[d] % factor == 0;
        factors[d] *= factor;
        for (const Count b : {unrolling.cols[d], unrolling.rows[d]}) {
          fits &= b <= after[d];
          after[d] = ceil_div(after[d], b);
        }
      }
      if (!fits) continue;
      if (!complete_) return;
      at[f] = static_cast<std::uint32_t>(i);
      self(self, f + 1, after, factors);
    }
  };
  Sizes left{}, parallel{};
  for (int d = 0; d < problem.dims; ++d) left[d] = task.layer.dims[d].size;
  parallel.fill(1);
  extend(extend, 0, left, parallel);
}

void SpatialChoices::get(std::size_t i, Spatial& spatial) const {
  for (std::size_t f = 0; f < fanouts_.size(); ++f) {
    const Unrolling& unrolling = unrollings_[f][index_[i * fanouts_.size() + f]];
    auto& factor = spatial.factor[fanouts_[f]];
    for (int d = 0; d < kMaxDims; ++d) factor[d] = unrolling.factor(d);
    spatial.unrolling[fanouts_[f]] = &unrolling;
  }
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
