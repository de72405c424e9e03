// SPDX-License-Identifier: Apache-2.0
#include "dse/import/timeloop/timeloop.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "core/input/load.h"
#include "core/input/source_text.h"
#include "dse/import/templates/jinja.h"
#include "dse/import/timeloop/document.h"
#include "dse/import/timeloop/machine.h"
#include "dse/import/top_level_keys.h"
#include "dse/import/write_levels.h"

namespace pliant {
namespace {

using namespace timeloop;

/// What a file may say at the top that is neither read nor worth a word: settings of the tool's own run.
constexpr std::array<std::string_view, 12> kOwnSettings{"dumped_by_timeloop_front_end",
                                                        "compound_components",
                                                        "components",
                                                        "globals",
                                                        "variables",
                                                        "version",
                                                        "problem_base_ignore",
                                                        "ERT_summary",
                                                        "ART_summary",
                                                        "mapper",
                                                        "environment_variables",
                                                        "system_attributes"};
constexpr std::array<std::string_view, 10> kRead{
    "architecture", "problem", "mapping",     "architecture_constraints", "mapspace_constraints", "mapspace",
    "ERT",          "ART",     "constraints", "sparse_optimizations"};

class TimeloopImport {
 public:
  TimeloopImport(ImportLog& log, Imported& imported) : log_(log), imported_(imported) {}

  void read(const std::vector<SourceFile>& files, const ImportOptions& options) {
    for (const SourceFile& file : files) trees_.push_back(parse_template(file, options.variables, log_));
    for (std::size_t i = 0; i < files.size(); ++i) take(trees_[i], files[i]);
    refuse_sparsity();
    const std::string name = layer_name(files);
    if (const auto problem = find("problem")) problem_ = read_problem(*problem, name, log_);
    if (const auto architecture = find("architecture")) {
      architecture_ = read_architecture(*architecture, variables(), log_);
    }
    if (!log_.problems().empty()) return;
    if (problem_) imported_.layers.push_back(problem_->layer);
    if (architecture_) build(name);
    if (!problem_ && !architecture_) {
      log_.problems().add(position_in(files.front(), 1), "", "neither an architecture nor a problem", "one of them");
    }
  }

 private:
  void take(const YamlNode& tree, const SourceFile& file) {
    const Cursor root(tree, "", log_.problems());
    if (!root.expect_map("Timeloop's keys: architecture, problem, ...")) return;
    for (const YamlEntry& entry : tree.entries) {
      const std::string_view key = entry.key;
      if (std::ranges::find(kRead, key) == kRead.end()) {
        if (std::ranges::find(kOwnSettings, key) == kOwnSettings.end() && !key.ends_with("_ignore")) {
          log_.choice(entry.at, entry.key, "not read");
        }
        continue;
      }
      const bool empty_list = entry.value.is_sequence() && entry.value.items.empty();
      if (entry.value.is_null() || empty_list) continue;
      const auto [known, is_new] = parts_.emplace(key, &entry.value);
      if (!is_new) log_.problems().add(entry.at, entry.key, "given by two files", "once");
      if (key == "problem") problem_file_ = &file;
    }
  }

  std::optional<Cursor> find(const std::string& key) const {
    const auto found = parts_.find(key);
    if (found == parts_.end()) return std::nullopt;
    return Cursor(*found->second, key, log_.problems());
  }

  Variables variables() const {
    Variables all;
    for (const YamlNode& tree : trees_) {
      const YamlNode* block = tree.find("variables");
      if (block == nullptr || !block->is_map()) continue;
      for (const YamlEntry& entry : block->entries) {
        if (entry.value.is_scalar()) all[entry.key] = entry.value.text;
      }
    }
    return all;
  }

  void refuse_sparsity() {
    const auto sparse = find("sparse_optimizations");
    if (!sparse) return;
    const auto targets = sparse->node().is_map() ? sparse->find("targets") : std::nullopt;
    if (targets && targets->node().is_sequence() && targets->node().items.empty()) return;
    log_.unsupported(sparse->node().at, "sparse_optimizations", "sparse optimizations");
  }

  std::string layer_name(const std::vector<SourceFile>& files) const {
    const SourceFile& file = problem_file_ != nullptr ? *problem_file_ : files.front();
    const std::filesystem::path path(file.name);
    // Files of a network are often called 01.yaml: the folder says whose they are.
    const std::string stem = name_of_file(file);
    return stem.starts_with("_") ? import_name(path.parent_path().filename().string() + stem, stem) : stem;
  }

  std::vector<Directive> constraints() const {
    std::vector<Directive> all = architecture_->constraints;
    const auto add = [&](const std::optional<Cursor>& list) {
      if (!list) return;
      for (Directive& one : read_directives(*list, log_)) all.push_back(std::move(one));
    };
    for (const char* key : {"architecture_constraints", "mapspace_constraints", "mapspace", "constraints"}) {
      const auto block = find(key);
      if (!block) continue;
      if (block->node().is_sequence()) {
        add(block);
      } else if (block->node().is_map()) {
        add(block->find("targets"));
        add(block->find("constraints"));
      }
    }
    return all;
  }

  void build(const std::string& name) {
    if (const auto table = find("ERT")) read_energies(*table, *architecture_, log_);
    if (const auto table = find("ART")) read_areas(*table, *architecture_, log_);
    Machine machine = build_machine(*architecture_, log_);
    const auto mapping = find("mapping");
    const bool has_mapping = mapping && mapping->node().is_sequence() && !mapping->node().items.empty();
    apply_constraints(machine, constraints(), problem_ ? &*problem_ : nullptr, log_);
    if (!log_.problems().empty()) return;
    imported_.accelerators.push_back(
        write_imported_accelerator(machine.accelerator, machine.unstated, architecture_->components.front().at, log_));
    if (!has_mapping) return;
    if (!problem_) {
      mapping->problem("a mapping without its problem", "the problem's file as well");
      return;
    }
    const auto built = build_mapping(machine, *problem_, read_directives(*mapping, log_), mapping->node().at, log_);
    if (!built) return;
    imported_.mappings.push_back(
        {name, write_mapping(problem_->layer, machine.accelerator, *built, factorization(*built))});
  }

  /// Perfect when the bounds of every dim multiply to its size.
  Factorization factorization(const Mapping& mapping) const {
    const Layer& layer = problem_->layer;
    std::vector<Count> product(layer.dims.size(), 1);
    for (const LevelMapping& level : mapping.levels) {
      for (const Loop& loop : level.temporal) product[static_cast<std::size_t>(loop.dim)] *= loop.bound;
      for (const SpatialLoop& loop : level.spatial) product[static_cast<std::size_t>(loop.dim)] *= loop.bound;
    }
    for (std::size_t d = 0; d < layer.dims.size(); ++d) {
      if (product[d] != layer.dims[d].size) return Factorization::kRuby;
    }
    return Factorization::kPerfect;
  }

  ImportLog& log_;
  Imported& imported_;
  std::vector<YamlNode> trees_;
  std::map<std::string, const YamlNode*, std::less<>> parts_;
  const SourceFile* problem_file_ = nullptr;
  std::optional<Problem> problem_;
  std::optional<Architecture> architecture_;
};

}  // namespace

bool is_timeloop(const SourceFile& file) {
  const TopLevelKeys keys(file.text);
  return keys.has("dumped_by_timeloop_front_end") || keys.has("ERT") || keys.has("ART") ||
         keys.has("architecture_constraints") || keys.has("problem") ||
         (keys.has("architecture") &&
          (file.text.find("nodes:") != std::string::npos || file.text.find("subtree:") != std::string::npos)) ||
         (keys.has("mapping") && file.text.find("target:") != std::string::npos);
}

void import_timeloop(const std::vector<SourceFile>& files, const ImportOptions& options, ImportLog& log,
                     Imported& imported) {
  TimeloopImport(log, imported).read(files, options);
}

}  // namespace pliant
