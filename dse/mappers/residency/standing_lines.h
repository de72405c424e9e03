// SPDX-License-Identifier: Apache-2.0
// The least energy + slope * cycles of one of many inferences, over all choices of which weights stay on chip from one
// to the next. Weights that stay take room from every step, so this is no shortest path: branch and bound over what is
// decided about them, each bound a shortest path. docs/networks.md has the proof.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

#include "dse/mappers/residency/residency_lines.h"

namespace pliant::residency {

class StandingLines {
 public:
  StandingLines(const Workload& workload, const std::vector<Task>& rows, VariantLines& variants, Count inferences,
                std::stop_token stop);

  /// nullptr when some layer fits nowhere. Its `least` is proven; where the branches are too many it is below the path.
  const Path* at(double slope);
  std::optional<int> stuck_row() const { return stuck_row_; }
  const LiveTensors& live() const { return undecided_->live(); }

 private:
  using Allowed = std::vector<std::vector<Home>>;  ///< by LiveTensors::weights

  ResidencyLines& lines_of(const Allowed& allowed);
  /// Every weight where the path has it.
  Allowed decided(const Allowed& allowed, const Path& path) const;
  std::optional<Path> search(double slope);
  void offer(double slope, const Allowed& places, std::optional<Path>& best);
  Allowed trimmed(const Allowed& allowed, const Path& path, std::vector<double> room) const;
  double sharper(double slope, const Allowed& allowed, const Path& relaxed, std::optional<Path>& best);

  const Workload& workload_;
  const std::vector<Task>& rows_;
  VariantLines& variants_;
  Count inferences_;
  std::stop_token stop_;
  std::map<Allowed, std::unique_ptr<ResidencyLines>> lines_;
  ResidencyLines* undecided_ = nullptr;
  std::map<double, std::optional<Path>> known_;
  std::optional<int> stuck_row_;
};

}  // namespace pliant::residency
