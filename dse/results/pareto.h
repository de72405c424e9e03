// SPDX-License-Identifier: Apache-2.0
// Non-dominated sets, their hypervolume and their knee. Every coordinate is minimised; turn the sign of what is to be
// maximised.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace pliant {

using Point = std::vector<double>;

/// a is nowhere worse than b and somewhere better.
bool dominates(const Point& a, const Point& b);

/// Indices of the points that no other dominates, ascending by the first coordinate, then the second, ...; of equal
/// points the first stands for all. Points must have the same, nonzero number of finite coordinates.
std::vector<std::size_t> non_dominated(const std::vector<Point>& points);

/// Volume of what the points dominate up to the reference point. Points that are not better than the reference in every
/// coordinate add nothing.
double hypervolume(std::vector<Point> points, const Point& reference);

/// The frontier point with the least sum of coordinates, each scaled to 0..1 over the frontier: with two coordinates
/// the one farthest from the line between the ends. nullopt for fewer than three points.
std::optional<std::size_t> knee(const std::vector<Point>& frontier);

}  // namespace pliant
