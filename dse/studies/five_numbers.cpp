// SPDX-License-Identifier: Apache-2.0
#include "dse/studies/five_numbers.h"

#include <algorithm>

namespace pliant {

std::array<double, 5> five_numbers(std::vector<double> values) {
  std::ranges::sort(values);
  std::array<double, 5> five{};
  for (std::size_t i = 0; i < five.size(); ++i) five[i] = values[i * (values.size() - 1) / 4];
  return five;
}

Chart five_number_chart(std::string name, std::string title, DataTable table, const std::string& filter) {
  Chart chart{std::move(name), std::move(title), {}, std::move(table)};
  const nlohmann::ordered_json y = {{"field", "axes"},
                                    {"type", "nominal"},
                                    {"sort", {{"field", "area_percent"}, {"op", "min"}}},
                                    {"title", "flexible axes, area they add"}};
  const auto x = [](const char* field) {
    return nlohmann::ordered_json{{"field", field},
                                  {"type", "quantitative"},
                                  {"scale", {{"type", "log"}}},
                                  {"axis", {{"values", {1, 1.5, 2, 3, 5, 10, 20, 50}}}},
                                  {"title", "times as fast"}};
  };
  const nlohmann::ordered_json bandwidths = {"25.6", "102.4", "409.6", "no limit"};
  chart.spec = {{"facet",
                 {{"column",
                   {{"field", "bandwidth"},
                    {"sort", bandwidths},
                    {"title", "DRAM, bytes/cycle (line: least to most; bar: quartiles; tick: median)"}}}}},
                {"spec",
                 {{"width", 165},
                  {"height", 210},
                  {"encoding", {{"y", y}}},
                  {"layer",
                   {{{"mark", {{"type", "rule"}, {"color", "#888"}}},
                     {"encoding", {{"x", x("least")}, {"x2", {{"field", "most"}}}}}},
                    {{"mark", {{"type", "bar"}, {"height", 10}, {"color", "#4c78a8"}}},
                     {"encoding", {{"x", x("lower quartile")}, {"x2", {{"field", "upper quartile"}}}}}},
                    {{"mark", {{"type", "tick"}, {"size", 16}, {"thickness", 3}, {"color", "#e45756"}}},
                     {"encoding", {{"x", x("median")}}}}}}}}};
  if (!filter.empty()) chart.spec["transform"] = {{{"filter", filter}}};
  return chart;
}

}  // namespace pliant
