// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/exact/choices/network_unrollings.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "costmodel/bits.h"
#include "dse/mappers/exact/task/facts.h"
#include "dse/mappers/exact/task/ledger.h"

namespace pliant::exact {

namespace {

/// Combinations of fanouts that are looked at together.
constexpr std::size_t kMostTogether = 4'000'000;

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

/// Unrollings of some fanouts by the products of their factors.
class NetworkUnrollings::Products {
 public:
  Products(const Problem& problem, bool perfect, const ListedFanout& innermost)
      : p_(problem), perfect_(perfect), fanouts_{innermost.all.get()}, of_(0, Hash{problem.dims}) {
    for (std::uint32_t i = 0; i < innermost.all->size(); ++i) of_[factors_of((*innermost.all)[i])].push_back(i);
  }

  std::size_t size() const { return of_.size(); }
  /// What is left out: those that others stand for unless every one is asked for, and those of too many rounds.
  struct LeftOut {
    bool every;
    double most_rounds, slow = kInfinity;
  };
  /// With one fanout more.
  void multiply(const ListedFanout& outer, LeftOut& left_out, SearchLimits& limits) {
    std::map<Factors, std::vector<std::uint32_t>> more;
    for (std::uint32_t i = 0; i < outer.all->size(); ++i) more[factors_of((*outer.all)[i])].push_back(i);
    const std::size_t inside = fanouts_.size();
    fanouts_.push_back(outer.all.get());
    ByFactors before = std::exchange(of_, ByFactors(0, Hash{p_.dims}));
    std::vector<std::uint32_t> one(inside + 1);
    std::size_t looked = 0;
    for (const auto& [factors, numbers] : before)
      for (const auto& [other, outside] : more) {
        if (looked++ % kBetweenLooks == 0 && limits.expired()) return of_.clear();
        Factors product = factors;
        for (int d = 0; d < p_.dims; ++d) product[d] *= other[d];
        if (!fits(product)) continue;
        if (const double here = rounds(product); here > left_out.most_rounds) {
          left_out.slow = std::min(left_out.slow, here);
          continue;
        }
        std::vector<std::uint32_t>& all = of_[product];
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
  }
  /// By their factors.
  void move_to(NetworkUnrollings& network) {
    std::vector<const ByFactors::value_type*> sorted;
    for (const auto& entry : of_) sorted.push_back(&entry);
    std::ranges::sort(sorted, {}, [](const auto* entry) -> const Factors& { return entry->first; });
    for (const auto* entry : sorted) {
      network.factors_.push_back(entry->first);
      network.numbers_.insert(network.numbers_.end(), entry->second.begin(), entry->second.end());
      network.first_.push_back(network.numbers_.size());
    }
  }
  std::size_t with(const ListedFanout& outer) const {
    std::vector<Factors> other;
    for (const Unrolling& unrolling : *outer.all) other.push_back(factors_of(unrolling));
    std::sort(other.begin(), other.end());
    other.erase(std::unique(other.begin(), other.end()), other.end());
    return size() * other.size();
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

  Factors factors_of(const Unrolling& unrolling) const {
    Factors factors;
    factors.fill(1);
    for (int d = 0; d < p_.dims; ++d) factors[d] = static_cast<std::int32_t>(unrolling.factor(d));
    return factors;
  }
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
  std::vector<const std::vector<Unrolling>*> fanouts_;
  ByFactors of_;
};

bool NetworkUnrollings::share_alike(const Problem& problem, int a, int b) {
  bool same = problem.gap[a] == problem.gap[b];
  for (int x = 0; x < problem.tensors; ++x) same &= contains(problem.sharing[x], a) == contains(problem.sharing[x], b);
  return same;
}

NetworkUnrollings::NetworkUnrollings(const Task& task, const Problem& problem, const std::vector<ListedFanout>& fanouts,
                                     bool every, double most_rounds, SearchLimits& limits) {
  Products products(problem, task.factorization == Factorization::kPerfect, fanouts.front());
  for (const ListedFanout& fanout : fanouts) {
    if (!levels_.empty() &&
        (!share_alike(problem, levels_.front(), fanout.level) || products.with(fanout) > kMostTogether))
      break;
    levels_.push_back(fanout.level);
    if (levels_.size() == 1) continue;
    // The fanouts of the network to come save no more than their units.
    double to_come = 1;
    for (std::size_t f = levels_.size(); f < fanouts.size(); ++f)
      if (const int l = fanouts[f].level; share_alike(problem, levels_.front(), l))
        to_come *= static_cast<double>(problem.accelerator.levels[static_cast<std::size_t>(l)].fanout().units());
    Products::LeftOut left_out{every || !only_products_count(problem, levels_), most_rounds * to_come};
    products.multiply(fanout, left_out, limits);
    slow_ = std::min(slow_, left_out.slow / to_come);
  }
  complete_ = !limits.expired();
  if (complete_) products.move_to(*this);
}

}  // namespace pliant::exact
