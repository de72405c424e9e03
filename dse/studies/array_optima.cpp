// SPDX-License-Identifier: Apache-2.0
#include "dse/studies/array_optima.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/arithmetic.h"

namespace pliant {
namespace {

/// The layer with one dim larger, everything else as it was written.
Layer enlarged(const Layer& layer, const std::string& dim, Count size) {
  std::string text = layer.written_as;
  const std::size_t at = text.find(dim + "=");
  const std::size_t end = text.find_first_not_of("0123456789", at + dim.size() + 1);
  text.replace(at, (end == std::string::npos ? text.size() : end) - at, fmt::format("{}={}", dim, size));
  Layer larger = parse_layer(text, "study");
  larger.name = layer.name;
  return larger;
}

}  // namespace

ArrayOptima::Cost ArrayOptima::optimum(const Accelerator& array, Count rows, Count cols, const Layer& padded,
                                       Factorization rule) {
  std::vector<Count> sizes;
  for (const Dim& dim : padded.dims) sizes.push_back(dim.size);
  std::vector<Known>& known = known_[{rule, sizes}];
  const auto fits = [&](const Known& one) {
    return one.rows >= rows && one.cols >= cols && one.used_rows <= rows && one.used_cols <= cols;
  };
  if (const auto found = std::ranges::find_if(known, fits); found != known.end()) return found->cost;
  const SearchResult best = solve(context_, array, {.layer = padded, .factorization = rule});
  ++searches_;
  const Cost cost{best.totals.energy_pj, best.totals.cycles, best.value, best.certified};
  if (!best.certified) return cost;
  Known one{rows, cols, 1, 1, cost};
  for (const LevelMapping& level : best.mapping->levels)
    for (const SpatialLoop& loop : level.spatial)
      (loop.side == Side::kRows ? one.used_rows : one.used_cols) *= loop.bound;
  known.push_back(one);
  return cost;
}

double ArrayOptima::floor_of(Count rows, Count cols, const Layer& padded) const {
  std::vector<Count> sizes;
  for (const Dim& dim : padded.dims) sizes.push_back(dim.size);
  const auto known = known_.find({Factorization::kPerfect, sizes});
  double floor = 0;
  if (known != known_.end())
    for (const Known& one : known->second)
      if (one.rows >= rows && one.cols >= cols) floor = std::max(floor, one.cost.edp);
  return floor;
}

ArrayOptima::OnArray ArrayOptima::on(const Accelerator& array, Count rows, Count cols) {
  const std::array<std::pair<const char*, Count>, 3> sides = {std::pair{"C", rows}, {"M", cols}, {"Q", cols}};
  constexpr unsigned kAll = 7;  // a set of the three, bit by bit
  OnArray found;
  found.ruby_s = optimum(array, rows, cols, layer_, Factorization::kRubyS);
  for (unsigned set = 0; set <= kAll; ++set) {
    Layer larger = layer_;
    for (std::size_t i = 0; i < sides.size(); ++i) {
      const int d = larger.find_dim(sides[i].first);
      if (d < 0 || (set >> i & 1U) == 0) continue;
      const Count size = larger.dims[static_cast<std::size_t>(d)].size;
      const Count up = ceil_div(size, sides[i].second) * sides[i].second;
      if (up != size) larger = enlarged(larger, sides[i].first, up);
    }
    // Only a better one counts, but of none and of all of them the optimum is asked for.
    if (set != 0 && set != kAll && floor_of(rows, cols, larger) >= found.padded.edp) continue;
    const Cost cost = optimum(array, rows, cols, larger, Factorization::kPerfect);
    if (set == 0) found.perfect = cost;
    if (set == 0 || cost.edp < found.padded.edp) found.padded = cost;
    if (set == kAll) found.always_padded = cost;
  }
  return found;
}

}  // namespace pliant
