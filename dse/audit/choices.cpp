// SPDX-License-Identifier: Apache-2.0
#include "dse/audit/choices.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "core/arithmetic.h"
#include "dse/audit/lower_bound.h"
#include "dse/audit/problem.h"

namespace pliant::audit {

namespace {

/// Factor vectors of one fanout, found by giving every dim loops over the rows and over the columns.
class FanoutFactors {
 public:
  FanoutFactors(const SpaceRules& rules, const FanoutRules& fanout, std::size_t most)
      : rules_(rules), fanout_(fanout), most_(most), factors_(rules.layer.dims.size(), 1) {
    for (const Dim& dim : rules.layer.dims) {
      divisors_.push_back(divisors_of(dim.size));
      divisors_.back().push_back(dim.size + 1);  // the end
    }
  }

  std::optional<std::vector<Factors>> all() {
    if (!place(0, 1, 1, 0, 0)) return std::nullopt;
    return std::vector<Factors>(found_.begin(), found_.end());
  }

 private:
  /// How far may the dim run over the side?
  Count limit(std::size_t d, Side side) const {
    return fanout_.may_run(static_cast<int>(d), side) ? fanout_.array.units() : 1;
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
    for (Count r = 1; r <= most_rows && fanout_.holds(rows * r, cols); r = next(r)) {
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

  const SpaceRules& rules_;
  const FanoutRules& fanout_;
  const std::size_t most_;
  std::size_t visited_ = 0;
  Factors factors_;
  std::vector<std::vector<Count>> divisors_;  ///< by dim
  std::set<Factors> found_;
};

/// May the dims have these factors at all fanouts together?
bool divides(const SpaceRules& rules, const Factors& factors) {
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

/// What is left of a dim, as far as later fanouts can tell the difference.
Count as_seen(Factorization factorization, Count left, Count later) {
  // Perfect factors divide it, so only common divisors count; others must not find it used up, which they cannot where
  // it is at least their product.
  return factorization == Factorization::kPerfect ? std::gcd(left, later) : std::min(left, later);
}

/// Fanouts with no memory between them that share words of the same tensors: with perfect factors two fanouts with a
/// and b units along a dim act as one with a * b. The outer one moves a tile by b times what the inner one moves it, so
/// the tiles of all units are those of one loop, one after the other; what is left of the dim, and the copies of every
/// memory, depend on the product, too. Not where a network takes energy for every fanout on the way, serves windows
/// that overlap together, or has a systolic array.
bool only_products_count(const Problem& problem, Factorization factorization, std::uint32_t network) {
  if (factorization != Factorization::kPerfect || !(problem.conventions == Conventions::physical())) return false;
  if ((problem.networks & network) != 0) return false;
  if (std::ranges::any_of(problem.ports, [](const Port& port) { return port.stationary >= 0; })) return false;
  const auto alike = [&](std::uint32_t fanouts) { return (fanouts & network) == 0 || (fanouts & network) == network; };
  for (std::size_t x = 0; x < static_cast<std::size_t>(problem.tensors); ++x)
    if (!alike(problem.sharing[x]) || !alike(problem.sharing_equal[x]) || (problem.uniting[x] & network) != 0)
      return false;
  return true;
}

/// All unrollings, network by network: of a fanout, or of several of which only the products count.
class Unrollings {
 public:
  /// No more than `most` ways to lay out one fanout, or there is no answer to anything. `merge`: of unrollings of
  /// which only the products count one stands for all that are alike.
  Unrollings(const Task& task, const SpaceRules& rules, std::size_t most, bool merge) : rules_(rules), most_(most) {
    steps_of_all_ = task.accelerator.levels.back().compute().cycles_per_mac;
    for (const Dim& dim : rules.layer.dims) steps_of_all_ *= static_cast<double>(dim.size);
    std::optional<Problem> problem;
    if (merge) problem.emplace(task.layer, task.accelerator);
    for (std::size_t f = 0; f < rules.fanouts.size(); ++f) {
      std::optional<std::vector<Factors>> here = FanoutFactors(rules, rules.fanouts[f], most).all();
      if (!here) return;
      std::vector<Spread> all;
      for (Factors& factors : *here) all.push_back({factors, factors, 1});
      const bool joins = problem && f > 0 && rules.fanouts[f].level == rules.fanouts[f - 1].level + 1;
      if (joins && networks_.back().size() * all.size() <= kMostJoined &&
          only_products_count(*problem, rules.factorization,
                              problem->network[static_cast<std::size_t>(rules.fanouts[f].level)])) {
        networks_.back() = joined(networks_.back(), all);
      } else {
        networks_.push_back(std::move(all));
      }
    }
    most_units_.assign(networks_.size() + 1, 1);
    for (std::size_t f = networks_.size(); f-- > 0;)
      for (const Spread& spread : networks_[f])
        most_units_[f] = std::max(most_units_[f], most_units_[f + 1] * units(spread.product));
    known_ = true;
  }
  bool known() const { return known_; }

  /// Calls visit with all that have fewer steps, in ascending order, and how many there are that are alike, until it
  /// returns false. False: it did.
  template <typename Visit>
  bool for_each_below(double steps, const Visit& visit) const {
    Factors joined;
    const auto go_on = [&](auto&& self, std::size_t f, double spread, std::uint64_t ways) -> bool {
      if (steps_of_all_ / (spread * most_units_[f]) >= steps) return true;  // whatever comes, none is faster
      if (f == networks_.size()) return visit(std::as_const(joined), ways);
      for (const Spread& here : networks_[f]) {
        const std::size_t before = joined.size();
        joined.insert(joined.end(), here.factors.begin(), here.factors.end());
        const bool more = !divides(rules_, joined) || self(self, f + 1, spread * units(here.product), ways * here.ways);
        joined.resize(before);
        if (!more) return false;
      }
      return true;
    };
    return go_on(go_on, 0, 1, 1);
  }

  /// How many there are; nullopt: very many. Prefixes that leave the same to later fanouts are counted together.
  std::optional<std::uint64_t> count() const {
    const std::size_t dims = rules_.layer.dims.size();
    std::vector<Factors> later(networks_.size() + 1, Factors(dims, 1));
    for (std::size_t f = networks_.size(); f-- > 0;)
      for (std::size_t d = 0; d < dims; ++d) {
        Count all = 1;
        for (const Spread& spread : networks_[f])
          all = rules_.factorization == Factorization::kPerfect ? std::lcm(all, spread.product[d])
                                                                : std::max(all, spread.product[d]);
        later[f][d] = std::min<Count>(kMostLater, later[f + 1][d] * all);
        if (later[f][d] == kMostLater) later[f][d] = rules_.layer.dims[d].size;
      }
    Factors whole;
    for (std::size_t d = 0; d < dims; ++d)
      whole.push_back(as_seen(rules_.factorization, rules_.layer.dims[d].size, later[0][d]));
    std::map<Factors, std::uint64_t> ways{{whole, 1}};
    for (std::size_t f = 0; f < networks_.size(); ++f) {
      if (ways.size() * networks_[f].size() > kMostSteps) return counted_one_by_one();
      std::map<Factors, std::uint64_t> next;
      for (const auto& [left, count] : ways)
        for (const Spread& spread : networks_[f])
          if (std::optional<Factors> after = taken(left, spread.product, later[f + 1])) {
            std::uint64_t& sum = next[std::move(*after)];
            if (std::uint64_t more = 0; __builtin_mul_overflow(count, spread.ways, &more) ||
                                        __builtin_add_overflow(sum, more, &sum) || sum > kMostCounted)
              return std::nullopt;
          }
      ways = std::move(next);
    }
    std::uint64_t all = 0;
    for (const auto& [left, count] : ways) all += count;
    return all;
  }

 private:
  static constexpr Count kMostLater = Count{1} << 40;
  static constexpr std::uint64_t kMostCounted = std::uint64_t{1} << 48;
  static constexpr std::size_t kMostSteps = 5'000'000, kMostJoined = 1'000'000;  ///< combinations looked at

  static double units(const Factors& factors) {
    double product = 1;
    for (const Count factor : factors) product *= static_cast<double>(factor);
    return product;
  }

  /// The factors of some fanouts, their products by dim, and how many have these products.
  struct Spread {
    Factors factors, product;
    std::uint64_t ways;
  };
  /// Two fanouts, or more, as one.
  std::vector<Spread> joined(const std::vector<Spread>& outer, const std::vector<Spread>& inner) const {
    std::map<Factors, Spread> by_product;
    for (const Spread& a : outer)
      for (const Spread& b : inner) {
        Factors product = a.product;
        bool divides = true;
        for (std::size_t d = 0; d < product.size(); ++d)
          divides &= rules_.layer.dims[d].size % (product[d] *= b.product[d]) == 0;
        if (!divides) continue;
        auto [entry, fresh] = by_product.try_emplace(product);
        Spread& both = entry->second;
        if (fresh) {
          both = {a.factors, product, 0};
          both.factors.insert(both.factors.end(), b.factors.begin(), b.factors.end());
        }
        both.ways += a.ways * b.ways;
      }
    std::vector<Spread> all;
    for (auto& [product, spread] : by_product) all.push_back(std::move(spread));
    std::ranges::sort(all, {}, &Spread::factors);
    return all;
  }

  std::optional<Factors> taken(const Factors& left, const Factors& factors, const Factors& later) const {
    Factors after(left.size());
    for (std::size_t d = 0; d < left.size(); ++d) {
      const bool perfect = rules_.factorization == Factorization::kPerfect;
      if (perfect ? left[d] % factors[d] != 0 : left[d] == 1 && factors[d] > 1) return std::nullopt;
      after[d] = as_seen(rules_.factorization, ceil_div(left[d], factors[d]), later[d]);
    }
    return after;
  }

  std::optional<std::uint64_t> counted_one_by_one() const {
    std::uint64_t count = 0;
    std::size_t visited = 0;
    const bool all = for_each_below(kInfinity, [&](const Factors&, std::uint64_t ways) {
      count += ways;
      return ++visited <= most_;
    });
    return all ? std::optional(count) : std::nullopt;
  }

  const SpaceRules& rules_;
  const std::size_t most_;
  double steps_of_all_ = 1;
  std::vector<std::vector<Spread>> networks_;  ///< each ascending
  std::vector<double> most_units_;             ///< by network: that it and all inside it can have together
  bool known_ = false;
};

}  // namespace

std::optional<Choices> list_choices(const Task& task, const SpaceRules& rules, std::size_t most, double below,
                                    bool merge) {
  Choices all;
  const Unrollings unrollings(task, rules, most, merge);
  if (!unrollings.known()) return std::nullopt;
  const bool listed = unrollings.for_each_below(below, [&](const Factors& unrolling, std::uint64_t ways) {
    if (is_slow(below, least_steps(task, unrolling))) return true;
    all.unrollings.push_back(unrolling);
    all.alike.push_back(ways);
    all.listed += ways;
    return all.unrollings.size() <= most;
  });
  if (!listed) return std::nullopt;
  all.unlisted = 0;
  if (below < kInfinity) {
    const std::optional<std::uint64_t> count = unrollings.count();
    if (!count) return std::nullopt;
    all.unlisted = *count - all.listed;
  }
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

bool is_slow(double least, double steps) { return steps >= least * (1 - kRounding); }

void state_sizes(const Task& task, std::vector<Part>& parts) {
  const auto stated = [](const Part& part) { return part.choices.has_value(); };
  if (std::ranges::all_of(parts, stated)) return;
  const SpaceRules rules(task.layer, task.accelerator, task.flexibility, task.factorization);
  const Unrollings unrollings(task, rules, kMostUnrollings, true);
  const std::optional<std::uint64_t> all = unrollings.known() ? unrollings.count() : std::nullopt;
  if (!all) return;
  std::uint64_t keeps = 1, elsewhere = 0;
  for (const MemoryRules& memory : rules.memories) keeps *= memory.keeps.size();
  for (Part& part : parts) {
    if (part.scope == Part::Scope::kRest) continue;
    if (!stated(part) && part.scope == Part::Scope::kNamed) part.choices = part.members.size();
    if (!stated(part)) {
      std::uint64_t fast = 0, visited = 0;
      const bool counted =
          unrollings.for_each_below(part.least_steps, [&](const Factors& unrolling, std::uint64_t ways) {
            fast += is_slow(part.least_steps, least_steps(task, unrolling)) ? 0 : ways;
            return ++visited <= kMostUnrollings;
          });
      if (!counted) return;
      part.choices = (*all - fast) * keeps;
    }
    elsewhere += *part.choices;
  }
  for (Part& part : parts)
    if (part.scope == Part::Scope::kRest && !stated(part)) part.choices = *all * keeps - elsewhere;
  std::erase_if(parts, [](const Part& part) { return part.choices == 0; });
}

std::vector<SpatialLoop> layout_of(const FanoutRules& fanout, std::span<const Count> factors) {
  std::vector<SpatialLoop> loops;
  const auto place = [&](auto&& self, std::size_t d, Count rows, Count cols, DimSet row_dims, DimSet col_dims) -> bool {
    if (!fanout.holds(rows, cols) || !fanout.assigns(row_dims, col_dims)) return false;
    if (d == factors.size()) return true;
    const std::size_t placed = loops.size();
    for (const Count r : divisors_of(factors[d])) {
      const Count c = factors[d] / r;
      for (const auto& [side, bound] : {std::pair{Side::kRows, r}, std::pair{Side::kCols, c}})
        if (bound > 1) loops.push_back({static_cast<int>(d), bound, side});
      const DimSet bit = DimSet{1} << d;
      if (self(self, d + 1, rows * r, cols * c, r > 1 ? row_dims | bit : row_dims, c > 1 ? col_dims | bit : col_dims))
        return true;
      loops.resize(placed);
    }
    return false;
  };
  if (!place(place, 0, 1, 1, 0, 0)) loops.clear();
  return loops;
}

Factors unrolling_of(const SpaceRules& rules, const Mapping& mapping) {
  const std::size_t dims = rules.layer.dims.size();
  Factors factors(rules.fanouts.size() * dims, 1);
  for (std::size_t f = 0; f < rules.fanouts.size(); ++f)
    for (const SpatialLoop& loop : mapping.levels[static_cast<std::size_t>(rules.fanouts[f].level)].spatial)
      factors[f * dims + static_cast<std::size_t>(loop.dim)] *= loop.bound;
  return factors;
}

Kept kept_of(const SpaceRules& rules, const Mapping& mapping) {
  Kept kept;
  for (const MemoryRules& memory : rules.memories)
    kept.push_back(mapping.levels[static_cast<std::size_t>(memory.level)].keeps);
  return kept;
}

}  // namespace pliant::audit
