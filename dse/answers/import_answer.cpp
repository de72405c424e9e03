// SPDX-License-Identifier: Apache-2.0
#include "dse/answers/answers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <ostream>

#include "core/input/cursor.h"
#include "core/input/load.h"
#include "core/input/source_text.h"
#include "core/workload_graph.h"
#include "dse/answers/dataset_options.h"
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

/// "53 layers and 11 operators without MACs (10 add, 1 pool)".
std::string graph_text(const WorkloadGraph& graph) {
  std::array<Count, kOperatorNames.size()> operators{};
  Count layers = 0, others = 0;
  for (const GraphStep& step : run_of(graph)) {
    const WorkloadGraph::Node& node = graph.nodes[static_cast<std::size_t>(step.node)];
    layers += node.is_layer() ? node.count : 0;
    others += node.is_layer() ? 0 : 1;
    if (!node.is_layer()) ++operators[static_cast<std::size_t>(node.work)];
  }
  std::vector<std::string> kinds;
  for (std::size_t k = 0; k < operators.size(); ++k)
    if (operators[k] > 0) kinds.push_back(fmt::format("{} {}", operators[k], kOperatorNames[k]));
  return fmt::format("{} layers and {} operators without MACs{}", layers, others,
                     kinds.empty() ? "" : " (" + join(kinds) + ")");
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
  if (output) {
    const std::filesystem::path folder = *output;
    make_folder(folder);
    for (const WrittenFile& file : files) write_atomically(folder / file.name, file.text);
  }
  for (const Workload& workload : imported.workloads) {
    Count layers = 0, macs = 0;
    for (const auto& [layer, count] : workload.layers) {
      layers += count;
      macs += layer.macs() * count;
    }
    out << fmt::format("workload {}: {} shapes, {} layers, {} MACs\n", workload.name, workload.layers.size(), layers,
                       macs);
    if (workload.graph) out << fmt::format("graph {}: {}\n", workload.name, graph_text(*workload.graph));
  }
  std::size_t small = 0;
  for (const ImportNote& note : imported.choices) {
    small += note.is_small ? 1 : 0;
    if (!note.is_small || arguments.has("verbose")) out << fmt::format("choice: {}\n", note.text());
  }
  if (small > 0 && !arguments.has("verbose"))
    out << fmt::format("{} choices of little weight are not shown (--verbose lists them; the files written do)\n",
                       small);
  for (const ImportNote& note : imported.left_out) out << fmt::format("left out: {}\n", note.text());
  for (const WrittenFile& file : files) {
    out << (output ? fmt::format("wrote {}/{}\n", *output, file.name) : fmt::format("read {}\n", file.name));
  }
  return 0;
}

}  // namespace pliant
