// SPDX-License-Identifier: Apache-2.0
// What is kept of an ONNX file: nodes, attributes, shapes, and the few integers that decide shapes.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/layer.h"
#include "dse/import/imported.h"

namespace pliant::onnx {

/// The type numbers of the format that hold whole numbers.
inline constexpr Count kInt32 = 6, kInt64 = 7;

using Shape = std::vector<Count>;  ///< -1 = not known

/// A value of the graph: its shape if known, and its elements if it is a small tensor of whole numbers.
struct Value {
  std::optional<Shape> shape;
  std::vector<std::string> axes{};  ///< of a declared value: the names of dims without a size; "" = none
  std::optional<std::vector<Count>> elements;
};

struct Attribute {
  std::optional<Count> number;
  std::vector<Count> numbers;
  std::string text;
  std::optional<Value> tensor;
  bool has_graph = false;
};

struct Node {
  std::string name, type, domain;
  std::vector<std::string> inputs, outputs;  ///< "" = an optional input left out
  std::map<std::string, Attribute> attributes;
  Count byte = 0;  ///< where it ends in the file

  Count number(const std::string& key, Count otherwise) const;
  std::vector<Count> numbers(const std::string& key) const;
  std::string text(const std::string& key) const;
};

struct Graph {
  std::string name;
  std::vector<Node> nodes;
  std::map<std::string, Value> initializers;  ///< shapes; elements where they are few whole numbers
  std::map<std::string, Value> declared;      ///< inputs, outputs and annotated values
  std::vector<std::string> inputs, outputs;
};

/// Reads the file (or the bytes given instead of it); InputError with the byte where it is broken.
Graph read_graph(const SourceFile& file);

/// Shapes of all values; `options` say the sizes of dims that the file leaves open. Notes dims without a size, and
/// nodes whose inputs no node before them makes.
std::map<std::string, Value> infer_shapes(const Graph& graph, const SourceFile& file, const ImportOptions& options,
                                          ImportLog& log);

/// The graph's convolutions and matrix products, equal ones counted, and what they read from each other.
Workload collect_layers(const Graph& graph, const std::map<std::string, Value>& values, const SourceFile& file,
                        ImportLog& log);

/// "model.onnx: node `conv1` (Conv)".
Position node_position(const SourceFile& file);
std::string node_key(const Node& node);

}  // namespace pliant::onnx
