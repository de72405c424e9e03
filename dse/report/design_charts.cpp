// SPDX-License-Identifier: Apache-2.0
#include "dse/report/design_charts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "dse/report/layer_details.h"
#include "dse/report/measures.h"

namespace pliant {

using nlohmann::ordered_json;

namespace {

constexpr double kDesignWidth = 520;

struct TensorTraffic {
  std::string tensor;
  double reads = 0, words = 0, energy_pj = 0;
};
struct MemoryCost {
  std::string level;
  double read_cycles = 0, bus_cycles = 0;
  double leakage_pj = 0;
  std::vector<TensorTraffic> tensors;
};
struct SolvedLayer {
  std::string name, bound_by, compute;
  double count = 1, macs = 0, energy_pj = 0, cycles = 0, utilization = 0;
  std::vector<MemoryCost> memories;
  /// Words read at the outermost memory, or all words of its bus.
  double outermost_words() const {
    double words = 0;
    for (const TensorTraffic& tensor : memories.front().tensors) words += has_bus() ? tensor.words : tensor.reads;
    return words;
  }
  bool has_bus() const { return memories.front().bus_cycles > 0; }
};

double number(const ordered_json& json) { return json.is_null() ? 0 : json.get<double>(); }

/// Reads back what layer_details.cpp packed.
std::vector<SolvedLayer> solved_layers(const ordered_json& details, std::size_t row) {
  const ordered_json &strings = details["strings"], &tasks = details["tasks"];
  const auto text = [&](const ordered_json& index) { return strings[index.get<std::size_t>()].get<std::string>(); };
  std::vector<SolvedLayer> all;
  const std::string key = std::to_string(row);
  if (!details["rows"].contains(key)) return all;
  for (const ordered_json& entry : details["rows"][key]) {
    if (entry[1].get<std::int64_t>() < 0) continue;
    const ordered_json& layer = details["layers"][entry[0].get<std::size_t>()];
    const ordered_json& task = tasks[entry[1].get<std::size_t>()];
    SolvedLayer one;
    one.name = text(layer[1]);
    one.count = number(layer[2]);
    one.macs = number(layer[3]);
    one.energy_pj = number(task[0]);
    one.cycles = number(task[1]);
    one.utilization = number(task[3]);
    one.bound_by = text(task[4]);
    one.compute = text(task[11].back()[0]);
    for (const ordered_json& memory : task[12]) {
      MemoryCost cost{text(memory[0]), number(memory[4]), number(memory[6]), number(memory[7]), {}};
      for (const ordered_json& tensor : memory[8])
        cost.tensors.push_back(
            {text(tensor[0]), number(tensor[1]), number(tensor[1]) + number(tensor[2]), number(tensor[3])});
      one.memories.push_back(std::move(cost));
    }
    if (!one.memories.empty()) all.push_back(std::move(one));
  }
  return all;
}

/// Sums over the layers with their repetitions, in the order in which level and tensor are met.
class Sums {
 public:
  void add(const std::string& level, const std::string& tensor, double value) {
    if (value <= 0) return;
    const auto [found, is_new] = places_.try_emplace({level, tensor}, parts_.size());
    if (is_new) parts_.push_back({level, tensor, 0});
    parts_[found->second].value += value;
  }
  const std::vector<LevelPart>& parts() const { return parts_; }

 private:
  std::map<std::pair<std::string, std::string>, std::size_t> places_;
  std::vector<LevelPart> parts_;
};

ordered_json bounds_of(const std::vector<SolvedLayer>& layers) {
  std::vector<std::string> bounds;
  for (const SolvedLayer& layer : layers)
    if (std::ranges::find(bounds, layer.bound_by) == bounds.end()) bounds.push_back(layer.bound_by);
  std::ranges::sort(bounds, {}, [](const std::string& b) { return std::pair{b != "compute", b}; });
  ordered_json colours = ordered_json::array();
  for (std::size_t i = 0; i < bounds.size(); ++i) colours.push_back(measures()["colours"][i % 8]);
  return {{"bounds", bounds}, {"colours", colours}, {"width", kDesignWidth}};
}

Chart utilization(const std::vector<SolvedLayer>& layers, const std::string& title) {
  DataTable table{{{"layer", {}}, {"utilization", {}}, {"bound_by", {}}, {"chosen", {}}}};
  for (std::size_t i = 0; i < layers.size(); ++i) {
    table.columns[0].cells.emplace_back(fmt::format("{} {}", i + 1, layers[i].name));
    table.columns[1].cells.emplace_back(layers[i].utilization);
    table.columns[2].cells.emplace_back(layers[i].bound_by);
    table.columns[3].cells.emplace_back(false);
  }
  ordered_json values = bounds_of(layers);
  values["step"] = 15;
  return {"utilization", "Utilization, " + title, shipped_spec("utilization", values), std::move(table)};
}

/// Layers as points, the roof of the compute units and, where it is bounded, the slope of the outermost memory: of
/// reading it, or of its bus.
Chart roofline(const std::vector<SolvedLayer>& layers, double units, const std::string& title) {
  DataTable table{
      {{"kind", {}}, {"name", {}}, {"x", {}}, {"y", {}}, {"bound_by", {}}, {"chosen", {}}, {"labelled", {}}}};
  double left = std::numeric_limits<double>::infinity(), right = 0, bottom = units, bandwidth = 0;
  const auto add = [&](const char* kind, const std::string& name, double x, double y, const std::string& bound,
                       bool labelled) {
    const std::vector<Cell> cells{std::string(kind), name, x, y, bound, false, labelled};
    for (std::size_t c = 0; c < cells.size(); ++c) table.columns[c].cells.push_back(cells[c]);
    bottom = std::min(bottom, y);
  };
  for (const SolvedLayer& layer : layers) {
    const double words = layer.outermost_words();
    if (words <= 0) continue;
    add("layer", layer.name, layer.macs / words, layer.macs / layer.cycles, layer.bound_by, false);
    left = std::min(left, layer.macs / words / 2);
    right = std::max(right, layer.macs / words * 2);
    // A port's cycles are its words over its bandwidth.
    const MemoryCost& outermost = layer.memories.front();
    if (const double cycles = layer.has_bus() ? outermost.bus_cycles : outermost.read_cycles; cycles > 0)
      bandwidth = std::max(bandwidth, words / cycles);
  }
  double ridge = left;
  if (bandwidth > 0) {
    ridge = units / bandwidth;
    left = std::min(left, ridge / 4);
    right = std::max(right, ridge * 4);
  }
  const char* const moved = layers.front().has_bus() ? "moved" : "read";
  const std::string roof = fmt::format("{} MAC units", units);
  add("roof", roof, std::max(left, ridge), units, "", false);
  add("roof", roof, right, units, "", true);
  if (bandwidth > 0) {
    const std::string slope = fmt::format("{:.3g} words {} per cycle", bandwidth, moved);
    add("roof", slope, left, left * bandwidth, "", false);
    add("roof", slope, ridge, units, "", false);
  }
  ordered_json values = bounds_of(layers);
  values["memory"] = layers.front().memories.front().level;
  values["moved"] = layers.front().has_bus() ? "moved at" : "read from";
  values["y_domain"] = {bottom / 2, units * 1.6};
  return {"roofline", "Roofline, " + title, shipped_spec("roofline", values), std::move(table)};
}

}  // namespace

Chart stacked_chart(std::string name, std::string title, const std::string& x_title, double scale,
                    const std::vector<LevelPart>& parts) {
  std::vector<std::string> tensors;
  for (const LevelPart& part : parts)
    if (std::ranges::find(tensors, part.tensor) == tensors.end()) tensors.push_back(part.tensor);
  ordered_json colours = ordered_json::array();
  for (std::size_t i = 0; i < tensors.size(); ++i)
    colours.push_back(measures()["tensor_colours"].value(tensors[i], measures()["colours"][i % 5]));
  DataTable table{{{"level", {}}, {"tensor", {}}, {"value", {}}, {"order", {}}}};
  for (const LevelPart& part : parts) {
    table.columns[0].cells.emplace_back(part.level);
    table.columns[1].cells.emplace_back(part.tensor);
    table.columns[2].cells.emplace_back(part.value * scale);
    table.columns[3].cells.emplace_back(std::ranges::find(tensors, part.tensor) - tensors.begin());
  }
  return {std::move(name), std::move(title),
          shipped_spec("stacked", {{"width", kDesignWidth},
                                   {"x_title", x_title},
                                   {"x_format", ".3~s"},
                                   {"tensors", tensors},
                                   {"colours", colours}}),
          std::move(table)};
}

std::vector<Chart> design_charts(const std::filesystem::path& dataset, const ReportData& data, std::size_t row) {
  const LayerDetails details = read_layer_details(dataset, data, {row}, 1);
  const std::vector<SolvedLayer> layers = solved_layers(details.json, row);
  if (layers.empty()) return {};
  Sums energy, traffic;
  for (const SolvedLayer& layer : layers) {
    double in_memories = 0;
    for (const MemoryCost& memory : layer.memories) {
      for (const TensorTraffic& tensor : memory.tensors) {
        energy.add(memory.level, tensor.tensor, layer.count * tensor.energy_pj);
        traffic.add(memory.level, tensor.tensor, layer.count * tensor.words);
        in_memories += tensor.energy_pj;
      }
      energy.add(memory.level, "leakage", layer.count * memory.leakage_pj);
      in_memories += memory.leakage_pj;
    }
    energy.add(layer.compute, "compute", layer.count * (layer.energy_pj - in_memories));
  }
  const std::string title = fmt::format("design {} ({}, {}) on {}", data.text("design_id", row),
                                        data.text("label", row), data.text("array", row), data.text("workload", row));
  return {stacked_chart("energy", "Energy, " + title, "energy (J)", 1e-12, energy.parts()),
          stacked_chart("traffic", "Traffic, " + title, "words read and written", 1, traffic.parts()),
          utilization(layers, title), roofline(layers, data.number("compute_units", row).value_or(1), title)};
}

}  // namespace pliant
