// SPDX-License-Identifier: Apache-2.0
// The QuickFlow paper: its twenty kernels on three accelerators, 60 map-spaces, each with a proven optimum; how near
// the other mappers come to it, there and on 60 map-spaces that nothing was settled on; what it counts about its
// search.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "core/legality.h"
#include "costmodel/report.h"
#include "dse/studies/all_studies.h"
#include "dse/studies/quickflow_counts.h"
#include "dse/studies/study_sweep.h"
#include "dse/studies/study_table.h"
#include "dse/studies/study_task.h"

namespace pliant {
namespace {

/// The constants of `local` were settled on 40 of the 60 map-spaces (tests/data/quickflow_optima.csv). These are the
/// other 20.
const std::set<std::pair<std::string, std::string>>& untouched() {
  static const std::set<std::pair<std::string, std::string>> spaces = {
      {"eyeriss", "QF_III"}, {"eyeriss", "QF_V"}, {"eyeriss", "QF_XI"},  {"eyeriss", "QF_XII"}, {"eyeriss", "QF_XVIII"},
      {"eyeriss", "QF_XX"},  {"simba", "QF_I"},   {"simba", "QF_V"},     {"simba", "QF_XII"},   {"simba", "QF_XIII"},
      {"simba", "QF_XV"},    {"simba", "QF_XVI"}, {"simba", "QF_XVIII"}, {"tpuv1", "QF_III"},   {"tpuv1", "QF_V"},
      {"tpuv1", "QF_XI"},    {"tpuv1", "QF_XIV"}, {"tpuv1", "QF_XV"},    {"tpuv1", "QF_XVI"},   {"tpuv1", "QF_XVII"}};
  return spaces;
}

/// (|D|!)^Lm * product over dims and primes of binom(v + L - 1, L - 1): six dims of five equal primes, five levels,
/// four of them memories.
double map_space_size() {
  constexpr int kDims = 6, kPrimes = 5, kLevels = 5, kMemories = 4;
  double orders = 1, splits = 1;
  for (int i = 2; i <= kDims; ++i) orders *= i;
  for (int i = 1; i < kLevels; ++i) splits = splits * (kPrimes + i) / i;
  return std::pow(orders, kMemories) * std::pow(splits, kDims);
}

/// EDP over the proven optimum of many map-spaces, by mapper; the untouched ones of the paper's by themselves.
struct KernelDistances {
  std::map<std::string, std::vector<double>> all, untouched_only;
  double spaces = 0;
  bool certified = true;
};

/// One accelerator, by `exact` and the other mappers.
void add_distances(const StudyContext& context, const std::string& accelerator, const std::string& sweep,
                   const std::function<void(Sweep&)>& change, KernelDistances& distances, DataTable& table) {
  const SweepData exact = run_study_sweep(context, sweep, change, sweep + "_" + accelerator);
  for (std::size_t row = 0; row < exact.designs.size(); ++row)
    distances.certified = distances.certified && exact.designs.number(row, "certified") == 1;
  for (std::size_t row = 0; row < exact.layers.size(); ++row) {
    distances.spaces += 1;
    add_row(table, accelerator, exact.layers.text(row, "layer"), std::string("exact"),
            exact.layers.number(row, "edp_pj_cycles"), 1.0);
  }
  for (const char* mapper : {"local", "genetic", "random"}) {
    if (!context.wants_samples() && std::string_view(mapper) != "local") continue;
    const SweepData other = run_study_sweep(
        context, sweep,
        [&](Sweep& one) {
          change(one);
          one.mapper = mapper;
        },
        fmt::format("{}_{}_{}", sweep, accelerator, mapper));
    for (std::size_t row = 0; row < other.layers.size(); ++row) {
      const std::string kernel = other.layers.text(row, "layer");
      const double value = other.layers.number(row, "edp_pj_cycles");
      const double ratio =
          value /
          exact.layers.number({{"workload", other.layers.text(row, "workload")}, {"layer", kernel}}, "edp_pj_cycles");
      distances.all[mapper].push_back(ratio);
      if (untouched().contains({accelerator, kernel})) distances.untouched_only[mapper].push_back(ratio);
      add_row(table, accelerator, kernel, std::string(mapper), value, ratio);
    }
  }
}

void found_distances(const std::map<std::string, std::vector<double>>& by_mapper, const std::string& which,
                     StudyResult& result) {
  for (const auto& [mapper, ratios] : by_mapper) {
    result.found(fmt::format("{} where {} misses the optimum", which, mapper),
                 static_cast<double>(std::ranges::count_if(ratios, [](double r) { return r > 1 + 1e-9; })));
    result.found(fmt::format("{}: largest EDP of {} above the optimum (%)", which, mapper),
                 100 * (std::ranges::max(ratios) - 1));
    result.found(fmt::format("{}: EDP of {} over the optimum, geometric mean", which, mapper), geometric_mean(ratios));
  }
}

/// The optimum is a line. Larger points below smaller ones: most of `local` lie on the line, and many others there too.
Chart distance_chart(std::string name, std::string title, DataTable table) {
  Chart chart{std::move(name), std::move(title), {}, std::move(table)};
  const nlohmann::ordered_json x = {{"field", "kernel"},
                                    {"type", "nominal"},
                                    {"sort", nullptr},
                                    {"axis", {{"labelExpr", "replace(datum.label, 'QF_', '')"}, {"labelFontSize", 10}}},
                                    {"title", "kernel"}};
  const nlohmann::ordered_json y = {{"field", "over_optimum"},
                                    {"type", "quantitative"},
                                    {"scale", {{"type", "log"}}},
                                    {"title", "EDP, proven optimum = 1"}};
  nlohmann::ordered_json layers = {
      {{"mark", {{"type", "rule"}, {"color", "#888"}}}, {"encoding", {{"y", {{"datum", 1}}}}}}};
  const std::array<std::pair<const char*, int>, 3> sizes = {std::pair{"random", 90}, {"genetic", 55}, {"local", 25}};
  nlohmann::ordered_json order;
  for (const auto& [mapper, size] : sizes) order.push_back(mapper);
  for (const auto& [mapper, size] : sizes)
    layers.push_back(
        {{"mark", {{"type", "point"}, {"filled", true}, {"opacity", 1}, {"size", size}}},
         {"transform", {{{"filter", fmt::format("datum.mapper == '{}'", mapper)}}}},
         {"encoding",
          {{"x", x},
           {"y", y},
           {"color",
            {{"field", "mapper"}, {"type", "nominal"}, {"scale", {{"domain", order}}}, {"title", nullptr}}}}}});
  chart.spec = {{"facet", {{"column", {{"field", "accelerator"}, {"title", nullptr}}}}},
                {"spec", {{"width", 260}, {"height", 220}, {"layer", layers}}}};
  return chart;
}

DataTable distance_table() { return table_of({"accelerator", "kernel", "mapper", "edp_pj_cycles", "over_optimum"}); }

/// The paper's 60 map-spaces.
void paper_spaces(const StudyContext& context, StudyResult& result) {
  DataTable table = distance_table();
  KernelDistances distances;
  for (const char* name : {"eyeriss", "simba", "tpuv1"})
    add_distances(
        context, name, fmt::format("study_quickflow_{}", name),
        [&](Sweep& sweep) {
          if (context.quick) keep_every(sweep, 5);
        },
        distances, table);
  result.found(context.quick ? "map-spaces of the quick run" : "map-spaces", distances.spaces);
  result.found("all optima proven", distances.certified ? 1 : 0);
  if (!context.quick) {
    found_distances(distances.all, "map-spaces", result);
    found_distances(distances.untouched_only, "the 20 map-spaces that nothing was settled on", result);
  }
  result.charts.push_back(
      distance_chart("quickflow_edp", "EDP of three searches on QuickFlow's 60 map-spaces, proven optimum = 1", table));
  result.tables.emplace_back("kernels", std::move(table));
}

/// Twenty other kernels on three other accelerators.
void fresh_spaces(const StudyContext& context, StudyResult& result) {
  DataTable table = distance_table();
  KernelDistances distances;
  for (const char* name : {"gemmini", "timeloop_eyeriss_like", "ruby_simba_16"})
    add_distances(
        context, name, "study_quickflow_fresh",
        [&](Sweep& sweep) {
          constexpr std::array<std::size_t, 3> kEvery = {8, 5, 7};  // of each workload: 10, 5 and 5 kernels
          sweep.accelerators = {name};
          for (std::size_t w = 0; w < kEvery.size(); ++w) {
            std::size_t i = 0;
            std::erase_if(sweep.workloads[w].layers, [&](const auto&) { return i++ % kEvery[w] != 0; });
          }
        },
        distances, table);
  result.found("fresh map-spaces", distances.spaces);
  result.found("fresh map-spaces: all optima proven", distances.certified ? 1 : 0);
  found_distances(distances.all, "fresh map-spaces", result);
  result.charts.push_back(distance_chart("fresh_edp", "EDP on 60 fresh map-spaces, proven optimum = 1", table));
  result.tables.emplace_back("fresh", std::move(table));
}

/// Kernels as the paper's Table III groups them: the first and the last of each.
struct KernelGroup {
  const char* name;
  std::size_t first, last;
};
constexpr std::array kGroups = {KernelGroup{"I-X", 1, 10}, KernelGroup{"XI-XII", 11, 12},
                                KernelGroup{"XIII-XV", 13, 15}, KernelGroup{"XVI-XVII", 16, 17},
                                KernelGroup{"XVIII-XX", 18, 20}};

/// The 60 optima under the `quickflow` rules, priced again by those of `timeloop`: "accuracy w.r.t. Timeloop".
void beside_timeloop(const StudyContext& context, StudyResult& result) {
  const Workload kernels = load_workload(context.library, "quickflow_kernels");
  DataTable table = table_of({"accelerator", "kernel", "edp_timeloop_over_quickflow"});
  std::vector<std::vector<double>> by_group(kGroups.size());
  std::vector<double> all;
  double illegal = 0;
  for (const char* name : {"eyeriss", "simba", "tpuv1"})
    for (std::size_t k = 0; k < kernels.layers.size(); ++k) {
      Accelerator accelerator = load_accelerator(context.library, name);
      accelerator.conventions = Conventions::quickflow();
      StudyTask task;
      task.layer = kernels.layers[k].layer;
      const SearchResult best = solve(context, accelerator, task);
      accelerator.conventions = Conventions::timeloop();
      if (!check_legality(task.layer, accelerator, accelerator.flexibility_of(task.layer), task.factorization,
                          *best.mapping)
               .empty()) {
        illegal += 1;  // larger tiles of strided and dilated inputs
        continue;
      }
      const Totals totals = price(task.layer, accelerator, *best.mapping).totals;
      all.push_back(totals.energy_pj * totals.cycles / best.value);
      for (std::size_t g = 0; g < kGroups.size(); ++g)
        if (k + 1 >= kGroups[g].first && k + 1 <= kGroups[g].last)
          by_group[g].push_back(std::min(all.back(), 1 / all.back()));
      add_row(table, std::string(name), task.layer.name, all.back());
    }
  result.found("optima that run under the rules of timeloop", static_cast<double>(all.size()));
  result.found("optima that break a capacity under the rules of timeloop", illegal);
  result.found("EDP by timeloop over EDP by quickflow, least", std::ranges::min(all));
  result.found("EDP by timeloop over EDP by quickflow, largest", std::ranges::max(all));
  result.found("optima whose EDP agrees within 0.1 %",
               static_cast<double>(std::ranges::count_if(all, [](double r) { return std::abs(r - 1) <= 1e-3; })));
  for (std::size_t g = 0; g < kGroups.size(); ++g)
    result.found(fmt::format("accuracy beside Timeloop, kernels {}", kGroups[g].name), geometric_mean(by_group[g]));
  result.tables.emplace_back("beside_timeloop", std::move(table));
}

}  // namespace

StudyResult run_quickflow_study(const StudyContext& context) {
  StudyResult result;
  result.found("mappings of six dims with five prime factors each, five levels (1e21)", map_space_size() / 1e21);
  paper_spaces(context, result);
  quickflow_counts(context, result);
  if (!context.quick) fresh_spaces(context, result);
  if (!context.quick) beside_timeloop(context, result);
  return result;
}

}  // namespace pliant
