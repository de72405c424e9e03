// SPDX-License-Identifier: Apache-2.0
// Section 6 of the flexibility paper: each axis alone on MnasNet (Figures 7, 9, 10, 11), and how tiles follow the
// buffer and shapes the array (Figures 8, 12).
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <map>

#include "dse/studies/all_studies.h"
#include "dse/studies/study_sweep.h"
#include "dse/studies/study_table.h"
#include "dse/studies/study_task.h"
#include "flex/flexion/flexion.h"

namespace pliant {
namespace {

constexpr const char* kNetwork = "flexpaper_mnasnet";

struct Design {
  const char* name;         ///< as the paper calls it
  const char* flexibility;  ///< as the sweep does
};

/// A sweep for runtime, and of all mappings that are as fast the least energy, by flexibility and layer; "" is the
/// network. Both are proven, so neither depends on which of many fastest mappings a search happens to find.
struct Costs {
  SweepData data;
  std::map<std::pair<std::string, std::string>, double> energy_pj;
};

Costs run_for_runtime(const StudyContext& context, const std::string& name, const std::function<void(Sweep&)>& change) {
  Sweep asked;
  Costs costs{run_study_sweep(context, name,
                              [&](Sweep& sweep) {
                                change(sweep);
                                asked = sweep;
                              }),
              {}};
  const Accelerator reference = load_accelerator(context.library, asked.accelerators.front(), asked.settings);
  struct Question {
    std::size_t row;
    std::string flexibility;
    const Workload::Entry* entry;
    double energy_pj = 0;
  };
  std::vector<Question> questions;
  const Rows& rows = costs.data.layers;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const auto index = static_cast<std::size_t>(rows.number(row, "layer_index"));
    questions.push_back({row, rows.text(row, "flexibility"), &asked.workloads[0].layers[index]});
  }
  // Layers that are equal in all but name are one question.
  std::map<std::string, std::size_t> first;
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < questions.size(); ++i)
    if (first.try_emplace(rows.text(questions[i].row, "task_key"), i).second) open.push_back(i);
  for_each_task(context, name + ": least energy", open.size(), [&](std::size_t i, const StudyContext& alone) {
    Question& question = questions[open[i]];
    const Accelerator accelerator = choose_flexibility(context.library, question.flexibility, reference);
    const SearchResult found = solve(alone, accelerator,
                                     {.layer = question.entry->layer,
                                      .factorization = asked.factorizations[0],
                                      .objective = Objective::kEnergy,
                                      .most_cycles = rows.number(question.row, "runtime_cycles")});
    if (!found.certified)
      throw StudyError(fmt::format("{}: no proof of the least energy of {}", name, question.entry->layer.name));
    question.energy_pj = found.totals.energy_pj;
  });
  for (const Question& question : questions) {
    const double energy = questions[first[rows.text(question.row, "task_key")]].energy_pj;
    costs.energy_pj[{question.flexibility, question.entry->layer.name}] = energy;
    costs.energy_pj[{question.flexibility, ""}] += energy * static_cast<double>(question.entry->count);
  }
  return costs;
}

/// Runtime, energy and EDP of a layer ("" = the network) beside those of the first design.
void relative_costs(const Costs& costs, std::span<const Design> designs, const std::string& layer, StudyResult& result,
                    DataTable& table) {
  const Rows& rows = layer.empty() ? costs.data.designs : costs.data.layers;
  const auto runtime_of = [&](const Design& design) {
    Rows::Where where{{"flexibility", design.flexibility}};
    if (!layer.empty()) where["layer"] = layer;
    return rows.number(where, "runtime_cycles");
  };
  const auto energy_of = [&](const Design& design) { return costs.energy_pj.at({design.flexibility, layer}); };
  const std::string what = layer.empty() ? "model" : layer;
  for (const Design& design : designs) {
    const double runtime = runtime_of(design) / runtime_of(designs[0]);
    const double energy = energy_of(design) / energy_of(designs[0]);
    if (&design != &designs[0]) {
      result.found(fmt::format("{} {} runtime", design.name, what), runtime);
      result.found(fmt::format("{} {} energy", design.name, what), energy);
    }
    add_row(table, std::string(design.name), what, runtime, energy, runtime * energy, std::string(design.flexibility));
  }
}

DataTable cost_table() {
  DataTable table = table_of({"design", "layer", "runtime", "energy", "edp", "flexibility"});
  return table;
}

Chart bars(std::string name, std::string title, DataTable table) {
  Chart chart{std::move(name), std::move(title), {}, std::move(table)};
  chart.spec = {{"mark", "bar"},
                {"encoding",
                 {{"x", {{"field", "layer"}, {"type", "nominal"}, {"sort", nullptr}, {"title", nullptr}}},
                  {"xOffset", {{"field", "design"}, {"sort", nullptr}}},
                  {"y", {{"field", "runtime"}, {"type", "quantitative"}, {"title", "runtime, InFlex = 1"}}},
                  {"color", {{"field", "design"}, {"type", "nominal"}, {"sort", nullptr}, {"title", nullptr}}}}}};
  return chart;
}

/// H-F of a design and W-F of some layers and of the network, on one axis.
void flexion(const StudyContext& context, const Accelerator& reference, std::span<const Design> designs,
             Measure measure, std::span<const char* const> layers, StudyResult& result) {
  const Workload network = load_workload(context.library, kNetwork);
  FlexionOptions options;
  options.tile_tuples = false;
  for (const Design& design : designs) {
    const Accelerator accelerator = choose_flexibility(context.library, design.flexibility, reference);
    const WorkloadFlexion all = workload_flexion(network, accelerator, options);
    result.found(fmt::format("{} H-F", design.name), all.of(measure).h_f);
    if (measure == Measure::kPairs)
      result.found(fmt::format("{} pairs it supports", design.name), std::stod(all.layers[0].of(measure).a));
    for (const LayerFlexion& layer : all.layers)
      for (const char* wanted : layers)
        if (layer.layer == wanted) result.found(fmt::format("{} {} W-F", design.name, wanted), layer.of(measure).w_f);
    result.found(fmt::format("{} model W-F", design.name), all.of(measure).w_f);
  }
}

void tiles_orders_parallelism(const StudyContext& context, StudyResult& result) {
  constexpr std::array kTiles = {Design{"InFlex-1000", "InFlex-0000"}, Design{"PartFlex-1000", "PartFlex-1000"},
                                 Design{"FullFlex-1000", "FullFlex-1000"}};
  constexpr std::array kOrders = {Design{"InFlex-0100", "InFlex-0000"}, Design{"PartFlex-0100", "PartFlex-0100"},
                                  Design{"FullFlex-0100", "FullFlex-0100"},
                                  Design{"FullFlex-1111 beside InFlex-0100", "FullFlex-1111"}};
  constexpr std::array kParallel = {Design{"InFlex-0010", "InFlex-0000"}, Design{"PartFlex-0010", "PartFlex-0010"},
                                    Design{"FullFlex-0010", "FullFlex-0010"}};
  constexpr std::array<const char*, 4> kLayers = {"L01", "L16", "L21", "L29"};
  const Accelerator reference = load_accelerator(context.library, "flexref");
  flexion(context, reference, kTiles, Measure::kTileVolume, std::array{"L01", "L16"}, result);
  flexion(context, reference, std::span(kOrders).first(3), Measure::kOrders, std::array{"L16", "L21", "L29"}, result);
  flexion(context, reference, kParallel, Measure::kPairs, std::array{"L16", "L19", "L29"}, result);

  const auto only_named = [&](Sweep& sweep) {
    if (context.quick) keep_layers(sweep, {kLayers.begin(), kLayers.end()});
  };
  const Costs data = run_for_runtime(context, "study_isolation", only_named);
  const Costs bound = run_for_runtime(context, "study_parallelism", only_named);
  const auto part = [&](const char* chart_name, const char* title, const Costs& from, std::span<const Design> designs,
                        std::span<const char* const> layers) {
    DataTable table = cost_table();
    for (const char* layer : layers) relative_costs(from, designs, layer, result, table);
    if (!context.quick) relative_costs(from, designs, "", result, table);
    result.charts.push_back(bars(chart_name, title, std::move(table)));
  };
  part("fig07_tiles", "Tile sizes alone", data, kTiles, std::array{"L01", "L16"});
  part("fig09_orders", "Loop order alone", data, kOrders, std::array{"L16", "L21", "L29"});
  part("fig10_parallelism", "Parallel dims alone, compute-bound", bound, kParallel, std::array{"L16", "L29"});
  // Speedups, as the text gives them.
  const auto speedup = [&](const Costs& from, const char* quantity, const char* slow, const char* fast,
                           const char* layer) {
    const Rows& rows = *layer != '\0' ? from.data.layers : from.data.designs;
    const auto runtime = [&](const char* flexibility) {
      Rows::Where where{{"flexibility", flexibility}};
      if (*layer != '\0') where["layer"] = layer;
      return rows.number(where, "runtime_cycles");
    };
    result.found(quantity, runtime(slow) / runtime(fast));
  };
  speedup(data, "L01 speedup of FullFlex-1000 over PartFlex-1000", "PartFlex-1000", "FullFlex-1000", "L01");
  if (context.quick) return;
  speedup(data, "model speedup of FullFlex-1000 over InFlex", "InFlex-0000", "FullFlex-1000", "");
  speedup(data, "model speedup of FullFlex-1000 over PartFlex-1000", "PartFlex-1000", "FullFlex-1000", "");
  speedup(data, "model speedup of FullFlex-0100 over InFlex", "InFlex-0000", "FullFlex-0100", "");
  speedup(data, "model speedup of FullFlex-0100 over PartFlex-0100", "PartFlex-0100", "FullFlex-0100", "");
  speedup(bound, "model speedup of FullFlex-0010 over InFlex", "InFlex-0000", "FullFlex-0010", "");
  speedup(bound, "model speedup of FullFlex-0010 over PartFlex-0010", "PartFlex-0010", "FullFlex-0010", "");
  speedup(bound, "model speedup of FullFlex-1010 over FullFlex-1000, compute-bound", "FullFlex-1000", "FullFlex-1010",
          "");
}

void buffers(const StudyContext& context, StudyResult& result) {
  const SweepData data = run_study_sweep(context, "study_buffers", [&](Sweep& sweep) {
    if (context.quick) keep_layers(sweep, {"L01", "L16"});
  });
  DataTable table = table_of({"buffer_bytes", "design", "runtime", "w_f"});
  const Rows& designs = data.designs;
  const auto runtime = [&](const char* bytes, const char* flexibility) {
    return designs.number({{"set_Buffer_capacity_words", bytes}, {"flexibility", flexibility}}, "runtime_cycles");
  };
  for (std::size_t row = 0; row < designs.size(); ++row) {
    add_row(table, designs.number(row, "set_Buffer_capacity_words"), designs.text(row, "flexibility"),
            designs.number(row, "runtime_cycles") / runtime("102400", "FullFlex-1000"), designs.number(row, "w_f_t"));
  }
  if (!context.quick) {
    result.found("runtime with 6400 B over runtime with 100 KiB, FullFlex-1000",
                 runtime("6400", "FullFlex-1000") / runtime("102400", "FullFlex-1000"));
    result.found("gain of soft over hard partition with 800 B over the gain with 100 KiB",
                 runtime("800", "PartFlex-1000") / runtime("800", "FullFlex-1000") /
                     (runtime("102400", "PartFlex-1000") / runtime("102400", "FullFlex-1000")));
  }
  Chart chart{"fig08_buffers", "Runtime against buffer size, tiles flexible", {}, std::move(table)};
  chart.spec = {
      {"mark", {{"type", "line"}, {"point", true}}},
      {"encoding",
       {{"x",
         {{"field", "buffer_bytes"},
          {"type", "quantitative"},
          {"scale", {{"type", "log"}}},
          {"title", "buffer, bytes"}}},
        {"y", {{"field", "runtime"}, {"type", "quantitative"}, {"title", "runtime, FullFlex at 100 KiB = 1"}}},
        {"color", {{"field", "design"}, {"type", "nominal"}, {"title", nullptr}}}}}};
  result.charts.push_back(std::move(chart));
}

void shapes(const StudyContext& context, StudyResult& result) {
  constexpr std::array kShapes = {Design{"InFlex-0001", "FullFlex-1100"}, Design{"PartFlex-0001-A", "study_shape_a"},
                                  Design{"PartFlex-0001-B", "study_shape_b"}, Design{"FullFlex-0001", "FullFlex-1101"},
                                  Design{"FullFlex-1111 beside InFlex-0001", "FullFlex-1111"}};
  constexpr std::array<const char*, 3> kLayers = {"L15", "L16", "L25"};
  const Accelerator square = load_accelerator(context.library, "flexref", {{"rows", "32"}, {"cols", "32"}});
  flexion(context, square, std::span(kShapes).first(4), Measure::kShapes, kLayers, result);
  const Costs costs = run_for_runtime(context, "study_shape", [&](Sweep& sweep) {
    if (context.quick) keep_layers(sweep, {kLayers.begin(), kLayers.end()});
  });
  DataTable table = cost_table();
  for (const char* layer : kLayers) relative_costs(costs, kShapes, layer, result, table);
  if (!context.quick) {
    relative_costs(costs, kShapes, "", result, table);
    const auto runtime = [&](const char* flexibility) {
      return costs.data.designs.number({{"flexibility", flexibility}}, "runtime_cycles");
    };
    result.found("model speedup of FullFlex-0001 over InFlex", runtime("FullFlex-1100") / runtime("FullFlex-1101"));
    result.found("model speedup of FullFlex-0001 over PartFlex-A", runtime("study_shape_a") / runtime("FullFlex-1101"));
    result.found("model speedup of FullFlex-0001 over PartFlex-B", runtime("study_shape_b") / runtime("FullFlex-1101"));
  }
  result.charts.push_back(bars("fig11_shapes", "Array shape alone", std::move(table)));
}

void array_sizes(const StudyContext& context, StudyResult& result) {
  if (context.quick) return;
  const SweepData data = run_study_sweep(context, "study_array_sizes");
  const auto runtime = [&](const std::string& side) {
    return data.designs.number({{"set_rows", side}}, "runtime_cycles");
  };
  DataTable table = table_of({"side", "runtime", "w_f"});
  for (const char* side : {"16", "22", "32", "45", "64", "90"}) {
    const double relative = runtime(side) / runtime("32");
    const double w_f = data.designs.number({{"set_rows", side}}, "w_f_s");
    result.found(fmt::format("runtime of {0}x{0} over 32x32", side), relative);
    result.found(fmt::format("W-F of {0}x{0}", side), w_f);
    add_row(table, std::int64_t{std::stoll(side)}, relative, w_f);
  }
  // Returns on a doubling of PEs: what is saved of the runtime.
  const auto saved = [&](const char* from, const char* to) { return 1 - runtime(to) / runtime(from); };
  result.found("runtime saved from 45x45 to 64x64 over that from 22x22 to 32x32",
               saved("45", "64") / saved("22", "32"));
  Chart chart{"fig12_array_sizes", "Fully shape-flexible arrays", {}, std::move(table)};
  const nlohmann::ordered_json x = {{"field", "side"}, {"type", "ordinal"}, {"title", "array, PEs a side"}};
  chart.spec = {
      {"layer",
       {{{"mark", "bar"},
         {"encoding",
          {{"x", x}, {"y", {{"field", "runtime"}, {"type", "quantitative"}, {"title", "runtime, 32x32 = 1"}}}}}},
        {{"mark", {{"type", "line"}, {"point", true}, {"color", "#D55E00"}}},
         {"encoding", {{"x", x}, {"y", {{"field", "w_f"}, {"type", "quantitative"}, {"title", "W-F"}}}}}}}},
      {"resolve", {{"scale", {{"y", "independent"}}}}}};
  result.charts.push_back(std::move(chart));
}

}  // namespace

StudyResult run_isolation_study(const StudyContext& context) {
  StudyResult result;
  tiles_orders_parallelism(context, result);
  buffers(context, result);
  shapes(context, result);
  array_sizes(context, result);
  return result;
}

}  // namespace pliant
