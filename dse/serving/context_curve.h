// SPDX-License-Identifier: Apache-2.0
// What the attention of one layer costs while the context grows: certified at some contexts, bounded at all others.
// docs/dev/serving.md has the lemmas.
#pragma once

#include <functional>
#include <map>
#include <vector>

#include "dse/serving/row_costs.h"

namespace pliant::serving {

/// A layer of which one dim grows with the context: size = factor * keys.
struct ContextRow {
  Layer layer;
  int dim = 0;
  Count factor = 1;
  Count count = 1;
};

/// Contexts first, first + step, ..., last.
struct Contexts {
  Count first = 1, last = 1, step = 1;
  Count count() const { return (last - first) / step + 1; }
};

class ContextCurve {
 public:
  /// `without_macs`: exactly what the operators between the rows cost at a context.
  ContextCurve(std::vector<ContextRow> rows, std::function<Spent(Count)> without_macs, RowCosts& costs);

  /// Searches contexts until the bounds of all that is asked about are apart by at most `gap` of their sum with
  /// `beside` (what the steps cost besides), or there are so many points that more are not worth it.
  void settle(const Contexts& contexts, double beside, double gap);

  /// Mappings that exist: those of a point with at least as many keys, or of one that is repeated. `least` is what
  /// nothing is below.
  Spent at(Count keys);
  bool is_point(Count keys) const { return points_.contains(keys); }
  std::size_t points() const { return points_.size(); }
  std::uint64_t searches_a_layer() const;  ///< of the row with most of them

 private:
  const Spent& point(Count keys);
  const Spent& repeated(Count keys, Count times);
  double lower(Count keys);
  double floor(Count keys);
  Layer sized(const ContextRow& row, Count keys) const;
  Count next_point(Count worst) const;

  std::vector<ContextRow> rows_;
  std::function<Spent(Count)> without_macs_;
  RowCosts& costs_;
  bool repeats_ = true, grows_ = true;
  std::map<Count, Spent> points_;                      ///< of the rows alone
  std::map<std::pair<Count, Count>, Spent> repeated_;  ///< by point and times
  std::map<Count, double> floors_;                     ///< by keys; each holds for more keys, too
  std::uint64_t searches_ = 0;
};

}  // namespace pliant::serving
