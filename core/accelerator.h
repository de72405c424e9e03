// SPDX-License-Identifier: Apache-2.0
// An accelerator is a chain of levels, outermost first: memories, fanouts, and one compute level at the end.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/conventions.h"
#include "core/flexibility.h"
#include "core/layer.h"
#include "core/machine_parts.h"

namespace pliant {

/// Words per cycle of one instance; nullopt = unlimited. A bus carries the words of both directions.
struct Bandwidth {
  std::optional<double> read{}, write{}, bus{};
  bool operator==(const Bandwidth&) const = default;
};

struct Memory {
  std::optional<Count> capacity_words{};                ///< of one instance; nullopt = unbounded
  int buffers = 1;                                      ///< multiple buffering: usable capacity = capacity / buffers
  std::array<bool, kRoles> may_keep{true, true, true};  ///< by Role: can this memory hold such a tensor
  std::array<bool, kRoles> may_bypass{false, false, false};  ///< by Role: may a mapping leave it out although kept
  /// By Role: such a tensor lives here whole while the layer runs, so its tiles take no room of their own.
  std::array<bool, kRoles> resident{};
  /// Words of one instance that tensors take which live here, resident ones included; by the Role whose share it is.
  std::array<Count, kRoles> reserved_words{};
  double read_pj = 0, write_pj = 0, update_pj = 0;                        ///< per word; update = arriving partial sum
  std::optional<double> read_words_per_cycle{}, write_words_per_cycle{};  ///< of one instance; nullopt = unlimited
  std::optional<double> bus_words_per_cycle{};   ///< of one instance: one bus for both directions
  std::array<Bandwidth, kRoles> bandwidth_of{};  ///< by Role: ports for the words of such tensors alone
  double leak_pj_per_cycle = 0;                  ///< of one instance
  double area_um2 = 0;                           ///< of one instance
  int word_bits = 16;                            ///< of a word: what capacity, energies and bandwidths above count
  ElementBits bits{};                            ///< where it differs from the accelerator's
  /// When set, energy and area follow the named technology table at this capacity (see docs/model.md); the fields
  /// above then hold the values already resolved for the present capacity.
  std::string technology{};
  bool off_chip = false;  ///< its technology is a part bought and soldered beside the chip: no area, no on-chip buffer
  bool operator==(const Memory&) const = default;
};

enum class Side : std::uint8_t { kRows, kCols };

struct Fanout {
  Count rows = 1, cols = 1;
  bool multicast = true;           ///< one parent read serves all children with the same tile
  bool reduction = true;           ///< outputs of children with the same tile arrive as one word
  bool partial_multicast = false;  ///< overlapping windows of neighbours are read once
  /// By Side: wires sum the outputs of all copies along it, whatever they are.
  std::array<bool, 2> wired_sums{};
  double area_um2 = 0;    ///< of one instance of the network
  double pj_per_bit = 0;  ///< of every bit that it brings to a copy inside, or takes from one
  /// A systolic array: tensors of this role stay in the units, the others move through. Each new tile of it is shifted
  /// in (outputs: out) row by row, and the array runs full and empty. Fanouts of one role with no memory between them
  /// that may keep it are one array.
  std::optional<Role> systolic{};
  Count units() const { return rows * cols; }
  /// Does the hardware sum along a side, always? No dim that tells outputs apart can be spread there. The rows of a
  /// systolic array do, unless the outputs stay in its units.
  bool sums_along(Side side) const {
    return wired_sums[static_cast<std::size_t>(side)] ||
           (side == Side::kRows && systolic && *systolic != Role::kOutput);
  }
  bool operator==(const Fanout&) const = default;
};

/// What a file says of it: "true" or "false"; "always", "rows" or "cols" where wires sum.
std::string_view reduction_name(const Fanout& fanout);

struct Compute {
  double mac_pj = 0;
  double cycles_per_mac = 1;  ///< of one unit
  double leak_pj_per_cycle = 0;
  double area_um2 = 0;
  bool operator==(const Compute&) const = default;
};

struct Level {
  std::string name;
  std::variant<Memory, Fanout, Compute> part;

  bool is_memory() const { return std::holds_alternative<Memory>(part); }
  bool is_fanout() const { return std::holds_alternative<Fanout>(part); }
  bool is_compute() const { return std::holds_alternative<Compute>(part); }
  const Memory& memory() const { return std::get<Memory>(part); }
  const Fanout& fanout() const { return std::get<Fanout>(part); }
  const Compute& compute() const { return std::get<Compute>(part); }
  Memory& memory() { return std::get<Memory>(part); }
  Fanout& fanout() { return std::get<Fanout>(part); }
  Compute& compute() { return std::get<Compute>(part); }
  bool operator==(const Level&) const = default;
};

/// Pruning of the search only; never legality, never flexion.
struct Hints {
  double min_utilization = 0;  ///< skip spatial choices that use a smaller share of the units
  bool operator==(const Hints&) const = default;
};

struct Accelerator {
  std::string name;
  std::string description;
  std::vector<Level> levels;  ///< outermost first; the last, and only the last, is compute
  Conventions conventions;
  std::optional<double> clock_hz;  ///< without one, time is cycles and nothing has watts
  ElementBits bits;                ///< what is not said is as wide as the words of each memory
  /// Flexibility by layer family: `flexibility` for all, overridden where an entry exists.
  Flexibility flexibility;
  std::map<Operation, Flexibility> flexibility_for;
  /// F, by level, for layers of all families together. Empty: the design says nothing, and tiles may pass anywhere.
  std::vector<FusionRule> fusion;
  /// What classes such as PartFlex-1011 are made of (core/flexibility_class.h): the one choice of every axis that a
  /// class leaves inflexible, and the partial settings, by variant ("" = the plain one).
  ClassSettings baseline;
  std::map<std::string, ClassSettings> partial;
  /// Area of the parts that no level owns (control, I/O).
  double base_area_um2 = 0;
  /// Area of full flexibility on each axis T, O, P, S (um2) of this design; the reader has scaled what the file says of
  /// the design it describes to the one that --set made of it.
  std::array<double, 4> flexibility_area_um2{};
  std::string flexibility_area_from;  ///< where those figures come from, for people; empty = nobody gave any
  Hints hints;
  std::optional<VectorUnit> vector;  ///< without one, work without MACs takes the time of its words
  std::optional<Links> links;        ///< to other chips of the kind

  int find_level(std::string_view name) const;  ///< -1 when unknown
  Count macs_units() const;                     ///< compute units: product of all fanouts
  Count instances(int level) const;             ///< product of the fanouts outside a level
  double peak_macs_per_cycle() const;           ///< every unit busy
  /// Bits that a memory spends on an element of a tensor: as the memory says, else the layer, else the accelerator;
  /// a word where none does. Outputs that are finished; those that are not, below.
  int element_bits(int level, const Layer& layer, int tensor) const;
  /// The same of anything with a role, where no layer is asked or one that says `of_layer`.
  int element_bits(int level, Role role, const ElementBits& of_layer = {}) const;
  /// The same of a partial sum; as wide as outputs where nothing is said, and never narrower.
  int partial_sum_bits(int level, const Layer& layer) const;
  /// Bits that a tile reserves for an element: of an output, those of a partial sum.
  int held_bits(int level, const Layer& layer, int tensor) const {
    return layer.tensors[static_cast<std::size_t>(tensor)].is_output() ? partial_sum_bits(level, layer)
                                                                       : element_bits(level, layer, tensor);
  }
  const Flexibility& flexibility_of(const Layer& layer) const;
  const Flexibility& flexibility_of(Operation operation) const;
  bool operator==(const Accelerator&) const = default;
};

/// What the area of flexibility on each axis T, O, P, S grows with (docs/model.md, "Area"); only ratios mean anything:
///   T  address bits of the on-chip memories          P  sum over fanouts of units * log2(units)
///   O  on-chip memories, each with its sequencer     S  sum over fanouts of units
std::array<double, 4> flexibility_growth(const Accelerator& accelerator);

}  // namespace pliant
