// SPDX-License-Identifier: Apache-2.0
#include "dse/import/accelforge/accelforge.h"

#include "core/input/units.h"
#include "dse/import/templates/jinja.h"
#include "dse/import/top_level_keys.h"

namespace pliant {
namespace {

/// Bits of a value when the workload has a number for all tensors.
std::optional<int> bits_of(const YamlNode& tree) {
  const YamlNode* workload = tree.find("workload");
  const YamlNode* bits = workload != nullptr && workload->is_map() ? workload->find("bits_per_value") : nullptr;
  const YamlNode* all = bits != nullptr && bits->is_map() ? bits->find("All") : nullptr;
  if (all == nullptr || !all->is_scalar()) return std::nullopt;
  const auto parsed = parse_count(all->text);
  const Count* count = std::get_if<Count>(&parsed);
  constexpr Count kMost = 1 << 10;
  return count != nullptr && *count >= 1 && *count <= kMost ? std::optional(static_cast<int>(*count)) : std::nullopt;
}

std::map<std::string, std::string> variables_of(const YamlNode& tree) {
  std::map<std::string, std::string> all;
  const auto add = [&](const YamlNode* block) {
    if (block == nullptr || !block->is_map()) return;
    for (const YamlEntry& entry : block->entries) {
      if (entry.value.is_scalar()) all[entry.key] = entry.value.text;
    }
  };
  add(tree.find("variables"));
  const YamlNode* arch = tree.find("arch");
  if (arch != nullptr && arch->is_map()) add(arch->find("variables"));
  return all;
}

}  // namespace

bool is_accelforge(const SourceFile& file) {
  const TopLevelKeys keys(file.text);
  const bool einsums = file.text.find("einsums:") != std::string::npos || file.text.find("{{") != std::string::npos;
  return !keys.ours() &&
         ((keys.has("arch") && file.text.find("nodes:") != std::string::npos) || (keys.has("workload") && einsums));
}

void import_accelforge(const std::vector<SourceFile>& files, const ImportOptions& options, ImportLog& log,
                       Imported& imported) {
  std::vector<YamlNode> trees;
  std::optional<int> bits;
  for (const SourceFile& file : files) {
    trees.push_back(parse_template(file, options.variables, log));
    if (!trees.back().is_map()) {
      log.problems().add(position_in(file, 1), "", "neither an architecture nor a workload", "arch: or workload:");
      return;
    }
    if (!bits) bits = bits_of(trees.back());
  }
  for (std::size_t i = 0; i < files.size(); ++i) {
    const Cursor root(trees[i], "", log.problems());
    const auto arch = root.find("arch"), workload = root.find("workload");
    const std::string name = name_of_file(files[i]);
    if (arch) {
      auto read = accelforge::read_architecture(*arch, variables_of(trees[i]), bits.value_or(accelforge::kDefaultBits),
                                                name, log);
      if (read) imported.accelerators.push_back(std::move(*read));
    }
    if (workload) {
      auto read = accelforge::read_workload(*workload, name, log);
      if (read) imported.workloads.push_back(std::move(*read));
    }
    if (const auto mapping = root.find("mapping")) {
      log.unsupported(mapping->node().at, "mapping", "a mapping of fused einsums");
    }
    if (!arch && !workload) root.problem("neither an architecture nor a workload", "arch: or workload:");
  }
}

}  // namespace pliant
