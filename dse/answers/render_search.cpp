// SPDX-License-Identifier: Apache-2.0
#include "dse/answers/render_search.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/big_count.h"
#include "costmodel/report.h"
#include "dse/answers/render_cost.h"
#include "dse/answers/render_physical.h"
#include "dse/answers/text_table.h"
#include "dse/mappers/idle_units.h"

namespace pliant {
namespace {

using nlohmann::ordered_json;

std::string_view unit_of(Objective objective) {
  switch (objective) {
    case Objective::kRuntime: return "cycles";
    case Objective::kEnergy:
    case Objective::kPerfPerWatt: return "pJ";
    case Objective::kEd2p: return "pJ x cycles^2";
    case Objective::kEdp:
    case Objective::kEdpOverUtilization: return "pJ x cycles";
  }
  return "";
}

/// "57456 mappings", "1.08e+24 mappings".
std::string readable_mappings(const std::string& digits) {
  if (digits.empty()) return "";
  if (digits.size() <= 9) return digits + " mappings";
  return fmt::format("{:.3g} mappings", BigCount(digits).convert_to<double>());
}

std::string proof(const SearchedLayer& searched, std::string_view mapper) {
  const SearchResult& result = searched.result;
  const Task& task = *searched.task;
  std::string text = fmt::format("{} {:.7g} {}", to_string(task.objective), result.value, unit_of(task.objective));
  if (result.certified) {
    text = "certified optimum: " + text + ", proven over ";
    text +=
        result.mappings_covered.empty() ? "the whole map-space" : "all " + readable_mappings(result.mappings_covered);
  } else if (result.ended_by == EndedBy::kProofWithinGap) {
    text = fmt::format("certified within {:.3g} %: {}, proven over all {}: none is below {:.7g}", 100 * result.gap(),
                       text, readable_mappings(result.mappings_covered), result.lower_bound);
  } else if (result.lower_bound > 0) {
    text = "best found: " + text +
           fmt::format(", proven lower bound {:.7g}, gap {:.3g} %", result.lower_bound, 100 * result.gap());
  } else if (result.ended_by == EndedBy::kMixedConventions) {
    text = "best found: " + text + ", not certified: mixed conventions (proofs hold for the presets)";
  } else if (mapper == "goma" && result.ended_by == EndedBy::kProof) {
    text = "best found: " + text +
           "; proven of GOMA's closed form only: no mapping that uses all processing elements has less energy in it";
  } else {
    text = "best found: " + text + ", nothing proven about it";
  }
  return text + fmt::format("\nmapper {}, {} priced, {}, ended by {}", mapper, result.evaluations,
                            readable_search_time(result.seconds), to_string(result.ended_by));
}

std::string bound_by(const SearchedLayer& searched) {
  return bound_name(Problem(searched.task->layer, searched.task->accelerator), searched.result.totals);
}

PricedMapping priced_mapping(const SearchedLayer& searched, const CostReport& report) {
  const Task& task = *searched.task;
  return {task.layer, task.accelerator, *searched.result.mapping, task.factorization, report};
}

}  // namespace

std::string readable_search_time(double seconds) {
  return seconds < 1 ? fmt::format("{:.3g} ms", seconds * 1e3) : fmt::format("{:.3g} s", seconds);
}

ordered_json search_json(const SearchedLayer& searched, std::string_view mapper) {
  const SearchResult& result = searched.result;
  const Task& task = *searched.task;
  ordered_json json;
  json["feasible"] = result.mapping.has_value();
  json["mapper"] = mapper;
  json["objective"] = to_string(task.objective);
  json["factorization"] = to_string(task.factorization);
  if (!task.flexibility.name.empty()) json["flexibility"] = task.flexibility.name;
  if (result.mapping) {
    json["value"] = result.value;
    json["lower_bound"] = result.lower_bound;
    json["gap"] = result.gap();
    json["certified"] = result.certified;
  }
  json["mappings_covered"] = result.mappings_covered;
  json["evaluations"] = result.evaluations;
  json["ended_by"] = to_string(result.ended_by);
  json["solve_seconds"] = result.seconds;
  json["solve_cpu_seconds"] = result.cpu_seconds;
  if (result.mapping) {
    const CostReport report = price(task.layer, task.accelerator, *result.mapping);
    json.update(cost_json(priced_mapping(searched, report)));
    if (const auto idle = idle_units(task, *result.mapping, result.totals))
      json["remainders"] = {{"idle_units", idle->share}, {"gain_at_most", idle->gain_at_most()}};
    return json;
  }
  json["accelerator"] = task.accelerator.name;
  json["layer"] = task.layer.name;
  if (searched.why) {
    ordered_json conflict = ordered_json::array();
    for (const Limit& limit : searched.why->conflict)
      conflict.push_back({{"level", limit.level}, {"rule", limit.rule}, {"limit", limit.text}});
    json["conflict"] = std::move(conflict);
    json["nearest_miss"] = violations_json(searched.why->nearest_miss);
  }
  return json;
}

std::string search_text(const SearchedLayer& searched, std::string_view mapper, bool ascii) {
  const CostReport report = price(searched.task->layer, searched.task->accelerator, *searched.result.mapping);
  std::string text = proof(searched, mapper) + "\n";
  if (const auto idle = idle_units(*searched.task, *searched.result.mapping, searched.result.totals))
    text += idle_text(*idle) + "\n";
  return text + "\n" + cost_text(priced_mapping(searched, report), ascii);
}

WorkloadTable::WorkloadTable(std::size_t longest_name, bool has_clock)
    : table_({"layer", "times", "energy uJ", "cycles", "EDP", "used", "bound by<", "proof<", "time",
              has_clock ? "latency" : "", has_clock ? "W" : "", has_clock ? "TOPS/W" : ""}),
      // Rows are printed one by one, so the widths are those that cells seldom exceed.
      widths_{std::max<std::size_t>(longest_name, 5), 5, 9, 10, 9, 7, 12, 13, 8, 9, 6, 6} {}

std::string WorkloadTable::header() const { return table_.line(table_.header(), widths_); }

std::string WorkloadTable::row(const SearchedLayer& searched) const {
  const SearchResult& result = searched.result;
  if (!result.mapping)
    return table_.line({searched.task->layer.name, std::to_string(searched.count), "-", "-", "-", "-", "",
                        result.infeasible || searched.why ? "nothing fits" : "nothing found",
                        readable_search_time(result.seconds), "", "", ""},
                       widths_);
  const auto figures = physical(searched.task->accelerator.clock_hz, result.totals.energy_pj, result.totals.cycles,
                                static_cast<double>(searched.task->layer.macs()));
  return table_.line(
      {searched.task->layer.name, std::to_string(searched.count), fmt::format("{:.4g}", result.totals.energy_pj * 1e-6),
       fmt::format("{:.0f}", result.totals.cycles), fmt::format("{:.4g}", result.totals.edp()),
       fmt::format("{:.1f} %", 100 * result.totals.utilization), bound_by(searched),
       result.certified                              ? "optimal"
       : result.ended_by == EndedBy::kProofWithinGap ? fmt::format("within {:.2g} %", 100 * result.gap())
       : result.lower_bound > 0                      ? fmt::format("gap {:.2g} %", 100 * result.gap())
                                                     : "none",
       readable_search_time(result.seconds), figures ? readable_latency(figures->latency_s) : "",
       figures ? fmt::format("{:.3g}", figures->power_w) : "",
       figures ? fmt::format("{:.3g}", figures->tops_per_w) : ""},
      widths_);
}

std::string frontier_text(const std::vector<SearchedLayer>& points, bool certified, std::string_view mapper) {
  TextTable table({"cycles", "energy uJ", "EDP", "used", "bound by<", "proof<"});
  double seconds = 0;
  for (const SearchedLayer& point : points) {
    const Totals& totals = point.result.totals;
    seconds += point.result.seconds;
    table.add({fmt::format("{:.0f}", totals.cycles), fmt::format("{:.6g}", totals.energy_pj * 1e-6),
               fmt::format("{:.4g}", totals.edp()), fmt::format("{:.1f} %", 100 * totals.utilization), bound_by(point),
               point.result.certified ? "optimal" : "none"});
  }
  return table.text("") +
         fmt::format("\n{} mapping{} that none beats in every objective; {}; mapper {}, {}\n", points.size(),
                     points.size() == 1 ? "" : "s",
                     certified ? "proven complete" : "not proven complete: others may lie between or below", mapper,
                     readable_search_time(seconds));
}

std::string infeasible_text(const Task& task, const Infeasibility& why) {
  std::string text =
      fmt::format("no mapping of layer {} fits accelerator {}\n", task.layer.name, task.accelerator.name);
  text += why.conflict.size() == 1 ? "one limit rules out every mapping:\n"
                                   : "these limits together rule out every mapping; lifting any one of them helps:\n";
  for (const Limit& limit : why.conflict) text += fmt::format("  {} ({})\n", limit.text, limit.rule);
  if (!why.nearest_miss.empty()) {
    text += "the nearest miss, the smallest tiles the rules allow:\n";
    text += violations_text(why.nearest_miss);
  }
  return text;
}

}  // namespace pliant
