// SPDX-License-Identifier: Apache-2.0
// How the energy of an access, the area and the leakage of an on-chip memory grow with its capacity. A table in
// configs/technology gives a few points; docs/formats.md has the equations.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/layer.h"

namespace pliant {

class Library;

class Technology {
 public:
  /// Energy of one access of a word of the table's width, for a memory of that many bits.
  struct Point {
    double bits = 1;
    double read_pj = 0, write_pj = 0;
    bool operator==(const Point&) const = default;
  };

  std::string name, description;
  int word_bits = 16;         ///< the points are for words of this width
  std::vector<Point> points;  ///< at least two, capacity ascending
  double overhead_um2 = 0, um2_per_bit = 0;
  double leak_pj_per_cycle_per_bit = 0;

  /// pJ for one word of `bits` bits in a memory of `words` words: log-log interpolation of the points, the first and
  /// last slope continued beyond them, times bits / word_bits.
  double read_pj(Count words, int bits) const;
  double write_pj(Count words, int bits) const;
  double area_um2(Count words, int bits) const;           ///< overhead + per bit
  double leak_pj_per_cycle(Count words, int bits) const;  ///< per bit
  bool operator==(const Technology&) const = default;
};

Technology load_technology(const Library& library, std::string_view name);
Technology parse_technology_text(std::string_view text, std::string_view name);

/// The shipped tables, each read when first asked for. Not for several threads at once.
class TechnologyTables {
 public:
  explicit TechnologyTables(const Library& library) : library_(library) {}
  const Technology& get(const std::string& name);  ///< InputError as load_technology

 private:
  const Library& library_;
  std::map<std::string, Technology> read_;
};

}  // namespace pliant
