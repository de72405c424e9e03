// SPDX-License-Identifier: Apache-2.0
// The folder that a running sweep writes to: its manifest, which parts are there, and when it is complete. Other shards
// may write there at the same time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "dse/results/manifest.h"
#include "dse/sweep/best_designs.h"
#include "dse/sweep/run_sweep.h"

namespace pliant {

class SweepDataset {
 public:
  /// `made_now`: what the manifest says when the dataset is new.
  SweepDataset(const SweepRunOptions& options, Manifest made_now, int threads);

  /// Compares with the manifest that is there, or writes the first. ChangedInputs when the dataset was made from other
  /// inputs and is not to be replaced.
  void open();
  /// Parts of this shard that are not there, or damaged; ascending.
  const std::vector<std::int64_t>& missing() const { return missing_; }
  const std::vector<std::int64_t>& owned() const { return owned_; }
  const Manifest& manifest() const { return manifest_; }

  /// This machine takes part; what a killed process left half-written is removed.
  void begin_writing();
  /// When the own parts are all there: is every part of every shard? Notes the end in the manifest then.
  bool close(bool wrote_anything);

  /// Adds the rows of all parts that are there, of all shards.
  void find_best(BestDesigns& best) const;

 private:
  void find_missing_parts();
  void change_manifest(const std::function<void(Manifest&)>& change);
  void note(const std::string& text) const;

  const SweepRunOptions& options_;
  Manifest manifest_;
  int threads_;
  std::vector<std::int64_t> owned_, missing_;
};

}  // namespace pliant
