// SPDX-License-Identifier: Apache-2.0
#include "dse/answers/answers.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <ostream>

#include "core/input/load.h"
#include "core/input/source_text.h"
#include "dse/answers/json_schema.h"
#include "dse/answers/task_options.h"
#include "dse/import/export/export.h"
#include "dse/import/open.h"
#include "dse/results/atomic_file.h"

namespace pliant {
namespace {

const ExportFormat& find_format(const Arguments& arguments) {
  std::vector<std::string> known;
  for (const ExportFormat& format : export_formats()) known.emplace_back(format.name);
  const auto name = arguments.word();
  if (!name) throw arguments.bad("", "no format", "one of " + join(known));
  const auto found = std::ranges::find(export_formats(), *name, &ExportFormat::name);
  if (found == export_formats().end()) throw arguments.unknown("", "format", *name, known);
  return *found;
}

}  // namespace

int answer_export(const Arguments& arguments, Face& face) {
  const ExportFormat& format = find_format(arguments);
  const auto mapping = arguments.text("mapping"), output = arguments.text("output");
  if (!mapping) throw arguments.missing("mapping", "a mapping file");
  if (!output) throw arguments.missing("output", "a folder");
  const auto name = arguments.text("accelerator");
  if (!name) throw arguments.missing("accelerator", "a shipped name or a file");
  const Accelerator accelerator = open_accelerator(face.library, *name);
  const Layer layer = read_layer(face.library, arguments);
  const MappingFile file = load_mapping(*mapping, layer, accelerator);
  const std::filesystem::path folder = *output;
  make_folder(folder);
  std::vector<std::string> files;
  for (const WrittenFile& written : format.write({layer, accelerator, file.mapping})) {
    files.push_back((folder / written.name).string());
    write_atomically(files.back(), written.text);
  }
  if (arguments.has("json"))
    face.out << nlohmann::ordered_json{{"schema", kJsonSchema}, {"files", files}}.dump(2) << "\n";
  else
    for (const std::string& written : files) face.out << fmt::format("wrote {}\n", written);
  return 0;
}

}  // namespace pliant
