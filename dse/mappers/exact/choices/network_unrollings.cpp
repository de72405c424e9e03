// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/exact/choices/network_unrollings.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>
#include <utility>

#include "costmodel/bits.h"
#include "dse/mappers/exact/task/facts.h"
#include "dse/mappers/exact/task/ledger.h"
#include "dse/mappers/exact/task/tolerances.h"

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

/// The same unrollings with one fanout more: products of two sorted lists of factors, dim by dim, so that equal ones
/// come together, in their order.
class NetworkUnrollings::Products {
 public:
  /// What is left out: those that others stand for unless every one is asked for, and those of too many rounds.
  struct LeftOut {
    bool every;
    double most_rounds, slow = kInfinity;
  };
  Products(const Problem& problem, bool perfect, const ByFactors& inner, const ByFactors& outer, double units,
           std::vector<const std::vector<Unrolling>*> fanouts)
      : p_(problem), perfect_(perfect), inner_(inner), outer_(outer), units_(units), fanouts_(std::move(fanouts)) {
    to_come_[p_.dims] = 1;
    for (int d = p_.dims - 1; d >= 0; --d) to_come_[d] = to_come_[d + 1] * p_.size[d];
  }

  /// False: there are too many. Where time is up some are missing.
  bool multiply(LeftOut& left_out, SearchLimits& limits) {
    left_out_ = &left_out;
    limits_ = &limits;
    const Pairs all{0, static_cast<std::uint32_t>(inner_.size()), 0, static_cast<std::uint32_t>(outer_.size()), 1};
    multiply_from(0, std::span(&all, 1), 1, 1);
    return found_.size() <= kMostProducts;
  }
  ByFactors& found() { return found_; }

 private:
  /// Of the inner and the outer list: those that are equal in the dims before this one, and the product in this one.
  struct Pairs {
    std::uint32_t inner, inner_end, outer, outer_end;
    Count product;
  };

  static std::uint32_t end_of_equal(const ByFactors& all, int d, std::uint32_t i, std::uint32_t end) {
    const std::int32_t factor = all.factors(i)[d];
    while (++i < end && all.factors(i)[d] == factor) {
    }
    return i;
  }

  /// All with the products chosen in the dims before this one, which take so many rounds of so many units. False: stop.
  bool multiply_from(int d, std::span<const Pairs> all, double rounds, double used) {
    if (d == p_.dims) return add_product(all);
    std::vector<Pairs>& next = next_[d];
    next.clear();
    for (const Pairs& pairs : all)
      for (std::uint32_t i = pairs.inner; i < pairs.inner_end;) {
        const std::uint32_t inner_end = end_of_equal(inner_, d, i, pairs.inner_end);
        for (std::uint32_t o = pairs.outer; o < pairs.outer_end;) {
          const std::uint32_t outer_end = end_of_equal(outer_, d, o, pairs.outer_end);
          next.push_back({i, inner_end, o, outer_end, Count{inner_.factors(i)[d]} * outer_.factors(o)[d]});
          o = outer_end;
        }
        i = inner_end;
      }
    std::ranges::sort(next, {}, [](const Pairs& one) { return std::tie(one.product, one.inner, one.outer); });
    looked_ += next.size();
    if (looked_ >= kBetweenLooks && limits_->expired()) return false;
    looked_ %= kBetweenLooks;
    for (auto first = next.begin(); first != next.end();) {
      const auto product = static_cast<double>(first->product);
      const auto last = std::find_if(first, next.end(), [&](const Pairs& p) { return p.product != first->product; });
      const std::span<const Pairs> equal(first, last);
      first = last;
      if (perfect_ && std::fmod(p_.size[d], product) != 0) continue;
      const double taken = rounds * std::ceil(p_.size[d] / product);
      // Whatever units are left take their share of what is to come.
      const double share = to_come_[d + 1] * used * product / units_ * (1 - kRoundingOfFloors);
      if (const double least = taken * std::max(1.0, share); least > left_out_->most_rounds) {
        left_out_->slow = std::min(left_out_->slow, least);
        continue;
      }
      product_[d] = static_cast<std::int32_t>(product);
      if (!multiply_from(d + 1, equal, taken, used * product)) return false;
    }
    return true;
  }

  bool add_product(std::span<const Pairs> all) {
    const std::size_t inside = fanouts_.size() - 1;
    one_.resize(inside + 1);
    all_.clear();
    for (const Pairs& pair : all) {
      const std::span<const std::uint32_t> numbers = inner_.numbers(pair.inner);
      for (std::size_t i = 0; i < numbers.size(); i += inside)
        for (const std::uint32_t number : outer_.numbers(pair.outer)) {
          std::copy_n(numbers.begin() + static_cast<std::ptrdiff_t>(i), inside, one_.begin());
          one_[inside] = number;
          if (left_out_->every)
            all_.insert(all_.end(), one_.begin(), one_.end());
          else
            add(one_, all_);
        }
    }
    found_.add(product_, all_);
    return found_.size() <= kMostProducts;
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
  const ByFactors &inner_, &outer_;
  const double units_;
  const std::vector<const std::vector<Unrolling>*> fanouts_;
  std::array<double, kMaxDims + 1> to_come_{};  // iterations of this dim and those after it
  LeftOut* left_out_ = nullptr;
  SearchLimits* limits_ = nullptr;
  std::array<std::vector<Pairs>, kMaxDims> next_;  // by dim
  std::size_t looked_ = 0;
  Factors product_{};
  std::vector<std::uint32_t> one_, all_;
  ByFactors found_;
};

bool NetworkUnrollings::share_alike(const Problem& problem, int a, int b) {
  bool same = problem.gap[a] == problem.gap[b];
  for (int x = 0; x < problem.tensors; ++x) same &= contains(problem.sharing[x], a) == contains(problem.sharing[x], b);
  return same;
}

void NetworkUnrollings::ByFactors::add(const Factors& factors, std::span<const std::uint32_t> numbers) {
  if (factors_.empty() || factors_.back() != factors) {
    factors_.push_back(factors);
    first_.push_back(numbers_.size());
  }
  numbers_.insert(numbers_.end(), numbers.begin(), numbers.end());
  first_.back() = numbers_.size();
}

NetworkUnrollings::ByFactors::ByFactors(const Problem& problem, const std::vector<Unrolling>& fanout) {
  const auto factors_of = [&](std::uint32_t i) {
    Factors factors;
    factors.fill(1);
    for (int d = 0; d < problem.dims; ++d) factors[d] = static_cast<std::int32_t>(fanout[i].factor(d));
    return factors;
  };
  std::vector<std::uint32_t> order(fanout.size());
  std::iota(order.begin(), order.end(), 0);
  if (!std::ranges::is_sorted(order, {}, factors_of)) std::ranges::stable_sort(order, {}, factors_of);
  for (const std::uint32_t i : order) add(factors_of(i), std::span(&i, 1));
}

NetworkUnrollings::NetworkUnrollings(const Task& task, const Problem& problem, const std::vector<ListedFanout>& fanouts,
                                     bool every, double most_rounds, SearchLimits& limits) {
  const bool perfect = task.factorization == Factorization::kPerfect;
  const auto units_of = [&](int l) {
    return static_cast<double>(problem.accelerator.levels[static_cast<std::size_t>(l)].fanout().units());
  };
  std::vector<const std::vector<Unrolling>*> lists;
  double units = 1;
  for (const ListedFanout& fanout : fanouts) {
    if (!levels_.empty() && !share_alike(problem, levels_.front(), fanout.level)) break;
    ByFactors outer = limits.expired() ? ByFactors() : ByFactors(problem, *fanout.all);
    if (!levels_.empty() && size() * outer.size() > kMostTogether) break;
    levels_.push_back(fanout.level);
    lists.push_back(fanout.all.get());
    units *= units_of(fanout.level);
    if (levels_.size() == 1) {
      all_ = std::move(outer);
      continue;
    }
    // The fanouts of the network to come save no more than their units.
    double to_come = 1;
    for (std::size_t f = levels_.size(); f < fanouts.size(); ++f)
      if (const int l = fanouts[f].level; share_alike(problem, levels_.front(), l)) to_come *= units_of(l);
    Products::LeftOut left_out{every || !only_products_count(problem, levels_), most_rounds * to_come};
    Products products(problem, perfect, all_, outer, units, lists);
    if (!products.multiply(left_out, limits)) {
      levels_.pop_back();
      break;
    }
    all_ = std::move(products.found());
    slow_ = std::min(slow_, left_out.slow / to_come);
  }
  complete_ = !limits.expired();
  if (!complete_) all_ = {};
}

}  // namespace pliant::exact
