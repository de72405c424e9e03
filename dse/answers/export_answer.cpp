// SPDX-License-Identifier: Apache-2.0
#include "dse/answers/answers.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <ostream>

#include "core/input/load.h"
#include "core/input/source_text.h"
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
  for (const WrittenFile& written : format.write({layer, accelerator, file.mapping})) {
    write_atomically(folder / written.name, written.text);
    face.out << fmt::format("wrote {}\n", (folder / written.name).string());
  }
  return 0;
}

}  // namespace pliant
