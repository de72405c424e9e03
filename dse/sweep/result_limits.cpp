// SPDX-License-Identifier: Apache-2.0
#include "dse/sweep/result_limits.h"

#include <fmt/format.h>

#include <array>

namespace pliant {
namespace {

enum class Needs : std::uint8_t { kNothing, kClock, kServing };  // Serving has a clock, too.

struct ResultName {
  std::string_view name;
  Needs needs = Needs::kNothing;
  std::optional<double> (*value)(const DesignRow&) = nullptr;
};

template <double DesignRow::Cost::*member>
std::optional<double> cost(const DesignRow& row) {
  return row.cost ? std::optional((*row.cost).*member) : std::nullopt;
}

template <double Physical::*member>
std::optional<double> in_time(const DesignRow& row) {
  return row.in_time ? std::optional(row.in_time->physical.*member) : std::nullopt;
}

const DesignRow::Serving::Cost* served(const DesignRow& row) {
  return row.serving && row.serving->cost ? &*row.serving->cost : nullptr;
}

using Cost = DesignRow::Cost;
using enum Needs;
constexpr std::array<ResultName, 17> kResults{{
    {"energy_pj", kNothing, cost<&Cost::energy_pj>},
    {"runtime_cycles", kNothing, cost<&Cost::runtime_cycles>},
    {"edp_pj_cycles", kNothing, cost<&Cost::edp_pj_cycles>},
    {"sum_layer_edp_pj_cycles", kNothing, cost<&Cost::sum_layer_edp_pj_cycles>},
    {"utilization", kNothing, cost<&Cost::utilization>},
    {"latency_s", kClock, in_time<&Physical::latency_s>},
    {"energy_mj", kClock, in_time<&Physical::energy_mj>},
    {"power_w", kClock, in_time<&Physical::power_w>},
    {"tops", kClock, in_time<&Physical::tops>},
    {"tops_per_w", kClock, in_time<&Physical::tops_per_w>},
    {"inferences_per_s", kClock,
     [](const DesignRow& row) { return row.in_time ? std::optional(row.in_time->inferences_per_s) : std::nullopt; }},
    {"tokens_per_s", kClock,
     [](const DesignRow& row) { return row.in_time ? row.in_time->tokens_per_s : std::nullopt; }},
    {"ttft_s", kServing,
     [](const DesignRow& row) { return served(row) ? std::optional(served(row)->ttft_s) : std::nullopt; }},
    {"tpot_s", kServing, [](const DesignRow& row) { return served(row) ? served(row)->tpot_s : std::nullopt; }},
    {"served_tokens_per_s", kServing,
     [](const DesignRow& row) { return served(row) ? std::optional(served(row)->tokens_per_s) : std::nullopt; }},
    {"tokens_per_j", kServing,
     [](const DesignRow& row) { return served(row) ? std::optional(served(row)->tokens_per_j) : std::nullopt; }},
    {"largest_batch", kServing,
     [](const DesignRow& row) {
       return row.serving && row.serving->largest_batch
                  ? std::optional(static_cast<double>(*row.serving->largest_batch))
                  : std::nullopt;
     }},
}};

const ResultName* find_result(std::string_view name) {
  for (const ResultName& one : kResults)
    if (one.name == name) return &one;
  return nullptr;
}

}  // namespace

const std::vector<std::string>& result_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const ResultName& one : kResults) all.emplace_back(one.name);
    return all;
  }();
  return names;
}

bool needs_clock(std::string_view result_name) {
  const ResultName* found = find_result(result_name);
  return found != nullptr && found->needs != Needs::kNothing;
}

bool needs_serving(std::string_view result_name) {
  const ResultName* found = find_result(result_name);
  return found != nullptr && found->needs == Needs::kServing;
}

std::optional<double> result_value(const DesignRow& row, std::string_view name) {
  const ResultName* found = find_result(name);
  return found == nullptr ? std::nullopt : found->value(row);
}

void apply_limits(const std::vector<Constraint>& limits, const Constraint::Lookup& lookup, DesignRow& row) {
  if (!row.cost) return;
  for (const Constraint& limit : limits) {
    const auto value = [&](const std::string& name) {
      return find_result(name) != nullptr ? result_value(row, name) : lookup(name);
    };
    if (limit.holds(value) != false) continue;
    row.status = kOverLimit;
    row.reason = fmt::format("{} does not hold:", limit.text());
    for (const std::string& name : limit.names()) row.reason += fmt::format(" {} {:.6g}", name, value(name).value());
    return;
  }
}

}  // namespace pliant
