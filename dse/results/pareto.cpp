// SPDX-License-Identifier: Apache-2.0
#include "dse/results/pareto.h"

#include <algorithm>
#include <numeric>

#include "core/arithmetic.h"

namespace pliant {
namespace {

/// By slices along the last coordinate: between two consecutive values the dominated section is the hypervolume of the
/// points below, with one coordinate less (HSO, While et al. 2006).
double sliced_volume(std::vector<Point> points, Point reference) {
  if (points.empty()) return 0;
  const std::size_t last = reference.size() - 1;
  if (last == 0) {
    double best = reference[0];
    for (const Point& p : points) best = std::min(best, p[0]);
    return reference[0] - best;
  }
  std::ranges::sort(points, {}, [&](const Point& p) { return p[last]; });
  Point below(reference.begin(), reference.end() - 1);
  std::vector<Point> section;
  double volume = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    Point flat(points[i].begin(), points[i].end() - 1);
    // Only what is not dominated in the section matters; keeps it small.
    if (std::ranges::none_of(section, [&](const Point& p) { return p == flat || dominates(p, flat); })) {
      std::erase_if(section, [&](const Point& p) { return dominates(flat, p); });
      section.push_back(std::move(flat));
    }
    const double top = i + 1 < points.size() ? points[i + 1][last] : reference[last];
    const double height = top - points[i][last];
    if (height > 0) volume += height * sliced_volume(section, below);
  }
  return volume;
}

}  // namespace

bool dominates(const Point& a, const Point& b) {
  bool better = false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] > b[i]) return false;
    better = better || a[i] < b[i];
  }
  return better;
}

std::vector<std::size_t> non_dominated(const std::vector<Point>& points) {
  std::vector<std::size_t> order(points.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) -> const Point& { return points[i]; });
  // In this order only an earlier point can dominate a later one.
  std::vector<std::size_t> frontier;
  double least_second = kInfinity;
  for (const std::size_t i : order) {
    const Point& point = points[i];
    if (point.size() == 2) {
      if (!(point[1] < least_second)) continue;
      least_second = point[1];
    } else if (std::ranges::any_of(frontier,
                                   [&](std::size_t f) { return points[f] == point || dominates(points[f], point); })) {
      continue;
    }
    frontier.push_back(i);
  }
  return frontier;
}

double hypervolume(std::vector<Point> points, const Point& reference) {
  std::erase_if(points, [&](const Point& p) {
    for (std::size_t i = 0; i < p.size(); ++i)
      if (p[i] >= reference[i]) return true;
    return false;
  });
  return sliced_volume(std::move(points), reference);
}

std::optional<std::size_t> knee(const std::vector<Point>& frontier) {
  if (frontier.size() < 3) return std::nullopt;
  const std::size_t dims = frontier.front().size();
  Point low = frontier.front(), high = frontier.front();
  for (const Point& point : frontier) {
    for (std::size_t i = 0; i < dims; ++i) {
      low[i] = std::min(low[i], point[i]);
      high[i] = std::max(high[i], point[i]);
    }
  }
  std::size_t best = 0;
  double least = kInfinity;
  for (std::size_t f = 0; f < frontier.size(); ++f) {
    double sum = 0;
    for (std::size_t i = 0; i < dims; ++i)
      if (high[i] > low[i]) sum += (frontier[f][i] - low[i]) / (high[i] - low[i]);
    if (sum < least) {
      least = sum;
      best = f;
    }
  }
  return best;
}

}  // namespace pliant
