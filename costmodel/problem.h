// SPDX-License-Identifier: Apache-2.0
// A layer on an accelerator with all names resolved to dense ids: what the hot code sees. Built once, then read only.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "core/accelerator.h"
#include "core/layer.h"
#include "core/mapping.h"

namespace pliant {

/// A port of a memory that has a limit: the words of some tensors pass it, those read, those written, or (a bus) both.
struct Port {
  int level = 0;
  TensorSet reads = 0, writes = 0;
  double bandwidth = 0;  ///< words per cycle of one instance
  std::string name;      ///< "read", "write", "bus", "weights read", ...
  /// A systolic array takes time like a port: the steps, and its fill and drain for every tile of the tensor that stays
  /// in it. `level` is the fanout then; no words pass.
  int stationary = -1;         ///< that tensor; -1 = this is a port
  double shift = 0, skew = 0;  ///< cycles for every word of a tile in one unit, and for every tile
  /// Only the steps and the fill of one tile count here. Where fills may hide behind steps this is a second limit, of
  /// use to those who bound the array's time by linear functions of the words moved.
  bool once = false;
};

/// Slot l of a mapping is level l of the chain: temporal loops for a memory, spatial loops for a fanout.
/// `levels` counts them without the compute level; index `levels` stands for the compute units.
struct Problem {
  Problem(const Layer& layer, const Accelerator& accelerator);

  Layer layer;
  Accelerator accelerator;
  Conventions conventions;

  int dims = 0, tensors = 0, levels = 0;
  int output = 0;  ///< index of the output tensor
  std::array<double, kMaxDims> size{};
  std::array<bool, kMaxLevels> is_memory{};
  int innermost_memory = 0;
  /// gap[l] of a fanout: the memory (or compute) just inside it; fanouts of one gap act as one network.
  std::array<int, kMaxLevels> gap{};

  std::array<DimSet, kMaxTensors> coupled{};
  /// Dims that a tensor uses through one plain index only; along them the covered words always add up to the size.
  std::array<DimSet, kMaxTensors> simple{};
  std::array<double, kMaxTensors> simple_words{};  ///< product of their sizes

  /// A rank that is not plain: several terms, or holes inside its bounding box, or a dim used in two ranks.
  struct AffineRank {
    int terms = 0;
    std::array<int, kMaxDims> dim{};
    std::array<Count, kMaxDims> coefficient{};
    DimSet dims = 0;
    /// Two terms: the coefficients over their greatest common divisor.
    std::array<double, 2> reduced{};
  };
  /// The extents of these ranks multiply to the words of a tile. With distinct values, ranks that share a dim are one
  /// (Layer::independent_ranks); with bounding boxes they stay apart.
  std::array<std::vector<AffineRank>, kMaxTensors> affine;
  /// Ranks that share a dim as one, whatever the footprint: neighbours have the same window when these are equal.
  std::array<std::vector<AffineRank>, kMaxTensors> windows;
  std::array<DimSet, kMaxTensors> affine_dims{};
  /// Affine dims that move a window along exactly one rank: sliding along them can reuse the overlap.
  std::array<DimSet, kMaxTensors> sliding{};
  TensorSet sliding_tensors = 0;

  /// By dim: tensors that do not mention it, for which it is not simple, and for which it is affine.
  std::array<TensorSet, kMaxDims> uncoupled{}, not_simple{}, windowed{};

  std::array<TensorSet, kMaxLevels> may_keep{}, must_keep{};
  std::array<double, kMaxLevels> capacity{};  ///< usable words; infinity = unbounded
  std::array<bool, kMaxLevels> prefetches{};  ///< several buffers: a tile comes in while the one before is in use
  std::array<double, kMaxLevels> read_pj{}, write_pj{}, update_pj{}, leak_pj_per_cycle{};  ///< per word
  /// Words of a memory that an element of a tensor takes; of an output, a partial sum.
  std::array<std::array<double, kMaxTensors>, kMaxLevels> element_words{};
  /// What a finished output takes less than a partial sum, in words of a memory.
  std::array<double, kMaxLevels> finished_saves{};
  std::array<double, kMaxLevels> word_bits{};
  std::array<double, kMaxLevels> network_pj{};  ///< of a fanout, per bit
  std::uint32_t networks = 0;                   ///< fanouts where it is not 0 (bit l = level l)
  bool outputs_narrow = false;                  ///< finished_saves is not 0 at some memory
  std::uint32_t finished_only = 0;              ///< memories that take no partial sums (bit l = level l)
  /// Dims that are no index of the output by themselves: unrolled outside a memory they may leave parts of one sum in
  /// several of its instances, and no output is finished there.
  DimSet summing = 0;
  std::vector<Port> ports;  ///< outermost first
  std::array<bool, kMaxLevels> multicast{}, reduction{}, partial_multicast{};
  /// Fanouts (bit l = level l) by what they do for a tensor: serve children with equal windows by one word (multicast,
  /// or reduction for the output), and serve overlapping windows as one.
  std::array<std::uint32_t, kMaxTensors> sharing{}, uniting{};
  std::array<std::uint32_t, kMaxTensors> sharing_equal{};  ///< `sharing` where the conventions let equal windows share
  std::array<std::uint32_t, kMaxLevels> network{};         ///< of a fanout: it and the fanouts of the same gap
  std::uint32_t fanouts = 0;
  std::array<double, kMaxLevels + 1> built{};  ///< physical instances of a level; [levels] = compute units
  double mac_pj = 0, cycles_per_mac = 1, compute_leak_pj_per_cycle = 0;
  double macs = 0;
  double busy_cycles = 0;                          ///< cycles if all units worked all the time
  std::array<double, kMaxTensors> tensor_words{};  ///< distinct elements of the whole tensor
  double leak_pj_per_cycle_total = 0;

  bool is_coupled(int tensor, int dim) const { return coupled[tensor] >> dim & 1U; }
};

/// A mapping as flat arrays. order[l] lists all dims outermost first; bounds of 1 do nothing.
struct FlatMapping {
  std::array<std::array<Count, kMaxDims>, kMaxLevels> bound;
  std::array<std::array<std::uint8_t, kMaxDims>, kMaxLevels> order;
  std::array<TensorSet, kMaxLevels> keeps;
};

FlatMapping flatten(const Problem& problem, const Mapping& mapping);

}  // namespace pliant
