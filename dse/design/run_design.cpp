// SPDX-License-Identifier: Apache-2.0
#include "dse/design/run_design.h"

#include <fmt/format.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>

#include "core/arithmetic.h"
#include "core/input/source_text.h"
#include "dse/design/design_certificate.h"
#include "dse/design/guessed_designs.h"
#include "dse/design/shared_designs.h"
#include "dse/results/atomic_file.h"
#include "dse/results/content_hash.h"
#include "dse/results/part_file.h"
#include "dse/sweep/dataset_lock.h"
#include "dse/sweep/source_hash.h"

namespace pliant {

namespace {

constexpr const char* kGoalsOption = "minimize";
constexpr const char* kGapOption = "design_gap";
constexpr const char* kGuessesOption = "design_guesses";
constexpr const char* kInterruptedOption = "design_interrupted";

/// The rows of a part are written in a moment.
constexpr std::int64_t kRowsInPart = 16'384, kDesignsInPart = 512;

void note(const DesignRunOptions& options, const std::string& text) {
  if (options.on_note) options.on_note(text);
}

Manifest open_dataset(const DesignRunOptions& options, Manifest now) {
  std::optional<Manifest> before;
  try {
    before = read_manifest(options.dataset);
  } catch (const StorageError& error) {
    note(options, fmt::format("{}; a new one is written", error.what()));
  }
  if (before && before->sweep_sha256 != now.sweep_sha256) {
    const std::string changes = changed_inputs(*before, now);
    if (!options.update)
      throw ChangedInputs(fmt::format("{}: made from other inputs: {}", options.dataset.string(),
                                      changes.empty() ? "other goals, or by a sweep" : changes));
    note(options, fmt::format("the rows are replaced, because of {}", changes));
  }
  if (before && before->sweep_sha256 == now.sweep_sha256) {
    now.start = before->start;
    now.hosts = before->hosts;
  } else {
    now.start = utc_now();
  }
  if (std::ranges::find(now.hosts, host_name()) == now.hosts.end()) now.hosts.push_back(host_name());
  write_manifest(options.dataset, now);
  return now;
}

void write_rows(const Sweep& sweep, const DesignRunOptions& options, Manifest manifest, DesignFrontier& found) {
  for (const std::int64_t part : list_parts(options.dataset)) remove_part(options.dataset, part);
  const int threads = options.search.threads > 0 ? options.search.threads : usable_cores();
  if (sweep.flexion) {
    tbb::task_arena(threads).execute([&] {
      tbb::parallel_for(std::size_t{0}, found.opened.size(), [&](std::size_t i) {
        OpenedDesign& opened = found.opened[i];
        for (std::size_t w = 0; w < opened.rows.size(); ++w)
          opened.rows[w].flexion = design_flexion(sweep.workloads[w], *opened.design);
      });
    });
  }
  const auto designs = static_cast<std::int64_t>(found.opened.size());
  manifest.designs = designs;
  manifest.designs_in_part =
      std::clamp<std::int64_t>(kRowsInPart / std::max<std::int64_t>(manifest.layers, 1), 1, kDesignsInPart);
  manifest.parts =
      std::max<std::int64_t>(1, ceil_div(designs, manifest.designs_in_part));  // without rows, an empty one
  for (std::int64_t part = 0; part < manifest.parts; ++part) {
    LayerRows layers;
    std::vector<DesignRow> rows;
    const std::int64_t end = std::min(designs, (part + 1) * manifest.designs_in_part);
    for (std::int64_t i = part * manifest.designs_in_part; i < end; ++i) {
      const OpenedDesign& opened = found.opened[static_cast<std::size_t>(i)];
      for (const LayerRow& row : opened.layers) layers.add(row);
      rows.insert(rows.end(), opened.rows.begin(), opened.rows.end());
    }
    write_part(options.dataset, {sweep.name, manifest.sweep_sha256, sweep.columns, part}, layers, rows);
  }
  write_table(boxes_table(sweep, found.boxes), boxes_path(options.dataset));
  if (!found.interrupted) manifest.end = utc_now();
  write_manifest(options.dataset, manifest);
}

}  // namespace

std::optional<double> design_gap(const Manifest& manifest) {
  for (const auto& [key, value] : manifest.options)
    if (key == kGapOption) return std::stod(value);
  return std::nullopt;
}

Manifest design_manifest(const Library& library, const Sweep& sweep, double gap) {
  const DesignSpace space(library, std::make_shared<const Sweep>(sweep));
  Manifest manifest = make_manifest(sweep, layout_of(sweep, space.size()), 0);
  manifest.parts = manifest.designs_in_part = 0;
  std::vector<std::string> goals;
  for (const DesignGoals::Goal& goal : sweep.goals->minimize) goals.push_back(goal_name(sweep, goal));
  manifest.options.emplace_back(kGoalsOption, join(goals));
  manifest.options.emplace_back(kGapOption, fmt::format("{}", gap));
  manifest.sweep_sha256 =
      sha256(fmt::format("design\n{}\n{}gap {}\n", manifest.sweep_sha256, sweep.goals->text(), gap));
  return manifest;
}

DesignFrontier run_design(const Library& library, const Sweep& sweep, const DesignRunOptions& options) {
  check_design_sweep(sweep);
  if (!options.certificate.empty()) check_certificate(library, sweep, options.search.shard);
  for (const std::filesystem::path& folder : part_folders(options.dataset)) make_folder(folder);
  const Shard& shard = options.search.shard;
  const DatasetLock lock(options.dataset,
                         shard.count > 1 ? fmt::format("design-shard-{}-of-{}", shard.index, shard.count) : "design",
                         DatasetLock::Mode::kRefuse);
  std::optional<Manifest> manifest;
  if (shard.count == 1) manifest = open_dataset(options, design_manifest(library, sweep, options.search.gap));
  TaskStore store(options.cache.empty() ? options.dataset / "cache" : options.cache, true);
  if (store.damaged() > 0)
    note(options, fmt::format("{} damaged records in the result cache are computed again", store.damaged()));
  ProvenBounds proven;
  DesignSearchOptions search = options.search;
  if (!options.certificate.empty()) search.proven = &proven;
  std::optional<SharedDesigns> others;
  if (shard.count > 1 && search.proven == nullptr) {
    others.emplace(options.dataset / "shards", shard,
                   design_manifest(library, sweep, search.gap).sweep_sha256 + std::string(source_hash()));
    search.others = &*others;
  }
  DesignFrontier found = search_designs(library, sweep, search, &store);
  if (found.interrupted && manifest && !found.frontier.empty()) {
    // What was found so far can be looked at; the same command replaces it.
    if (found.progress.gap)
      manifest->options.emplace_back(kInterruptedOption, fmt::format("proven within {}", *found.progress.gap));
    write_rows(sweep, options, std::move(*manifest), found);
  } else if (!found.interrupted && manifest) {
    manifest->options.emplace_back(kGuessesOption, guesses_text(guess_designs(library, sweep, options.search, &store)));
    if (!options.certificate.empty())
      write_design_certificate(library, sweep, options.search.gap, found, proven, options.certificate);
    if (options.audit) {
      audit::AuditOptions audit;
      audit.threads = options.search.threads > 0 ? options.search.threads : usable_cores();
      audit.stop = options.search.stop;
      found.audit = audit::audit_design(library, options.certificate, audit);
      manifest->options.emplace_back(kAuditedOption, audit::verdict_of(*found.audit, false));
    }
    write_rows(sweep, options, std::move(*manifest), found);
  }
  store.flush();
  return found;
}

}  // namespace pliant
