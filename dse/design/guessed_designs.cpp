// SPDX-License-Identifier: Apache-2.0
#include "dse/design/guessed_designs.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "core/arithmetic.h"
#include "dse/design/search_node.h"
#include "dse/sweep/serving_task.h"

namespace pliant {

namespace {

enum class Sizes : std::uint8_t { kLeast, kMiddle, kMost };
constexpr std::array<std::string_view, 3> kSizeWords = {"least sizes", "middle sizes", "most of every size"};

/// The position of the least, the middle or the largest number of an axis, the middle by ratio; the first of an axis
/// without numbers.
std::int32_t position_of(const std::vector<std::vector<AxisValue>>& cells, Sizes sizes) {
  std::vector<double> numbers;
  for (const auto& cell : cells) {
    if (const auto* whole = std::get_if<std::int64_t>(&cell.front()))
      numbers.push_back(static_cast<double>(*whole));
    else if (const auto* real = std::get_if<double>(&cell.front()))
      numbers.push_back(*real);
  }
  if (numbers.size() != cells.size()) return 0;
  const auto [least, most] = std::ranges::minmax(numbers);
  const double wanted = sizes == Sizes::kLeast  ? least
                        : sizes == Sizes::kMost ? most
                        : least > 0             ? std::sqrt(least * most)
                                                : (least + most) / 2;
  const auto distance = [wanted, positive = least > 0](double number) {
    return positive ? std::abs(std::log(number / wanted)) : std::abs(number - wanted);
  };
  return static_cast<std::int32_t>(std::ranges::min_element(numbers, {}, distance) - numbers.begin());
}

/// The most flexible class of the sweep, and the least: their places.
std::vector<std::size_t> ends_of_flexibility(const Sweep& sweep) {
  std::vector<int> freedom;
  for (const std::string& name : sweep.flexibilities) {
    const auto known = looks_like_class(name) ? parse_flexibility_class(name) : std::nullopt;
    freedom.push_back(known ? freedom_of(*known) : 0);
  }
  const auto [least, most] = std::ranges::minmax_element(freedom);
  std::vector<std::size_t> ends = {static_cast<std::size_t>(most - freedom.begin())};
  if (*least < *most) ends.push_back(static_cast<std::size_t>(least - freedom.begin()));
  return ends;
}

}  // namespace

std::vector<GuessedDesign> guess_designs(const Library& library, const Sweep& sweep, const DesignSearchOptions& options,
                                         TaskStore* store) {
  const auto shared = std::make_shared<const Sweep>(sweep);
  const DistinctLayers layers(sweep);
  const GoalBounds goals(*shared, layers);
  const DesignRows rows(*shared, layers, goals);
  DesignSpace space(library, shared);
  TaskPool pool(*shared, store, options.threads > 0 ? options.threads : usable_cores(), options.stop);
  const std::int64_t inner = space.size() / space.hardware_points();
  std::vector<GuessedDesign> guesses;
  for (const Sizes sizes : {Sizes::kMiddle, Sizes::kMost, Sizes::kLeast}) {
    std::vector<std::int32_t> positions;
    for (std::size_t a = 0; a < sweep.axes.size(); ++a) positions.push_back(position_of(sweep.cells[a], sizes));
    for (const std::size_t flexibility : ends_of_flexibility(sweep)) {
      const std::int64_t id =
          hardware_number(sweep, positions) * inner + static_cast<std::int64_t>(flexibility) * space.variants();
      if (!space.allowed(id)) continue;
      const auto design = std::make_shared<const DesignPoint>(space.design(id));
      if (!design->accelerator) continue;
      const std::vector<PoolAnswer> answers = pool.answer(design, layers);
      if (options.stop.stop_requested()) return {};
      const OpenedDesign opened = rows.make(
          design, answers, solve_all_serving(sweep, *design, options.stop),
          [&](const std::string& name) { return space.value(id, name); }, pool);
      if (opened.values.empty() || !opened.within_limits) continue;
      Point columns;
      for (std::size_t g = 0; g < opened.values.size(); ++g)
        columns.push_back(column_value(sweep.goals->minimize[g].measure, opened.values[g]));
      guesses.push_back(
          {fmt::format("{}, {}", kSizeWords[static_cast<std::size_t>(sizes)], sweep.flexibilities[flexibility]), id,
           std::move(columns)});
    }
  }
  return guesses;
}

std::string guesses_text(const std::vector<GuessedDesign>& guesses) {
  std::string text;
  for (const GuessedDesign& one : guesses)
    text += fmt::format("{}{{\"guess\":\"{}\",\"design\":{},\"values\":[{:.17g}]}}", text.empty() ? "" : ",", one.guess,
                        one.design_id, fmt::join(one.values, ","));
  return "[" + text + "]";
}

}  // namespace pliant
