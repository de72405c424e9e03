// SPDX-License-Identifier: Apache-2.0
// The sizes of all hardware points of a sweep, from a few of them.
//
// A level follows from the axes that reach it (core/input/settings.h, levels_reached), so it is read once at every
// combination of these, however many other axes there are: a million points of five axes take some hundred readings.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

#include "core/input/load_accelerator.h"
#include "dse/sweep/phase.h"
#include "dse/sweep/sweep.h"

namespace pliant {

/// Position on every axis of a hardware point; the last axis varies fastest.
std::vector<std::size_t> axis_positions(const Sweep& sweep, std::int64_t hardware);
/// The settings of a hardware point, those of the whole sweep first; `accelerator_index` is its accelerator.
std::vector<Setting> settings_at(const Sweep& sweep, const std::vector<std::size_t>& positions,
                                 std::size_t& accelerator_index);

/// Immutable once made, so threads may share it.
class HardwareSizes {
 public:
  /// A hardware point as it was last asked for; each thread has its own.
  struct Point {
    std::size_t accelerator_index = 0;
    std::vector<std::size_t> cells;  ///< by level: what `accelerator` holds at present
    Accelerator accelerator;         ///< levels, own area and area of flexibility; no flexibility
    bool known = false;
  };

  /// Nothing when there are fewer than `least_gain` points for each reading, or when reading was stopped.
  static std::shared_ptr<const HardwareSizes> read(const Library& library, const Sweep& sweep,
                                                   const OnPhase& on_phase = {}, const std::stop_token& stop = {},
                                                   std::int64_t least_gain = 4);

  /// False when these sizes contradict each other or are not known.
  bool find(const std::vector<std::size_t>& positions, Point& point) const;
  /// Accelerators that were read.
  std::int64_t readings() const { return readings_; }

 private:
  struct Table {
    std::vector<std::size_t> axes;    ///< those that reach it, ascending
    std::vector<std::size_t> stride;  ///< of each
    std::size_t size = 1;
  };
  struct Chain {                                        ///< one accelerator
    std::vector<Table> tables;                          ///< by level
    std::vector<std::vector<std::optional<Level>>> at;  ///< by level and cell
    Table common;                                       ///< of what all levels follow
    std::vector<std::optional<Accelerator>> bases;      ///< by its cell, with one set of levels
  };
  static std::size_t cell(const Table& table, const std::vector<std::size_t>& positions);
  /// Arrays and memories are largest there in most sweeps: none of what flexibility's area grows with is zero.
  std::vector<std::size_t> last_positions(const Sweep& sweep, std::size_t accelerator) const;
  static Table table_over(const Sweep& sweep, std::vector<std::size_t> axes);
  Chain lay_out(AcceleratorTemplate& reader, const Sweep& sweep, std::size_t accelerator) const;

  std::vector<Chain> chains_;  ///< by accelerator
  std::optional<std::size_t> accelerator_axis_;
  std::int64_t readings_ = 0;
};

}  // namespace pliant
