// SPDX-License-Identifier: Apache-2.0
// What shards of a design search tell each other through the folder of their dataset: the designs found, so that none
// searches what a design of another shard beats. A shard proves nothing by itself: the last run, without --shard, takes
// every decision from searches, so that nothing told here is ever believed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "dse/design/found_designs.h"
#include "dse/design/ideal_design.h"
#include "dse/sweep/run_sweep.h"

namespace pliant {

/// The space in a few parts for each shard, dealt out in turn: the same parts for every shard.
std::vector<HardwareBox> boxes_of_shard(IdealDesigns& ideals, const HardwareBox& space, const Shard& shard);

class SharedDesigns {
 public:
  /// A file for each shard in `folder`, replaced whole. `question` names the search: files of another are not read.
  /// Files are written and read at most every `pause_seconds`.
  SharedDesigns(std::filesystem::path folder, const Shard& shard, std::string question, double pause_seconds = 1);
  ~SharedDesigns();
  SharedDesigns(const SharedDesigns&) = delete;
  SharedDesigns& operator=(const SharedDesigns&) = delete;

  using Told = std::pair<std::int64_t, Point>;  ///< design, values by goal
  void tell(std::int64_t design, const Point& values);
  /// What the others have told and this one has not seen.
  std::vector<Told> news();

 private:
  std::filesystem::path file_of(int shard) const;
  void write();

  std::filesystem::path folder_;
  Shard shard_;
  std::string question_;
  double pause_seconds_;
  double written_, read_;  ///< when
  bool told_all_ = true;
  std::vector<Told> own_;
  std::map<int, std::size_t> seen_;  ///< by shard, how many of its designs
};

}  // namespace pliant
