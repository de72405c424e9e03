// SPDX-License-Identifier: Apache-2.0
// What a technology costs: how energy, area and leakage of an on-chip memory grow with its capacity, what a
// multiply-accumulate unit costs, or what a memory device beside the chip costs. Tables are in configs/technology;
// docs/formats.md has the equations.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/layer.h"

namespace pliant {

class Technology {
 public:
  /// Energy of one access of a word of the table's width, for a memory of that many bits.
  struct Point {
    double bits = 1;
    double read_pj = 0, write_pj = 0;
    bool operator==(const Point&) const = default;
  };
  /// A multiply-accumulate unit with its accumulator's adder.
  struct Mac {
    std::string operation;  ///< "INT8", "BF16", ...
    double mac_pj = 0, area_um2 = 0;
    bool operator==(const Mac&) const = default;
  };
  /// A memory device beside the chip: it has no area of the chip.
  struct OffChip {
    double pj_per_bit = 0, gb_per_s = 0;  ///< GB/s of one device
    bool operator==(const OffChip&) const = default;
  };

  std::string name, description;
  int word_bits = 16;         ///< the points are for words of this width
  std::vector<Point> points;  ///< at least two, capacity ascending; none of an off-chip memory
  double overhead_um2 = 0, um2_per_bit = 0;
  double leak_pj_per_cycle_per_bit = 0;
  double leak_nw_per_um2 = 0;  ///< a power: becomes energy per cycle where there is a clock
  std::vector<Mac> macs;
  std::optional<OffChip> off_chip;

  /// pJ for one word of `bits` bits in a memory of `words` words: log-log interpolation of the points, the first and
  /// last slope continued beyond them, times bits / word_bits.
  double read_pj(Count words, int bits) const;
  double write_pj(Count words, int bits) const;
  double area_um2(Count words, int bits) const;  ///< overhead + per bit
  /// Per bit, and of the area where there is a clock.
  double leak_pj_per_cycle(Count words, int bits, std::optional<double> clock_hz = {}) const;
  /// Of logic that large.
  double logic_leak_pj_per_cycle(double area_um2, std::optional<double> clock_hz) const;
  const Mac* find_mac(std::string_view operation) const;  ///< nullptr when the table has none of that name
  std::vector<std::string> operations() const;
  bool operator==(const Technology&) const = default;
};

/// How much larger the same logic is in `now` than in `then`; 1 when a table has no INT8 unit.
double logic_area_ratio(const Technology& now, const Technology& then);

}  // namespace pliant
