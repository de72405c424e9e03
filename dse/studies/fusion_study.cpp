// SPDX-License-Identifier: Apache-2.0
// Beyond the papers: what fused tiles buy as an axis of flexibility, F. Networks on `npu` in classes of flexibility
// with every tensor outside, whole tensors on chip and tiles (the class with +F); and the same steps of freedom on
// chips of other kinds. Everything is proven: by class the optima, by chip to within the gap of the sweeps.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "dse/studies/all_studies.h"
#include "dse/studies/study_sweep.h"
#include "dse/studies/study_table.h"

namespace pliant {
namespace {

/// How tensors may live between layers, and the columns that say what the network then takes.
struct Freedoms {
  const char* name;
  const char* energy;
  const char* cycles;
};
constexpr std::array kFreedoms = {Freedoms{"outside", "outside_energy_pj", "outside_runtime_cycles"},
                                  Freedoms{"whole tensors", "whole_energy_pj", "whole_runtime_cycles"},
                                  Freedoms{"tiles", "energy_pj", "runtime_cycles"}};
constexpr const char* kInflexible = "FullFlex-0000+F";

double edp(const Rows& rows, std::size_t row, const Freedoms& freedom) {
  return rows.number(row, freedom.energy) * rows.number(row, freedom.cycles);
}

/// "FullFlex-1000+F" without its degree and F: the row has the class without F too.
std::string bits_of(const std::string& flexibility) { return flexibility.substr(flexibility.find('-') + 1, 4); }

/// What quick runs leave: one network whose scores pass in tiles, and one that is bound by its weights.
void leave_few(Sweep& sweep) {
  std::erase_if(sweep.workloads, [](const Workload& workload) {
    return workload.name != "bert_base_seq512" && workload.name != "llm_llama3_2_1b_decode_1k";
  });
}

struct Proofs {
  int open = 0;  ///< entries that are not known to be the optimum
  double most_gap = 0;
  void add(const Rows& rows, std::size_t row) {
    open += rows.number(row, "certified") == 1 ? 0 : 1;
    most_gap = std::max(most_gap, rows.number(row, "max_gap"));
  }
};

/// Classes of `npu`: everything is divided by the design that is flexible in nothing, with every tensor outside.
DataTable add_classes(const StudyContext& context, Proofs& proofs, StudyResult& result) {
  const Rows rows = run_study_sweep(context, "study_fusion", [&](Sweep& sweep) {
                      if (context.quick) leave_few(sweep);
                    }).designs;
  DataTable gains = table_of({"workload", "class", "tensors", "gain"});
  for (const std::string& workload : rows.values("workload")) {
    const double base = edp(rows, rows.row({{"workload", workload}, {"flexibility", kInflexible}}), kFreedoms[0]);
    for (const std::string& flexibility : rows.values("flexibility")) {
      const std::size_t row = rows.row({{"workload", workload}, {"flexibility", flexibility}});
      proofs.add(rows, row);
      for (const Freedoms& freedom : kFreedoms) {
        const double gain = base / edp(rows, row, freedom);
        result.found(
            fmt::format("{} on npu, class {}, {}: EDP divided by", workload, bits_of(flexibility), freedom.name), gain);
        add_row(gains, workload, bits_of(flexibility), std::string(freedom.name), gain);
      }
    }
  }
  return gains;
}

/// `only`: the chip's name, where the sweep has one.
void add_chips(const StudyContext& context, const char* sweep_name, const char* only, Proofs& proofs, DataTable& gains,
               StudyResult& result) {
  const Rows rows = run_study_sweep(context, sweep_name, [&](Sweep& sweep) {
                      if (context.quick) leave_few(sweep);
                    }).designs;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const std::string chip = only != nullptr ? only : rows.text(row, "set_accelerator");
    const std::string workload = rows.text(row, "workload");
    proofs.add(rows, row);
    for (const Freedoms& freedom : {kFreedoms[1], kFreedoms[2]}) {
      const double gain = edp(rows, row, kFreedoms[0]) / edp(rows, row, freedom);
      result.found(fmt::format("{} on {}, {}: EDP divided by", workload, chip, freedom.name), gain);
      add_row(gains, chip, workload, std::string(freedom.name), gain);
    }
  }
}

/// Bars by steps of freedom, in panels that stand as the rows do.
nlohmann::ordered_json bars(const nlohmann::ordered_json& steps, const char* legend, const char* bar,
                            const nlohmann::ordered_json& title, const char* panel,
                            const nlohmann::ordered_json& panels) {
  return {{"mark", "bar"},
          {"width", 210},
          {"height", 240},
          {"encoding",
           {{"y", {{"field", bar}, {"type", "nominal"}, {"sort", nullptr}, {"title", title}}},
            {"yOffset", {{"field", "tensors"}, {"sort", steps}}},
            {"x", {{"field", "gain"}, {"type", "quantitative"}, {"title", "EDP divided by"}}},
            {"color", {{"field", "tensors"}, {"type", "nominal"}, {"sort", steps}, {"title", legend}}},
            {"facet", {{"field", panel}, {"type", "nominal"}, {"sort", panels}, {"title", nullptr}, {"columns", 3}}}}}};
}

/// The texts of a column, each once, as they stand.
nlohmann::ordered_json texts_of(const DataTable& table, std::string_view column) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const Cell& cell : table.find(column)->cells)
    if (std::ranges::find(all, nlohmann::ordered_json(to_text(cell))) == all.end()) all.push_back(to_text(cell));
  return all;
}

Chart chips_chart(DataTable gains) {
  Chart chart{"fusion_chips", "What tensors that stay on chip buy: all outside = 1", {}, std::move(gains)};
  chart.spec = bars({"whole tensors", "tiles"}, "on chip", "workload", nullptr, "chip", texts_of(chart.table, "chip"));
  chart.spec["encoding"]["facet"]["columns"] = 2;
  chart.spec["title"] = {{"subtitle", "T, O, P and S as each chip has them; convolutions were not run on the GPU"}};
  chart.spec["encoding"]["facet"]["header"] = {
      {"labelExpr",
       "{npu: 'npu', fusion_edge4: 'edge chip, four cores', accelforge_tpu_v4i: 'TPU v4i', "
       "fusion_gpu108: 'GPU, 108 multiprocessors'}[datum.value]"}};
  chart.spec["encoding"]["y"]["axis"] = {
      {"labelExpr",
       "{mobilenet_v2: 'MobileNetV2', resnet50: 'ResNet-50', bert_base_seq512: 'BERT-base, 512 tokens'}"
       "[datum.value] || replace(replace(datum.value, 'llm_llama3_2_1b_', 'Llama 3.2 1B, '), '_', ' ')"}};
  return chart;
}

Chart classes_chart(DataTable gains) {
  Chart chart{"fusion_classes", "What F buys beside T, O, P and S on npu: 0000, all outside = 1", {}, std::move(gains)};
  chart.spec = bars({"outside", "whole tensors", "tiles"}, "between layers", "class", "class T O P S", "workload",
                    texts_of(chart.table, "workload"));
  chart.spec["resolve"] = {{"scale", {{"x", "independent"}}}};
  return chart;
}

}  // namespace

StudyResult run_fusion_study(const StudyContext& context) {
  StudyResult result;
  Proofs of_classes, of_chips;
  DataTable classes = add_classes(context, of_classes, result);
  DataTable chips = table_of({"chip", "workload", "tensors", "gain"});
  add_chips(context, "study_fusion_chips", nullptr, of_chips, chips, result);
  if (!context.quick) add_chips(context, "study_fusion_gpu", "fusion_gpu108", of_chips, chips, result);
  const char* which = context.quick ? " of the quick run" : "";
  result.found(fmt::format("by class, entries that are not proven optima{}", which), of_classes.open);
  result.found(fmt::format("by chip, largest gap{}", which), of_chips.most_gap);
  if (context.quick) return result;
  result.charts.push_back(chips_chart(chips));
  result.charts.push_back(classes_chart(classes));
  result.tables.emplace_back("chips", std::move(chips));
  result.tables.emplace_back("classes", std::move(classes));
  return result;
}

}  // namespace pliant
