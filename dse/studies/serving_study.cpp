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
#include "dse/studies/solved_once.h"
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

/// Batches, prompts and ways to keep tensors have many searches in common.
struct Asking {
  const StudyContext& context;
  SolvedOnce solved{};
};

/// The least energy of one pass, with tensors between layers outside, whole on chip, or in tiles.
double pass_energy(const Asking& asking, const Accelerator& chip, const Workload& pass, std::size_t tensors,
                   bool& certified) {
  std::vector<Task> rows;
  for (const Workload::Entry& entry : pass.layers)
    rows.push_back({entry.layer, chip, chip.flexibility_of(entry.layer), Factorization::kPerfect, Objective::kEnergy});
  const StudyContext& context = asking.context;
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
    fusion::Search search(asking.solved, pass, rows, options);
    return taken(search.run(goal));
  }
  residency::Search search(asking.solved, pass, rows, options);
  return taken(search.run(goal, tensors == 1));
}

Energies served(const Asking& asking, const Accelerator& chip, const Asked& asked, std::size_t tensors) {
  const LanguageModel model = serving::load_model(asking.context.library, "llama3_2_1b").model;
  Energies all;
  all.prompt_pj = pass_energy(asking, chip, pass_workload(model, "prompt", {true, asked.prompt, asked.batch}), tensors,
                              all.certified);
  all.step_pj = pass_energy(asking, chip, pass_workload(model, "step", {false, asked.prompt + kMade / 2, asked.batch}),
                            tensors, all.certified);
  return all;
}

Accelerator of_class(const Accelerator& chip, const char* name) {
  return apply_class(chip, *parse_flexibility_class(name));
}

double area_of(const Accelerator& chip) { return area_um2(chip).total(); }

/// The best inflexible npu for prompts of 1,024 tokens of this model, of 734,832 designs: `pliant design
/// inflexible_npu_llama` proves it; and the best with as much area as full flexibility has with a Benes network (study
/// `area`), all of it given to the SRAM (`--set sram=2360KiB`).
Accelerator best_inflexible(const StudyContext& context, bool large) {
  std::vector<Setting> settings = {
      {"gemm_m", "512"}, {"gemm_n", "256"}, {"gemm_k", "2048"}, {"gemm_inner", "[M, N, K]"}};
  if (large)
    settings.insert(settings.end(), {{"sram", "2360KiB"}, {"gemm_outer", "[K, M, N]"}, {"gemm_unit", "[M, N, K]"}});
  else
    settings.insert(settings.end(), {{"gemm_outer", "[M, K, N]"}, {"gemm_unit", "[M, K, N]"}});
  return load_accelerator(context.library, "npu_wired", settings);
}

/// Energies as the tables have them, and at both ends of what is uncertain: a factor on DRAM, one on the chip. Both
/// together change no ratio.
struct Figures {
  const char* name;
  double dram, chip;
};
constexpr std::array kFigures = {Figures{"as they are", 1, 1}, Figures{"DRAM dearer", 1.3, 0.5},
                                 Figures{"DRAM cheaper", 0.7, 2}};

Accelerator with_figures(Accelerator chip, const Figures& figures) {
  for (Level& level : chip.levels) {
    if (level.is_memory()) {
      Memory& memory = level.memory();
      const double factor = memory.off_chip ? figures.dram : figures.chip;
      for (double* pj : {&memory.read_pj, &memory.write_pj, &memory.update_pj, &memory.leak_pj_per_cycle})
        *pj *= factor;
    } else if (level.is_compute()) {
      level.compute().mac_pj *= figures.chip;
      level.compute().leak_pj_per_cycle *= figures.chip;
    }
  }
  return chip;
}

/// Tokens per joule of classes beside the best inflexible design, by batch and context, each with both ends.
DataTable add_classes(const Asking& asking, bool& certified, StudyResult& result) {
  const StudyContext& context = asking.context;
  DataTable gains = table_of({"class", "served", "tokens_per_j", "over_0000", "least", "most"});
  const Accelerator wired = best_inflexible(context, false), large = best_inflexible(context, true);
  const double area = area_of(of_class(wired, "InFlex-0000"));
  const auto tokens_of = [&](const Accelerator& chip, const Asked& asked, const Figures& figures) {
    const Energies all = served(asking, with_figures(chip, figures), asked, 0);
    certified = certified && all.certified;
    return all.tokens_per_j(asked);
  };
  for (const Asked& asked : {Asked{1024, 1}, Asked{1024, 16}, Asked{8192, 1}, Asked{8192, 16}}) {
    if (context.quick && (asked.prompt > 1024 || asked.batch > 1)) continue;
    const std::string what = fmt::format("prompt {}, batch {}", asked.prompt, asked.batch);
    std::array<double, kFigures.size()> base{};
    // First what may do most: the others take over what suits them.
    for (const Figures& figures : kFigures) tokens_of(of_class(wired, "FullFlex-1111"), asked, figures);
    for (std::size_t f = 0; f < kFigures.size(); ++f)
      base[f] = tokens_of(of_class(wired, "InFlex-0000"), asked, kFigures[f]);
    result.found(fmt::format("npu 0000, {}: tokens/J", what), base[0]);
    result.found(fmt::format("npu 0000 with as much area, {}: tokens/J over 0000", what),
                 tokens_of(of_class(large, "InFlex-0000"), asked, kFigures[0]) / base[0]);
    for (const char* name : {"1000", "0100", "0010", "0001", "1010", "1111"}) {
      const Accelerator chip = of_class(wired, fmt::format("FullFlex-{}", name).c_str());
      std::array<double, kFigures.size()> over{};
      for (std::size_t f = 0; f < kFigures.size(); ++f) over[f] = tokens_of(chip, asked, kFigures[f]) / base[f];
      result.found(fmt::format("npu {}, {}: tokens/J over 0000", name, what), over[0]);
      result.found(fmt::format("npu {}, {}: tokens/J over 0000, least", name, what), std::ranges::min(over));
      result.found(fmt::format("npu {}, {}: tokens/J over 0000, most", name, what), std::ranges::max(over));
      if (asked.prompt == 1024 && asked.batch == 1)
        result.found(fmt::format("npu {}: area over 0000", name), area_of(chip) / area);
      add_row(gains, std::string(name), what, over[0] * base[0], over[0], std::ranges::min(over),
              std::ranges::max(over));
    }
  }
  result.found("npu 0000 with as much area: area over 0000", area_of(of_class(large, "InFlex-0000")) / area);
  return gains;
}

Chart classes_of_npu_chart(DataTable gains) {
  Chart chart{
      "serving_classes", "Tokens per joule beside the best inflexible design of the same array", {}, std::move(gains)};
  const nlohmann::ordered_json y = {
      {"field", "class"},
      {"type", "nominal"},
      {"sort", nullptr},
      {"title", "flexible axes"},
      {"axis",
       {{"labelExpr",
         "{'1000': 'T', '0100': 'O', '0010': 'P', '0001': 'S', '1010': 'T + P', '1111': 'all'}"
         "[datum.label]"}}}};
  chart.spec = {
      {"facet", {{"field", "served"}, {"type", "nominal"}, {"sort", nullptr}, {"title", nullptr}}},
      {"columns", 2},
      {"spec",
       {{"width", 260},
        {"height", 130},
        {"layer",
         {{{"mark", {{"type", "rule"}, {"strokeWidth", 3}}},
           {"encoding",
            {{"y", y},
             {"x", {{"field", "least"}, {"type", "quantitative"}, {"scale", {{"zero", false}}}}},
             {"x2", {{"field", "most"}}}}}},
          {{"mark", {{"type", "point"}, {"filled", true}, {"size", 70}, {"opacity", 1}}},
           {"encoding",
            {{"y", y},
             {"x",
              {{"field", "over_0000"},
               {"type", "quantitative"},
               {"scale", {{"zero", false}}},
               {"title",
                {"tokens per joule, inflexible = 1", "(lines: energies off, DRAM by 30 %, chip by 2x)"}}}}}}}}}}}};
  return chart;
}

DataTable add_chips(const Asking& asking, bool& certified, StudyResult& result) {
  const StudyContext& context = asking.context;
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
        const Energies all = served(asking, chip, asked, t);
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
  const Asking asking{context};
  DataTable classes = add_classes(asking, certified, result);
  DataTable chips = add_chips(asking, certified, result);
  result.found(context.quick ? "all entries proven of the quick run" : "all entries proven", certified ? 1 : 0);
  if (context.quick) return result;
  result.charts.push_back(tokens_chart(chips));
  result.charts.push_back(classes_of_npu_chart(classes));
  result.tables.emplace_back("chips", std::move(chips));
  result.tables.emplace_back("classes", std::move(classes));
  return result;
}

}  // namespace pliant
