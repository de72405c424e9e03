// SPDX-License-Identifier: Apache-2.0
#include "flex/mapspace/orders.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "flex/mapspace/order_rules.h"

namespace pliant {

namespace {

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
  return OrderRules(layer, rule).count(dims);
}

BigCount count_reuse_distinct_orders(const Layer& layer, bool halo_reuse) {
  return ReuseClasses(layer, halo_reuse).count();
}

}  // namespace pliant
