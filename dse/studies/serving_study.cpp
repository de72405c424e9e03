// SPDX-License-Identifier: Apache-2.0
// Beyond the papers: what each axis of flexibility, tensors that stay on chip and fused tiles buy when a language model
// is served, in tokens per joule, on chips of four kinds, by batch and context. Everything is proven.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>

#include "core/flexibility_class.h"
#include "costmodel/area.h"
#include "dse/mappers/fusion/fusion.h"
#include "dse/mappers/residency/residency.h"
#include "dse/serving/models.h"
#include "dse/studies/serving_study.h"
#include "dse/studies/study_table.h"

namespace pliant {
namespace {

/// So many tokens are made after a prompt; every decode step is taken at the middle of them.
constexpr Count kMade = 128;
constexpr std::array kTensors{"outside", "whole tensors", "tiles"};

struct Asked {
  Count prompt = 1024, batch = 1;
};

struct Energies {
  double prompt_pj = 0, step_pj = 0;
  bool certified = true;
  double tokens_per_j(const Asked& asked) const {
    const auto made = static_cast<double>(kMade);
    return static_cast<double>(asked.batch) * made / ((prompt_pj + (made - 1) * step_pj) * 1e-12);
  }
};

/// The least energy of one pass, with tensors between layers outside, whole on chip, or in tiles.
double pass_energy(const StudyContext& context, const Accelerator& chip, const Workload& pass, std::size_t tensors,
                   bool& certified) {
  std::vector<Task> rows;
  for (const Workload::Entry& entry : pass.layers)
    rows.push_back({entry.layer, chip, chip.flexibility_of(entry.layer), Factorization::kPerfect, Objective::kEnergy});
  const auto mapper = make_mapper("exact");
  SearchOptions options;
  options.stop = context.stop;
  const NetworkGoal goal{Objective::kEnergy};
  const auto taken = [&](const auto& best) {
    if (context.stop.stop_requested()) throw StudyInterrupted();
    if (!best.found()) throw StudyError(fmt::format("{} on {}: no mapping", pass.name, chip.name));
    certified = certified && best.certified;
    return best.energy_pj;
  };
  if (tensors == 2) {
    fusion::Search search(*mapper, pass, rows, options);
    return taken(search.run(goal));
  }
  residency::Search search(*mapper, pass, rows, options);
  return taken(search.run(goal, tensors == 1));
}

Energies served(const StudyContext& context, const Accelerator& chip, const Asked& asked, std::size_t tensors) {
  const LanguageModel model = serving::load_model(context.library, "llama3_2_1b").model;
  Energies all;
  all.prompt_pj = pass_energy(context, chip, pass_workload(model, "prompt", {true, asked.prompt, asked.batch}), tensors,
                              all.certified);
  all.step_pj = pass_energy(context, chip, pass_workload(model, "step", {false, asked.prompt + kMade / 2, asked.batch}),
                            tensors, all.certified);
  return all;
}

Accelerator of_class(const Accelerator& chip, const char* name) {
  return apply_class(chip, *parse_flexibility_class(name));
}

double area_of(const Accelerator& chip) { return area_um2(chip).total(); }

DataTable add_classes(const StudyContext& context, bool& certified, StudyResult& result) {
  DataTable gains = table_of({"class", "batch", "tokens_per_j", "over_0000", "area_over_0000"});
  const Accelerator npu = load_accelerator(context.library, "npu");
  for (const Count batch : {Count{1}, Count{16}}) {
    if (context.quick && batch > 1) continue;
    const Asked asked{1024, batch};
    double base = 0, least_area = 0;
    for (const char* name : {"0000", "1000", "0100", "0010", "0001", "1111"}) {
      const Accelerator chip = of_class(npu, fmt::format("FullFlex-{}", name).c_str());
      const Energies all = served(context, chip, asked, 0);
      const double tokens = all.tokens_per_j(asked);
      if (base == 0) {
        base = tokens;
        least_area = area_of(chip);
      }
      certified = certified && all.certified;
      const double area = area_of(chip) / least_area;
      result.found(fmt::format("npu {}, batch {}: tokens/J over 0000", name, batch), tokens / base);
      result.found(fmt::format("npu {}, batch {}: area over 0000", name, batch), area);
      add_row(gains, std::string(name), batch, tokens, tokens / base, area);
    }
  }
  return gains;
}

DataTable add_chips(const StudyContext& context, bool& certified, StudyResult& result) {
  DataTable gains = table_of({"chip", "served", "tensors", "tokens_per_j", "gain"});
  const std::vector<std::pair<const char*, Accelerator>> chips = [&] {
    std::vector<std::pair<const char*, Accelerator>> all;
    all.emplace_back("npu", load_accelerator(context.library, "npu"));
    if (context.quick) return all;
    all.emplace_back(
        "edge4", load_accelerator(context.library, (context.library.configs() / "studies/fusion_edge4.yaml").string()));
    all.emplace_back("tpu_v4i", load_accelerator(context.library, "accelforge_tpu_v4i"));
    all.emplace_back("h200", load_accelerator(context.library, "h200"));
    return all;
  }();
  for (const auto& [name, chip] : chips) {
    for (const Asked& asked : {Asked{1024, 1}, Asked{1024, 16}, Asked{8192, 1}}) {
      const std::string what = fmt::format("prompt {}, batch {}", asked.prompt, asked.batch);
      double outside = 0;
      for (std::size_t t = 0; t < kTensors.size(); ++t) {
        const Energies all = served(context, chip, asked, t);
        certified = certified && all.certified;
        const double tokens = all.tokens_per_j(asked);
        if (t == 0) outside = tokens;
        result.found(fmt::format("{}, {}, {}: tokens/J", name, what, kTensors[t]), tokens);
        add_row(gains, std::string(name), what, std::string(kTensors[t]), tokens, tokens / outside);
      }
    }
  }
  return gains;
}

Chart tokens_chart(DataTable gains) {
  Chart chart{"serving_chips", "Tokens per joule over those with every tensor outside", {}, std::move(gains)};
  chart.spec = {
      {"mark", "bar"},
      {"width", 210},
      {"height", 160},
      {"encoding",
       {{"y", {{"field", "served"}, {"type", "nominal"}, {"sort", nullptr}, {"title", nullptr}}},
        {"yOffset", {{"field", "tensors"}, {"sort", {"outside", "whole tensors", "tiles"}}}},
        {"x", {{"field", "gain"}, {"type", "quantitative"}, {"title", "tokens/J, outside = 1"}}},
        {"color", {{"field", "tensors"}, {"type", "nominal"}, {"sort", {"outside", "whole tensors", "tiles"}}}},
        {"facet", {{"field", "chip"}, {"type", "nominal"}, {"sort", nullptr}, {"columns", 2}}}}}};
  return chart;
}

}  // namespace

StudyResult run_serving_study(const StudyContext& context) {
  StudyResult result;
  bool certified = true;
  DataTable classes = add_classes(context, certified, result);
  DataTable chips = add_chips(context, certified, result);
  result.found(context.quick ? "all entries proven of the quick run" : "all entries proven", certified ? 1 : 0);
  if (context.quick) return result;
  result.charts.push_back(tokens_chart(chips));
  result.tables.emplace_back("chips", std::move(chips));
  result.tables.emplace_back("classes", std::move(classes));
  return result;
}

}  // namespace pliant
