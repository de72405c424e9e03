// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/input/load.h"
#include "core/input/source_text.h"
#include "core/input/units.h"
#include "core/workload_graph.h"
#include "dse/import/checked_layer.h"
#include "dse/import/onnx/constants.h"
#include "dse/import/onnx/edges.h"
#include "dse/import/onnx/graph.h"
#include "dse/import/onnx/window.h"

namespace pliant::onnx {
namespace {

/// Operators that hold matrix products which cannot be written as layers here, and control flow.
const std::set<std::string> kRefused{
    "LSTM", "GRU", "RNN", "If", "Loop", "Scan", "SequenceMap", "DeformConv", "GroupQueryAttention", "PagedAttention"};

class LayerCollector {
 public:
  LayerCollector(const Graph& graph, const std::map<std::string, Value>& values, const SourceFile& file, ImportLog& log)
      : graph_(graph), values_(values), file_(file), log_(log) {}

  Workload collect() {
    for (const Node& node : graph_.nodes) {
      at_ = static_cast<std::size_t>(&node - graph_.nodes.data());
      if (log_.problems().full()) break;
      if (node.type == "Conv" || node.type == "ConvInteger")
        conv(node, 1);
      else if (node.type == "QLinearConv")
        conv(node, 3);
      else if (node.type == "ConvTranspose")
        conv_transpose(node);
      else if (node.type == "Gemm")
        gemm(node);
      else if (node.type == "MatMul" || node.type == "MatMulInteger")
        matmul(node, shape(node, 0), shape(node, 1));
      else if (node.type == "QLinearMatMul")
        matmul(node, shape(node, 0), shape(node, 3));
      else if (node.type == "Einsum")
        einsum(node);
      else if (node.type == "Attention" || node.type == "MultiHeadAttention")
        attention(node);
      else if (kRefused.contains(node.type) || has_graph(node))
        log_.unsupported(node_position(file_), node_key(node), "an operator that has no counterpart here");
      else
        count_other(node);
    }
    note_others();
    workload_.description = "imported from ONNX";
    if (log_.problems().empty() && static_cast<Count>(graph_.nodes.size()) <= kMostGraphNodes)
      workload_.graph = collect_edges(graph_, values_, workload_, placed_, file_, log_);
    return std::move(workload_);
  }

 private:
  static bool has_graph(const Node& node) {
    return std::ranges::any_of(node.attributes, [](const auto& one) { return one.second.has_graph; });
  }

  std::optional<Shape> shape(const Node& node, std::size_t i) const {
    if (i >= node.inputs.size() || node.inputs[i].empty()) return std::nullopt;
    const auto found = values_.find(node.inputs[i]);
    if (found == values_.end() || !found->second.shape) return std::nullopt;
    const Shape& known = *found->second.shape;
    const bool good = std::ranges::all_of(known, [](Count d) { return d >= 1 && d < kMaxCount; });
    return good ? std::optional(known) : std::nullopt;
  }

  /// The first operator that knows its operand's shape and not its own: it keeps those after it from knowing theirs.
  std::string shapeless_words() const {
    const auto has_shape = [&](const std::string& value) {
      const auto found = values_.find(value);
      return found != values_.end() && found->second.shape.has_value();
    };
    for (const Node& node : graph_.nodes)
      if (!node.inputs.empty() && !node.outputs.empty() && has_shape(node.inputs[0]) && !has_shape(node.outputs[0]))
        return fmt::format(", for the shape of what `{}` ({}) makes is not known", shorten(node.name, 60),
                           shorten(node.type, 40));
    return "";
  }

  /// Of a network whose inputs have dims without a size one answer serves all nodes.
  void no_shape(const Node& node) {
    const std::vector<std::string> open = open_dims();
    if (open.empty())
      return log_.unsupported(node_position(file_), node_key(node), "its shape cannot be inferred" + shapeless_words(),
                              "operators whose shapes are known, or annotated shapes");
    if (told_open_dims_) return;
    told_open_dims_ = true;
    log_.problems().add(node_position(file_), "inputs",
                        fmt::format("dims without a size: {}; {} needs them", join(open), node_key(node)),
                        fmt::format("--dims {0}=N, or {1}:{0}=N after the name", join(open, "=N,"), file_.name));
  }

  std::vector<std::string> open_dims() const {
    std::vector<std::string> open;
    for (const std::string& name : graph_.inputs) {
      const auto value = values_.find(name);
      if (value == values_.end() || !value->second.shape) continue;
      for (std::size_t i = 0; i < value->second.shape->size(); ++i) {
        if ((*value->second.shape)[i] >= 0) continue;
        const std::string& axis = value->second.axes[i];
        const std::string own = axis.empty() ? fmt::format("{}.{}", name, i) : axis;
        if (std::ranges::find(open, own) == open.end()) open.push_back(own);
      }
    }
    return open;
  }

  /// Counts equal layers; the first one gives the name.
  void add(const Node& node, const Layer& made, const std::string& part = "") {
    const auto layer = checked_layer(made, node_position(file_), node_key(node), log_);
    if (!layer) return;
    const auto macs = checked_add(macs_, layer->macs());
    if (!macs || *macs >= kMaxCount) {
      log_.problems().add(node_position(file_), node_key(node), "the MACs of all layers up to this one are too many",
                          "fewer than 2^62");
      return;
    }
    macs_ = *macs;
    const auto [known, is_new] = index_.emplace(layer->written_as, workload_.layers.size());
    placed_.push_back({at_, static_cast<int>(known->second)});
    if (!is_new) {
      ++workload_.layers[known->second].count;
      return;
    }
    Layer named = *layer;
    named.name = names_(
        import_name(node.name.empty() ? (node.outputs.empty() ? node.type : node.outputs[0]) : node.name, node.type) +
        part);
    workload_.layers.push_back({std::move(named), 1});
  }

  void conv(const Node& node, std::size_t weights_at) {
    const auto in = shape(node, 0), weights = shape(node, weights_at);
    if (!in || !weights) return no_shape(node);
    const Count groups = node.number("group", 1);
    if (in->size() < 3 || in->size() > 4) {
      return log_.unsupported(node_position(file_), node_key(node),
                              fmt::format("a convolution over {} axes", static_cast<Count>(in->size()) - 2),
                              "one or two");
    }
    const auto window = weights->size() == in->size()
                            ? sliding_window(node, *in, {weights->begin() + 2, weights->end()})
                            : std::nullopt;
    const auto channels = groups >= 1 ? checked_multiply(weights->at(1), groups) : std::nullopt;
    if (!window || !channels || *channels != in->at(1) || weights->at(0) % groups != 0) {
      return bad_shapes(node, *in, *weights);
    }
    add_conv(node, *window, {.B = in->at(0), .M = weights->at(0), .C = in->at(1), .groups = groups}, window->outputs);
  }

  void conv_transpose(const Node& node) {
    const auto in = shape(node, 0), weights = shape(node, 1);
    if (!in || !weights) return no_shape(node);
    const Count groups = node.number("group", 1);
    const auto filters = groups >= 1 && weights->size() == in->size() && in->size() >= 3 && in->size() <= 4
                             ? checked_multiply(weights->at(1), groups)
                             : std::nullopt;
    const auto window = filters ? transposed_window(node, *in, {weights->begin() + 2, weights->end()}) : std::nullopt;
    if (!window || weights->at(0) != in->at(1) || in->at(1) % groups != 0) return bad_shapes(node, *in, *weights);
    note_borders(node, *window, *in);
    add_conv(node, *window, {.B = in->at(0), .M = *filters, .C = in->at(1), .groups = groups, .transposed = true},
             {in->begin() + 2, in->end()});
  }

  /// A transposed layer makes all that its windows reach; what `pads` cuts off is made as well, and stays.
  void note_borders(const Node& node, const Window& window, const Shape& in) {
    double made = 1, kept = 1;
    for (std::size_t i = 0; i < window.kernel.size(); ++i) {
      made *=
          static_cast<double>(window.strides[i] * (in[i + 2] - 1) + window.dilations[i] * (window.kernel[i] - 1) + 1);
      kept *= static_cast<double>(window.outputs[i]);
    }
    if (made != kept)
      log_.choice(node_position(file_), node_key(node),
                  fmt::format("the layer makes its output without `pads` and `output_padding`: {:.3g} times the words",
                              made / kept));
  }

  void add_conv(const Node& node, const Window& window, ConvShape shape, const std::vector<Count>& outputs) {
    shape.P = outputs[0];
    shape.R = window.kernel[0];
    shape.stride_p = window.strides[0];
    shape.dilation_r = window.dilations[0];
    if (outputs.size() > 1) {
      shape.Q = outputs[1];
      shape.S = window.kernel[1];
      shape.stride_q = window.strides[1];
      shape.dilation_s = window.dilations[1];
    }
    if (!sizes_fit({shape.B, shape.M, shape.C / shape.groups, shape.P, shape.Q, shape.R, shape.S}, node_position(file_),
                   node_key(node), log_))
      return;
    add(node, make_conv(node.type, shape));
  }

  void bad_shapes(const Node& node, const Shape& a, const Shape& b) {
    const auto text = [](const Shape& shape) {
      std::vector<std::string> all;
      for (const Count dim : shape) all.push_back(std::to_string(dim));
      return shorten(join(all, " x "), 60);
    };
    log_.problems().add(node_position(file_), node_key(node),
                        fmt::format("shapes {} and {} do not fit", text(a), text(b)),
                        "shapes that the operator accepts");
  }

  void gemm(const Node& node) {
    const auto a = shape(node, 0), b = shape(node, 1);
    if (!a || !b) return no_shape(node);
    const bool ta = node.number("transA", 0) != 0, tb = node.number("transB", 0) != 0;
    if (a->size() != 2 || b->size() != 2 || a->at(ta ? 0 : 1) != b->at(tb ? 1 : 0)) return bad_shapes(node, *a, *b);
    add_gemm(node, {.M = a->at(ta ? 1 : 0), .N = b->at(tb ? 0 : 1), .K = a->at(ta ? 0 : 1)});
  }

  void add_gemm(const Node& node, const GemmShape& shape, const std::string& part = "") {
    if (!sizes_fit({shape.B, shape.M, shape.N, shape.K}, node_position(file_), node_key(node), log_)) return;
    add(node, make_gemm(node.type, shape), part);
  }

  /// Batch dims that both operands have are B; those that only one has are more rows or more columns.
  void matmul(const Node& node, const std::optional<Shape>& left, const std::optional<Shape>& right) {
    if (!left || !right) return no_shape(node);
    Shape a = *left, b = *right;
    if (a.size() == 1) a.insert(a.begin(), 1);
    if (b.size() == 1) b.push_back(1);
    if (a.size() < 2 || b.size() < 2 || a.back() != b[b.size() - 2]) return bad_shapes(node, *left, *right);
    GemmShape shape{.B = 1, .M = a[a.size() - 2], .N = b.back(), .K = a.back()};
    const auto grow = [&](Count& side, Count by) {
      const auto next = checked_multiply(side, by);
      if (next) side = *next;
      return next.has_value();
    };
    for (std::size_t i = 2; i < std::max(a.size(), b.size()); ++i) {
      const Count x = i < a.size() ? a[a.size() - 1 - i] : 1, y = i < b.size() ? b[b.size() - 1 - i] : 1;
      const bool fits = x == y ? grow(shape.B, x) : y == 1 ? grow(shape.M, x) : x == 1 && grow(shape.N, y);
      if (!fits) return bad_shapes(node, *left, *right);
    }
    add_gemm(node, shape);
  }

  /// Two operands whose letters are batch, rows, columns or summed.
  void einsum(const Node& node) {
    std::string equation;
    for (const char c : node.text("equation")) {
      if (c != ' ') equation += c;
    }
    const std::size_t comma = equation.find(','), arrow = equation.find("->");
    const auto a = shape(node, 0), b = shape(node, 1);
    if (!a || !b || node.inputs.size() != 2) return no_shape(node);
    if (comma == std::string::npos || arrow == std::string::npos || comma > arrow) {
      return log_.unsupported(node_position(file_), node_key(node),
                              fmt::format("the equation `{}`", shorten(equation, 40)), "two operands");
    }
    const std::string left = equation.substr(0, comma), right = equation.substr(comma + 1, arrow - comma - 1),
                      out = equation.substr(arrow + 2);
    if (left.size() != a->size() || right.size() != b->size()) return bad_shapes(node, *a, *b);
    GemmShape shape;
    std::set<char> letters(left.begin(), left.end());
    letters.insert(right.begin(), right.end());
    for (const char c : letters) {
      const auto in_left = left.find(c), in_right = right.find(c);
      const bool kept = out.find(c) != std::string::npos;
      const bool both = in_left != std::string::npos && in_right != std::string::npos;
      const Count size = in_left != std::string::npos ? (*a)[in_left] : (*b)[in_right];
      if ((both && (*a)[in_left] != (*b)[in_right]) || (!both && !kept)) return bad_shapes(node, *a, *b);
      Count& side = both ? (kept ? shape.B : shape.K) : in_left != std::string::npos ? shape.M : shape.N;
      const auto next = checked_multiply(side, size);
      if (!next) return bad_shapes(node, *a, *b);
      side = *next;
    }
    add_gemm(node, shape);
  }

  /// Scores and context of every head. Operands are [B, heads, L, dim], or [B, L, heads * dim] with the number of
  /// heads.
  void attention(const Node& node) {
    const bool packed = node.domain == "com.microsoft" && node.type == "Attention";
    if (packed) return packed_attention(node);
    const auto q = shape(node, 0), k = shape(node, 1), v = shape(node, 2);
    if (!q || !k || !v) return no_shape(node);
    const bool split = q->size() == 4 && k->size() == 4 && v->size() == 4;
    const Count heads = split ? q->at(1) : node.number(node.domain == "com.microsoft" ? "num_heads" : "q_num_heads", 0);
    const Count kv_heads = split                            ? k->at(1)
                           : node.domain == "com.microsoft" ? heads
                                                            : node.number("kv_num_heads", heads);
    if (heads < 1 || kv_heads < 1 || (!split && (q->size() != 3 || k->size() != 3 || v->size() != 3)))
      return bad_shapes(node, *q, *k);
    const std::size_t length = split ? 2 : 1, width = length + 1;
    if (!split && (q->at(2) % heads != 0 || v->at(2) % kv_heads != 0)) return bad_shapes(node, *q, *v);
    const Count dim = split ? q->at(width) : q->at(width) / heads,
                value_dim = split ? v->at(width) : v->at(width) / kv_heads;
    add_heads(node, q->at(0), heads, q->at(length), k->at(length), dim, value_dim);
  }

  /// The packed form projects its input to queries, keys and values first.
  void packed_attention(const Node& node) {
    const auto in = shape(node, 0), weights = shape(node, 1);
    const Count heads = node.number("num_heads", 0);
    if (!in || !weights) return no_shape(node);
    if (in->size() != 3 || weights->size() != 2 || heads < 1 || weights->at(1) % (3 * heads) != 0 ||
        in->at(2) != weights->at(0)) {
      return bad_shapes(node, *in, *weights);
    }
    const auto rows = checked_multiply(in->at(0), in->at(1));
    if (!rows) return bad_shapes(node, *in, *weights);
    add_gemm(node, {.M = *rows, .N = weights->at(1), .K = weights->at(0)}, "_qkv");
    const Count dim = weights->at(1) / (3 * heads);
    add_heads(node, in->at(0), heads, in->at(1), in->at(1), dim, dim);
  }

  void add_heads(const Node& node, Count batch, Count heads, Count queries, Count keys, Count dim, Count value_dim) {
    const auto all = checked_multiply(batch, heads);
    if (!all) return;
    add_gemm(node, {.B = *all, .M = queries, .N = keys, .K = dim}, "_score");
    add_gemm(node, {.B = *all, .M = queries, .N = value_dim, .K = keys}, "_context");
  }

  struct Others {
    Count nodes = 0;
    double words = 0;  ///< written; unknown shapes count nothing
    bool unknown = false;
  };

  void count_other(const Node& node) {
    Others& own = others_[node.type];
    ++own.nodes;
    for (const std::string& output : node.outputs) {
      const auto found = values_.find(output);
      const auto size =
          found != values_.end() && found->second.shape ? elements_of(*found->second.shape) : std::nullopt;
      if (size) own.words += static_cast<double>(*size);
      own.unknown |= !size;
    }
  }

  /// Operators without matrix products: no MACs, but words that are moved.
  void note_others() {
    double products = 0, all = 0;
    for (const auto& [layer, count] : workload_.layers) {
      products += static_cast<double>(count) * static_cast<double>(layer.tensor_words(layer.output()));
    }
    for (const auto& [type, own] : others_) all += own.words;
    for (const auto& [type, own] : others_) {
      const double share = all + products > 0 ? 100 * own.words / (all + products) : 0;
      log_.small_choice(
          node_position(file_), shorten(type, 40),
          fmt::format("{} node{} without matrix products, 0 % of the MACs, {:.1f} % of the words written{}", own.nodes,
                      own.nodes == 1 ? "" : "s", share, own.unknown ? " (some shapes unknown)" : ""));
    }
  }

  const Graph& graph_;
  const std::map<std::string, Value>& values_;
  const SourceFile& file_;
  ImportLog& log_;
  Workload workload_;
  std::map<std::string, std::size_t> index_;  ///< spelling -> layer
  std::map<std::string, Others> others_;
  UniqueNames names_;
  Count macs_ = 0;
  bool told_open_dims_ = false;
  std::size_t at_ = 0;               ///< the node at hand
  std::vector<PlacedLayer> placed_;  ///< in the order of the nodes
};

}  // namespace

Position node_position(const SourceFile& file) { return {std::make_shared<const std::string>(file.name), 0, 0}; }

std::string node_key(const Node& node) {
  return fmt::format("byte {}: node `{}` ({})", node.byte,
                     shorten(node.name.empty() && !node.outputs.empty() ? node.outputs[0] : node.name, 60),
                     shorten(node.type, 40));
}

Workload collect_layers(const Graph& graph, const std::map<std::string, Value>& values, const SourceFile& file,
                        ImportLog& log) {
  return LayerCollector(graph, values, file, log).collect();
}

}  // namespace pliant::onnx
