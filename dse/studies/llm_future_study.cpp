// SPDX-License-Identifier: Apache-2.0
// Beyond the papers: what flexibility buys when the future is language models. The best inflexible design for the
// networks of 2016 and of 2020, and what each class of flexibility, had it been built in, would be worth on prefill and
// decode of today's models, dense and mixtures of experts, by bandwidth, with its area beside it. Everything is proven.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <span>

#include "dse/studies/all_studies.h"
#include "dse/studies/era_designs.h"
#include "dse/studies/five_numbers.h"
#include "dse/studies/flexibility_paper.h"
#include "dse/studies/future_designs.h"
#include "dse/studies/inflexible_accelerator.h"
#include "dse/studies/study_table.h"

namespace pliant {
namespace {

void add_model_gains(const ModelTable& table, const Era& era, const std::string& bandwidth, DataTable& gains,
                     StudyResult& result) {
  for (const ModelPhase& phase : kPhases)
    for (const std::string& flexibility : table.flexibilities()) {
      if (flexibility == kBaseline) continue;
      const double speedup = table.speedup(flexibility, phase);
      result.found(fmt::format("{} of {}'s design, {}: speedup, geometric mean{}", flexibility, era.name, phase.name,
                               under(bandwidth)),
                   speedup);
      const double area_percent = table.area_percent(flexibility);
      add_row(gains, std::string(era.name), bandwidth_label(bandwidth), std::string(phase.name), flexibility,
              axes_label(flexibility, area_percent), speedup, area_percent);
    }
}

/// Speedups of each class over each of the designs that are as good for the era, by phase.
void add_model_ties(const StudyContext& context, const ModelTable& table, const EraUnder& one,
                    const std::vector<Workload>& models, DataTable& ties, StudyResult& result) {
  const std::vector<std::string> classes(kTieClasses.begin(), kTieClasses.end());
  for (const ModelPhase& phase : kPhases) {
    std::vector<InflexibleNetwork> networks;
    for (const Workload& model : models)
      if (belongs(model.name, phase)) networks.emplace_back(model);
    const auto gains = gains_by_design(context, networks, one.bandwidth, one.chosen.some, classes);
    for (std::size_t c = 0; c < classes.size(); ++c) {
      const std::string flexibility = "FullFlex-" + classes[c];
      const std::array<double, 5> five = five_numbers(gains[c]);
      for (std::size_t i = 0; i < five.size(); ++i)
        result.found(fmt::format("{} speedup over the designs that are as good for {}'s networks, {}, {}{}",
                                 flexibility, one.era.name, phase.name, kFiveNumbers[i], under(one.bandwidth)),
                     five[i]);
      add_row(ties, std::string(one.era.name), bandwidth_label(one.bandwidth), std::string(phase.name),
              axes_label(flexibility, table.area_percent(flexibility)), five[0], five[1], five[2], five[3], five[4],
              table.area_percent(flexibility));
    }
  }
}

/// The closed form against the mapper: the largest relative difference.
double deviation(const ModelTable& table, const std::vector<Workload>& models, const InflexibleDesign& design,
                 const InflexibleHardware& hardware) {
  double largest = 0;
  for (const Workload& model : models)
    largest = std::max(
        largest, std::abs(InflexibleNetwork(model).cycles(design, hardware) / table.cycles(kBaseline, model.name) - 1));
  return largest;
}

/// The page an architect would show: gain and area of the classes that differ, by bandwidth and era.
Chart slide(DataTable gains) {
  Chart chart{"llm_future", "What flexibility would buy older designs on language models", {}, std::move(gains)};
  const nlohmann::ordered_json wanted = {"FullFlex-1000", "FullFlex-0010", "FullFlex-0001",
                                         "FullFlex-1010", "PartFlex-1111", "FullFlex-1111"};
  const nlohmann::ordered_json phases = {"prefill", "decode", "decode of 16"};
  nlohmann::ordered_json bandwidths;
  for (const char* bandwidth : kModelBandwidths) bandwidths.push_back(bandwidth_label(bandwidth));
  chart.spec = {{"transform", {{{"filter", {{"field", "flexibility"}, {"oneOf", wanted}}}}}},
                {"mark", "bar"},
                {"width", 170},
                {"height", 230},
                {"encoding",
                 {{"y",
                   {{"field", "axes"},
                    {"type", "nominal"},
                    {"sort", {{"field", "area_percent"}, {"op", "min"}}},
                    {"title", "flexible axes, area they add"}}},
                  {"yOffset", {{"field", "phase"}, {"sort", phases}}},
                  {"x", {{"field", "speedup"}, {"type", "quantitative"}, {"title", "times as fast"}}},
                  {"color", {{"field", "phase"}, {"type", "nominal"}, {"sort", phases}, {"title", nullptr}}},
                  {"column", {{"field", "bandwidth"}, {"sort", bandwidths}, {"title", "DRAM, bytes per cycle"}}},
                  {"row", {{"field", "era"}, {"title", "best inflexible design for the networks of"}}}}}};
  return chart;
}

}  // namespace

StudyResult run_llm_future_study(const StudyContext& context) {
  StudyResult result;
  DataTable gains = table_of({"era", "bandwidth", "phase", "flexibility", "axes", "speedup", "area_percent"});
  DataTable designs = table_of({"era", "bandwidth", "design", "cycles_per_mac"});
  DataTable ties = table_of({"era", "bandwidth", "phase", "axes", "least", "lower quartile", "median", "upper quartile",
                             "most", "area_percent"});
  std::vector<Workload> models = load_study_sweep(context, "study_llm_future").workloads;
  double largest_deviation = 0;
  bool certified = true;
  for (const EraUnder& one : eras_under_bandwidths(context, models)) {
    const auto& [era, bandwidth, chosen] = one;
    const ModelTable table(context, one);
    certified = certified && table.certified();
    const std::string which = fmt::format("{}'s networks{}", era.name, under(bandwidth));
    result.found("designs that are best for " + which, chosen.count);
    result.found("language models on the worst of the designs that are best for " + which + ", over the best",
                 chosen.spread);
    for (const Workload& model : context.quick ? std::span(models).first(1) : std::span(models))
      result.found(fmt::format("FullFlex-1111 of {}'s design, {}: speedup{}", era.name, model.name, under(bandwidth)),
                   table.speedup("FullFlex-1111", model.name));
    if (context.quick) continue;
    largest_deviation =
        std::max(largest_deviation, deviation(table, models, chosen.design, hardware_under(context, bandwidth)));
    add_row(designs, std::string(era.name), bandwidth, describe(chosen.design), chosen.design.cycles);
    add_model_gains(table, era, bandwidth, gains, result);
    add_model_ties(context, table, one, models, ties, result);
  }
  result.found(context.quick ? "all entries proven of the quick run" : "all entries proven", certified ? 1 : 0);
  if (context.quick) return result;
  result.found("largest relative difference of the closed form from the mapper", largest_deviation);
  result.charts.push_back(slide(gains));
  result.charts.push_back(
      five_number_chart("llm_ties", "Decode: what each class gains over designs that were equally good for 2016", ties,
                        "datum.era == '2016' && datum.phase == 'decode'"));
  result.tables.emplace_back("ties", std::move(ties));
  result.tables.emplace_back("gains", std::move(gains));
  result.tables.emplace_back("inflexible_designs", std::move(designs));
  return result;
}

}  // namespace pliant
