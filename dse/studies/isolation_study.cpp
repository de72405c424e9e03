// SPDX-License-Identifier: Apache-2.0
// Section 6 of the flexibility paper: each axis alone on MnasNet (Figures 7, 9, 10, 11), how tiles follow the buffer
// and shapes the array (Figures 8, 12), and all of it over the bandwidth that the paper does not print.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <span>
#include <string>

#include "core/arithmetic.h"
#include "dse/studies/all_studies.h"
#include "dse/studies/flexibility_paper.h"
#include "dse/studies/isolation_bandwidth.h"
#include "dse/studies/isolation_costs.h"
#include "dse/studies/isolation_orders.h"
#include "dse/studies/isolation_power.h"
#include "dse/studies/study_table.h"
#include "flex/flexion/flexion.h"

namespace pliant {
namespace {

constexpr const char* kNetwork = "flexpaper_mnasnet";

constexpr std::array kTiles = {IsolationDesign{"InFlex-1000", "InFlex-0000"},
                               IsolationDesign{"PartFlex-1000", "PartFlex-1000"},
                               IsolationDesign{"FullFlex-1000", "FullFlex-1000"}};
constexpr std::array kOrders = {IsolationDesign{"InFlex-0100", "InFlex-0000"},
                                IsolationDesign{"PartFlex-0100", "PartFlex-0100"},
                                IsolationDesign{"FullFlex-0100", "FullFlex-0100"},
                                IsolationDesign{"FullFlex-1111 beside InFlex-0100", "FullFlex-1111"}};
constexpr std::array kParallel = {IsolationDesign{"InFlex-0010", "InFlex-0000"},
                                  IsolationDesign{"PartFlex-0010", "PartFlex-0010"},
                                  IsolationDesign{"FullFlex-0010", "FullFlex-0010"}};
constexpr std::array kShapes = {
    IsolationDesign{"InFlex-0001", "FullFlex-1100"}, IsolationDesign{"PartFlex-0001-A", "study_shape_a"},
    IsolationDesign{"PartFlex-0001-B", "study_shape_b"}, IsolationDesign{"FullFlex-0001", "FullFlex-1101"},
    IsolationDesign{"FullFlex-1111 beside InFlex-0001", "FullFlex-1111"}};
constexpr std::array<const char*, 3> kShapeLayers = {"L15", "L16", "L25"};

/// H-F of a design and W-F of some layers and of the network, on one axis.
void flexion(const StudyContext& context, const Accelerator& reference, std::span<const IsolationDesign> designs,
             Measure measure, std::span<const char* const> layers, StudyResult& result) {
  const Workload network = load_workload(context.library, kNetwork);
  FlexionOptions options;
  options.tile_tuples = false;
  for (const IsolationDesign& design : designs) {
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

void all_flexion(const StudyContext& context, StudyResult& result) {
  const Accelerator reference = load_accelerator(context.library, "flexref");
  const Accelerator square = load_accelerator(context.library, "flexref", {{"rows", "32"}, {"cols", "32"}});
  flexion(context, reference, kTiles, Measure::kTileVolume, std::array{"L01", "L16"}, result);
  flexion(context, reference, std::span(kOrders).first(3), Measure::kOrders, std::array{"L16", "L21", "L29"}, result);
  flexion(context, reference, kParallel, Measure::kPairs, std::array{"L16", "L19", "L29"}, result);
  flexion(context, square, std::span(kShapes).first(4), Measure::kShapes, kShapeLayers, result);
}

/// Section 6.2: with least energy as the criterion, tiles save more of it than the fastest mappings do.
void mapped_for_energy(const std::map<std::string, double>& least, const IsolationCosts& costs, StudyResult& result) {
  for (const IsolationDesign& design : std::span(kTiles).subspan(1)) {
    const double thrifty = least.at(design.flexibility) / least.at(kTiles[0].flexibility);
    const double fastest = costs.energy(design.flexibility, "") / costs.energy(kTiles[0].flexibility, "");
    result.found(fmt::format("{} model energy, mapped for energy", design.name), thrifty);
    result.found(fmt::format("model energy saved by {}, mapped for energy over mapped for speed", design.name),
                 (1 - thrifty) / (1 - fastest));
  }
}

void tiles_orders_parallelism(const StudyContext& context, StudyResult& result) {
  const IsolationCosts costs(context, "study_isolation", [&](Sweep& sweep) {
    if (context.quick) keep_layers(sweep, {"L01", "L16", "L21", "L29"});
  });
  const auto part = [&](const char* chart_name, const char* title, std::span<const IsolationDesign> designs,
                        std::span<const char* const> layers) {
    DataTable table = IsolationCosts::table();
    for (const char* layer : layers) costs.add_relative(designs, layer, result, table);
    if (!context.quick) costs.add_relative(designs, "", result, table);
    result.charts.push_back(runtime_bars(chart_name, title, std::move(table)));
  };
  part("fig07_tiles", "Tile sizes alone", kTiles, std::array{"L01", "L16"});
  part("fig09_orders", "Loop order alone", kOrders, std::array{"L16", "L21", "L29"});
  part("fig10_parallelism", "Parallel dims alone", kParallel, std::array{"L16", "L29"});
  // Speedups, as the text gives them.
  const auto speedup = [&](const char* quantity, const char* slow, const char* fast, const char* layer) {
    result.found(quantity, costs.runtime(slow, layer) / costs.runtime(fast, layer));
  };
  result.found("L01 runtime saved by PartFlex-1000 (%)",
               100 * (1 - costs.runtime("PartFlex-1000", "L01") / costs.runtime("InFlex-0000", "L01")));
  speedup("L01 speedup of FullFlex-1000 over PartFlex-1000", "PartFlex-1000", "FullFlex-1000", "L01");
  if (context.quick) return;
  speedup("model speedup of FullFlex-1000 over InFlex", "InFlex-0000", "FullFlex-1000", "");
  speedup("model speedup of FullFlex-1000 over PartFlex-1000", "PartFlex-1000", "FullFlex-1000", "");
  speedup("model speedup of FullFlex-0100 over InFlex", "InFlex-0000", "FullFlex-0100", "");
  speedup("model speedup of FullFlex-0100 over PartFlex-0100", "PartFlex-0100", "FullFlex-0100", "");
  speedup("model speedup of FullFlex-0010 over InFlex", "InFlex-0000", "FullFlex-0010", "");
  speedup("model speedup of FullFlex-0010 over PartFlex-0010", "PartFlex-0010", "FullFlex-0010", "");
  // Section 6.4: where K-C and Y-X are not enough, some other pair is faster than both.
  speedup("L16 speedup of FullFlex-0010 over PartFlex-0010", "PartFlex-0010", "FullFlex-0010", "L16");
  speedup("L19 speedup of FullFlex-0010 over PartFlex-0010", "PartFlex-0010", "FullFlex-0010", "L19");
  speedup("L29 speedup of FullFlex-0010 over InFlex", "InFlex-0000", "FullFlex-0010", "L29");
  const Workload network = load_workload(context.library, kNetwork);
  const auto faster = std::ranges::count_if(network.layers, [&](const auto& entry) {
    return costs.runtime("FullFlex-0010", entry.layer.name) < costs.runtime("PartFlex-0010", entry.layer.name);
  });
  result.found("layers on which a pair other than K-C and Y-X is the fastest", static_cast<double>(faster));
  const std::map<std::string, double> least = least_energies(context, costs.data());
  mapped_for_energy(least, costs, result);
  at_equal_power(costs, least, result);
}

/// Figure 11 prints a chosen shape beside each runtime. C over the rows and K over the columns of a shape folds a
/// pointwise layer ceil(C / rows) * ceil(K / columns) times.
void chosen_shapes(const StudyContext& context, StudyResult& result) {
  struct Chosen {
    const char *design, *layer;
    Count rows, cols;
  };
  constexpr std::array kChosen = {Chosen{"PartFlex-0001-A", "L15", 48, 16}, Chosen{"PartFlex-0001-B", "L15", 24, 42},
                                  Chosen{"FullFlex-0001", "L15", 24, 42},   Chosen{"PartFlex-0001-A", "L16", 16, 64},
                                  Chosen{"PartFlex-0001-B", "L16", 40, 24}, Chosen{"FullFlex-0001", "L16", 40, 25},
                                  Chosen{"PartFlex-0001-A", "L25", 16, 48}, Chosen{"PartFlex-0001-B", "L25", 16, 48},
                                  Chosen{"FullFlex-0001", "L25", 24, 42}};
  const Workload network = load_workload(context.library, kNetwork);
  for (const Chosen& chosen : kChosen) {
    const auto entry =
        std::ranges::find_if(network.layers, [&](const auto& one) { return one.layer.name == chosen.layer; });
    const auto folds = [&](Count rows, Count cols) {
      const auto size = [&](const char* dim) {
        return entry->layer.dims[static_cast<std::size_t>(entry->layer.find_dim(dim))].size;
      };
      return static_cast<double>(ceil_div(size("C"), rows) * ceil_div(size("M"), cols));
    };
    result.found(
        fmt::format("{} {} runtime with the chosen {}x{}", chosen.design, chosen.layer, chosen.rows, chosen.cols),
        folds(chosen.rows, chosen.cols) / folds(32, 32));
  }
}

/// The same for FullFlex-1111, whose parallel dims are free: the fastest mapping on an array that has this shape.
void chosen_shapes_of_all(const StudyContext& context, const IsolationCosts& costs, StudyResult& result) {
  struct Chosen {
    const char *layer, *rows, *cols;
  };
  constexpr std::array kChosen = {Chosen{"L15", "72", "14"}, Chosen{"L16", "8", "128"}, Chosen{"L25", "24", "42"}};
  const Workload network = load_workload(context.library, kNetwork);
  for (const Chosen& chosen : kChosen) {
    const Accelerator built = load_accelerator(context.library, "flexref",
                                               {{"rows", chosen.rows},
                                                {"cols", chosen.cols},
                                                {kBandwidthKeys[0], kPaperHalf},
                                                {kBandwidthKeys[1], kPaperHalf}});
    const auto entry =
        std::ranges::find_if(network.layers, [&](const auto& one) { return one.layer.name == chosen.layer; });
    const SearchResult best =
        solve(context, choose_flexibility(context.library, "FullFlex-1110", built),
              {.layer = entry->layer, .factorization = Factorization::kRubyS, .objective = Objective::kRuntime});
    if (!best.certified) throw StudyError(fmt::format("{} on a chosen shape is not proven", chosen.layer));
    result.found(fmt::format("FullFlex-1111 {} runtime with the chosen {}x{}", chosen.layer, chosen.rows, chosen.cols),
                 best.value / costs.runtime(kShapes[0].flexibility, chosen.layer));
  }
}

/// Section 6.5: networks whose channels are mostly multiples of 64 need no more than blocks.
void shapes_of_another_network(const StudyContext& context, const std::string& workload, const std::string& name,
                               StudyResult& result) {
  const SweepData data = run_study_sweep(
      context, "study_shape",
      [&](Sweep& sweep) {
        keep_values(sweep, kBandwidthKeys[0], {kPaperHalf});
        sweep.workloads = {load_workload(context.library, workload)};
      },
      "study_shape_" + name);
  for (std::size_t row = 0; row < data.designs.size(); ++row)
    if (data.designs.number(row, "certified") != 1) throw StudyError(name + ": a runtime is not proven");
  const auto found = [&](const char* design, const char* flexibility) {
    const auto runtime = [&](const char* one) { return data.designs.number({{"flexibility", one}}, "runtime_cycles"); };
    result.found(fmt::format("{} speedup of FullFlex-0001 over {}", name, design),
                 runtime(flexibility) / runtime("FullFlex-1101"));
  };
  found("InFlex", "FullFlex-1100");
  found("PartFlex-A", "study_shape_a");
  found("PartFlex-B", "study_shape_b");
}

void shapes(const StudyContext& context, StudyResult& result) {
  const IsolationCosts costs(context, "study_shape", [&](Sweep& sweep) {
    if (context.quick) keep_layers(sweep, {kShapeLayers.begin(), kShapeLayers.end()});
  });
  DataTable table = IsolationCosts::table();
  for (const char* layer : kShapeLayers) costs.add_relative(kShapes, layer, result, table);
  if (!context.quick) {
    costs.add_relative(kShapes, "", result, table);
    const auto speedup = [&](const char* slow) { return costs.runtime(slow, "") / costs.runtime("FullFlex-1101", ""); };
    result.found("model speedup of FullFlex-0001 over InFlex", speedup("FullFlex-1100"));
    result.found("model speedup of FullFlex-0001 over PartFlex-A", speedup("study_shape_a"));
    result.found("model speedup of FullFlex-0001 over PartFlex-B", speedup("study_shape_b"));
    shapes_of_another_network(context, "flexpaper_resnet50", "ResNet50", result);
    shapes_of_another_network(context, "flexpaper_vgg16", "VGG16", result);
  }
  chosen_shapes_of_all(context, costs, result);
  result.charts.push_back(runtime_bars("fig11_shapes", "Array shape alone", std::move(table)));
}

void array_sizes(const StudyContext& context, StudyResult& result) {
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
  all_flexion(context, result);
  tiles_orders_parallelism(context, result);
  shapes(context, result);
  chosen_shapes(context, result);
  chosen_orders(context, result);
  buffers_over_bandwidth(context, result);
  if (context.quick) return result;
  array_sizes(context, result);
  isolation_over_bandwidth(context, result);
  return result;
}

}  // namespace pliant
