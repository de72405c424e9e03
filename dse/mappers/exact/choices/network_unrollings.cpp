// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/exact/choices/network_unrollings.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <unordered_map>
#include <utility>

#include "costmodel/bits.h"
#include "dse/mappers/exact/task/facts.h"
#include "dse/mappers/exact/task/ledger.h"

namespace pliant::exact {

namespace {

/// Combinations of fanouts that are looked at together, and products of them that are kept.
constexpr std::size_t kMostTogether = 16'000'000, kMostProducts = 1'000'000;

/// Time is looked at every so many.
constexpr std::size_t kBetweenLooks = 4'096;

/// Do only products count, whatever is moved? Not where a network serves windows that overlap as one, or takes energy
/// of its own for every fanout that a word passes; nor where boxes or remembered displacements are counted by rules of
/// their own, or a rounding follows a division.
bool only_products_count(const Problem& problem, const std::vector<int>& levels) {
  bool apart = !deals_boxes(problem) && !displacement_walks(problem) && !rounds_demands(problem);
  for (const int l : levels) {
    apart &= !contains(problem.networks, l);
    for (int x = 0; x < problem.tensors; ++x) apart &= !contains(problem.uniting[x], l);
  }
  return sure<"L9.8">(apart);
}

}  // namespace

/// The same unrollings with one fanout more.
class NetworkUnrollings::Products {
 public:
  /// What is left out: those that others stand for unless every one is asked for, and those of too many rounds.
  struct LeftOut {
    bool every;
    double most_rounds, slow = kInfinity;
  };
  Products(const Problem& problem, bool perfect, NetworkUnrollings& network,
           std::vector<const std::vector<Unrolling>*> fanouts)
      : p_(problem), perfect_(perfect), network_(network), fanouts_(std::move(fanouts)), of_(0, Hash{problem.dims}) {}

  /// False: there are too many.
  bool multiply(LeftOut& left_out, SearchLimits& limits) {
    std::map<Factors, std::vector<std::uint32_t>> more;
    const std::vector<Unrolling>& outer = *fanouts_.back();
    for (std::uint32_t i = 0; i < outer.size(); ++i) more[factors_of(p_, outer[i])].push_back(i);
    const std::size_t inside = fanouts_.size() - 1;
    std::vector<std::uint32_t> one(inside + 1);
    std::size_t looked = 0;
    for (std::size_t of = 0; of < network_.size(); ++of)
      for (const auto& [other, outside] : more) {
        if (looked++ % kBetweenLooks == 0 && limits.expired()) {
          of_.clear();
          return true;
        }
        Factors product = network_.factors(of);
        for (int d = 0; d < p_.dims; ++d) product[d] *= other[d];
        if (!fits(product)) continue;
        if (const double here = rounds(product); here > left_out.most_rounds) {
          left_out.slow = std::min(left_out.slow, here);
          continue;
        }
        std::vector<std::uint32_t>& all = of_[product];
        if (of_.size() > kMostProducts) return false;
        const std::span<const std::uint32_t> numbers = network_.unrollings(of);
        for (std::size_t i = 0; i < numbers.size(); i += inside)
          for (const std::uint32_t number : outside) {
            std::copy_n(numbers.begin() + static_cast<std::ptrdiff_t>(i), inside, one.begin());
            one[inside] = number;
            if (left_out.every)
              all.insert(all.end(), one.begin(), one.end());
            else
              add(one, all);
          }
      }
    return true;
  }
  /// By their factors.
  void move_to_network() {
    std::vector<const ByFactors::value_type*> sorted;
    for (const auto& entry : of_) sorted.push_back(&entry);
    std::ranges::sort(sorted, {}, [](const auto* entry) -> const Factors& { return entry->first; });
    network_.clear();
    for (const auto* entry : sorted) network_.add(entry->first, entry->second);
  }

 private:
  struct Hash {
    int dims;
    std::size_t operator()(const Factors& factors) const {
      std::uint64_t mixed = 0;
      for (int d = 0; d < dims; ++d) mixed = (mixed ^ static_cast<std::uint64_t>(factors[d])) * 0x9E3779B97F4A7C15ULL;
      return static_cast<std::size_t>(mixed ^ mixed >> 32);
    }
  };
  using ByFactors = std::unordered_map<Factors, std::vector<std::uint32_t>, Hash>;

  /// With perfect factors the units of all fanouts together divide a dim; those of one do.
  bool fits(const Factors& factors) const {
    bool fits = true;
    for (int d = 0; d < p_.dims && perfect_; ++d) fits &= std::fmod(p_.size[d], factors[d]) == 0;
    return fits;
  }

  double rounds(const Factors& factors) const {
    double all = 1;
    for (int d = 0; d < p_.dims; ++d) all *= std::ceil(p_.size[d] / factors[d]);
    return all;
  }

  /// The fewest iterations of a dim at which its loops can stand: none has more units than it finds, so the outermost
  /// one decides.
  Count stands_at(const std::uint32_t* one, int d) const {
    Count inside = 1, fewest = 1;
    for (std::size_t f = 0; f < fanouts_.size(); ++f) {
      const Unrolling& at = (*fanouts_[f])[one[f]];
      for (const Count bound : {at.cols[d], at.rows[d]}) {
        if (bound > 1) fewest = (bound - 1) * inside + 1;
        inside *= bound;
      }
    }
    return fewest;
  }
  /// Of those that can stand at the same places the first one.
  bool stands_for(const std::uint32_t* one, const std::uint32_t* other) const {
    bool alike = true;
    for (int d = 0; d < p_.dims && !perfect_; ++d) {
      const Count here = stands_at(one, d), there = stands_at(other, d);
      if (here > there) return false;
      alike &= here == there;
    }
    return !alike || std::lexicographical_compare(one, one + fanouts_.size(), other, other + fanouts_.size());
  }
  /// Unless one of the others stands for it; instead of those that it stands for.
  void add(const std::vector<std::uint32_t>& one, std::vector<std::uint32_t>& all) const {
    const std::size_t width = one.size();
    std::size_t kept = 0;
    for (std::size_t i = 0; i < all.size(); i += width)
      if (stands_for(&all[i], one.data())) return;
    for (std::size_t i = 0; i < all.size(); i += width) {
      if (stands_for(one.data(), &all[i])) continue;
      std::copy_n(all.begin() + static_cast<std::ptrdiff_t>(i), width, all.begin() + static_cast<std::ptrdiff_t>(kept));
      kept += width;
    }
    all.resize(kept);
    all.insert(all.end(), one.begin(), one.end());
  }

  const Problem& p_;
  const bool perfect_;
  NetworkUnrollings& network_;
  const std::vector<const std::vector<Unrolling>*> fanouts_;
  ByFactors of_;
};

bool NetworkUnrollings::share_alike(const Problem& problem, int a, int b) {
  bool same = problem.gap[a] == problem.gap[b];
  for (int x = 0; x < problem.tensors; ++x) same &= contains(problem.sharing[x], a) == contains(problem.sharing[x], b);
  return same;
}

NetworkUnrollings::Factors NetworkUnrollings::factors_of(const Problem& problem, const Unrolling& unrolling) {
  Factors factors;
  factors.fill(1);
  for (int d = 0; d < problem.dims; ++d) factors[d] = static_cast<std::int32_t>(unrolling.factor(d));
  return factors;
}

void NetworkUnrollings::clear() {
  factors_.clear();
  numbers_.clear();
  first_.assign(1, 0);
}

void NetworkUnrollings::add(const Factors& factors, std::span<const std::uint32_t> numbers) {
  if (factors_.empty() || factors_.back() != factors) {
    factors_.push_back(factors);
    first_.push_back(numbers_.size());
  }
  numbers_.insert(numbers_.end(), numbers.begin(), numbers.end());
  first_.back() = numbers_.size();
}

/// Of one fanout, by their factors.
void NetworkUnrollings::begin(const Problem& problem, const std::vector<Unrolling>& innermost) {
  std::vector<std::uint32_t> order(innermost.size());
  std::iota(order.begin(), order.end(), 0);
  const auto by_factors = [&](std::uint32_t a, std::uint32_t b) {
    for (int d = 0; d < problem.dims; ++d)
      if (const Count fa = innermost[a].factor(d), fb = innermost[b].factor(d); fa != fb) return fa < fb;
    return false;
  };
  if (!std::ranges::is_sorted(order, by_factors)) std::ranges::stable_sort(order, by_factors);
  for (const std::uint32_t i : order) add(factors_of(problem, innermost[i]), std::span(&i, 1));
}

NetworkUnrollings::NetworkUnrollings(const Task& task, const Problem& problem, const std::vector<ListedFanout>& fanouts,
                                     bool every, double most_rounds, SearchLimits& limits) {
  const bool perfect = task.factorization == Factorization::kPerfect;
  std::vector<const std::vector<Unrolling>*> lists;
  const auto combinations = [&](const std::vector<Unrolling>& outer) {
    std::set<Factors> distinct;
    for (const Unrolling& unrolling : outer) distinct.insert(factors_of(problem, unrolling));
    return size() * distinct.size();
  };
  for (const ListedFanout& fanout : fanouts) {
    if (!levels_.empty() && !share_alike(problem, levels_.front(), fanout.level)) break;
    if (!levels_.empty() && combinations(*fanout.all) > kMostTogether) break;
    levels_.push_back(fanout.level);
    lists.push_back(fanout.all.get());
    if (levels_.size() == 1) {
      begin(problem, *fanout.all);
      continue;
    }
    // The fanouts of the network to come save no more than their units.
    double to_come = 1;
    for (std::size_t f = levels_.size(); f < fanouts.size(); ++f)
      if (const int l = fanouts[f].level; share_alike(problem, levels_.front(), l))
        to_come *= static_cast<double>(problem.accelerator.levels[static_cast<std::size_t>(l)].fanout().units());
    Products::LeftOut left_out{every || !only_products_count(problem, levels_), most_rounds * to_come};
    Products products(problem, perfect, *this, lists);
    if (!products.multiply(left_out, limits)) {
      levels_.pop_back();
      break;
    }
    products.move_to_network();
    slow_ = std::min(slow_, left_out.slow / to_come);
  }
  complete_ = !limits.expired();
  if (!complete_) clear();
}

}  // namespace pliant::exact
