// SPDX-License-Identifier: Apache-2.0
// What the auditor knows of a layer on an accelerator, derived by itself from what the task says: which dims move which
// tensor, windows, widths, ports. costmodel/problem.h, by which the cost model and the mappers count, must not mislead
// it; a test compares the two.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/accelerator.h"
#include "core/layer.h"
#include "dse/audit/widths.h"

namespace pliant::audit {

/// Something that takes cycles: a port of a memory, or a systolic array.
struct Port {
  int level = 0;
  TensorSet reads = 0, writes = 0;  ///< whose words pass it
  double bandwidth = 0;             ///< words per cycle of one instance
  /// Of a systolic array: the tensor that stays in it (-1: this is a port), the cycles of every word of a tile in one
  /// unit and of every tile. `once` counts one tile alone; where fills hide behind steps both are limits.
  int stationary = -1;
  double shift = 0, skew = 0;
  bool once = false;
};

/// Level l of the chain has slot l; index `levels` stands for the compute units.
struct Problem {
  Problem(const Layer& layer, const Accelerator& accelerator);

  Layer layer;
  Accelerator accelerator;
  Conventions conventions;
  int dims = 0, tensors = 0, levels = 0, output = 0;
  std::array<double, kMaxDims> size{};
  double macs = 1;

  // ---- Tensors ----
  /// An index that is a sum of several dims, or steps over values.
  struct AffineRank {
    int terms = 0;
    std::array<int, kMaxDims> dim{};
    std::array<Count, kMaxDims> coefficient{};
  };
  std::array<DimSet, kMaxTensors> coupled{};  ///< dims that its indices name
  /// Dims that are an index by themselves, so that parts of them have no element in common; and how many elements.
  std::array<DimSet, kMaxTensors> simple{};
  std::array<double, kMaxTensors> simple_words{};
  /// The other indices. Those that share a dim are one in `windows`; a tile has the product of the values of `affine`.
  std::array<std::vector<AffineRank>, kMaxTensors> affine, windows;
  std::array<DimSet, kMaxTensors> affine_dims{};
  /// Dims along which a window moves in one index alone.
  std::array<DimSet, kMaxTensors> sliding{};
  /// Different elements: no more than there are, and no fewer.
  std::array<double, kMaxTensors> tensor_words{}, most_words{};
  DimSet summing = 0;  ///< dims that are no index of the output by themselves
  bool is_coupled(int tensor, int dim) const { return (coupled[static_cast<std::size_t>(tensor)] >> dim & 1U) != 0; }

  // ---- Levels ----
  std::array<bool, kMaxLevels> is_memory{};
  int innermost_memory = 0;
  std::array<double, kMaxLevels> capacity{};  ///< usable words
  std::array<double, kMaxLevels> read_pj{}, write_pj{}, update_pj{}, word_bits{};
  std::array<std::array<double, kMaxTensors>, kMaxLevels> element_words{};  ///< of outputs that are not finished
  std::array<double, kMaxLevels> finished_saves{};                          ///< words, of a finished output
  std::vector<Port> ports;
  std::uint32_t fanouts = 0, networks = 0;      ///< bit l = level l; those that cost energy
  std::array<double, kMaxLevels> network_pj{};  ///< per bit
  /// By tensor, fanouts that serve equal windows by one word, where the conventions let them, and overlapping ones.
  std::array<std::uint32_t, kMaxTensors> sharing{}, sharing_equal{}, uniting{};
  std::array<std::uint32_t, kMaxLevels> network{};  ///< of a fanout: all with no memory between them and it
  double mac_pj = 0, cycles_per_mac = 1, busy_cycles = 0, leak_pj_per_cycle_total = 0;

 private:
  void resolve_tensor(int tensor);
  void resolve_memory(int level, const Widths& widths);
  void resolve_fanout(int level);
  void resolve_array(int level, Role role);
};

}  // namespace pliant::audit
