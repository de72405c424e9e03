// SPDX-License-Identifier: Apache-2.0
// Beyond the papers: how little flexibility is enough? Of the sets of flexible axes, in full or in part, the one with
// the least area that makes an older design within 1 % as fast on language models as full flexibility would, by era,
// phase and bandwidth. Everything is proven.
#include <fmt/format.h>

#include <algorithm>

#include "dse/studies/all_studies.h"
#include "dse/studies/era_designs.h"
#include "dse/studies/study_table.h"

namespace pliant {
namespace {

constexpr double kEnough = 0.99;
constexpr const char* kEverything = "FullFlex-1111";

/// All sets of T, P and S, in full and in part, and everything; those that study_llm_future has are not repeated. A set
/// with O has at least half of O's area: where the cheapest of these has less, it is the cheapest of all.
std::vector<std::string> more_classes() {
  return {"FullFlex-1001", "FullFlex-1011", "PartFlex-1000", "PartFlex-0010", "PartFlex-0001",
          "PartFlex-0011", "PartFlex-1010", "PartFlex-1001", "PartFlex-1011"};
}

/// "T + P in part", "nothing".
std::string axes_of(const std::string& flexibility) {
  if (flexibility == kBaseline) return "nothing";
  std::string axes = axes_label(flexibility, 0);
  axes = axes.substr(0, axes.find(", +"));
  if (flexibility.starts_with("Part") && axes.find("part") == std::string::npos) axes += " in part";
  return axes;
}

/// Nothing counts too: the inflexible design itself may be fast enough.
std::string cheapest(const ModelTable& table, const ModelPhase& phase) {
  const double wanted = kEnough * table.speedup(kEverything, phase);
  std::string best = kEverything;
  for (const std::string& flexibility : table.flexibilities())
    if (table.speedup(flexibility, phase) >= wanted && table.area(flexibility) < table.area(best)) best = flexibility;
  return best;
}

Chart enough_chart(DataTable table) {
  Chart chart{"enough",
              "The least flexibility within 1 % of all of it, and the area it adds to designs of 2016 and 2020",
              {},
              std::move(table)};
  nlohmann::ordered_json bandwidths, phases;
  for (const char* bandwidth : kModelBandwidths) bandwidths.push_back(bandwidth_label(bandwidth));
  for (const ModelPhase& phase : kPhases) phases.push_back(phase.name);
  const nlohmann::ordered_json x = {{"field", "bandwidth"},
                                    {"type", "nominal"},
                                    {"sort", bandwidths},
                                    {"axis", {{"labelAngle", 0}}},
                                    {"title", "DRAM, bytes per cycle"}};
  const nlohmann::ordered_json y = {{"field", "phase"}, {"type", "nominal"}, {"sort", phases}, {"title", nullptr}};
  chart.spec = {
      {"facet", {{"row", {{"field", "era"}, {"title", "best inflexible design for the networks of"}}}}},
      {"spec",
       {{"width", 600},
        {"height", 170},
        {"transform",
         {{{"calculate",
            "datum.axes == 'nothing' ? 'as fast as with all' : format(datum.gain, '.2f') + ' times as fast, +' + "
            "format(datum.area_percent, '.2') + ' %'"},
           {"as", "gains"}}}},
        {"layer",
         {{{"mark", "rect"},
           {"encoding",
            {{"x", x},
             {"y", y},
             {"color",
              {{"field", "area_percent"},
               {"type", "quantitative"},
               {"scale", {{"scheme", "blues"}, {"domain", {0, 0.4}}}},
               {"title", "area, %"}}}}}},
          {{"mark", {{"type", "text"}, {"fontSize", 13}, {"dy", -7}, {"color", "black"}}},
           {"encoding", {{"x", x}, {"y", y}, {"text", {{"field", "axes"}, {"type", "nominal"}}}}}},
          {{"mark", {{"type", "text"}, {"fontSize", 10}, {"dy", 9}, {"color", "#444"}}},
           {"encoding", {{"x", x}, {"y", y}, {"text", {{"field", "gains"}, {"type", "nominal"}}}}}}}}}}};
  return chart;
}

}  // namespace

StudyResult run_enough_study(const StudyContext& context) {
  StudyResult result;
  const std::vector<Workload> models = load_study_sweep(context, "study_llm_future").workloads;
  DataTable least =
      table_of({"era", "bandwidth", "phase", "flexibility", "axes", "area_percent", "gain", "gain_of_all"});
  bool certified = true;
  for (const EraUnder& one : eras_under_bandwidths(context, models)) {
    const ModelTable table(context, one, more_classes());
    certified = certified && table.certified();
    for (const ModelPhase& phase : kPhases) {
      if (context.quick && phase.name != kPhases[0].name) continue;
      const std::string where = fmt::format("{}, {}{}", one.era.name, phase.name, under(one.bandwidth));
      // A quick run has one workload of three.
      const std::string which = context.quick ? " of the quick run" : "";
      for (const std::string& flexibility : table.flexibilities())
        result.found(fmt::format("{} on language models over the design of {}{}", flexibility, where, which),
                     table.speedup(flexibility, phase));
      const std::string best = cheapest(table, phase);
      result.found(fmt::format("area (%) of the least flexibility within 1 % of all, {}{}", where, which),
                   table.area_percent(best));
      add_row(least, std::string(one.era.name), bandwidth_label(one.bandwidth), std::string(phase.name), best,
              axes_of(best), table.area_percent(best), table.speedup(best, phase), table.speedup(kEverything, phase));
    }
    for (const std::string& flexibility : table.flexibilities())
      if (one.bandwidth == kPaperBandwidth && std::string_view(one.era.name) == "2016")
        result.found(fmt::format("{}: area added (%)", flexibility), table.area_percent(flexibility));
  }
  result.found(context.quick ? "all entries proven of the quick run" : "all entries proven", certified ? 1 : 0);
  if (context.quick) return result;
  result.charts.push_back(enough_chart(least));
  result.tables.emplace_back("least", std::move(least));
  return result;
}

}  // namespace pliant
