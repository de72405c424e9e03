// SPDX-License-Identifier: Apache-2.0
// The GOMA paper: 24 cases of LLM prefill with a proof for every GEMM, the other mappers on the same work, and its
// closed form against the model on 8064 mappings.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "costmodel/report.h"
#include "dse/studies/all_studies.h"
#include "dse/studies/goma_closed_form.h"
#include "dse/studies/study_sweep.h"
#include "dse/studies/study_table.h"

namespace pliant {
namespace {

constexpr std::array<const char*, 4> kTemplates = {"eyeriss", "gemmini", "a100", "tpuv1"};

/// 7 GEMMs x 2 tilings x 9 pairs of walking axes x 64 bypasses = 8064. The paper does not print its tilings; ours fill
/// the 256 PEs of the template in two ways, as it demands.
void fidelity(const StudyContext& context, StudyResult& result) {
  struct Tiling {
    std::array<double, 3> sram, array, regfile;
  };
  constexpr std::array kTilings = {Tiling{{128, 128, 32}, {64, 64, 4}, {4, 4, 4}},
                                   Tiling{{256, 256, 64}, {32, 32, 32}, {8, 8, 2}}};
  const Accelerator accelerator = load_accelerator(context.library, "goma_eyeriss");
  const GomaEnergies energies = goma_energies(accelerator);
  const Workload model = load_workload(context.library, "llm_llama3_2_1b_1k");
  DataTable table = table_of({"gemm", "mapping", "closed_form_pj", "model_pj"});
  double mappings = 0, identical = 0, repaired = 0, relative = 0, difference = 0, total = 0;
  for (const Workload::Entry& entry : model.layers) {
    const Layer& gemm = entry.layer;
    if (gemm.dims[0].size == 1) continue;  // lm_head, a matrix-vector product: seven GEMMs are left
    for (const Tiling& tiling : kTilings) {
      GomaMapping m;
      for (std::size_t d = 0; d < 3; ++d) {
        const auto size = static_cast<double>(gemm.dims[d].size);
        m.tile[0][d] = size;
        m.tile[1][d] = std::min(size, tiling.sram[d]);
        m.tile[2][d] = std::min(m.tile[1][d], tiling.array[d]);
        m.tile[3][d] = std::min(m.tile[2][d], tiling.regfile[d]);
      }
      for (int choice = 0; choice < 9 * 64; ++choice) {
        m.walking = {choice % 3, choice / 3 % 3};
        for (std::size_t d = 0; d < 3; ++d) {
          m.in_sram[d] = (choice / 9 >> d & 1) != 0;
          m.in_regfile[d] = (choice / 72 >> d & 1) != 0;
        }
        const double ours = price(gemm, accelerator, to_mapping(m, gemm)).totals.energy_pj;
        const double theirs = goma_energy(m, energies, as_published(m));
        const double walked = goma_energy(m, energies, as_walked(m));
        const auto same = [&](double value) { return std::abs(value - ours) <= 1e-9 * ours ? 1.0 : 0.0; };
        mappings += 1;
        identical += same(theirs);
        repaired += same(walked);
        relative += std::abs(theirs - ours) / ours;
        difference += std::abs(theirs - ours);
        total += ours;
        add_row(table, gemm.name, std::int64_t{choice}, theirs, ours);
      }
    }
  }
  result.found("mappings of the fidelity set", mappings);
  result.found("closed form identical to the model (% of mappings)", 100 * identical / mappings);
  result.found("closed form, mean relative error (%)", 100 * relative / mappings);
  result.found("closed form, energy-weighted error (%)", 100 * difference / total);
  result.found("closed form with both repairs identical (% of mappings)", 100 * repaired / mappings);
  result.tables.emplace_back("fidelity", std::move(table));
}

void cases(const StudyContext& context, StudyResult& result) {
  DataTable table = table_of({"template", "workload", "mapper", "sum_edp_pj_cycles", "over_exact"});
  double certified = 0, gemms = 0, count = 0;
  std::map<std::string, std::vector<double>> over;
  for (const char* name : kTemplates) {
    const std::string sweep_name = fmt::format("study_goma_{}", name);
    const auto shorten = [&](Sweep& sweep) {
      if (context.quick) sweep.workloads.resize(1);
    };
    const SweepData exact = run_study_sweep(context, sweep_name, shorten);
    for (std::size_t row = 0; row < exact.designs.size(); ++row) {
      count += 1;
      gemms += exact.designs.number(row, "layers");
      certified += exact.designs.number(row, "certified");
      add_row(table, std::string(name), exact.designs.text(row, "workload"), std::string("exact"),
              exact.designs.number(row, "sum_layer_edp_pj_cycles"), 1.0);
    }
    for (const char* mapper : {"local", "random", "genetic"}) {
      if (context.quick && std::string_view(mapper) != "local") continue;
      const SweepData other = run_study_sweep_with(context, mapper, sweep_name, shorten);
      for (std::size_t row = 0; row < other.designs.size(); ++row) {
        const std::string workload = other.designs.text(row, "workload");
        const double value = other.designs.number(row, "sum_layer_edp_pj_cycles");
        const double ratio = value / exact.designs.number({{"workload", workload}}, "sum_layer_edp_pj_cycles");
        over[mapper].push_back(ratio);
        if (row == 0 && std::string_view(mapper) == "local")
          result.found(fmt::format("EDP of local over the proven optimum, {} on {}", workload, name), ratio);
        add_row(table, std::string(name), workload, std::string(mapper), value, ratio);
      }
    }
  }
  result.found(context.quick ? "cases of the quick run" : "cases", count);
  if (!context.quick) result.found("GEMMs", gemms);
  result.found("cases with every GEMM proven (%)", 100 * certified / count);
  for (auto& [mapper, ratios] : over) {
    result.found(
        fmt::format("least EDP of {} over the proven optimum{}", mapper, context.quick ? " of the quick run" : ""),
        std::ranges::min(ratios));
    if (context.quick) continue;
    result.found(fmt::format("EDP of {} over the proven optimum, geometric mean", mapper), geometric_mean(ratios));
    std::ranges::sort(ratios);
    const std::size_t n = ratios.size();
    result.found(fmt::format("EDP of {} over the proven optimum, median", mapper),
                 (ratios[(n - 1) / 2] + ratios[n / 2]) / 2);
  }
  Chart chart{"fig06_edp", "EDP of other mappers, proven optimum = 1", {}, table};
  chart.spec = {{"mark", {{"type", "point"}, {"filled", true}, {"size", 60}}},
                {"encoding",
                 {{"x", {{"field", "workload"}, {"type", "nominal"}, {"sort", nullptr}, {"title", nullptr}}},
                  {"y",
                   {{"field", "over_exact"},
                    {"type", "quantitative"},
                    {"scale", {{"type", "log"}}},
                    {"title", "EDP, proven optimum = 1"}}},
                  {"color", {{"field", "mapper"}, {"type", "nominal"}, {"title", nullptr}}},
                  {"column", {{"field", "template"}, {"sort", nullptr}, {"title", nullptr}}}}},
                {"resolve", {{"scale", {{"x", "independent"}}}}}};
  result.charts.push_back(std::move(chart));
  result.tables.emplace_back("cases", std::move(table));
}

}  // namespace

StudyResult run_goma_study(const StudyContext& context) {
  StudyResult result;
  fidelity(context, result);
  cases(context, result);
  return result;
}

}  // namespace pliant
