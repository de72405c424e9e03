// SPDX-License-Identifier: Apache-2.0
#include "dse/import/onnx/edges.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/workload_graph.h"
#include "dse/import/onnx/constants.h"
#include "dse/import/onnx/operators.h"

namespace pliant::onnx {
namespace {

using Operator = WorkloadGraph::Operator;

/// Another look at the same words, or a change that happens on the way.
const std::set<std::string> kViews{"Reshape",        "Flatten", "Squeeze",          "Unsqueeze", "Identity",
                                   "Dropout",        "Cast",    "Transpose",        "Expand",    "CastLike",
                                   "QuantizeLinear", "Shape",   "DequantizeLinear", "Pad",       "Constant"};
const std::map<std::string, Operator> kOperators{{"Softmax", Operator::kSoftmax},
                                                 {"LogSoftmax", Operator::kSoftmax},
                                                 {"LayerNormalization", Operator::kNorm},
                                                 {"SkipLayerNormalization", Operator::kNorm},
                                                 {"SimplifiedLayerNormalization", Operator::kNorm},
                                                 {"RMSNormalization", Operator::kNorm},
                                                 {"InstanceNormalization", Operator::kNorm},
                                                 {"GroupNormalization", Operator::kNorm},
                                                 {"LRN", Operator::kNorm},
                                                 {"Concat", Operator::kConcat}};

class EdgeCollector {
 public:
  EdgeCollector(const Graph& graph, const std::map<std::string, Value>& values, const Workload& workload,
                const std::vector<PlacedLayer>& placed, const SourceFile& file, ImportLog& log)
      : graph_(graph), values_(values), workload_(workload), placed_(placed), file_(file), log_(log) {}

  std::optional<WorkloadGraph> collect() {
    for (const auto& [name, value] : graph_.initializers) constants_.insert(name);
    for (const std::string& name : graph_.inputs)
      if (!constants_.contains(name)) add_input(name);
    auto layer = placed_.begin();
    for (std::size_t n = 0; n < graph_.nodes.size(); ++n) {
      const Node& node = graph_.nodes[n];
      std::vector<int> rows;
      for (; layer != placed_.end() && layer->node == n; ++layer) rows.push_back(layer->row);
      if (!rows.empty())
        add_layers(node, rows);
      else if (is_constant(node))
        constants_.insert(node.outputs.begin(), node.outputs.end());
      else if (kViews.contains(node.type))
        alias(node);
      else
        add_operator(node);
      if (unknown_) return std::nullopt;
    }
    mark_outputs();
    const std::vector<bool> merged = merge_elementary(made_, collected_);
    KeptNodes kept = keep_read_nodes(std::move(made_), collected_, merged);
    tell_unread(kept.unread);
    for (const KeptNodes::OtherSize& one : kept.other_sizes)
      log_.small_choice(
          node_position(file_), one.name,
          fmt::format("reads {} words of the network's input; counted are the {} that it makes", one.read, one.made));
    return std::move(kept.graph);
  }

 private:
  /// Known before the network runs: weights, and arithmetic on shapes.
  bool is_constant(const Node& node) const {
    if (node.type == "Shape" || node.type == "Size") return true;
    const bool known = !node.outputs.empty() && std::ranges::all_of(node.outputs, [&](const std::string& output) {
      const auto value = values_.find(output);
      return value != values_.end() && value->second.elements.has_value();
    });
    return known || std::ranges::all_of(node.inputs, [&](const std::string& input) {
             return input.empty() || constants_.contains(input);
           });
  }

  /// The node of our graph that stands behind a value, or kNetworkInput.
  int source(const std::string& value) const {
    const auto known = made_by_.find(value);
    return known == made_by_.end() ? WorkloadGraph::kNetworkInput : known->second;
  }
  std::vector<int> sources(const Node& node) const {
    std::vector<int> all;
    for (const std::string& input : node.inputs)
      if (const int from = source(input); from >= 0) all.push_back(from);
    return all;
  }
  std::optional<Count> words_of(const std::string& value) const {
    const auto found = values_.find(value);
    return found != values_.end() && found->second.shape ? elements_of(*found->second.shape) : std::nullopt;
  }

  void alias(const Node& node) {
    if (node.inputs.empty() || source(node.inputs[0]) < 0) return;
    for (const std::string& output : node.outputs) made_by_[output] = source(node.inputs[0]);
  }

  int take(WorkloadGraph::Node made, const std::string& name, CollectedNode collected = {}) {
    made.name = names_(import_name(name, "node"));
    if (made.name == "input" || made.name == "previous") made.name = names_(made.name + "_");
    extents_.push_back(extents_made(workload_, made, extents_));
    made.words = extents_.back().words;
    made_.nodes.push_back(std::move(made));
    collected_.push_back(collected);
    return static_cast<int>(made_.nodes.size()) - 1;
  }

  /// A tensor that comes from outside and is there until its last reader has read it.
  void add_input(const std::string& name) {
    const auto words = words_of(name);
    if (!words || *words < 1) return;
    WorkloadGraph::Node made;
    made.words = *words;
    made_by_[name] = take(std::move(made), name, {.is_input = true});
  }

  static std::string name_of(const Node& node) {
    return node.name.empty() && !node.outputs.empty() ? node.outputs[0] : node.name;
  }

  /// An edge where the shapes agree as our reader wants it; else the operand comes from outside, which is noted.
  void edge(const Node& node, WorkloadGraph::Node& made, int from, int tensor) {
    if (from < 0) return;
    const Layer& layer = workload_.layers[static_cast<std::size_t>(made.layer)].layer;
    if (collected_[static_cast<std::size_t>(from)].is_input ||
        reads_fit(layer, made.count, tensor, extents_[static_cast<std::size_t>(from)])) {
      made.from.push_back({from, tensor});
      return;
    }
    log_.choice(node_position(file_), node_key(node),
                fmt::format("{} are taken from outside: {} words are read of {}",
                            layer.tensors[static_cast<std::size_t>(tensor)].name, words_read(layer, made.count, tensor),
                            extents_[static_cast<std::size_t>(from)].words));
  }

  void add_layers(const Node& node, const std::vector<int>& rows) {
    const bool attends = node.type == "Attention" || node.type == "MultiHeadAttention";
    const auto input = [&](std::size_t i) {
      return i < node.inputs.size() ? source(node.inputs[i]) : WorkloadGraph::kNetworkInput;
    };
    int last = WorkloadGraph::kNetworkInput, projected = WorkloadGraph::kNetworkInput;
    for (std::size_t k = 0; k < rows.size(); ++k) {
      WorkloadGraph::Node made;
      made.layer = rows[k];
      if (!attends) {
        edge(node, made, input(0), 0);
        edge(node, made, input(node.type == "QLinearConv" || node.type == "QLinearMatMul" ? 3 : 1), 1);
      } else if (rows.size() == 3 && k == 0) {  // the packed form's projection
        edge(node, made, input(0), 0);
      } else if (k + 2 == rows.size()) {
        edge(node, made, rows.size() == 3 ? projected : input(0), 0);
        if (rows.size() == 2) edge(node, made, input(1), 1);
      } else {
        edge(node, made, softmax_of(last), 0);
        if (rows.size() == 2) edge(node, made, input(2), 1);
      }
      last = take(std::move(made), name_of(node));
      if (k == 0) projected = last;
    }
    last = cropped(node, last);
    for (const std::string& output : node.outputs) made_by_[output] = last;
  }

  /// Borders that a transposed convolution makes and its readers do not see: nothing moves.
  int cropped(const Node& node, int layer) {
    const auto words = node.type == "ConvTranspose" && !node.outputs.empty() ? words_of(node.outputs[0]) : std::nullopt;
    if (!words || *words == made_.nodes[static_cast<std::size_t>(layer)].words) return layer;
    WorkloadGraph::Node made;
    made.work = Operator::kActivation;
    made.words = *words;
    made.from.push_back({layer, 0});
    return take(std::move(made), name_of(node) + "_cropped", {.is_whole = true});
  }

  int softmax_of(int scores) {
    WorkloadGraph::Node made;
    made.work = Operator::kSoftmax;
    made.online = true;
    made.from.push_back({scores, 0});
    return take(std::move(made), "attention_weights", {.is_whole = true});
  }

  void add_operator(const Node& node) {
    std::vector<int> from = sources(node);
    if (node.outputs.empty()) return;
    const auto words = words_of(node.outputs[0]);
    if (!words || *words < 1) {
      log_.first(node_position(file_), node_key(node),
                 "no graph, so no tensor stays on chip (residency is off), because the size of its result is unknown");
      unknown_ = true;
      return;
    }
    // Rows of a table of weights: as many words as it gives, besides the numbers of the rows.
    if (node.type == "Gather" && !node.inputs.empty() && constants_.contains(node.inputs[0])) {
      WorkloadGraph::Node rows;
      rows.words = *words;
      from.push_back(take(std::move(rows), name_of(node) + "_rows", {.is_input = true}));
    }
    const std::size_t results = node.type == "Split" ? node.outputs.size() : 1;
    for (std::size_t r = 0; r < results; ++r) {
      const Count own = r == 0 ? *words : words_of(node.outputs[r]).value_or(*words);
      const int n = take(operator_node(node, from, own), name_of(node), {.is_whole = kOperators.contains(node.type)});
      for (std::size_t o = r; o < (results > 1 ? r + 1 : node.outputs.size()); ++o) made_by_[node.outputs[o]] = n;
    }
  }

  /// These read no more of their operand than they make.
  bool takes_part(const Node& node, const std::vector<int>& from, Count words) const {
    static const std::set<std::string> kParts{"Split", "Slice", "Gather", "GatherElements", "GatherND"};
    return kParts.contains(node.type) && from.size() == 1 &&
           words < made_.nodes[static_cast<std::size_t>(from[0])].words;
  }

  /// Over the last index, which is what a product's rows are.
  bool is_row_softmax(const Node& node) const {
    if (node.type != "Softmax" || node.inputs.empty()) return false;
    const auto value = values_.find(node.inputs[0]);
    const Count axis = node.number("axis", -1);
    return axis == -1 || (value != values_.end() && value->second.shape &&
                          axis + 1 == static_cast<Count>(value->second.shape->size()));
  }

  WorkloadGraph::Node operator_node(const Node& node, const std::vector<int>& from, Count words) const {
    WorkloadGraph::Node made;
    made.words = words;
    const auto known = kOperators.find(node.type);
    const bool same_size = !from.empty() && std::ranges::any_of(from, [&](int n) {
      return made_.nodes[static_cast<std::size_t>(n)].words == words;
    });
    if (known != kOperators.end()) {
      made.work = known->second;
      made.online = is_row_softmax(node);
    } else if (!same_size) {
      made.work = takes_part(node, from, words) ? Operator::kPart : Operator::kPool;
    } else {
      made.work = from.size() > 1 ? Operator::kAdd : Operator::kActivation;
    }
    for (std::size_t i = 0; i < from.size(); ++i) made.from.push_back({from[i], static_cast<int>(i)});
    return made;
  }

  /// What the file gives to its user; of a file that does not say it, what nobody reads.
  void mark_outputs() {
    std::vector<std::string> outputs = graph_.outputs;
    if (outputs.empty()) {
      std::set<std::string> read;
      for (const Node& node : graph_.nodes) read.insert(node.inputs.begin(), node.inputs.end());
      for (const Node& node : graph_.nodes)
        for (const std::string& output : node.outputs)
          if (!read.contains(output)) outputs.push_back(output);
    }
    for (const std::string& output : outputs)
      if (const int n = source(output); n >= 0) collected_[static_cast<std::size_t>(n)].is_output = true;
  }

  void tell_unread(const std::vector<WorkloadGraph::Node>& unread) {
    for (const WorkloadGraph::Node& node : unread)
      log_.choice(node_position(file_), node.name,
                  fmt::format("left out: nobody reads the {} words that this operator makes", node.words));
  }

  const Graph& graph_;
  const std::map<std::string, Value>& values_;
  const Workload& workload_;
  const std::vector<PlacedLayer>& placed_;
  const SourceFile& file_;
  ImportLog& log_;
  WorkloadGraph made_;                    ///< the network's inputs are nodes of it, until the end
  std::vector<CollectedNode> collected_;  ///< by node of ours
  std::vector<TensorExtents> extents_;    ///< by node of ours
  std::map<std::string, int> made_by_;    ///< by value
  std::set<std::string> constants_;       ///< values
  UniqueNames names_;
  bool unknown_ = false;
};

}  // namespace

std::optional<WorkloadGraph> collect_edges(const Graph& graph, const std::map<std::string, Value>& values,
                                           const Workload& workload, const std::vector<PlacedLayer>& placed,
                                           const SourceFile& file, ImportLog& log) {
  return EdgeCollector(graph, values, workload, placed, file, log).collect();
}

}  // namespace pliant::onnx
