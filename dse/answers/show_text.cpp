// SPDX-License-Identifier: Apache-2.0
#include "dse/answers/show_text.h"

#include <fmt/format.h>

#include <array>

#include "core/input/load.h"
#include "core/input/machine_parts.h"
#include "core/input/source_text.h"
#include "core/workload_graph.h"
#include "costmodel/physical.h"
#include "dse/answers/draw_chain.h"
#include "dse/answers/render_physical.h"
#include "dse/answers/text_table.h"

namespace pliant {
namespace {

std::string shown_number(double value) {
  return value >= 1e5 && value < 1e15 ? fmt::format("{:.0f}", value) : fmt::format("{:.5g}", value);
}

/// Words per cycle of one direction, or of the bus that it shares with the other; by role where roles have their own.
std::string port(const Memory& memory, const std::optional<double>& words, std::optional<double> Bandwidth::*own) {
  std::string text;
  const auto add = [&](const std::string& rate) { text += (text.empty() ? "" : ", ") + rate; };
  if (memory.bus_words_per_cycle) add(shown_number(*memory.bus_words_per_cycle) + " (bus)");
  if (words) add(shown_number(*words));
  for (std::size_t r = 0; r < kRoles; ++r) {
    const Bandwidth& ports = memory.bandwidth_of[r];
    if (ports.*own) add(fmt::format("{} {}", kRoleNames[r], shown_number(*(ports.*own))));
    if (ports.bus) add(fmt::format("{} {} (bus)", kRoleNames[r], shown_number(*ports.bus)));
  }
  return text.empty() ? "unlimited" : text;
}

std::string capacity(const Memory& m) {
  if (!m.capacity_words) return "unbounded";
  return fmt::format("{} ({})", *m.capacity_words,
                     readable_bytes(static_cast<double>(*m.capacity_words) * m.word_bits / 8));
}

/// ", clock 1 GHz, peak 2.048 TOPS"
std::string clock_words(const Accelerator& a) {
  if (!a.clock_hz) return "";
  return fmt::format(", clock {}, peak {:.4g} TOPS", readable_clock(*a.clock_hz),
                     *peak_tops(a.clock_hz, a.peak_macs_per_cycle()));
}

std::string memory_table(const Accelerator& a) {
  TextTable table({"memory", "copies", "capacity, words", "bits", "keeps<", "read pJ", "write pJ", "update pJ",
                   "read words/cycle", "write words/cycle", "leak pJ/cycle", "area um2", "technology<"});
  for (std::size_t k = 0; k < a.levels.size(); ++k) {
    if (!a.levels[k].is_memory()) continue;
    const Memory& m = a.levels[k].memory();
    table.add({a.levels[k].name, fmt::format("{}", a.instances(static_cast<int>(k))), capacity(m),
               fmt::format("{}", m.word_bits), kept_roles(m), shown_number(m.read_pj), shown_number(m.write_pj),
               shown_number(m.update_pj), port(m, m.read_words_per_cycle, &Bandwidth::read),
               port(m, m.write_words_per_cycle, &Bandwidth::write), shown_number(m.leak_pj_per_cycle),
               shown_number(m.area_um2), m.technology.empty() ? "-" : m.technology});
  }
  return table.text("  ");
}

std::string reduction(const Fanout& f) {
  const bool rows = f.sums_along(Side::kRows), cols = f.sums_along(Side::kCols);
  if (rows && cols) return "always";
  if (rows || cols) return rows ? "always (rows)" : "always (cols)";
  return f.reduction ? "yes" : "no";
}

std::string other_levels(const Accelerator& a) {
  TextTable fanouts({"fanout", "copies", "rows", "cols", "multicast<", "reduction<", "area um2"});
  bool any = false;
  std::string compute;
  for (std::size_t k = 0; k < a.levels.size(); ++k) {
    const Level& level = a.levels[k];
    const std::string copies = fmt::format("{}", a.instances(static_cast<int>(k)));
    if (level.is_fanout()) {
      const Fanout& f = level.fanout();
      any = true;
      fanouts.add({level.name, copies, fmt::format("{}", f.rows), fmt::format("{}", f.cols),
                   !f.multicast ? "no" : (f.partial_multicast ? "partial" : "yes"), reduction(f),
                   shown_number(f.area_um2)});
    } else if (level.is_compute()) {
      const Compute& c = level.compute();
      TextTable table({"compute", "copies", "MAC pJ", "cycles/MAC", "leak pJ/cycle", "area um2"});
      table.add({level.name, copies, shown_number(c.mac_pj), shown_number(c.cycles_per_mac),
                 shown_number(c.leak_pj_per_cycle), shown_number(c.area_um2)});
      compute = table.text("  ");
    }
  }
  return (any ? fanouts.text("  ") + "\n" : "") + compute;
}

std::string flexibility(const Accelerator& a) {
  const std::string yaml = write_flexibility(a);
  const std::string rules = yaml.substr(yaml.find('\n') + 1);
  if (rules.empty()) return "  full: any tiles that fit, any loop orders, any parallel dims; arrays as built\n";
  std::string text;
  std::string line;
  for (const char c : rules) {
    line += c;
    if (c != '\n') continue;
    text += fmt::format("  {}", line);
    line.clear();
  }
  return text;
}

std::string expression(const Layer& layer, const Rank& rank) {
  std::string text;
  for (const Term& term : rank.terms) {
    if (!text.empty()) text += " + ";
    if (term.coefficient != 1) text += fmt::format("{}*", term.coefficient);
    text += layer.dims[static_cast<std::size_t>(term.dim)].name;
  }
  return text;
}

std::string projection(const Layer& layer, const Tensor& tensor) {
  std::string text;
  for (const Rank& rank : tensor.ranks) text += fmt::format("{}{}", text.empty() ? "" : ", ", expression(layer, rank));
  return fmt::format("[{}]", text);
}

/// The words of all tensors of one role.
Count words_of(const Layer& layer, Role role) {
  Count words = 0;
  for (std::size_t x = 0; x < layer.tensors.size(); ++x) {
    if (layer.tensors[x].role == role) words += layer.tensor_words(static_cast<int>(x));
  }
  return words;
}

std::string sizes(const Layer& layer) {
  if (!layer.written_as.empty()) return layer.written_as;
  std::string text;
  for (const Dim& dim : layer.dims) text += fmt::format("{}{}={}", text.empty() ? "" : ",", dim.name, dim.size);
  return fmt::format("einsum {}", text);
}

/// The nodes in the order in which they run: what each reads and makes.
std::string graph_text(const Workload& w) {
  TextTable table({"node", "what<", "words made", "reads<"});
  const WorkloadGraph& graph = *w.graph;
  auto block = graph.blocks.begin();
  for (int n = 0; n < static_cast<int>(graph.nodes.size()); ++n) {
    const WorkloadGraph::Node& node = graph.nodes[static_cast<std::size_t>(n)];
    if (block != graph.blocks.end() && n >= block->first + block->nodes) ++block;
    const bool repeated = block != graph.blocks.end() && n >= block->first;
    std::vector<std::string> reads;
    for (const WorkloadGraph::Edge& edge : node.from) {
      if (edge.node == WorkloadGraph::kNetworkInput) reads.emplace_back("input");
      if (edge.node == WorkloadGraph::kRoundBefore) reads.emplace_back("previous");
      if (edge.node >= 0) reads.push_back(graph.nodes[static_cast<std::size_t>(edge.node)].name);
    }
    std::string what(to_string(node.work));
    if (node.online) what += " online";
    if (node.is_layer()) what = w.layers[static_cast<std::size_t>(node.layer)].layer.name;
    if (node.count > 1) what += fmt::format(" x {}", node.count);
    if (repeated && n == block->first) what += fmt::format("  ({} nodes, {} rounds)", block->nodes, block->rounds);
    table.add({repeated ? "| " + node.name : node.name, what, readable_count(static_cast<double>(node.words)),
               reads.empty() ? "-" : join(reads)});
  }
  return "graph (nodes in the order in which they run; | = repeated)\n" + table.text("  ");
}

}  // namespace

std::string show_text(const Accelerator& a, bool ascii) {
  std::string text = fmt::format("accelerator {}\n", a.name);
  if (!a.description.empty()) text += fmt::format("  {}\n", a.description);
  text += fmt::format("  {} MAC units, conventions {}{}\n", a.macs_units(), a.conventions.name(), clock_words(a));
  text += "\n" + draw_chain(a, ascii) + "\n" + memory_table(a) +
          "  (I inputs, W weights, O outputs; in parentheses: a mapping may leave it out)\n\n" + other_levels(a);
  if (a.vector) text += fmt::format("\nvector unit, for work without MACs: {}\n", write_vector_unit(*a.vector));
  if (a.links) text += fmt::format("\nlinks to other chips: {}\n", write_links(*a.links));
  if (a.base_area_um2 > 0) text += fmt::format("\nbase area {} um2\n", shown_number(a.base_area_um2));
  if (a.flexibility_area_um2 != std::array<double, 4>{}) {
    const auto& o = a.flexibility_area_um2;
    text += fmt::format("\narea of flexibility, um2: T {}, O {}, P {}, S {}\n  ({})\n", shown_number(o[0]),
                        shown_number(o[1]), shown_number(o[2]), shown_number(o[3]), a.flexibility_area_from);
  }
  text += "\nflexibility (what a mapping may do)\n" + flexibility(a);
  if (a.hints.min_utilization > 0) {
    text += fmt::format("\nhints (prune the search only): min_utilization {}\n", shown_number(a.hints.min_utilization));
  }
  return text;
}

std::string show_text(const Workload& w, bool /*ascii*/) {
  std::string text = fmt::format("workload {}\n", w.name);
  if (!w.description.empty()) text += fmt::format("  {}\n", w.description);
  TextTable table({"layer", "count", "MACs", "inputs", "weights", "outputs", "shape<"});
  double macs = 0, weights = 0;
  Count layers = 0;
  for (const auto& [layer, count] : w.layers) {
    table.add({layer.name, fmt::format("{}", count), readable_count(static_cast<double>(layer.macs())),
               readable_count(static_cast<double>(words_of(layer, Role::kInput))),
               readable_count(static_cast<double>(words_of(layer, Role::kWeight))),
               readable_count(static_cast<double>(words_of(layer, Role::kOutput))), sizes(layer)});
    macs += static_cast<double>(layer.macs()) * static_cast<double>(count);
    weights += static_cast<double>(words_of(layer, Role::kWeight)) * static_cast<double>(count);
    layers += count;
  }
  text += "\n" + table.text("  ");
  text += fmt::format("\n{} shapes, {} layers, {} MACs, {} weights (words; MACs and words of one occurrence above)\n",
                      w.layers.size(), layers, readable_count(macs), readable_count(weights));
  if (w.graph) text += "\n" + graph_text(w);
  return text;
}

std::string show_text(const Layer& layer, bool /*ascii*/) {
  std::string text = fmt::format("layer {} ({})\n", layer.name, to_string(layer.operation));
  if (!layer.written_as.empty()) text += fmt::format("  {}\n", layer.written_as);
  text += fmt::format("  {} MACs\n\n", layer.macs());
  TextTable dims({"dim", "size", "indexes<"});
  for (std::size_t d = 0; d < layer.dims.size(); ++d) {
    std::string coupled;
    for (std::size_t x = 0; x < layer.tensors.size(); ++x) {
      if ((layer.coupled(static_cast<int>(x)) >> d & 1U) == 0) continue;
      coupled += fmt::format("{}{}", coupled.empty() ? "" : ", ", layer.tensors[x].name);
    }
    dims.add({layer.dims[d].name, fmt::format("{}", layer.dims[d].size), coupled});
  }
  TextTable tensors({"tensor", "role<", "words", "MACs/word", "indices<"});
  for (std::size_t x = 0; x < layer.tensors.size(); ++x) {
    const Count words = layer.tensor_words(static_cast<int>(x));
    tensors.add({layer.tensors[x].name, std::string(to_string(layer.tensors[x].role)), fmt::format("{}", words),
                 shown_number(static_cast<double>(layer.macs()) / static_cast<double>(words)),
                 projection(layer, layer.tensors[x])});
  }
  return text + dims.text("  ") + "\n" + tensors.text("  ");
}

}  // namespace pliant
