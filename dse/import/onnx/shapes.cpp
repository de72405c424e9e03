// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>

#include "core/input/source_text.h"
#include "core/input/units.h"
#include "dse/import/onnx/constants.h"
#include "dse/import/onnx/graph.h"
#include "dse/import/onnx/shape_rules.h"

namespace pliant::onnx {
namespace {

/// Shapes of more axes are no network's; it keeps memory in proportion to the file.
constexpr std::size_t kMostAxes = 64;

/// Infers one node after the other. Each rule gives the output's shape, or nothing when it cannot.
class ShapeInference {
 public:
  ShapeInference(const Graph& graph, const SourceFile& file, ImportLog& log) : graph_(graph), file_(file), log_(log) {}

  std::map<std::string, Value> run() {
    for (const auto& [name, value] : graph_.initializers) values_[name] = value;
    for (const std::string& name : graph_.inputs) declare_input(name);
    std::set<std::string> made;
    for (const Node& node : graph_.nodes) made.insert(node.outputs.begin(), node.outputs.end());
    for (const Node& node : graph_.nodes) {
      for (const std::string& input : node.inputs) {
        if (input.empty() || values_.contains(input)) continue;
        const bool later = made.contains(input);
        log_.problems().add(
            node_position(file_), node_key(node),
            later ? fmt::format("needs `{}`, which only a later node makes: a cycle, or not sorted", shorten(input, 60))
                  : fmt::format("needs `{}`, which nothing makes", shorten(input, 60)),
            "nodes in the order of their data");
        if (log_.problems().full()) return values_;
        values_[input] = {};
      }
      infer(node);
    }
    return values_;
  }

 private:
  void declare_input(const std::string& name) {
    if (values_.contains(name)) return;
    Value value = graph_.declared.at(name);
    if (value.shape && !value.shape->empty() && value.shape->front() < 0) {
      value.shape->front() = 1;
      log_.choice(node_position(file_), name, "a first dim without a size: taken as a batch of 1");
    }
    values_[name] = std::move(value);
  }

  void infer(const Node& node) {
    std::vector<Value> outputs(node.outputs.size());
    if (!outputs.empty()) {
      if (auto constant = fold_constant(node, [&](std::size_t i) -> const Value& { return rules_.input(node, i); })) {
        outputs[0] = std::move(*constant);
      } else if (node.type == "Split") {
        rules_.split(node, outputs);
      } else {
        outputs[0].shape = rules_.output_shape(node);
      }
    }
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const auto declared = graph_.declared.find(node.outputs[i]);
      if (!outputs[i].shape && declared != graph_.declared.end()) outputs[i].shape = declared->second.shape;
      if (outputs[i].shape && outputs[i].shape->size() > kMostAxes) outputs[i] = {};
      values_[node.outputs[i]] = std::move(outputs[i]);
    }
  }

  const Graph& graph_;
  const SourceFile& file_;
  ImportLog& log_;
  std::map<std::string, Value> values_;
  ShapeRules rules_{values_};
};

}  // namespace

std::map<std::string, Value> infer_shapes(const Graph& graph, const SourceFile& file, ImportLog& log) {
  return ShapeInference(graph, file, log).run();
}

}  // namespace pliant::onnx
