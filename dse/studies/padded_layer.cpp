// SPDX-License-Identifier: Apache-2.0
#include "dse/studies/padded_layer.h"

#include <fmt/format.h>

#include <array>
#include <map>

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

PaddedOptima padded_optima(const StudyContext& context, const Accelerator& accelerator, const Layer& layer, Count rows,
                           Count cols) {
  const std::array<std::pair<const char*, Count>, 3> sides = {std::pair{"C", rows}, {"M", cols}, {"Q", cols}};
  constexpr unsigned kAll = 7;  // a set of the three, bit by bit
  PaddedOptima optima;
  std::map<std::array<Count, 3>, SearchResult> solved;  // sets that give equal sizes are one search
  for (unsigned set = 0; set <= kAll; ++set) {
    Layer padded = layer;
    std::array<Count, 3> sizes{};
    for (std::size_t i = 0; i < sides.size(); ++i) {
      const int d = padded.find_dim(sides[i].first);
      if (d < 0) continue;
      sizes[i] = padded.dims[static_cast<std::size_t>(d)].size;
      if ((set >> i & 1U) == 0) continue;
      const Count up = ceil_div(sizes[i], sides[i].second) * sides[i].second;
      if (up == sizes[i]) continue;
      sizes[i] = up;
      padded = enlarged(padded, sides[i].first, up);
    }
    auto found = solved.find(sizes);
    if (found == solved.end()) found = solved.emplace(sizes, solve(context, accelerator, {.layer = padded})).first;
    if (set == 0 || found->second.value < optima.best.value) optima.best = found->second;
    if (set == kAll) optima.always = found->second;
  }
  return optima;
}

}  // namespace pliant
