// SPDX-License-Identifier: Apache-2.0
// Axes that change what inflexible classes have wired in: the tiles, orders and parallel dims of the accelerator's
// `baseline`. Over several values of such an axis an ideal design may choose.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "dse/design/size_tables.h"

namespace pliant {

/// The baseline over a box.
struct BoxBaseline {
  ClassSettings any;       ///< allows whatever one of its designs has wired in
  ClassSettings smallest;  ///< the same, with every tile at its smallest: what does not fit so fits in no design
};

class WiredChoices {
 public:
  /// Is what a design has wired in all that differs between these two?
  static bool differ_in_choices_only(const Accelerator& one, const Accelerator& other);

  /// `at`: a position on every axis; `axes`: those that change choices only, with so many values each.
  WiredChoices(SizeTables::Read read, std::vector<std::int32_t> at, std::vector<std::size_t> axes,
               const std::vector<std::int32_t>& sizes);

  /// Why an axis does more than that here; empty when none does.
  const std::string& problem() const { return problem_; }
  /// There is no problem.
  BoxBaseline of(const HardwareBox& box);
  /// Tiles, orders or parallel dims: what an axis changes first of all.
  Axis kind_of(std::size_t axis) const { return kinds_.at(axis); }
  /// Does the axis change the tile of a dim that stands on the array everywhere in the box?
  bool tiles_the_array(std::size_t axis, const HardwareBox& box);

 private:
  /// One rule of one family at one level: a tile's size, or its orders, or its parallel dims.
  struct Rule {
    std::size_t family = 0, level = 0;
    Axis axis = Axis::kTiles;
    std::size_t tile = 0;  ///< in TileRule::fixed
    std::vector<std::size_t> axes;
  };
  void list_rules();
  const ClassSettings& read(const std::vector<std::int32_t>& positions);
  /// Every different combination of the rule's own axes in the box; false when there are too many.
  bool for_each(const Rule& rule, const HardwareBox& box, const std::function<void(const LevelFlexibility&)>& each);

  SizeTables::Read read_;
  std::vector<std::int32_t> at_;
  std::vector<std::size_t> axes_;
  std::vector<std::int32_t> sizes_;
  std::vector<Rule> rules_;
  std::map<std::size_t, Axis> kinds_;
  std::string problem_;
  std::map<std::vector<std::int32_t>, ClassSettings> known_;
};

}  // namespace pliant
