// SPDX-License-Identifier: Apache-2.0
#include "flex/mapspace/orders.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "flex/mapspace/factors.h"

namespace pliant {

namespace {

/// before[d]: dims that must stand outside d.
using Precedence = std::vector<DimSet>;

Precedence precedence_of(const Layer& layer, DimSet dims, const OrderPattern& pattern) {
  Precedence before(layer.dims.size(), 0);
  DimSet outside = 0;
  for (const std::string& name : pattern.dims) {
    const int d = layer.find_dim(name);
    if (d < 0 || (dims >> d & 1) == 0) continue;
    before[static_cast<std::size_t>(d)] |= outside & ~(DimSet{1} << d);
    outside |= DimSet{1} << d;
  }
  if (pattern.stationary) {
    for (std::size_t x = 0; x < layer.tensors.size(); ++x) {
      if (layer.tensors[x].role != *pattern.stationary) continue;
      const DimSet coupled = layer.coupled(static_cast<int>(x)) & dims;
      for (std::size_t d = 0; d < layer.dims.size(); ++d)
        if ((dims & ~coupled) >> d & 1) before[d] |= coupled;
    }
  }
  return before;
}

/// Orders of `dims` that respect a precedence, by dynamic programming over the sets already placed (outermost first).
std::int64_t linear_extensions(DimSet dims, const Precedence& before) {
  std::vector<int> members;
  for (int d = 0; d < kMaxDims; ++d)
    if (dims >> d & 1) members.push_back(d);
  const std::size_t n = members.size();
  std::vector<DimSet> needs(n, 0);  // in member numbers
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j)
      if (before[static_cast<std::size_t>(members[i])] >> members[j] & 1) needs[i] |= DimSet{1} << j;
  std::vector<std::int64_t> ways(std::size_t{1} << n, 0);  // 12! fits
  ways[0] = 1;
  for (std::size_t placed = 0; placed + 1 < ways.size(); ++placed) {
    if (ways[placed] == 0) continue;
    for (std::size_t i = 0; i < n; ++i)
      if ((placed >> i & 1) == 0 && (needs[i] & ~placed) == 0) ways[placed | std::size_t{1} << i] += ways[placed];
  }
  return ways.back();
}

/// Follows all orders from the innermost loop outwards, until every tensor has met a loop coupled to it: what stands
/// further out changes nothing, so one prefix stands for all orders that begin with it.
class ReuseClasses {
 public:
  ReuseClasses(const Layer& layer, bool halo_reuse) {
    for (std::size_t d = 0; d < layer.dims.size(); ++d)
      if (layer.dims[d].size > 1) dims_ |= DimSet{1} << d;
    for (std::size_t x = 0; x < layer.tensors.size(); ++x) {
      coupled_.push_back(layer.coupled(static_cast<int>(x)) & dims_);
      DimSet summed = 0;
      for (const Rank& rank : layer.tensors[x].ranks) {
        DimSet in_rank = 0;
        for (const Term& term : rank.terms) in_rank |= DimSet{1} << term.dim & dims_;
        if (std::popcount(in_rank) > 1) summed |= in_rank;
      }
      summed_.push_back(halo_reuse ? summed : 0);
    }
  }

  std::size_t count() {
    Signature start(coupled_.size());
    walk(0, start);
    return classes_.size();
  }

 private:
  /// Of one tensor: the loops inside the innermost coupled one, and that loop's dim (+1) where it matters.
  struct Meeting {
    DimSet inside = 0;
    int dim = 0;
    bool met = false;
    auto operator<=>(const Meeting&) const = default;
  };
  using Signature = std::vector<Meeting>;

  void walk(DimSet inside, const Signature& signature) {
    const bool decided = std::all_of(signature.begin(), signature.end(), [](const Meeting& m) { return m.met; });
    if (decided || inside == dims_) {
      classes_.insert(signature);
      return;
    }
    for (int d = 0; d < kMaxDims; ++d) {
      if ((dims_ & ~inside) >> d & 1) {
        Signature next = signature;
        for (std::size_t x = 0; x < next.size(); ++x)
          if (!next[x].met && coupled_[x] >> d & 1) next[x] = {inside, summed_[x] >> d & 1 ? d + 1 : 0, true};
        if (visited_.emplace(inside | DimSet{1} << d, next).second) walk(inside | DimSet{1} << d, next);
      }
    }
  }

  DimSet dims_ = 0;
  std::vector<DimSet> coupled_, summed_;
  std::set<std::pair<DimSet, Signature>> visited_;
  std::set<Signature> classes_;
};

}  // namespace

BigCount count_orders(const Layer& layer, DimSet dims, const OrderRule& rule) {
  if (rule.allowed.empty()) return factorial(std::popcount(dims));
  std::vector<Precedence> patterns;
  for (const OrderPattern& pattern : rule.allowed) {
    Precedence before = precedence_of(layer, dims, pattern);
    if (std::find(patterns.begin(), patterns.end(), before) == patterns.end()) patterns.push_back(std::move(before));
  }
  // An order that satisfies several patterns counts once: inclusion and exclusion over the patterns satisfied
  // together. Two total orders are never satisfied together, so few combinations survive.
  std::int64_t total = 0;
  const auto combine = [&](auto&& self, std::size_t next, const Precedence& joint, bool negative, bool any) -> void {
    if (any) {
      const std::int64_t orders = linear_extensions(dims, joint);
      if (orders == 0) return;
      total += negative ? -orders : orders;
    }
    for (std::size_t i = next; i < patterns.size(); ++i) {
      Precedence both = joint;
      for (std::size_t d = 0; d < both.size(); ++d) both[d] |= patterns[i][d];
      self(self, i + 1, both, any ? !negative : false, true);
    }
  };
  combine(combine, 0, Precedence(layer.dims.size(), 0), false, false);
  return total;
}

BigCount count_reuse_distinct_orders(const Layer& layer, bool halo_reuse) {
  return ReuseClasses(layer, halo_reuse).count();
}

}  // namespace pliant
