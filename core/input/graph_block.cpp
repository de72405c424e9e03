// SPDX-License-Identifier: Apache-2.0
#include "core/input/graph_block.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/input/layer_block.h"
#include "core/input/source_text.h"
#include "core/input/units.h"
#include "core/workload_graph.h"

namespace pliant {
namespace {

using Node = WorkloadGraph::Node;
using Edge = WorkloadGraph::Edge;

constexpr std::string_view kInputWord = "input", kPreviousWord = "previous";

class GraphReader {
 public:
  explicit GraphReader(const Workload& workload) : workload_(workload) {
    for (const Workload::Entry& entry : workload.layers) rows_.push_back(entry.layer.name);
  }

  void block(const Cursor& cursor) {
    if (!cursor.expect_list("a list of nodes")) return;
    for (const Cursor& item : cursor.items()) {
      if (item.find("repeat"))
        repeated(item);
      else
        node(item);
    }
    check_counts(cursor);
  }

  void row(int layer, const std::optional<Cursor>& from) {
    const Workload::Entry& entry = workload_.layers[static_cast<std::size_t>(layer)];
    Node made;
    made.name = entry.layer.name;
    made.layer = layer;
    made.count = entry.count;
    if (from) operands(*from, made);
    take(std::move(made));
  }

  WorkloadGraph take_graph() { return std::move(graph_); }

 private:
  void node(const Cursor& item) {
    if (item.node().is_map() && item.find("op"))
      operator_node(item);
    else
      layer_node(item);
  }

  void layer_node(const Cursor& item) {
    if (!item.only_keys(keys::kGraphLayer, "a node: a map with layer: ROW, op: OPERATOR or repeat: ROUNDS")) return;
    const auto row = item.require("layer", "the name of a layer of the table");
    const auto text = row ? row->text("the name of a layer") : std::nullopt;
    if (!text) return;
    const auto known = std::ranges::find(rows_, *text);
    if (known == rows_.end())
      return row->problem(fmt::format("no layer named {}", shorten(*text, 60)), "one of the layers",
                          nearest(*text, rows_));
    Node made;
    made.layer = static_cast<int>(known - rows_.begin());
    if (const auto count = item.find("count")) made.count = count->count(1, kMostGraphNodes).value_or(1);
    if (!named(item, *row, *text, made)) return;
    if (const auto from = item.find("from")) operands(*from, made);
    take(std::move(made));
  }

  void operator_node(const Cursor& item) {
    if (!item.only_keys(keys::kGraphOperator)) return;
    const Cursor op = *item.find("op");
    const auto work = op.choice(kOperatorNames);
    if (!work) return;
    Node made;
    made.work = static_cast<WorkloadGraph::Operator>(*work);
    if (const auto words = item.find("words")) made.words = words->count(1, kMaxCount - 1).value_or(1);
    if (const auto online = item.find("online")) {
      made.online = online->flag().value_or(false);
      if (made.online && made.work != WorkloadGraph::Operator::kSoftmax)
        online->problem(fmt::format("of `{}`, which has no such form", to_string(made.work)), "online of a softmax");
    }
    if (!named(item, op, "", made)) return;
    const auto from = item.require("from", "the nodes that it reads");
    if (from) operands(*from, made);
    const bool says_nothing = made.words == 0;
    using enum WorkloadGraph::Operator;
    if (made.work == kPart || made.work == kOutput) check_operand(item, made);
    take(std::move(made));
    const Node& last = graph_.nodes.back();
    if (says_nothing && (last.work == kPool || last.work == kPart || last.words == 0))
      item.problem("no words", "words: how many elements it makes");
  }

  /// Of an operator that takes words of one tensor as they are.
  void check_operand(const Cursor& item, const Node& made) const {
    const bool is_output = made.work == WorkloadGraph::Operator::kOutput;
    const int from = made.from.size() == 1 ? made.from[0].node : WorkloadGraph::kNetworkInput;
    const int real = from == WorkloadGraph::kRoundBefore ? block_from_ : from;
    if (made.from.size() != 1 || (is_output && real == WorkloadGraph::kNetworkInput))
      return item.problem(fmt::format("`{}` of something else than one tensor", to_string(made.work)),
                          is_output ? "from: one node" : "from: one node, or `input`");
    if (real < 0) return;
    const Count there = extents_[static_cast<std::size_t>(real)].words;
    if (made.words > there || (is_output && made.words > 0 && made.words != there))
      item.problem(fmt::format("{} words of a tensor of {}", made.words, there),
                   is_output ? "all words of the tensor: leave `words` out" : "no more words than the tensor has");
  }

  void repeated(const Cursor& item) {
    if (!item.only_keys(keys::kGraphBlock)) return;
    if (in_block_) return item.problem("a block inside a block", "blocks side by side");
    WorkloadGraph::Block made;
    made.rounds = item.find("repeat")->count(1, kMostGraphNodes).value_or(1);
    made.first = static_cast<int>(graph_.nodes.size());
    if (const auto from = item.find("from")) made.from = source(*from).value_or(WorkloadGraph::kNetworkInput);
    const auto nodes = item.require("nodes", "the nodes of one round");
    if (!nodes || !nodes->expect_list("a list of nodes")) return;
    in_block_ = true;
    block_from_ = made.from;
    for (const Cursor& inner : nodes->items()) inner.find("repeat") ? repeated(inner) : node(inner);
    in_block_ = false;
    made.nodes = static_cast<int>(graph_.nodes.size()) - made.first;
    if (made.nodes == 0) return nodes->problem("no nodes", "at least one");
    steps_ += (made.rounds - 1) * made.nodes;
    if (steps_ > kMostGraphNodes)
      item.problem("too many nodes when all rounds are written out", fmt::format("at most {}", kMostGraphNodes));
    check_rounds(item, made);
    graph_.blocks.push_back(made);
  }

  /// The block's last node makes what every later round reads.
  void check_rounds(const Cursor& item, const WorkloadGraph::Block& block) const {
    const Node& last = graph_.nodes.back();
    for (auto node = graph_.nodes.begin() + block.first; node != graph_.nodes.end(); ++node)
      for (const Edge& edge : node->from)
        if (edge.node == WorkloadGraph::kRoundBefore && node->is_layer() &&
            !reads_fit(layer_of(*node), node->count, edge.tensor, extents_.back()))
          return item.problem(fmt::format("{} makes {} words and {} of the next round does not read so many",
                                          shorten(last.name, 60), last.words, shorten(node->name, 60)),
                              "a block whose last node makes what its first round reads");
  }
  const Layer& layer_of(const Node& node) const { return workload_.layers[static_cast<std::size_t>(node.layer)].layer; }

  /// A name of its own; the row's where it has none.
  bool named(const Cursor& item, const Cursor& otherwise, const std::string& row, Node& made) {
    const auto own = item.find("name");
    if (own) {
      made.name = read_layer_name(*own).value_or("");
      if (made.name.empty()) return false;
    } else if (row.empty()) {
      return item.require("name", "the operator's name").has_value();
    } else {
      made.name = row;
    }
    if (made.name == kInputWord || made.name == kPreviousWord) {
      (own ? *own : otherwise).problem(fmt::format("`{}` has a meaning of its own", made.name), "another name");
      return false;
    }
    if (index_of(made.name) < 0) return true;
    (own ? *own : otherwise).problem(fmt::format("a second node named {}", shorten(made.name, 60)), "name: NAME");
    return false;
  }

  /// NAME, a list of them in the order of the layer's operands, or a map from operands to names.
  void operands(const Cursor& from, Node& made) {
    const Layer* layer = made.is_layer() ? &layer_of(made) : nullptr;
    std::vector<int> read;
    for (std::size_t x = 0; layer && x < layer->tensors.size(); ++x)
      if (!layer->tensors[x].is_output()) read.push_back(static_cast<int>(x));
    if (from.node().is_map() && layer) {
      const std::vector<Cursor> entries = from.entries();
      for (std::size_t i = 0; i < entries.size(); ++i) {
        const std::string& key = from.entry(i).key;
        const int tensor = layer->find_tensor(key);
        if (tensor < 0 || tensor == layer->output()) {
          std::vector<std::string> names;
          for (const int x : read) names.push_back(layer->tensors[static_cast<std::size_t>(x)].name);
          entries[i].problem(fmt::format("{} reads no {}", layer->name, shorten(key, 40)), "one of " + join(names),
                             nearest(key, names));
          continue;
        }
        edge(entries[i], tensor, made);
      }
      return;
    }
    if (!from.node().is_sequence()) return edge(from, layer ? read.front() : 0, made);
    const std::vector<Cursor> items = from.items();
    if (layer && items.size() > read.size())
      return from.problem(fmt::format("{} names for {} operands", items.size(), read.size()),
                          "at most one for each operand");
    for (std::size_t i = 0; i < items.size(); ++i) edge(items[i], layer ? read[i] : static_cast<int>(i), made);
  }

  void edge(const Cursor& from, int tensor, Node& made) {
    const auto node = source(from);
    if (!node) return;
    made.from.push_back({*node, tensor});
    const int real = *node == WorkloadGraph::kRoundBefore ? block_from_ : *node;
    if (real < 0 || !made.is_layer()) return;
    const Layer& layer = layer_of(made);
    const TensorExtents& there = extents_[static_cast<std::size_t>(real)];
    if (!reads_fit(layer, made.count, tensor, there))
      from.problem(fmt::format("{} makes {} words, {} of {} are {}",
                               shorten(graph_.nodes[static_cast<std::size_t>(real)].name, 60), there.words,
                               layer.tensors[static_cast<std::size_t>(tensor)].name, shorten(made.name, 60),
                               words_read(layer, made.count, tensor)),
                   "a tensor of that shape, padding apart");
  }

  std::optional<int> source(const Cursor& from) {
    const auto name = from.text("the name of a node");
    if (!name) return std::nullopt;
    if (*name == kInputWord) return WorkloadGraph::kNetworkInput;
    if (*name == kPreviousWord) {
      if (in_block_) return WorkloadGraph::kRoundBefore;
      from.problem("`previous` outside a repeated block", "the name of a node");
      return std::nullopt;
    }
    const int known = index_of(*name);
    if (known >= 0 && graph_.nodes[static_cast<std::size_t>(known)].work == WorkloadGraph::Operator::kOutput) {
      from.problem(fmt::format("{} gives a tensor away and makes none", shorten(*name, 60)), "the node that makes it");
      return std::nullopt;
    }
    if (known >= 0) return known;
    std::vector<std::string> names;
    for (const Node& node : graph_.nodes) names.push_back(node.name);
    from.problem(fmt::format("no node named {} before this one", shorten(*name, 60)),
                 "a node before it, or `input` for what comes from outside", nearest(*name, names));
    return std::nullopt;
  }

  int index_of(std::string_view name) const {
    const auto known = names_.find(name);
    return known == names_.end() ? -1 : known->second;
  }

  void take(Node made) {
    names_.emplace(made.name, static_cast<int>(graph_.nodes.size()));
    extents_.push_back(extents_made(workload_, made, extents_));
    made.words = extents_.back().words;
    graph_.nodes.push_back(std::move(made));
    ++steps_;
  }

  void check_counts(const Cursor& cursor) const {
    if (!cursor.problems().empty()) return;
    const std::vector<Count> uses = uses_of_rows(workload_, graph_);
    for (std::size_t i = 0; i < uses.size(); ++i)
      if (uses[i] != workload_.layers[i].count)
        cursor.problem(fmt::format("{} stands {} times in the graph and {} times in the table", shorten(rows_[i], 60),
                                   uses[i], workload_.layers[i].count),
                       "the same number");
  }

  const Workload& workload_;
  std::vector<std::string> rows_;
  WorkloadGraph graph_;
  std::vector<TensorExtents> extents_;  ///< by node
  std::map<std::string, int, std::less<>> names_;
  bool in_block_ = false;
  int block_from_ = WorkloadGraph::kNetworkInput;
  Count steps_ = 0;  ///< nodes of a run so far
};

}  // namespace

std::optional<WorkloadGraph> read_graph(const Cursor& block, const Workload& workload) {
  const std::size_t before = block.problems().size();
  GraphReader reader(workload);
  reader.block(block);
  if (block.problems().size() != before) return std::nullopt;
  return reader.take_graph();
}

std::optional<WorkloadGraph> read_graph_of_rows(const std::vector<std::optional<Cursor>>& from,
                                                const Workload& workload) {
  GraphReader reader(workload);
  for (std::size_t i = 0; i < from.size(); ++i) reader.row(static_cast<int>(i), from[i]);
  return reader.take_graph();
}

}  // namespace pliant
