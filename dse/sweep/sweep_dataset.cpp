// SPDX-License-Identifier: Apache-2.0
#include "dse/sweep/sweep_dataset.h"

#include <fmt/format.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <mutex>

#include "dse/results/atomic_file.h"
#include "dse/results/part_file.h"
#include "dse/results/stored_files.h"
#include "dse/results/task_store.h"
#include "dse/sweep/dataset_lock.h"
#include "dse/sweep/phase.h"

namespace pliant {

namespace fs = std::filesystem;

namespace {

/// Below this a resumed dataset is checked byte by byte, above it only by its files' footers.
constexpr std::uintmax_t kCheckThoroughly = std::uintmax_t{64} << 20;

std::uintmax_t bytes_of_tables(const fs::path& dataset) {
  std::uintmax_t bytes = 0;
  for (const fs::path& folder : part_folders(dataset))
    for (const StoredFile& file : files_in(folder)) bytes += file.bytes;
  return bytes;
}

}  // namespace

SweepDataset::SweepDataset(const SweepRunOptions& options, Manifest made_now, int threads)
    : options_(options), manifest_(std::move(made_now)), threads_(threads) {
  for (std::int64_t part = options.shard.index; part < manifest_.parts; part += options.shard.count)
    owned_.push_back(part);
}

void SweepDataset::note(const std::string& text) const {
  if (options_.on_note) options_.on_note(text);
}

void SweepDataset::open() {
  {
    const DatasetLock lock(options_.dataset, "manifest", DatasetLock::Mode::kWait);
    std::optional<Manifest> before;
    try {
      before = read_manifest(options_.dataset);
    } catch (const StorageError& error) {
      note(fmt::format("{}; a new one is written", error.what()));
    }
    if (before && before->sweep_sha256 == manifest_.sweep_sha256) {
      manifest_ = *before;
    } else {
      if (before) {
        const std::string changes = changed_inputs(*before, manifest_);
        if (!options_.update)
          throw ChangedInputs(fmt::format("{}: made from other inputs: {}", options_.dataset.string(), changes));
        note(fmt::format("the rows are replaced, because of {}", changes));
        for (const std::int64_t part : list_parts(options_.dataset)) remove_part(options_.dataset, part);
      }
      manifest_.start = utc_now();
      write_manifest(options_.dataset, manifest_);
    }
  }
  find_missing_parts();
}

void SweepDataset::find_missing_parts() {
  const bool thorough = bytes_of_tables(options_.dataset) <= kCheckThoroughly;
  std::vector<PartCheck> checks(owned_.size());
  Phase phase(options_.on_phase, "checking the parts that are there", static_cast<std::int64_t>(owned_.size()));
  tbb::task_arena(threads_).execute([&] {
    tbb::parallel_for(std::size_t{0}, checks.size(), [&](std::size_t i) {
      checks[i] = check_part(options_.dataset, owned_[i], manifest_.sweep_sha256, thorough);
      phase.advance(1);
    });
  });
  for (std::size_t i = 0; i < checks.size(); ++i) {
    if (checks[i].state == PartState::kDone) continue;
    if (!checks[i].what.empty()) note(checks[i].what + "; computed again");
    missing_.push_back(owned_[i]);
  }
}

void SweepDataset::find_best(BestDesigns& best) const {
  const std::vector<std::int64_t> parts = list_parts(options_.dataset);
  Phase phase(options_.on_phase, "reading the designs that are there", static_cast<std::int64_t>(parts.size()));
  std::mutex mutex;
  const BestDesigns empty = best;
  tbb::task_arena(threads_).execute([&] {
    tbb::parallel_for(std::size_t{0}, parts.size(), [&](std::size_t i) {
      BestDesigns own = empty;
      // Only what is complete: a part that is missing or damaged is computed again and added then.
      const bool counts = is_there(checksum_path(options_.dataset, parts[i])) &&
                          !std::ranges::binary_search(missing_, parts[i]) &&
                          own.add_file(part_path(options_.dataset, TableKind::kDesigns, parts[i]));
      phase.advance(1);
      if (!counts) return;
      const std::lock_guard lock(mutex);
      best.merge(own);
    });
  });
}

void SweepDataset::begin_writing() {
  change_manifest([](Manifest& manifest) {
    if (std::ranges::find(manifest.hosts, host_name()) == manifest.hosts.end()) manifest.hosts.push_back(host_name());
  });
  for (const fs::path& folder : part_folders(options_.dataset)) remove_leftovers(folder);
  remove_leftovers(options_.dataset);
}

bool SweepDataset::close(bool wrote_anything) {
  if (options_.shard.count > 1) {
    for (std::int64_t part = 0; part < manifest_.parts; ++part) {
      if (options_.shard.owns(part)) continue;
      if (check_part(options_.dataset, part, manifest_.sweep_sha256, false).state != PartState::kDone) return false;
    }
  }
  // The last shard to finish says when.
  if (manifest_.end.empty() || wrote_anything) change_manifest([](Manifest& manifest) { manifest.end = utc_now(); });
  return true;
}

void SweepDataset::change_manifest(const std::function<void(Manifest&)>& change) {
  const DatasetLock lock(options_.dataset, "manifest", DatasetLock::Mode::kWait);
  if (const auto now = read_manifest(options_.dataset)) manifest_ = *now;
  change(manifest_);
  write_manifest(options_.dataset, manifest_);
}

std::optional<DatasetStatus> dataset_status(const fs::path& dataset) {
  const auto manifest = read_manifest(dataset);
  if (!manifest) return std::nullopt;
  DatasetStatus status;
  status.manifest = *manifest;
  for (const std::int64_t part : list_parts(dataset)) {
    const PartCheck check = check_part(dataset, part, manifest->sweep_sha256, false);
    if (check.state == PartState::kDone) {
      ++status.parts_done;
      status.layer_rows += check.layer_rows;
      status.design_rows += check.design_rows;
    } else if (!check.what.empty()) {
      ++status.parts_damaged;
      status.problems.push_back(check.what);
    }
  }
  status.tasks_kept = TaskStore(dataset / "cache", false).size();
  return status;
}

}  // namespace pliant
