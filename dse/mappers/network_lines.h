// SPDX-License-Identifier: Apache-2.0
// Lines below everything that the mappings of a network can reach: energy + slope * cycles is at least the sum of what
// each layer has at least. A layer's least (energy + slope * cycles) is its least energy on a machine that leaks
// `slope` more in every cycle, so any mapper can find it.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "dse/mappers/network.h"

namespace pliant {

/// Nothing beyond rounding lies between two values that differ by this share.
inline constexpr double kNetworkRounding = 1e-12;

/// A mapping of one layer and what it costs on the machine as it is.
struct LayerPoint {
  Mapping mapping;
  Totals totals;
};

/// The least energy + slope * cycles of one layer, slope by slope. A slope of infinity asks for the fewest cycles, and
/// among those mappings for the least energy.
class LayerLines {
 public:
  LayerLines(const Mapper& mapper, const NetworkLayer& layer, const SearchOptions& options);

  struct Line {
    LayerPoint point;
    double least = 0;  ///< proven
  };
  /// nullptr when no mapping was found.
  const Line* at(double slope);
  bool infeasible() const { return infeasible_; }
  std::uint64_t searches() const { return searches_; }
  /// Where parts are recorded.
  const std::vector<LineProof>& proofs() const { return proofs_; }

 private:
  std::optional<Line> search(double slope);
  std::optional<Line> fastest();
  SearchResult run(const Task& task, double slope);

  const Mapper& mapper_;
  const NetworkLayer& layer_;
  const SearchOptions& options_;
  std::map<double, std::optional<Line>> known_;
  bool infeasible_ = false;
  std::uint64_t searches_ = 0;
  std::vector<LineProof> proofs_;
};

/// A line below the network, and the mappings that were found for it.
struct NetworkLine {
  double slope = 0;                  ///< infinity: the line is cycles >= least
  double least = 0;                  ///< energy + slope * cycles of any mappings
  double energy_pj = 0, cycles = 0;  ///< of the mappings found
};

/// Where two lines meet: no mappings lie below both.
struct Crossing {
  double energy_pj = 0, cycles = 0;
};
Crossing meet(const NetworkLine& flatter, const NetworkLine& steeper);

/// The slope of the chord between what two lines found, if it is between theirs: where a line can still separate them.
std::optional<double> chord(const NetworkLine& flatter, const NetworkLine& steeper);

}  // namespace pliant
