// SPDX-License-Identifier: Apache-2.0
#include "dse/cli/export_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <ostream>

#include "core/input/load.h"
#include "core/input/source_text.h"
#include "dse/answers/shipped_configs.h"
#include "dse/answers/task_options.h"
#include "dse/cli/command_line.h"
#include "dse/import/export/export.h"
#include "dse/import/open.h"
#include "dse/results/atomic_file.h"

namespace pliant {
namespace {

constexpr const char* kExportUsage =
    R"(usage: pliant export FORMAT --accelerator NAME|FILE --layer LAYER --mapping FILE -o DIR

Writes a mapping for another tool, so that an optimum can be checked there. What the tool cannot say is an error.

examples:
  pliant export timeloop --accelerator eyeriss --workload resnet50 --layer conv1 --mapping best.yaml -o out
  pliant export c --accelerator eyeriss --layer gemm:M=64,N=64,K=64 --mapping best.yaml -o out

formats:
)";

std::string export_usage() {
  std::string text = kExportUsage;
  for (const ExportFormat& format : export_formats()) text += fmt::format("  {:<10} {}\n", format.name, format.writes);
  return text + "\n";
}

const ExportFormat& find_format(const Arguments& arguments) {
  std::vector<std::string> known;
  for (const ExportFormat& format : export_formats()) known.emplace_back(format.name);
  const auto name = arguments.word();
  if (!name) throw arguments.bad("", "no format", "one of " + join(known));
  const auto found = std::ranges::find(export_formats(), *name, &ExportFormat::name);
  if (found == export_formats().end()) throw arguments.unknown("", "format", *name, known);
  return *found;
}

int run_export(const Arguments& arguments, std::ostream& out) {
  const ExportFormat& format = find_format(arguments);
  const auto mapping = arguments.text("mapping"), output = arguments.text("output");
  if (!mapping) throw arguments.missing("mapping", "a mapping file");
  if (!output) throw arguments.missing("output", "a folder");
  const auto name = arguments.text("accelerator");
  if (!name) throw arguments.missing("accelerator", "a shipped name or a file");
  const Accelerator accelerator = open_accelerator(Library(shipped_configs().value_or("configs")), *name);
  const Layer layer = read_layer(arguments);
  const MappingFile file = load_mapping(*mapping, layer, accelerator);
  const std::filesystem::path folder = *output;
  make_folder(folder);
  for (const WrittenFile& written : format.write({layer, accelerator, file.mapping})) {
    write_atomically(folder / written.name, written.text);
    out << fmt::format("wrote {}\n", (folder / written.name).string());
  }
  return 0;
}

}  // namespace

int export_command(const std::vector<std::string>& args, std::ostream& out, std::ostream& err) {
  const std::string text = export_usage();
  const CommandLine line{"export", text, 1};
  return run_command(line, args, out, err, [&](const Arguments& arguments) { return run_export(arguments, out); });
}

}  // namespace pliant
