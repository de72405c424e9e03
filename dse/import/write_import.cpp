// SPDX-License-Identifier: Apache-2.0
#include "dse/import/write_import.h"

#include <fmt/format.h>

#include "core/input/load.h"

namespace pliant {
namespace {

std::string comments(const Imported& imported) {
  std::string text;
  if (!imported.choices.empty()) text += "# Choices made by the import:\n";
  for (const ImportNote& note : imported.choices) text += fmt::format("#   {}\n", note.text());
  if (!imported.left_out.empty()) text += "# Left out (--lenient), because it has no counterpart here:\n";
  for (const ImportNote& note : imported.left_out) text += fmt::format("#   {}\n", note.text());
  return text;
}

}  // namespace

std::vector<WrittenFile> write_import(const Imported& imported) {
  const std::string notes = comments(imported);
  std::vector<WrittenFile> files;
  UniqueNames names;
  const auto add = [&](const std::string& name, std::string_view kind, const std::string& text) {
    files.push_back({names(fmt::format("{}.{}", name, kind)) + ".yaml", notes + text});
  };
  for (const ImportedText& accelerator : imported.accelerators) add(accelerator.name, "accelerator", accelerator.yaml);
  for (const Workload& workload : imported.workloads) add(workload.name, "workload", write_workload(workload));
  for (const Layer& layer : imported.layers) add(layer.name, "layer", write_layer(layer));
  for (const ImportedText& mapping : imported.mappings) add(mapping.name, "mapping", mapping.yaml);
  return files;
}

}  // namespace pliant
