// SPDX-License-Identifier: Apache-2.0
#include "core/input/load_workload.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>

#include "core/input/cursor.h"
#include "core/input/graph_block.h"
#include "core/input/layer_block.h"
#include "core/input/layer_table.h"
#include "core/input/source_text.h"
#include "core/input/units.h"
#include "core/workload_graph.h"

namespace pliant {
namespace {

/// Inferences or tokens of one pass; sweeps multiply them by a batch.
constexpr Count kMostPerPass = Count{1} << 40;

/// Names are unique, and all MACs of the network together still fit a Count.
void check_layers(const std::vector<Workload::Entry>& layers, const Diagnostics& problems,
                  const std::function<void(std::size_t, std::string, std::string)>& problem) {
  std::map<std::string_view, std::size_t> seen;
  Count total = 0;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const auto& [layer, count] = layers[i];
    if (problems.full()) return;
    if (!seen.emplace(layer.name, i).second) {
      problem(i, fmt::format("a second layer named {}", shorten(layer.name, 60)), "a name of its own, or a count");
    }
    const auto macs = checked_multiply(layer.macs(), count);
    const auto sum = macs ? checked_add(total, *macs) : std::nullopt;
    if (!sum || *sum >= kMaxCount) {
      problem(i, "the MACs of all layers up to this one are too many", "fewer than 2^62");
      return;
    }
    total = *sum;
  }
}

void read_table(std::string_view text, std::string_view file, Diagnostics& problems, Workload& workload) {
  const std::size_t before = problems.size();
  LayerTable table = read_layer_table(text, file, problems);
  if (problems.size() == before) {
    check_layers(table.layers, problems, [&](std::size_t i, std::string what, std::string expected) {
      problems.add(table.positions[i], "name", std::move(what), std::move(expected));
    });
  }
  workload.layers = std::move(table.layers);
  if (table.from.empty() || problems.size() != before) return;
  std::vector<std::optional<Cursor>> from;
  for (const YamlNode& node : table.from)
    from.push_back(node.is_null() ? std::nullopt : std::optional(Cursor(node, "from", problems)));
  workload.graph = read_graph_of_rows(from, workload);
}

void read_layers(const Cursor& list, Workload& workload) {
  if (!list.expect_list("a list of layers")) return;
  const std::vector<Cursor> items = list.items();
  if (items.empty()) list.problem("no layers", "at least one");
  const std::size_t before = list.problems().size();
  std::vector<std::optional<Cursor>> from;
  for (const Cursor& item : items) {
    if (list.problems().full()) break;
    Workload::Entry entry;
    auto layer = read_layer(item, keys::kWorkloadEntry);
    if (item.node().is_map()) {
      if (const auto count = item.find("count")) entry.count = count->count().value_or(1);
      from.push_back(item.find("from"));
    }
    if (!layer) continue;
    entry.layer = std::move(*layer);
    workload.layers.push_back(std::move(entry));
  }
  if (list.problems().size() != before) return;
  check_layers(workload.layers, list.problems(), [&](std::size_t i, std::string what, std::string expected) {
    const auto name = items[i].find("layer");
    (name ? *name : items[i]).problem(std::move(what), std::move(expected));
  });
  if (list.problems().size() == before && std::ranges::any_of(from, [](const auto& f) { return f.has_value(); }))
    workload.graph = read_graph_of_rows(from, workload);
}

void read_table_beside(const Cursor& table, const std::filesystem::path& path, Workload& workload) {
  const auto name = table.text("a CSV file beside this one");
  if (!name) return;
  const std::filesystem::path csv = path.parent_path() / *name;
  try {
    read_table(read_source(csv), csv.string(), table.problems(), workload);
  } catch (const InputError& error) {
    for (const Diagnostic& diagnostic : error.diagnostics()) {
      if (diagnostic.line > 0) {
        table.problems().add(diagnostic);
      } else {
        table.problem(fmt::format("{}: {}", shorten(*name, 60), diagnostic.what), diagnostic.expected);
      }
    }
  }
}

/// `graph:` or `chain: true`, where `from` beside the layers has not said it all.
void read_order(const Cursor& root, Workload& workload) {
  const auto graph = root.find("graph"), chain = root.find("chain");
  const bool chained = chain && chain->flag().value_or(false);
  if (chained && (graph || workload.graph))
    return chain->problem("a chain beside other words on what layers read", "one of chain, graph and from");
  if (graph && workload.graph) return graph->problem("a graph beside `from` of layers", "one of them");
  if (!root.problems().empty() || workload.layers.empty()) return;
  if (graph) workload.graph = read_graph(*graph, workload);
  if (!chained) return;
  Count steps = 0;
  for (const Workload::Entry& entry : workload.layers)
    steps = std::min(kMaxCount, steps + std::min(entry.count, kMaxCount - steps));
  if (steps > kMostGraphNodes)
    return chain->problem(fmt::format("{} layers in a row", steps), fmt::format("at most {}", kMostGraphNodes));
  workload.graph = chain_of(workload);
}

Workload read_workload(std::string_view text, std::string_view file) {
  const std::filesystem::path path{std::string(file)};
  Diagnostics problems;
  Workload workload;
  if (path.extension() == ".csv" || (path.extension() != ".yaml" && looks_like_csv(text))) {
    workload.name = path.stem().string();
    read_table(text, file, problems, workload);
    problems.throw_if_any();
    return workload;
  }
  const YamlNode tree = parse_yaml(text, file, problems);
  const Cursor root(tree, "", problems);
  if (root.only_keys(keys::kWorkload, "a workload: a map with name and layers or table")) {
    check_kind(root, "workload");
    if (const auto c = root.require("name", "the workload's name")) workload.name = c->name().value_or("");
    if (const auto c = root.find("description")) workload.description = c->text().value_or("");
    if (const auto c = root.find("inferences")) workload.pass.inferences = c->count(1, kMostPerPass).value_or(1);
    if (const auto c = root.find("tokens")) workload.pass.tokens = c->count(1, kMostPerPass);
    const auto layers = root.find("layers"), table = root.find("table");
    if (layers && table) {
      table->problem("both layers and table", "one of them");
    } else if (table) {
      read_table_beside(*table, path, workload);
    } else if (layers) {
      read_layers(*layers, workload);
    } else {
      root.require("layers", "a list of layers, or table: FILE.csv");
    }
    read_order(root, workload);
  }
  problems.throw_if_any();
  return workload;
}

}  // namespace

Workload load_workload(const Library& library, std::string_view name_or_path) {
  const std::filesystem::path file = library.find_workload(name_or_path);
  return read_workload(read_source(file), file.string());
}

Workload parse_workload_text(std::string_view text, std::string_view name) { return read_workload(text, name); }

}  // namespace pliant
