// SPDX-License-Identifier: Apache-2.0
#include "dse/audit/choices.h"

#include <algorithm>
#include <set>
#include <utility>

#include "core/arithmetic.h"
#include "dse/audit/lower_bound.h"
#include "flex/mapspace/factors.h"

namespace pliant::audit {

namespace {

/// Factor vectors of one fanout, found by giving every dim loops over the rows and over the columns.
class FanoutFactors {
 public:
  FanoutFactors(const MapSpaceRules& rules, const FanoutRules& fanout, std::size_t most)
      : rules_(rules), fanout_(fanout), most_(most), factors_(rules.layer.dims.size(), 1) {
    for (const Dim& dim : rules.layer.dims) {
      divisors_.push_back(divisors(dim.size));
      divisors_.back().push_back(dim.size + 1);  // the end
    }
  }

  std::optional<std::vector<Factors>> all() {
    if (!place(0, 1, 1, 0, 0)) return std::nullopt;
    return std::vector<Factors>(found_.begin(), found_.end());
  }

 private:
  /// Has the dim a slot on that side, and how long may it be?
  Count limit(std::size_t d, Side side) const {
    for (const Slot& slot : rules_.slots[d])
      if (slot.spatial && slot.level == fanout_.level && slot.side == side) return slot.limit;
    return 1;
  }

  bool place(std::size_t d, Count rows, Count cols, DimSet row_dims, DimSet col_dims) {
    // What does not fit now, or has dims on a side that no assignment explains, does not get better with more loops.
    if (!fanout_.holds(rows, cols) || !fanout_.assigns(row_dims, col_dims)) return true;
    if (++visited_ > kVisitsPerResult * most_ || found_.size() > most_) return false;
    if (d == factors_.size()) {
      found_.insert(factors_);
      return true;
    }
    const Count size = rules_.layer.dims[d].size;
    const bool perfect = rules_.factorization == Factorization::kPerfect;
    const DimSet bit = DimSet{1} << d;
    const Count most_rows = std::min(limit(d, Side::kRows), size), most_cols = std::min(limit(d, Side::kCols), size);
    // Perfect factors divide the dim; next(n) is the least above n that may be one.
    const std::vector<Count>& all = divisors_[d];
    const auto next = [&](Count n) { return perfect ? *std::ranges::upper_bound(all, n) : n + 1; };
    for (Count r = 1; r <= most_rows; r = next(r)) {
      for (Count c = 1; c <= most_cols && r <= ceil_div(size, c); c = next(c)) {
        if (perfect && size % (r * c) != 0) continue;
        if (!fanout_.holds(rows * r, cols * c)) break;
        factors_[d] = r * c;
        if (!place(d + 1, rows * r, cols * c, r > 1 ? row_dims | bit : row_dims, c > 1 ? col_dims | bit : col_dims))
          return false;
      }
    }
    factors_[d] = 1;
    return true;
  }

  /// Layouts that give the same factors are many, but not without end.
  static constexpr std::size_t kVisitsPerResult = 200;

  const MapSpaceRules& rules_;
  const FanoutRules& fanout_;
  const std::size_t most_;
  std::size_t visited_ = 0;
  Factors factors_;
  std::vector<std::vector<Count>> divisors_;  ///< by dim
  std::set<Factors> found_;
};

/// May the dims have these factors at all fanouts together?
bool divides(const MapSpaceRules& rules, const Factors& factors) {
  const std::size_t dims = rules.layer.dims.size();
  for (std::size_t d = 0; d < dims; ++d) {
    Count left = rules.layer.dims[d].size;
    for (std::size_t f = d; f < factors.size(); f += dims) {
      if (rules.factorization == Factorization::kPerfect ? left % factors[f] != 0 : left == 1 && factors[f] > 1)
        return false;
      left = rules.factorization == Factorization::kPerfect ? left / factors[f] : ceil_div(left, factors[f]);
    }
  }
  return true;
}

/// Calls visit with all unrollings, in ascending order, until it returns false. False: it did, or there are too many
/// ways to lay out one fanout.
template <typename Visit>
bool for_each_unrolling(const MapSpaceRules& rules, std::size_t most, const Visit& visit) {
  std::vector<std::vector<Factors>> of_fanout;
  for (const FanoutRules& fanout : rules.fanouts) {
    std::optional<std::vector<Factors>> here = FanoutFactors(rules, fanout, most).all();
    if (!here) return false;
    of_fanout.push_back(std::move(*here));
  }
  Factors joined;
  const auto go_on = [&](auto&& self, std::size_t f) -> bool {
    if (f == of_fanout.size()) return visit(std::as_const(joined));
    for (const Factors& factors : of_fanout[f]) {
      const std::size_t before = joined.size();
      joined.insert(joined.end(), factors.begin(), factors.end());
      const bool more = !divides(rules, joined) || self(self, f + 1);
      joined.resize(before);
      if (!more) return false;
    }
    return true;
  };
  return go_on(go_on, 0);
}

}  // namespace

std::optional<Choices> list_choices(const MapSpaceRules& rules, std::size_t most) {
  Choices all;
  const bool listed = for_each_unrolling(rules, most, [&](const Factors& unrolling) {
    all.unrollings.push_back(unrolling);
    return all.unrollings.size() <= most;
  });
  if (!listed) return std::nullopt;
  all.keeps.emplace_back();
  for (const MemoryRules& memory : rules.memories) {
    std::vector<Kept> longer;
    for (const Kept& before : all.keeps)
      for (const TensorSet kept : memory.keeps) {
        longer.push_back(before);
        longer.back().push_back(kept);
      }
    all.keeps = std::move(longer);
  }
  return all;
}

bool is_slow(const Part& part, double steps) { return steps >= part.least_steps * (1 - kRounding); }

void state_sizes(const Task& task, std::vector<Part>& parts) {
  const auto stated = [](const Part& part) { return part.choices.has_value(); };
  if (std::ranges::all_of(parts, stated)) return;
  const MapSpaceRules rules(task.layer, task.accelerator, task.flexibility, task.factorization);
  std::uint64_t keeps = 1, unrollings = 0, elsewhere = 0;
  for (const MemoryRules& memory : rules.memories) keeps *= memory.keeps.size();
  std::vector<std::uint64_t> slow(parts.size(), 0);
  const bool counted = for_each_unrolling(rules, kMostUnrollings, [&](const Factors& unrolling) {
    const double steps = least_steps(task, unrolling);
    for (std::size_t i = 0; i < parts.size(); ++i)
      if (parts[i].scope == Part::Scope::kSlow && is_slow(parts[i], steps)) ++slow[i];
    return ++unrollings <= kMostUnrollings;
  });
  if (!counted) return;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].scope == Part::Scope::kRest) continue;
    const bool is_named = parts[i].scope == Part::Scope::kNamed;
    if (!stated(parts[i])) parts[i].choices = is_named ? parts[i].members.size() : slow[i] * keeps;
    elsewhere += *parts[i].choices;
  }
  for (Part& part : parts)
    if (part.scope == Part::Scope::kRest && !stated(part)) part.choices = unrollings * keeps - elsewhere;
  std::erase_if(parts, [](const Part& part) { return part.choices == 0; });
}

std::vector<SpatialLoop> layout_of(const MapSpaceRules& rules, const FanoutRules& fanout,
                                   std::span<const Count> factors) {
  std::vector<SpatialLoop> loops;
  const auto place = [&](auto&& self, std::size_t d, Count rows, Count cols, DimSet row_dims, DimSet col_dims) -> bool {
    if (!fanout.holds(rows, cols)) return false;
    if (d == factors.size()) return fanout.assigns(row_dims, col_dims);
    const std::size_t placed = loops.size();
    for (const Count r : divisors(factors[d])) {
      const Count c = factors[d] / r;
      const auto has_slot = [&](Side side, Count bound) {
        return std::ranges::any_of(rules.slots[d], [&](const Slot& slot) {
          return slot.spatial && slot.level == fanout.level && slot.side == side && bound <= slot.limit;
        });
      };
      bool slots = true;
      for (const auto& [side, bound] : {std::pair{Side::kRows, r}, std::pair{Side::kCols, c}}) {
        if (bound == 1) continue;
        slots &= has_slot(side, bound);
        loops.push_back({static_cast<int>(d), bound, side});
      }
      const DimSet bit = DimSet{1} << d;
      if (slots &&
          self(self, d + 1, rows * r, cols * c, r > 1 ? row_dims | bit : row_dims, c > 1 ? col_dims | bit : col_dims))
        return true;
      loops.resize(placed);
    }
    return false;
  };
  if (!place(place, 0, 1, 1, 0, 0)) loops.clear();
  return loops;
}

Factors unrolling_of(const MapSpaceRules& rules, const Mapping& mapping) {
  const std::size_t dims = rules.layer.dims.size();
  Factors factors(rules.fanouts.size() * dims, 1);
  for (std::size_t f = 0; f < rules.fanouts.size(); ++f)
    for (const SpatialLoop& loop : mapping.levels[static_cast<std::size_t>(rules.fanouts[f].level)].spatial)
      factors[f * dims + static_cast<std::size_t>(loop.dim)] *= loop.bound;
  return factors;
}

Kept kept_of(const MapSpaceRules& rules, const Mapping& mapping) {
  Kept kept;
  for (const MemoryRules& memory : rules.memories)
    kept.push_back(mapping.levels[static_cast<std::size_t>(memory.level)].keeps);
  return kept;
}

}  // namespace pliant::audit
