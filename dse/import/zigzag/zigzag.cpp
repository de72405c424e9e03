// SPDX-License-Identifier: Apache-2.0
#include "dse/import/zigzag/zigzag.h"

#include <map>

#include "dse/import/top_level_keys.h"

namespace pliant {
namespace {

enum class FileKind { kHardware, kWorkload, kMapping };

std::optional<FileKind> file_kind(const SourceFile& file) {
  const TopLevelKeys keys(file.text);
  if (keys.has("operational_array") && keys.has("memories")) return FileKind::kHardware;
  if (keys.has_in_list("loop_dims") && keys.has_in_list("equation")) return FileKind::kWorkload;
  if (keys.has_in_list("memory_operand_links") || keys.has_in_list("spatial_mapping")) return FileKind::kMapping;
  return std::nullopt;
}

}  // namespace

std::string dim_from_zigzag(const std::string& name) {
  static const std::map<std::string, std::string> ours{{"K", "M"}, {"OY", "P"}, {"OX", "Q"}, {"FY", "R"}, {"FX", "S"}};
  const auto found = ours.find(name);
  return found == ours.end() ? name : found->second;
}

bool is_zigzag(const SourceFile& file) { return file_kind(file).has_value(); }

void import_zigzag(const std::vector<SourceFile>& files, const ImportOptions&, ImportLog& log, Imported& imported) {
  std::vector<YamlNode> trees;
  for (const SourceFile& file : files) {
    std::vector<Position> repeated;
    trees.push_back(parse_yaml(file.text, file.name, log.problems(), {.repeated = &repeated}));
    for (const Position& at : repeated) log.choice(at, "", "a key given twice: the last one counts, as in ZigZag");
  }
  std::optional<Cursor> mapping;
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (file_kind(files[i]) == FileKind::kMapping) mapping.emplace(trees[i], "", log.problems());
  }
  bool hardware = false;
  for (std::size_t i = 0; i < files.size(); ++i) {
    const auto kind = file_kind(files[i]);
    const Cursor root(trees[i], "", log.problems());
    if (kind == FileKind::kHardware) {
      hardware = true;
      if (auto read = read_zigzag_hardware(root, mapping ? &*mapping : nullptr, log))
        imported.accelerators.push_back(std::move(*read));
    } else if (kind == FileKind::kWorkload) {
      imported.workloads.push_back(read_zigzag_workload(root, name_of_file(files[i]), log));
    } else if (!kind) {
      root.problem("neither hardware, nor a workload, nor a mapping", "a file of ZigZag");
    }
  }
  if (mapping && !hardware) mapping->problem("a mapping without its hardware", "the hardware's file as well");
}

}  // namespace pliant
