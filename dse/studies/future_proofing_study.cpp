// SPDX-License-Identifier: Apache-2.0
// Section 7 of the flexibility paper (Figure 13): the best inflexible design for AlexNet, and what each class of
// flexibility, had it been built in, would be worth on networks that came later. Here every entry is a proven optimum,
// the design itself included, so the table is monotone: more flexibility is never slower.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "dse/studies/all_studies.h"
#include "dse/studies/fixed_design.h"
#include "dse/studies/study_sweep.h"
#include "dse/studies/study_table.h"

namespace pliant {
namespace {

struct Network {
  const char* name;  ///< as the paper calls it
  const char* workload;
};
constexpr std::array kNetworks = {Network{"AlexNet", "flexpaper_alexnet"},
                                  Network{"MnasNet", "flexpaper_mnasnet"},
                                  Network{"ResNet50", "flexpaper_resnet50"},
                                  Network{"MobileNetV2", "flexpaper_mobilenet_v2"},
                                  Network{"BERT", "flexpaper_bert"},
                                  Network{"DLRM", "flexpaper_dlrm"},
                                  Network{"NCF", "flexpaper_ncf"},
                                  Network{"Qwen3-0.6B", "llm_qwen3_0_6b_1k"},
                                  Network{"Llama-3.2-1B", "llm_llama3_2_1b_1k"}};
constexpr std::size_t kPublished = 7;  ///< the paper's; the language models are ours

constexpr const char* kInFlex = "FullFlex-0000";

bool contains(const std::string& more, const std::string& less) {
  for (std::size_t i = 0; i < 4; ++i)
    if (less[i] == '1' && more[i] != '1') return false;
  return true;
}

}  // namespace

StudyResult run_future_proofing_study(const StudyContext& context) {
  StudyResult result;
  // 1. The inflexible designs: a joint optimum over tiles, parallel dims and shape for a whole network.
  const Accelerator shipped = load_accelerator(context.library, "flexref_alexnet_opt");
  const Count units = shipped.macs_units();
  const Count buffer = *shipped.levels[static_cast<std::size_t>(shipped.find_level("Buffer"))].memory().capacity_words;
  const Count all_units = load_accelerator(context.library, "flexref").macs_units();
  DataTable designs =
      table_of({"network", "row_dim", "rows", "row_tile", "col_dim", "cols", "col_tile", "cycles", "pairs_and_shapes"});
  std::map<std::string, double> own_design;  ///< cycles of X on X-Opt
  FixedDesign alexnet;
  for (std::size_t n = 0; n < kPublished; ++n) {
    if (context.quick && n > 0) break;
    if (context.stop.stop_requested()) throw StudyInterrupted();
    if (context.on_progress) context.on_progress(fmt::format("inflexible design for {}", kNetworks[n].name));
    const FixedDesign best =
        best_fixed_design(load_workload(context.library, kNetworks[n].workload), all_units, buffer);
    if (n == 0) alexnet = best;
    own_design[kNetworks[n].name] = best.cycles;
    add_row(designs, std::string(kNetworks[n].name), best.row_dim, best.rows, best.row_tile, best.col_dim, best.cols,
            best.col_tile, best.cycles, best.pairs_and_shapes);
  }
  result.tables.emplace_back("inflexible_designs", std::move(designs));

  // 2. All classes of the AlexNet-optimal design on all networks.
  const SweepData data = run_study_sweep(context, "study_future_proofing", [&](Sweep& sweep) {
    if (!context.quick) return;
    std::erase_if(sweep.workloads, [](const Workload& w) {
      return w.name != "flexpaper_alexnet" && w.name != "flexpaper_dlrm" && w.name != "flexpaper_ncf";
    });
  });
  const auto cycles = [&](const std::string& flexibility, const Network& network) {
    return data.designs.number({{"flexibility", flexibility}, {"workload", network.workload}}, "runtime_cycles");
  };
  result.found("AlexNet-Opt over the proven joint optimum of T, O, P and S",
               cycles(kInFlex, kNetworks[0]) / alexnet.cycles);
  // The closed form behind the joint optimum, against the mapper: the shipped design on every convolutional network.
  const FixedDesign as_shipped{"P", "M", 16, 64, 27, 64};
  double deviation = 0;
  for (std::size_t n = 0; n < kPublished; ++n)
    if (data.designs.has({{"workload", kNetworks[n].workload}}))
      deviation = std::max(
          deviation, std::abs(fixed_design_cycles(as_shipped, load_workload(context.library, kNetworks[n].workload)) -
                              cycles(kInFlex, kNetworks[n])));
  result.found("largest difference of the closed form from the mapper (cycles)", deviation);
  const bool y_and_k =
      (alexnet.row_dim == "P" && alexnet.col_dim == "M") || (alexnet.row_dim == "M" && alexnet.col_dim == "P");
  result.found("AlexNet-Opt runs Y and K in parallel (1 = yes)", y_and_k ? 1 : 0);
  result.found("AlexNet-Opt share of PEs at work (%)",
               100 * data.designs.number({{"flexibility", kInFlex}, {"workload", "flexpaper_alexnet"}}, "utilization") *
                   static_cast<double>(units) / static_cast<double>(all_units));

  DataTable table = table_of({"network", "flexibility", "runtime", "area_um2", "certified"});
  std::map<std::string, std::vector<double>> columns;  ///< by flexibility, the published networks
  int broken = 0;
  bool certified = true;
  const std::vector<std::string> flexibilities = data.designs.values("flexibility");
  for (std::size_t n = 0; n < kNetworks.size(); ++n) {
    const Network& network = kNetworks[n];
    if (!data.designs.has({{"workload", network.workload}})) continue;
    const double base = cycles(kInFlex, network);
    for (const std::string& flexibility : flexibilities) {
      const std::size_t row = data.designs.row({{"flexibility", flexibility}, {"workload", network.workload}});
      const double relative = cycles(flexibility, network) / base;
      const bool proven = data.designs.number(row, "certified") == 1;
      certified = certified && proven;
      if (flexibility != kInFlex) result.found(fmt::format("{} {}", flexibility, network.name), relative);
      if (n < kPublished) columns[flexibility].push_back(relative);
      add_row(table, std::string(network.name), flexibility, relative, data.designs.number(row, "area_um2"), proven);
      for (const std::string& more : flexibilities) {
        if (!flexibility.starts_with("FullFlex-") || !more.starts_with("FullFlex-")) continue;
        if (contains(more.substr(9), flexibility.substr(9)) && cycles(more, network) > cycles(flexibility, network))
          ++broken;
      }
    }
    if (own_design.contains(network.name) && n < kPublished) {
      const double own = own_design[network.name] / base;
      result.found(fmt::format("X-Opt {}", network.name), own);
      add_row(table, std::string(network.name), std::string("X-Opt"), own, 0.0, true);
    }
  }
  result.found("entries where a class is slower than one it contains", broken);
  result.found("all entries proven", certified ? 1 : 0);
  if (!context.quick) {
    const auto speedup = [&](const std::string& flexibility) { return 1 / geometric_mean(columns[flexibility]); };
    for (const std::string& flexibility : flexibilities)
      if (flexibility != kInFlex)
        result.found(fmt::format("{} speedup, geometric mean of seven networks", flexibility), speedup(flexibility));
    result.found("FullFlex-1010 over FullFlex-1111, geometric mean",
                 speedup("FullFlex-1111") / speedup("FullFlex-1010"));
    result.found("FullFlex-0011 over FullFlex-1111, geometric mean",
                 speedup("FullFlex-1111") / speedup("FullFlex-0011"));
    double sum = 0;
    for (std::size_t n = 0; n < 4; ++n) sum += columns["FullFlex-1000"][n];
    result.found("FullFlex-1000 speedup on the four CNNs", 4 / sum);
  }
  Chart heat{"fig13_future_proofing", "Runtime beside the AlexNet-optimal inflexible design", {}, table};
  heat.spec = {
      {"width", 420},
      {"height", 380},
      {"encoding",
       {{"x", {{"field", "network"}, {"type", "nominal"}, {"sort", nullptr}, {"title", nullptr}}},
        {"y", {{"field", "flexibility"}, {"type", "nominal"}, {"sort", nullptr}, {"title", nullptr}}}}},
      {"layer",
       {{{"mark", "rect"},
         {"encoding", {{"color", {{"field", "runtime"}, {"type", "quantitative"}, {"title", "runtime"}}}}}},
        {{"mark", {{"type", "text"}, {"fontSize", 9}}},
         {"encoding",
          {{"text", {{"field", "runtime"}, {"format", ".2f"}}},
           {"color", {{"condition", {{"test", "datum.runtime < 0.5"}, {"value", "white"}}}, {"value", "black"}}}}}}}}};
  result.charts.push_back(std::move(heat));
  Chart area{"area_gain", "Area and runtime of the 16 classes", {}, std::move(table)};
  area.spec = {
      {"mark", {{"type", "point"}, {"filled", true}, {"size", 60}}},
      {"transform", {{{"filter", "datum.area_um2 > 0"}}}},
      {"encoding",
       {{"x", {{"field", "area_um2"}, {"type", "quantitative"}, {"scale", {{"zero", false}}}, {"title", "area, um2"}}},
        {"y", {{"field", "runtime"}, {"type", "quantitative"}, {"title", "runtime, InFlex = 1"}}},
        {"color", {{"field", "network"}, {"type", "nominal"}, {"sort", nullptr}, {"title", nullptr}}},
        {"tooltip", {{{"field", "flexibility"}}, {{"field", "runtime"}}}}}}};
  result.charts.push_back(std::move(area));
  return result;
}

}  // namespace pliant
