// SPDX-License-Identifier: Apache-2.0
// How good a mapping of one choice can be, by simple means: transfers that happen once, then the least energy and the
// least cycles over all tiles, then lines between the two.
#pragma once

#include <functional>
#include <limits>
#include <string_view>
#include <vector>

#include "costmodel/whole_cycles.h"
#include "dse/audit/nested_tiles.h"
#include "dse/audit/remainder_tiles.h"

namespace pliant::audit {

/// Sums are formed in another order than the mapper's; below this they are the same number.
inline constexpr double kRounding = 1e-9;
static_assert(kRounding > kRoundingOfCycles, "what the model rounds away, a bound must not claim");

/// How a choice was decided.
enum class Means : std::uint8_t {
  kEnumeration,  ///< every mapping priced
  kMovedOnce,    ///< every transfer happens at least once
  kTiles,        ///< least energy times least cycles over all tiles
  kLines,        ///< and sums of the two with several weights
  kNotDecided,
};
std::string_view to_string(Means means);

/// The value of a mapping with at least that energy (leakage left out), so many cycles and steps.
double least_value(const pliant::Task& task, const Problem& problem, double energy, double cycles, double steps);

class ChoiceBound {
 public:
  /// `late`: is there no time for what takes long?
  ChoiceBound(
      const pliant::Task& task, const Problem& problem, const SpaceRules& rules,
      std::function<bool()> late = [] { return false; });

  struct Result {
    double lower_bound = 0;  ///< of every mapping of the choice
    Means means = Means::kNotDecided;
    /// The least value of the mappings that were priced on the way, below the target: the target is wrong then.
    double attained = std::numeric_limits<double>::infinity();
  };
  /// Goes on to sharper means until the bound reaches the target. Lattices of more nodes are not built.
  Result of(const Factors& unrolling, const Kept& kept, double target, double most_nodes) const;

 private:
  /// All mappings have energy + slope * cycles of at least `sum`.
  struct Line {
    double slope = 0, sum = 0;
  };
  struct Corner {
    double energy = 0, cycles = 0, value = 0;
  };
  double whole_cycles(double load, double steps) const;
  double steps_of(const Factors& unrolling) const;  ///< at least
  Corner lowest_corner(const std::vector<Line>& lines, double least_cycles, double steps) const;
  double by_lines(NestedTiles& tiles, double energy, double cycles, double steps, std::size_t port,
                  double target) const;

  /// What is known of a choice by the programme over nested tiles, with one way to count what is read back.
  struct Way {
    Way(const ChoiceBound& bound, const ChoiceTransfers& transfers, const Kept& kept, std::vector<double> known,
        double steps);
    NestedTiles tiles;
    std::vector<double> least;  ///< by measure
    double cycles;
  };
  double by_measure(Way& way, std::size_t measure, double steps, double target) const;
  double by_all_lines(Way& way, double steps, double target) const;
  friend class TileByTile;
  double tile_by_tile(Way& way, double steps, double target) const;
  /// Perfect factors: by the programme over nested tiles; `least` is known of every measure. Outputs with overlapping
  /// windows are counted in both ways. Where nothing is enough, mappings below the target are looked for.
  void by_tiles(const ChoiceTransfers& transfers, const Factors& unrolling, const Kept& kept,
                const std::vector<double>& least, double target, Result& result) const;
  /// With remainders: what is known of a choice from the nodes at which its mappings end.
  double by_ends(const ChoiceTransfers& transfers, const Kept& kept, const std::vector<double>& least, double target,
                 double most_nodes) const;
  double by_ends(RemainderTiles& tiles, const ChoiceTransfers& transfers, const std::vector<double>& least,
                 double target, bool to_the_end) const;

  /// The value of the best legal mapping among those with the least weighted sums.
  double attained(NestedTiles& tiles, const Factors& unrolling, const Kept& kept, double energy, double cycles) const;

  const pliant::Task& task_;
  const Problem& p_;
  const SpaceRules& space_;
  const std::function<bool()> late_;
  Measures measures_;
  TileRules rules_;
  mutable RemainderTables remainders_;  ///< what choices have in common
};

}  // namespace pliant::audit
