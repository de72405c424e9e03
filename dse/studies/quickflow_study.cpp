// SPDX-License-Identifier: Apache-2.0
// The QuickFlow paper: its twenty kernels on three accelerators, 60 map-spaces, each with a proven optimum; how near
// the other mappers come to it; and its count of a map-space.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "dse/studies/all_studies.h"
#include "dse/studies/study_sweep.h"
#include "dse/studies/study_table.h"
#include "flex/mapspace/count.h"

namespace pliant {
namespace {

/// (|D|!)^Lm * product over dims and primes of binom(v + L - 1, L - 1): six dims of five equal primes, five levels,
/// four of them memories.
double map_space_size() {
  constexpr int kDims = 6, kPrimes = 5, kLevels = 5, kMemories = 4;
  double orders = 1, splits = 1;
  for (int i = 2; i <= kDims; ++i) orders *= i;
  for (int i = 1; i < kLevels; ++i) splits = splits * (kPrimes + i) / i;
  return std::pow(orders, kMemories) * std::pow(splits, kDims);
}

}  // namespace

StudyResult run_quickflow_study(const StudyContext& context) {
  StudyResult result;
  result.found("mappings of six dims with five prime factors each, five levels (1e24)", map_space_size() / 1e24);
  DataTable table = table_of({"accelerator", "kernel", "mapper", "edp_pj_cycles", "over_optimum"});
  double spaces = 0;
  bool certified = true;
  std::map<std::string, std::vector<double>> over;
  for (const char* name : {"eyeriss", "simba", "tpuv1"}) {
    const std::string sweep_name = fmt::format("study_quickflow_{}", name);
    const auto shorten = [&](Sweep& sweep) {
      if (context.quick) keep_every(sweep, 5);
    };
    const SweepData exact = run_study_sweep(context, sweep_name, shorten);
    for (std::size_t row = 0; row < exact.designs.size(); ++row)
      certified = certified && exact.designs.number(row, "certified") == 1;
    for (std::size_t row = 0; row < exact.layers.size(); ++row) {
      spaces += 1;
      add_row(table, std::string(name), exact.layers.text(row, "layer"), std::string("exact"),
              exact.layers.number(row, "edp_pj_cycles"), 1.0);
    }
    for (const char* mapper : {"local", "genetic", "random"}) {
      if (context.quick && std::string_view(mapper) != "local") continue;
      const SweepData other = run_study_sweep_with(context, mapper, sweep_name, shorten);
      for (std::size_t row = 0; row < other.layers.size(); ++row) {
        const std::string kernel = other.layers.text(row, "layer");
        const double value = other.layers.number(row, "edp_pj_cycles");
        const double ratio = value / exact.layers.number({{"layer", kernel}}, "edp_pj_cycles");
        over[mapper].push_back(ratio);
        add_row(table, std::string(name), kernel, std::string(mapper), value, ratio);
      }
    }
  }
  result.found(context.quick ? "map-spaces of the quick run" : "map-spaces", spaces);
  result.found("all optima proven", certified ? 1 : 0);
  for (const auto& [mapper, ratios] : over) {
    result.found(fmt::format("least EDP of {} over the proven optimum", mapper), std::ranges::min(ratios));
    if (context.quick) continue;
    result.found(fmt::format("map-spaces where {} misses the optimum", mapper),
                 static_cast<double>(std::ranges::count_if(ratios, [](double r) { return r > 1 + 1e-9; })));
    result.found(fmt::format("largest EDP of {} above the optimum (%)", mapper), 100 * (std::ranges::max(ratios) - 1));
    result.found(fmt::format("EDP of {} over the optimum, geometric mean", mapper), geometric_mean(ratios));
  }
  Chart chart{"fig06_edp", "EDP on 60 map-spaces, proven optimum = 1", {}, table};
  chart.spec = {{"mark", {{"type", "point"}, {"filled", true}, {"size", 60}}},
                {"encoding",
                 {{"x", {{"field", "kernel"}, {"type", "nominal"}, {"sort", nullptr}, {"title", nullptr}}},
                  {"y",
                   {{"field", "over_optimum"},
                    {"type", "quantitative"},
                    {"scale", {{"type", "log"}}},
                    {"title", "EDP, proven optimum = 1"}}},
                  {"color", {{"field", "mapper"}, {"type", "nominal"}, {"title", nullptr}}},
                  {"row", {{"field", "accelerator"}, {"title", nullptr}}}}}};
  result.charts.push_back(std::move(chart));
  result.tables.emplace_back("kernels", std::move(table));
  return result;
}

}  // namespace pliant
