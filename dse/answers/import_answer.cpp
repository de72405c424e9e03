// SPDX-License-Identifier: Apache-2.0
#include "dse/answers/answers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>

#include "core/input/cursor.h"
#include "core/input/load.h"
#include "core/input/source_text.h"
#include "core/workload_graph.h"
#include "dse/answers/dataset_options.h"
#include "dse/answers/json_schema.h"
#include "dse/import/formats.h"
#include "dse/import/write_import.h"
#include "dse/results/atomic_file.h"

namespace pliant {
namespace {

std::map<std::string, std::string> read_variables(const Arguments& arguments) {
  std::map<std::string, std::string> variables;
  for (const std::string& text : arguments.texts("set")) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || !is_name(text.substr(0, equals))) {
      throw arguments.bad("set", fmt::format("`{}`", text), "NAME=VALUE");
    }
    variables[text.substr(0, equals)] = text.substr(equals + 1);
  }
  for (const std::string& text : split_names(arguments.text("dims").value_or(""))) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0)
      throw arguments.bad("--dims", fmt::format("`{}`", text), "DIM=SIZE, such as h=224,w=224");
    variables[text.substr(0, equals)] = text.substr(equals + 1);
  }
  return variables;
}

/// Layers with MACs, and operators without by what they do.
struct GraphSizes {
  Count layers = 0;
  std::map<std::string, Count> operators;
};

GraphSizes sizes_of(const WorkloadGraph& graph) {
  GraphSizes sizes;
  for (const GraphStep& step : run_of(graph)) {
    const WorkloadGraph::Node& node = graph.nodes[static_cast<std::size_t>(step.node)];
    if (node.is_layer())
      sizes.layers += node.count;
    else
      ++sizes.operators[std::string(kOperatorNames[static_cast<std::size_t>(node.work)])];
  }
  return sizes;
}

struct ReadWorkload {
  std::string name;
  std::size_t shapes = 0;
  Count layers = 0, macs = 0;
  std::optional<GraphSizes> graph;

  /// "53 layers and 11 operators without MACs (10 add, 1 pool)".
  std::string graph_text() const {
    Count others = 0;
    std::vector<std::string> kinds;
    for (const auto& [kind, count] : graph->operators) {
      others += count;
      kinds.push_back(fmt::format("{} {}", count, kind));
    }
    return fmt::format("{} layers and {} operators without MACs{}", graph->layers, others,
                       kinds.empty() ? "" : " (" + join(kinds) + ")");
  }
  nlohmann::ordered_json json() const {
    nlohmann::ordered_json json{{"name", name}, {"shapes", shapes}, {"layers", layers}, {"macs", macs}};
    if (graph) json["graph"] = {{"layers", graph->layers}, {"operators", graph->operators}};
    return json;
  }
};

ReadWorkload read_workload(const Workload& workload) {
  ReadWorkload read{workload.name, workload.layers.size(), 0, 0, std::nullopt};
  for (const auto& [layer, count] : workload.layers) {
    read.layers += count;
    read.macs += layer.macs() * count;
  }
  if (workload.graph) read.graph = sizes_of(*workload.graph);
  return read;
}

/// Choices of little weight only where they are asked for.
void tell(const Imported& imported, const std::vector<std::string>& files, bool wrote, bool verbose,
          std::ostream& out) {
  for (const Workload& workload : imported.workloads) {
    const ReadWorkload read = read_workload(workload);
    out << fmt::format("workload {}: {} shapes, {} layers, {} MACs\n", read.name, read.shapes, read.layers, read.macs);
    if (read.graph) out << fmt::format("graph {}: {}\n", read.name, read.graph_text());
  }
  std::size_t small = 0;
  for (const ImportNote& note : imported.choices) {
    small += note.is_small ? 1 : 0;
    if (!note.is_small || verbose) out << fmt::format("choice: {}\n", note.text());
  }
  if (small > 0 && !verbose)
    out << fmt::format("{} choices of little weight are not shown (--verbose lists them; the files written do)\n",
                       small);
  for (const ImportNote& note : imported.left_out) out << fmt::format("left out: {}\n", note.text());
  for (const std::string& file : files) out << (wrote ? "wrote " : "read ") << file << "\n";
}

nlohmann::ordered_json import_json(const Imported& imported, const std::vector<std::string>& files, bool wrote) {
  nlohmann::ordered_json json{{"schema", kJsonSchema}};
  for (const char* key : {"workloads", "accelerators", "choices", "left_out"})
    json[key] = nlohmann::ordered_json::array();
  for (const Workload& workload : imported.workloads) json["workloads"].push_back(read_workload(workload).json());
  for (const ImportedText& accelerator : imported.accelerators) json["accelerators"].push_back(accelerator.name);
  for (const ImportNote& note : imported.choices) json["choices"].push_back(note.text());
  for (const ImportNote& note : imported.left_out) json["left_out"].push_back(note.text());
  json["wrote"] = wrote ? files : std::vector<std::string>{};
  return json;
}

}  // namespace

int answer_import(const Arguments& arguments, Face& face) {
  std::ostream& out = face.out;
  const std::vector<std::string>& words = arguments.words();
  if (words.size() < 2) {
    throw arguments.bad("", words.empty() ? "no format" : "no file", "FORMAT FILE..., such as auto model.onnx");
  }
  const auto whole = [&](std::string_view option) {
    constexpr std::uint64_t kLargest = std::uint64_t{1} << 40;
    return static_cast<Count>(std::min(arguments.whole(option).value_or(0), kLargest));
  };
  const std::string name = arguments.text("name").value_or("");
  if (!name.empty() && (!is_name(name) || words.size() != 2))
    throw arguments.bad("--name", is_name(name) ? "a name for several files" : fmt::format("`{}`", name),
                        is_name(name) ? "one file" : "letters, digits, _ and -, starting with a letter");
  const ImportOptions wishes{.lenient = arguments.has("lenient"),
                             .name = name,
                             .prefill = whole("prefill"),
                             .decode = whole("decode"),
                             .batch = whole("batch"),
                             .variables = read_variables(arguments)};
  const auto output = arguments.text("output");
  const Imported imported = import_files(words[0], {words.begin() + 1, words.end()}, wishes);
  // What was written must read back; a file of ours that does not is our own mistake, and is found here.
  for (const ImportedText& accelerator : imported.accelerators) {
    parse_accelerator_text(face.library, accelerator.yaml, accelerator.name);
  }
  const std::vector<WrittenFile> files = write_import(imported);
  if (output) make_folder(*output);
  std::vector<std::string> names;
  for (const WrittenFile& file : files) {
    names.push_back(output ? fmt::format("{}/{}", *output, file.name) : file.name);
    if (output) write_atomically(names.back(), file.text);
  }
  if (arguments.has("json"))
    out << import_json(imported, names, output.has_value()).dump(2) << "\n";
  else
    tell(imported, names, output.has_value(), arguments.has("verbose"), out);
  return 0;
}

}  // namespace pliant
