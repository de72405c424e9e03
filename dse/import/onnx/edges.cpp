// SPDX-License-Identifier: Apache-2.0
#include "dse/import/onnx/edges.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/workload_graph.h"
#include "dse/import/onnx/constants.h"

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
    auto layer = placed_.begin();
    for (std::size_t n = 0; n < graph_.nodes.size(); ++n) {
      const Node& node = graph_.nodes[n];
      std::vector<int> rows;
      for (; layer != placed_.end() && layer->node == n; ++layer) rows.push_back(layer->row);
      if (!rows.empty())
        add_layers(node, rows);
      else if (kViews.contains(node.type))
        alias(node);
      else
        add_operator(node);
      if (unknown_) return std::nullopt;
    }
    // Arithmetic on shapes and other things that no layer needs end in operators that nobody reads.
    return without_unread_operators(std::move(made_));
  }

 private:
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

  void alias(const Node& node) {
    if (node.inputs.empty() || source(node.inputs[0]) < 0) return;
    for (const std::string& output : node.outputs) made_by_[output] = source(node.inputs[0]);
  }

  int take(WorkloadGraph::Node made, const std::string& name) {
    made.name = names_(import_name(name, "node"));
    if (made.name == "input" || made.name == "previous") made.name = names_(made.name + "_");
    extents_.push_back(extents_made(workload_, made, extents_));
    made.words = extents_.back().words;
    made_.nodes.push_back(std::move(made));
    return static_cast<int>(made_.nodes.size()) - 1;
  }

  static std::string name_of(const Node& node) {
    return node.name.empty() && !node.outputs.empty() ? node.outputs[0] : node.name;
  }

  /// An edge where the shapes agree as our reader wants it; else the operand comes from outside, which is noted.
  void edge(const Node& node, WorkloadGraph::Node& made, int from, int tensor) {
    if (from < 0) return;
    const Layer& layer = workload_.layers[static_cast<std::size_t>(made.layer)].layer;
    if (reads_fit(layer, made.count, tensor, extents_[static_cast<std::size_t>(from)])) {
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
    for (const std::string& output : node.outputs) made_by_[output] = last;
  }

  int softmax_of(int scores) {
    WorkloadGraph::Node made;
    made.work = Operator::kSoftmax;
    made.from.push_back({scores, 0});
    return take(std::move(made), "attention_weights");
  }

  void add_operator(const Node& node) {
    const std::vector<int> from = sources(node);
    if (from.empty() || node.outputs.empty()) return;
    const auto value = values_.find(node.outputs[0]);
    const auto words = value != values_.end() && value->second.shape ? elements_of(*value->second.shape) : std::nullopt;
    if (!words || *words < 1) {
      log_.choice(node_position(file_), node_key(node), "its size is unknown: the layers stay unrelated");
      unknown_ = true;
      return;
    }
    WorkloadGraph::Node made;
    made.words = *words;
    const auto known = kOperators.find(node.type);
    const bool same_size = made_.nodes[static_cast<std::size_t>(from[0])].words == *words;
    if (known != kOperators.end())
      made.work = known->second;
    else if (!same_size)
      made.work = Operator::kPool;
    else
      made.work = from.size() > 1 ? Operator::kAdd : Operator::kActivation;
    for (std::size_t i = 0; i < from.size(); ++i) made.from.push_back({from[i], static_cast<int>(i)});
    const int n = take(std::move(made), name_of(node));
    for (const std::string& output : node.outputs) made_by_[output] = n;
  }

  const Graph& graph_;
  const std::map<std::string, Value>& values_;
  const Workload& workload_;
  const std::vector<PlacedLayer>& placed_;
  const SourceFile& file_;
  ImportLog& log_;
  WorkloadGraph made_;
  std::vector<TensorExtents> extents_;  ///< by node of ours
  std::map<std::string, int> made_by_;  ///< by value
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
