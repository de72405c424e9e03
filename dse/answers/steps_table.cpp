// SPDX-License-Identifier: Apache-2.0
#include "dse/answers/steps_table.h"

#include <fmt/format.h>

#include <map>

#include "dse/answers/text_table.h"

namespace pliant {

std::string steps_table(const std::vector<std::string>& titles, const std::vector<StepLine>& steps) {
  std::vector<StepLine> lines;
  std::map<std::vector<std::string>, std::size_t> at;
  for (const StepLine& step : steps) {
    const auto [known, is_new] = at.emplace(step.cells, lines.size());
    if (is_new) lines.push_back({step.cells, 0, 0, 0});
    StepLine& line = lines[known->second];
    line.times += step.times;
    line.energy_pj += step.energy_pj;
    line.cycles += step.cycles;
  }
  std::vector<std::string> header = titles;
  header.insert(header.begin() + 1, "times");
  header.insert(header.end(), {"energy uJ", "cycles"});
  TextTable table(header);
  for (const StepLine& line : lines) {
    std::vector<std::string> cells = line.cells;
    cells.insert(cells.begin() + 1, fmt::format("{}", line.times));
    cells.push_back(fmt::format("{:.4g}", line.energy_pj * 1e-6));
    cells.push_back(fmt::format("{:.0f}", line.cycles));
    table.add(cells);
  }
  return table.text("");
}

}  // namespace pliant
