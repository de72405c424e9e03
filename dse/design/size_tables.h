// SPDX-License-Identifier: Apache-2.0
// What the axes of a sweep do to the sizes of an accelerator, level by level.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/accelerator.h"
#include "dse/design/hardware_box.h"

namespace pliant {

/// The accelerator without what an axis may change and still be a range: what all designs of one box have in common.
/// The area of flexibility follows from the sizes and is left out too.
Accelerator without_sizes(const Accelerator& accelerator);

/// A level over a box.
struct LevelRange {
  Level best;  ///< every size at its better end by itself; a fanout's rows and cols at their largest
  Count most_units = 1, least_rows = 1, least_cols = 1;  ///< of a fanout
  std::optional<Count> least_capacity;
  double least_area_um2 = 0, least_leak_pj_per_cycle = 0;  ///< of one instance
};

/// Sizes by position. An axis sets a size to a value, so a size follows from the axes that set it, whatever the others
/// are. Only the energies, the area and the leakage of a memory follow from its capacity as well: a memory has a table
/// over all axes that change any of these.
class SizeTables {
 public:
  /// Reads the accelerator at given positions; InputError when it contradicts itself there.
  using Read = std::function<Accelerator(const std::vector<std::int32_t>&)>;

  /// `at`: a position on every axis; `free`: the axes that are ranges, with so many values each.
  SizeTables(const Read& read, std::vector<std::int32_t> at, const std::vector<std::size_t>& free,
             const std::vector<std::int32_t>& sizes);

  /// Why an axis cannot be a range here; empty when all can.
  const std::string& problem() const { return problem_; }
  const Accelerator& base() const { return base_; }
  LevelRange range(std::size_t level, const HardwareBox& box) const;
  /// The narrowest elements of the box, each role by itself, where the accelerator says how wide they are.
  ElementBits narrowest(const HardwareBox& box) const;

 private:
  struct AxisLevels {
    std::size_t axis = 0;
    std::vector<Level> at;  ///< by position, the other axes at theirs of `at`
  };
  struct AxisBits {
    std::size_t axis = 0;
    std::vector<ElementBits> at;  ///< by position
  };
  struct Table {
    std::vector<AxisLevels> single;  ///< axes that change this level
    std::vector<std::size_t> joint;  ///< of a memory: the axes that change more than its bandwidth
    std::vector<Level> cells;        ///< at all their positions; the last varies fastest
  };
  bool read_axis(const Read& read, std::size_t axis, std::int32_t size);
  bool fill_joint(const Read& read, Table& table, std::size_t level, const std::vector<std::int32_t>& sizes);
  void range_of_memory(const Table& table, const HardwareBox& box, LevelRange& range) const;
  static void range_of_fanout(const Table& table, const HardwareBox& box, LevelRange& range);
  static void range_of_compute(const Table& table, const HardwareBox& box, LevelRange& range);

  std::vector<std::int32_t> at_;
  Accelerator base_;
  std::vector<Table> tables_;   ///< by level
  std::vector<AxisBits> bits_;  ///< axes that change the accelerator's own
  std::string problem_;
};

}  // namespace pliant
