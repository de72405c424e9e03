// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "dse/results/pareto.h"

namespace pliant {

/// Sums of the same numbers in another order differ by less than this share: such values count as equal.
inline constexpr double kDesignRounding = 1e-9;

/// The designs found that no other beats.
class FoundDesigns {
 public:
  explicit FoundDesigns(double gap) : slack_((1 + gap) * (1 + kDesignRounding)) {}

  void add(std::int64_t design, const Point& values);
  /// A design that is nowhere worse than these bounds, but for the gap; the one with the least number.
  std::optional<std::int64_t> beating(const Point& least) const { return within(least, slack_); }
  /// The same without the gap: for values of a design that is mapped already.
  std::optional<std::int64_t> matching(const Point& values) const { return within(values, 1 + kDesignRounding); }
  /// By how much these bounds could be divided, where they are not fixed, and still a design would beat them; below 1:
  /// none does. By goal: is it fixed?
  double room(const Point& least, const std::vector<bool>& fixed) const;
  /// By how large a share the nearest design is worse than these bounds in some goal, at least 0; infinite without any.
  double distance(const Point& least) const;
  std::size_t size() const { return all_.size(); }

 private:
  struct Found {
    std::int64_t design = 0;
    Point values;
  };
  std::optional<std::int64_t> within(const Point& least, double slack) const;

  double slack_;
  std::vector<Found> all_;
};

}  // namespace pliant
