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
  ShapeInference(const Graph& graph, const SourceFile& file, const ImportOptions& options, ImportLog& log)
      : graph_(graph), file_(file), options_(options), log_(log) {}

  std::map<std::string, Value> run() {
    for (const auto& [name, value] : graph_.initializers) values_[name] = value;
    for (const std::string& name : graph_.inputs) declare_input(name);
    check_names();
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
    for (std::size_t i = 0; value.shape && i < value.shape->size(); ++i) {
      Count& size = (*value.shape)[i];
      if (size >= 0) continue;
      if (const auto given = size_given(name, i, value.axes[i])) {
        size = *given;
      } else if (i == 0) {
        size = options_.batch;
        log_.choice(node_position(file_), name,
                    fmt::format("a first dim without a size: taken as a batch of {}", options_.batch));
      }
    }
    values_[name] = std::move(value);
  }

  /// By the dim's name, or by the input's name and the number of the dim: `h=224`, `image.2=224`.
  std::optional<Count> size_given(const std::string& input, std::size_t dim, const std::string& axis) {
    const std::string place = fmt::format("{}.{}", input, dim);
    open_.insert(place);
    if (!axis.empty()) open_.insert(axis);
    for (const std::string& name : {axis, place}) {
      const auto given = options_.variables.find(name);
      if (given == options_.variables.end()) continue;
      const auto parsed = parse_count(given->second);
      const Count* size = std::get_if<Count>(&parsed);
      if (size != nullptr && *size >= 1 && *size < kMaxCount) return *size;
      log_.problems().add(node_position(file_), name, fmt::format("`{}`", shorten(given->second, 40)),
                          "a size, 1 or more");
      return 1;
    }
    return std::nullopt;
  }

  void check_names() {
    const std::vector<std::string> known(open_.begin(), open_.end());
    for (const auto& [name, value] : options_.variables)
      if (!open_.contains(name))
        log_.problems().add(node_position(file_), shorten(name, 60), "no dim of an input has this name and no size",
                            known.empty() ? "none: every dim has a size" : "one of " + join(known),
                            nearest(name, known));
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
  const ImportOptions& options_;
  ImportLog& log_;
  std::set<std::string> open_;  ///< what the dims without a size are called
  std::map<std::string, Value> values_;
  ShapeRules rules_{values_};
};

}  // namespace

std::map<std::string, Value> infer_shapes(const Graph& graph, const SourceFile& file, const ImportOptions& options,
                                          ImportLog& log) {
  return ShapeInference(graph, file, options, log).run();
}

}  // namespace pliant::onnx
