// SPDX-License-Identifier: Apache-2.0
#include "core/input/accelerator_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "core/input/cursor.h"
#include "core/input/keys.h"
#include "core/input/settings.h"
#include "core/input/source_text.h"

namespace pliant {
namespace {

constexpr std::size_t kMaxIncludes = 16;
constexpr std::array<std::string_view, 3> kLevelKinds{"memory", "fanout", "compute"};

void mark_stage(YamlNode& node, int stage) {
  node.stage = stage;
  for (YamlNode& item : node.items) mark_stage(item, stage);
  for (YamlEntry& entry : node.entries) mark_stage(entry.value, stage);
}

/// The entry that names a level, e.g. `memory: GLB`; nullptr when there is none.
const YamlEntry* level_name(const YamlNode& level) {
  for (const YamlEntry& entry : level.entries) {
    if (std::ranges::find(kLevelKinds, std::string_view(entry.key)) != kLevelKinds.end()) return &entry;
  }
  return nullptr;
}

/// Maps merge key by key down to `depth`; everything else is replaced.
void merge(YamlNode& base, const YamlNode& over, int depth) {
  if (depth == 0 || !base.is_map() || !over.is_map()) {
    base = over;
    return;
  }
  for (const YamlEntry& entry : over.entries) {
    if (YamlNode* value = base.find(entry.key)) {
      merge(*value, entry.value, depth - 1);
    } else {
      base.entries.push_back(entry);
    }
  }
}

/// How deep a block of an including file merges with the included one. Rules of one level are replaced as a whole.
int merge_depth(std::string_view key) {
  for (const std::string_view one : {"parameters", "conventions", "hints", "vector", "links"})
    if (key == one) return 1;
  if (key == "area" || key == "prediction") return 2;
  return 0;
}

void merge_flexibility(YamlNode& base, const YamlNode& over) {
  if (!base.is_map() || !over.is_map()) {
    base = over;
    return;
  }
  for (const YamlEntry& entry : over.entries) {
    YamlNode* value = base.find(entry.key);
    const bool family = std::ranges::find(keys::kFamilies, std::string_view(entry.key)) != keys::kFamilies.end() ||
                        entry.key == "variants";
    if (value == nullptr) {
      base.entries.push_back(entry);
    } else {
      merge(*value, entry.value, family ? 2 : 1);
    }
  }
}

void merge_levels(YamlNode& base, const YamlNode& over, Diagnostics& problems) {
  // Chains too long to be read are not worth comparing name by name.
  const bool too_long = base.items.size() > kMaxLevels || over.items.size() > kMaxLevels;
  if (!base.is_sequence() || !over.is_sequence() || too_long) {
    base = over;
    return;
  }
  for (std::size_t i = 0; i < over.items.size(); ++i) {
    const Cursor cursor(over.items[i], fmt::format("levels[{}]", i), problems);
    const YamlEntry* wanted = level_name(over.items[i]);
    if (wanted == nullptr) {
      cursor.problem("no name", "memory: NAME, fanout: NAME or compute: NAME of an included level");
      continue;
    }
    std::vector<std::string> known;
    YamlNode* same = nullptr;
    for (YamlNode& level : base.items) {
      const YamlEntry* name = level_name(level);
      if (name == nullptr) continue;
      known.push_back(name->value.text);
      if (name->value.text == wanted->value.text) same = &level;
    }
    if (same == nullptr) {
      Cursor(wanted->value, cursor.path() + "." + wanted->key, problems)
          .problem(fmt::format("{} is not in the included file", wanted->value.describe()),
                   "one of " + join(known) + "; to change the chain, write it out", nearest(wanted->value.text, known));
      continue;
    }
    if (level_name(*same)->key != wanted->key) {
      problems.add(wanted->at, cursor.path() + "." + wanted->key,
                   fmt::format("{} is a {} in the included file", wanted->value.describe(), level_name(*same)->key),
                   level_name(*same)->key);
      continue;
    }
    merge(*same, over.items[i], 1);
  }
}

void merge_files(YamlNode& base, const YamlNode& over, Diagnostics& problems) {
  if (!base.is_map() || !over.is_map()) {
    base = over;
    return;
  }
  base.at = over.at;
  for (const YamlEntry& entry : over.entries) {
    YamlNode* value = base.find(entry.key);
    if (value == nullptr) {
      base.entries.push_back(entry);
    } else if (entry.key == "levels") {
      merge_levels(*value, entry.value, problems);
    } else if (entry.key == "flexibility" || entry.key == "baseline" || entry.key == "partial") {
      merge_flexibility(*value, entry.value);
    } else {
      merge(*value, entry.value, merge_depth(entry.key));
    }
  }
}

class TreeReader {
 public:
  TreeReader(const Library& library, Diagnostics& problems) : library_(library), problems_(problems) {}

  /// Appends the stages of a file: those of what it includes, then its own.
  void read(std::string_view text, std::string_view file, const std::filesystem::path& directory) {
    YamlNode own = parse_yaml(text, file, problems_);
    const YamlNode* include = own.is_map() ? own.find("include") : nullptr;
    if (include != nullptr) read_included(Cursor(*include, "include", problems_), directory);
    mark_stage(own, static_cast<int>(stages.size()));
    if (stages.empty()) {
      stages.push_back(std::move(own));
      return;
    }
    YamlNode merged = stages.back();
    merge_files(merged, own, problems_);
    stages.push_back(std::move(merged));
  }

  std::vector<YamlNode> stages;
  std::vector<std::filesystem::path> open;  ///< files being read, outermost first
  bool failed = false;                      ///< an include was not found: what it would give is missing everywhere

 private:
  void read_included(const Cursor& include, const std::filesystem::path& directory) {
    const auto wanted = include.text("a file or the name of a shipped accelerator");
    failed = true;
    if (!wanted) return;
    std::filesystem::path path = directory / *wanted;
    std::error_code error;
    if (!std::filesystem::is_regular_file(path, error)) {
      try {
        path = library_.find_accelerator(*wanted);
      } catch (const InputError& not_found) {
        const Diagnostic& why = not_found.diagnostics().front();
        include.problem(fmt::format("no file {} and no shipped accelerator of that name", include.node().describe()),
                        why.expected, why.did_you_mean);
        return;
      }
    }
    const std::filesystem::path canonical = std::filesystem::weakly_canonical(path, error);
    const auto again = std::ranges::find(open, canonical);
    if (again != open.end()) {
      std::vector<std::string> cycle;
      for (auto file = again; file != open.end(); ++file) cycle.push_back(file->filename().string());
      cycle.push_back(canonical.filename().string());
      include.problem("files include each other: " + join(cycle, " -> "), "includes without a cycle");
      return;
    }
    if (open.size() >= kMaxIncludes) {
      include.problem(fmt::format("more than {} files deep", kMaxIncludes), "fewer includes");
      return;
    }
    failed = false;
    open.push_back(canonical);
    read(read_source(path), path.string(), path.parent_path());
    open.pop_back();
  }

  const Library& library_;
  Diagnostics& problems_;
};

}  // namespace

AcceleratorTree read_accelerator_files(const Library& library, std::string_view text, std::string_view file,
                                       const std::filesystem::path& directory, Diagnostics& problems) {
  TreeReader reader(library, problems);
  std::error_code error;
  reader.open.push_back(std::filesystem::weakly_canonical(std::filesystem::path(file), error));
  reader.read(text, file, directory);
  if (reader.failed) problems.throw_if_any();
  return {std::move(reader.stages)};
}

AcceleratorTree complete_accelerator_tree(AcceleratorTree tree, std::string_view file,
                                          const std::vector<Setting>& settings, Diagnostics& problems) {
  if (!settings.empty()) {
    YamlNode set = tree.stages.back();
    const int stage = static_cast<int>(tree.stages.size());
    for (const Setting& setting : settings) apply_setting(set, setting, stage, problems);
    tree.stages.push_back(std::move(set));
  }
  std::set<std::string> used;
  for (std::size_t i = 0; i < tree.stages.size(); ++i) {
    // Earlier stages are consulted only for capacities; what is wrong in them is wrong in the last one, too.
    Diagnostics ignored;
    const bool last = i + 1 == tree.stages.size();
    used = substitute_parameters(tree.stages[i], file, used, last ? problems : ignored);
  }
  return tree;
}

}  // namespace pliant
