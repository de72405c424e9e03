// SPDX-License-Identifier: Apache-2.0
// The boxes of a search come from splitting, so between those of a region there is always a plane that cuts none of
// them: both sides are regions again, until one box is left, which must be all of its region.
#include "dse/audit/box_cover.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>

namespace pliant::audit {

namespace {

class Cover {
 public:
  Cover(const std::vector<Box>& boxes, const std::vector<std::size_t>& lines) : boxes_(boxes), lines_(lines) {}

  std::string problem(const Box& region, std::vector<std::size_t> inside) const {
    if (inside.empty()) return fmt::format("designs are in no box: {}", text(region));
    if (inside.size() == 1)
      return boxes_[inside.front()] == region ? ""
                                              : fmt::format("designs are in no box: line {} has only a part of {}",
                                                            lines_[inside.front()], text(region));
    const auto plane = between(region, inside);
    if (!plane)
      return fmt::format("lines {} and {} have designs in common, or do not come from splitting", lines_[inside[0]],
                         lines_[inside[1]]);
    const auto [axis, last] = *plane;
    Box low = region, high = region;
    low[axis].last = last;
    high[axis].first = last + 1;
    const auto middle = std::partition(inside.begin(), inside.end(), [&, at = axis, end = last](std::size_t box) {
      return boxes_[box][at].last <= end;
    });
    const std::vector<std::size_t> upper(middle, inside.end());
    inside.erase(middle, inside.end());
    std::string wrong = problem(low, std::move(inside));
    return wrong.empty() ? problem(high, upper) : wrong;
  }

 private:
  struct Plane {
    std::size_t axis = 0;
    std::int32_t last = 0;  ///< of the lower side
  };

  /// Of all planes that cut no box the one that divides them most evenly.
  std::optional<Plane> between(const Box& region, std::vector<std::size_t>& inside) const {
    std::optional<Plane> best;
    std::size_t most = 0;
    for (std::size_t a = 0; a < region.size(); ++a) {
      if (region[a].size() == 1) continue;
      std::ranges::sort(inside, {}, [&](std::size_t box) { return boxes_[box][a].first; });
      std::int32_t end = boxes_[inside.front()][a].last;
      for (std::size_t k = 1; k < inside.size(); ++k) {
        const AxisRange& range = boxes_[inside[k]][a];
        if (range.first > end && end < region[a].last) {
          const std::size_t smaller = std::min(k, inside.size() - k);
          if (smaller > most) {
            most = smaller;
            best = {a, end};
          }
        }
        end = std::max(end, range.last);
      }
    }
    return best;
  }

  static std::string text(const Box& box) {
    std::string all;
    for (const AxisRange& range : box)
      all += fmt::format("{}[{}, {}]", all.empty() ? "" : " x ", range.first, range.last);
    return all;
  }

  const std::vector<Box>& boxes_;
  const std::vector<std::size_t>& lines_;
};

}  // namespace

std::string cover_problem(const Box& space, const std::vector<Box>& boxes, const std::vector<std::size_t>& lines) {
  for (std::size_t k = 0; k < boxes.size(); ++k)
    for (std::size_t a = 0; a < space.size(); ++a)
      if (boxes[k].size() != space.size() || boxes[k][a].first < space[a].first || boxes[k][a].last > space[a].last ||
          boxes[k][a].first > boxes[k][a].last)
        return fmt::format("line {} is not in the space", lines[k]);
  std::vector<std::size_t> all(boxes.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  return Cover(boxes, lines).problem(space, std::move(all));
}

}  // namespace pliant::audit
