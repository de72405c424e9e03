// SPDX-License-Identifier: Apache-2.0
// The GOMA paper: its 192 published certificates checked, 24 cases of LLM prefill with a proof for every GEMM, the
// other mappers on the same work, and its closed form against the model on 8064 mappings.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>

#include "dse/studies/all_studies.h"
#include "dse/studies/goma_certificates.h"
#include "dse/studies/goma_fidelity.h"
#include "dse/studies/study_sweep.h"
#include "dse/studies/study_table.h"
#include "flex/mapspace/count.h"

namespace pliant {
namespace {

constexpr std::array<const char*, 4> kTemplates = {"eyeriss", "gemmini", "a100", "tpuv1"};

/// Not a mapper but a restriction: the optimum when no tensor may pass the SRAM by. (The register files of two
/// templates are too small to keep every tensor.)
constexpr const char* kNoBypass = "exact without bypass of the SRAM";

/// EDP of a mapper over the proven optimum, case by case and GEMM by GEMM.
struct CaseDistances {
  std::vector<double> cases, gemms;
  std::map<std::string, std::vector<double>> by_name;  ///< GEMMs called attn_score, lm_head, ...
};

/// One template: its cases with a proof for every GEMM, then the other mappers on the same work.
class Template {
 public:
  Template(const StudyContext& context, const char* name)
      : context_(context), name_(name), sweep_(fmt::format("study_goma_{}", name)), exact_(run("exact")) {}

  const SweepData& exact() const { return exact_; }
  CaseDistances distances(const std::string& mapper, DataTable& cases, DataTable& gemms) const {
    const SweepData other = run(mapper);
    CaseDistances all;
    for (std::size_t row = 0; row < other.designs.size(); ++row) {
      const std::string workload = other.designs.text(row, "workload");
      const double value = other.designs.number(row, kCaseEdp);
      all.cases.push_back(value / exact_.designs.number({{"workload", workload}}, kCaseEdp));
      add_row(cases, std::string(name_), workload, mapper, value, all.cases.back());
    }
    for (std::size_t row = 0; row < other.layers.size(); ++row) {
      const std::string workload = other.layers.text(row, "workload"), layer = other.layers.text(row, "layer");
      const double value = other.layers.number(row, "edp_pj_cycles");
      all.gemms.push_back(value / exact_.layers.number({{"workload", workload}, {"layer", layer}}, "edp_pj_cycles"));
      all.by_name[layer].push_back(all.gemms.back());
      add_row(gemms, std::string(name_), workload, layer, mapper, all.gemms.back());
    }
    return all;
  }

 private:
  static constexpr const char* kCaseEdp = "sum_layer_edp_pj_cycles";
  SweepData run(const std::string& mapper) const {
    const auto shorten = [&](Sweep& sweep) {
      if (context_.quick) sweep.workloads.resize(1);
    };
    if (mapper == "exact") return run_study_sweep(context_, sweep_, shorten);
    if (mapper != kNoBypass) return run_study_sweep_with(context_, mapper, sweep_, shorten);
    const auto keep_in_sram = [&](Sweep& sweep) {
      shorten(sweep);
      sweep.settings.push_back({"SRAM.may_bypass", "[]"});
    };
    return run_study_sweep(context_, sweep_, keep_in_sram, sweep_ + "_no_bypass");
  }

  const StudyContext& context_;
  const char* name_;
  std::string sweep_;
  SweepData exact_;
};

void found_distances(const StudyContext& context, const std::string& mapper, const CaseDistances& all,
                     StudyResult& result) {
  const auto found = [&](const char* what, double value) {
    result.found(fmt::format("EDP of {} over the proven optimum, {}", mapper, what), value);
  };
  if (context.quick) {
    found("least of the quick run", std::ranges::min(all.cases));
    return;
  }
  found("geometric mean", geometric_mean(all.cases));
  found("median", median(all.cases));
  found("least of a case", std::ranges::min(all.cases));
  found("largest of a case", std::ranges::max(all.cases));
  found("largest of a GEMM", std::ranges::max(all.gemms));
  result.found(fmt::format("GEMMs on which {} is at the proven optimum of EDP", mapper),
               static_cast<double>(std::ranges::count_if(all.gemms, [](double r) { return r <= 1 + 1e-9; })));
  for (const auto& [gemm, ratios] : all.by_name) {
    result.found(fmt::format("EDP of {} over the proven optimum, {}, geometric mean", mapper, gemm),
                 geometric_mean(ratios));
  }
}

Chart edp_chart(DataTable table) {
  Chart chart{"goma_edp", "EDP of other mappers, proven optimum = 1", {}, std::move(table)};
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
  return chart;
}

void cases(const StudyContext& context, StudyResult& result) {
  DataTable table = table_of({"template", "workload", "mapper", "sum_edp_pj_cycles", "over_exact"});
  DataTable gemm_table = table_of({"template", "workload", "gemm", "mapper", "over_exact"});
  double certified = 0, gemms = 0, count = 0;
  std::map<std::string, CaseDistances> over;
  for (const char* name : kTemplates) {
    const Template one(context, name);
    for (std::size_t row = 0; row < one.exact().designs.size(); ++row) {
      count += 1;
      gemms += one.exact().designs.number(row, "layers");
      certified += one.exact().designs.number(row, "certified");
      add_row(table, std::string(name), one.exact().designs.text(row, "workload"), std::string("exact"),
              one.exact().designs.number(row, "sum_layer_edp_pj_cycles"), 1.0);
    }
    for (const char* mapper : {"goma", kNoBypass, "local", "random", "genetic"}) {
      const std::string_view name_of_mapper = mapper;
      if (context.quick && name_of_mapper == kNoBypass) continue;
      if (!context.wants_samples() && (name_of_mapper == "random" || name_of_mapper == "genetic")) continue;
      const CaseDistances more = one.distances(mapper, table, gemm_table);
      CaseDistances& all = over[mapper];
      all.cases.insert(all.cases.end(), more.cases.begin(), more.cases.end());
      all.gemms.insert(all.gemms.end(), more.gemms.begin(), more.gemms.end());
      for (const auto& [gemm, ratios] : more.by_name)
        all.by_name[gemm].insert(all.by_name[gemm].end(), ratios.begin(), ratios.end());
    }
  }
  result.found(context.quick ? "cases of the quick run" : "cases", count);
  if (!context.quick) result.found("GEMMs", gemms);
  result.found("cases with every GEMM proven (%)", 100 * certified / count);
  for (const auto& [mapper, all] : over) found_distances(context, mapper, all, result);
  result.charts.push_back(edp_chart(table));
  result.tables.emplace_back("cases", std::move(table));
  result.tables.emplace_back("gemms", std::move(gemm_table));
}

/// Sizes of map-spaces as powers of ten, perfect factors, before capacities: the paper's 192 GEMMs on its templates,
/// and the convolutions of ResNet-50 there and on `simba`, which has six memories where the templates have three.
void sizes(const StudyContext& context, StudyResult& result) {
  Workload resnet = load_workload(context.library, "resnet50");
  std::erase_if(resnet.layers, [](const auto& entry) { return entry.layer.name == "fc"; });
  std::vector<double> gemms, convolutions, on_simba;
  const auto add = [](const Workload& workload, const Accelerator& accelerator, std::vector<double>& powers) {
    for (const auto& [layer, count] : workload.layers) {
      const MapSpaceSize size =
          map_space_size(layer, accelerator, accelerator.flexibility_of(layer), Factorization::kPerfect);
      powers.push_back(std::log10(size.total().convert_to<double>()));
    }
  };
  for (const char* name : kTemplates) {
    const Sweep sweep = load_study_sweep(context, fmt::format("study_goma_{}", name));
    const Accelerator accelerator = load_accelerator(context.library, sweep.accelerators.front());
    for (const Workload& workload : sweep.workloads) add(workload, accelerator, gemms);
    add(resnet, accelerator, convolutions);
  }
  add(resnet, load_accelerator(context.library, "simba"), on_simba);
  result.found("mappings of a GEMM, least of 192 (power of ten)", std::ranges::min(gemms));
  result.found("mappings of a GEMM, median of 192 (power of ten)", median(gemms));
  result.found("mappings of a convolution of ResNet-50 on the templates, largest (power of ten)",
               std::ranges::max(convolutions));
  result.found("mappings of a convolution of ResNet-50 on simba, median (power of ten)", median(on_simba));
  result.found("mappings of a convolution of ResNet-50 on simba, largest (power of ten)", std::ranges::max(on_simba));
}

}  // namespace

StudyResult run_goma_study(const StudyContext& context) {
  StudyResult result;
  sizes(context, result);
  goma_fidelity(context, result);
  goma_certificates(context, result);
  cases(context, result);
  return result;
}

}  // namespace pliant
