// SPDX-License-Identifier: Apache-2.0
#include "dse/report/measures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "dse/report/resources.h"

namespace pliant {

const nlohmann::ordered_json& measures() {
  static const auto json = nlohmann::ordered_json::parse(resource("charts/measures.json"));
  return json;
}

namespace {

const Metric* find_metric(std::string_view name) {
  static const std::vector<Metric> all = [] {
    std::vector<Metric> list;
    for (const auto& one : measures()["metrics"])
      list.push_back({one["name"].get<std::string>(), one["title"].get<std::string>(), one["unit"].get<std::string>(),
                      one["scale"].get<double>(), one["format"].get<std::string>()});
    return list;
  }();
  const auto found = std::ranges::find(all, name, &Metric::name);
  return found == all.end() ? nullptr : &*found;
}

}  // namespace

bool has_metric(std::string_view name) { return find_metric(name) != nullptr; }

const Metric& metric(std::string_view name) {
  if (const Metric* found = find_metric(name)) return *found;
  throw std::logic_error("measures.json lacks " + std::string(name));
}

std::string si_text(double value) {
  constexpr const char* kPrefixes[] = {"", " k", " M", " G", " T", " P"};
  std::size_t prefix = 0;
  while (std::abs(value) >= 1000 && prefix + 1 < std::size(kPrefixes)) {
    value /= 1000;
    ++prefix;
  }
  return fmt::format("{:.3g}{}", value, kPrefixes[prefix]);
}

}  // namespace pliant
