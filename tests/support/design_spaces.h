// SPDX-License-Identifier: Apache-2.0
// Small random design spaces, with every kind of axis, and their frontier by sweeping all of it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/input/load.h"
#include "dse/results/pareto.h"
#include "dse/sweep/sweep.h"

namespace pliant::tests {

/// A folder that goes away with it.
class ScratchFolder {
 public:
  explicit ScratchFolder(const std::string& name);
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// A sweep with goals, about `most_designs` designs at most. Its accelerator is written to the folder.
struct RandomSpace {
  Sweep sweep;
  std::string text;  ///< both files
};
RandomSpace random_space(const Library& library, std::uint64_t seed, const std::filesystem::path& folder,
                         std::int64_t most_designs);

/// The same with small language models that are served on machines with a clock, and goals and limits on what that
/// costs. Some have a vector unit, of which an axis may set the lanes.
RandomSpace random_served_space(const Library& library, std::uint64_t seed, const std::filesystem::path& folder,
                                std::int64_t most_designs);

/// The same space for networks of three layers, a skip connection among them, whose tensors may stay on chip.
void let_tensors_stay(RandomSpace& space, std::uint64_t seed);
/// Networks of three layers in a row which may pass tiles on, on designs of which some allow that. False where the
/// conventions say nothing of tiles.
bool let_tiles_pass(RandomSpace& space, std::uint64_t seed);
/// Area and energy, with a limit on the cycles that as many designs as possible can keep, but not with their least
/// energy. False when there is no such design.
bool set_deadline(const Library& library, RandomSpace& space, const std::filesystem::path& folder);

/// Sweeps everything into a dataset in the folder, reads its table of designs back and gives the values of those that
/// no other beats, by goal, ascending.
std::vector<Point> swept_frontier(const Library& library, const Sweep& sweep, const std::filesystem::path& folder);

/// The values of the frontier that the design search proves. Checks that its boxes hold every design.
std::vector<Point> proven_frontier(const Library& library, const Sweep& sweep, int threads = 1);

/// Nothing but rounding apart, point by point.
void expect_same_points(const std::vector<Point>& found, const std::vector<Point>& truth);

}  // namespace pliant::tests
