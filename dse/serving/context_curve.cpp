// SPDX-License-Identifier: Apache-2.0
#include "dse/serving/context_curve.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "core/arithmetic.h"

namespace pliant::serving {

namespace {

/// Two searches each (time, then energy): twenty searches a layer at most.
constexpr std::size_t kMostPoints = 10;
/// Bounds without a search are cheap: one every so many percent of the context.
constexpr double kFloorStep = 1.005;

/// Rounded up to three binary digits: few sizes, all with many divisors.
Count rounded_up(Count keys) {
  Count unit = 1;
  while (keys / unit >= 8) unit *= 2;
  return ceil_div(keys, unit) * unit;
}

}  // namespace

ContextCurve::ContextCurve(std::vector<ContextRow> rows, std::function<Spent(Count)> without_macs, RowCosts& costs)
    : rows_(std::move(rows)), without_macs_(std::move(without_macs)), costs_(costs) {
  for (const ContextRow& row : rows_) {
    repeats_ &= costs_.repeats(row.layer);
    grows_ &= costs_.grows(row.layer);
  }
}

Layer ContextCurve::sized(const ContextRow& row, Count keys) const {
  Layer layer = row.layer;
  layer.dims[static_cast<std::size_t>(row.dim)].size = row.factor * keys;
  return layer;
}

const Spent& ContextCurve::point(Count keys) {
  const auto [known, is_new] = points_.try_emplace(keys);
  if (!is_new) return known->second;
  Spent sum;
  std::uint64_t most = 0;
  for (const ContextRow& row : rows_) {
    const std::uint64_t before = costs_.searches();
    sum += costs_.of(sized(row, keys)) * static_cast<double>(row.count);
    most = std::max(most, costs_.searches() - before);
  }
  searches_ += most;
  known->second = sum;
  return known->second;
}

std::uint64_t ContextCurve::searches_a_layer() const { return searches_; }

const Spent& ContextCurve::repeated(Count keys, Count times) {
  const auto [known, is_new] = repeated_.try_emplace({keys, times});
  if (is_new)
    for (const ContextRow& row : rows_)
      known->second += costs_.repeated(sized(row, keys), row.dim, times) * static_cast<double>(row.count);
  return known->second;
}

double ContextCurve::floor(Count keys) {
  const auto [known, is_new] = floors_.try_emplace(keys);
  if (!is_new) return known->second;
  double sum = 0;
  for (const ContextRow& row : rows_) sum += costs_.floor(sized(row, keys)) * static_cast<double>(row.count);
  return known->second = sum;
}

double ContextCurve::lower(Count keys) {
  double least = 0;
  const auto above = floors_.upper_bound(keys);
  if (grows_ && above != floors_.begin()) least = std::prev(above)->second;
  return least;
}

Spent ContextCurve::at(Count keys) {
  Spent best;
  bool any = false;
  const auto offer = [&](const Spent& spent) {
    if (any && spent.value(costs_.objective()) >= best.value(costs_.objective())) return;
    best = spent;
    any = true;
  };
  for (const auto& [p, spent] : points_) {
    if (p >= keys) {
      offer(spent);
    } else if (repeats_) {
      offer(repeated(p, ceil_div(keys, p)));
    }
  }
  if (!any) offer(point(rounded_up(keys)));
  best.least = lower(keys);
  best += without_macs_(keys);
  return best;
}

/// Where a point says most about the context that is known worst: beside it, or so much shorter that repeating it
/// comes close.
Count ContextCurve::next_point(Count worst) const {
  constexpr Count kRepeats = 32;
  for (const Count parts : {repeats_ ? kRepeats : Count{1}, Count{1}, Count{8}, Count{128}}) {
    const Count keys = rounded_up(std::max<Count>(1, ceil_div(worst, parts)));
    if (!points_.contains(keys)) return keys;
  }
  return 0;
}

void ContextCurve::settle(const Contexts& contexts, double beside, double gap) {
  floor(contexts.first);
  for (double c = static_cast<double>(contexts.first); c < static_cast<double>(contexts.last); c *= kFloorStep)
    floor(static_cast<Count>(c));
  floor(contexts.last);
  point(rounded_up(contexts.last));
  while (points_.size() < kMostPoints && !costs_.stopped()) {
    double sum = beside, open = 0, most = -1;
    Count worst = contexts.first;
    for (Count c = contexts.first; c <= contexts.last; c += contexts.step) {
      const Spent spent = at(c);
      const double value = spent.value(costs_.objective()), apart = value - spent.least;
      sum += value;
      open += apart;
      if (apart > most) {
        most = apart;
        worst = c;
      }
    }
    if (open <= gap * sum) return;
    const Count next = next_point(worst);
    if (next == 0) return;
    point(next);
  }
}

}  // namespace pliant::serving
