// SPDX-License-Identifier: Apache-2.0
// What an accelerator can change after tape-out, axis by axis: tile sizes (T), loop orders (O), parallel dims (P) and
// array shape (S); and between layers which tiles they may pass to each other (F). This is legality: a mapping outside
// it cannot run. Hints (search pruning) live elsewhere.
//
// Data only; names of dims are kept as written because one accelerator serves layers with different dims. A rule that
// names a dim the layer does not have is silent about it. flex/ gives the axes their meaning as sets.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/layer.h"

namespace pliant {

enum class Freedom : std::uint8_t { kFixed, kPartial, kFull };

/// The four axes of a layer T, O, P, S, in the order of a class's bits, and F between layers.
enum class Axis : std::uint8_t { kTiles, kOrders, kParallel, kShape, kFusion };
inline constexpr int kAxisCount = 4;
/// One of something for each axis of a layer.
template <class T>
using PerAxis = std::array<T, kAxisCount>;

/// T at one memory.
struct TileRule {
  struct Tile {
    std::string dim;
    Count size = 1;
    bool operator==(const Tile&) const = default;
  };
  /// Fixed: the tile held at this memory, clipped to the layer (a dim not named is not limited by it).
  std::vector<Tile> fixed;
  /// Hard partition: shares of the capacity for inputs, weights, outputs (indexed by Role). Empty = soft (shared).
  std::optional<std::array<double, kRoles>> partition;
  /// The tile of every tensor held at this memory is a whole number of bursts of so many words. 1 = any number of
  /// words.
  Count burst = 1;
  bool operator==(const TileRule&) const = default;
};

/// One allowed loop order: the named dims must appear in this relative order, outermost first. Dims it does not name
/// may stand anywhere. A stationarity ("weight") means: every loop uncoupled to that tensor is inside every coupled
/// one.
struct OrderPattern {
  std::vector<std::string> dims;
  std::optional<Role> stationary;
  bool operator==(const OrderPattern&) const = default;
};

/// O at one memory.
struct OrderRule {
  std::vector<OrderPattern> allowed;  ///< any of these; empty = any order
  bool operator==(const OrderRule&) const = default;
};

/// Which dims may loop at one memory at all.
struct LoopRule {
  std::optional<std::vector<std::string>> dims;  ///< nullopt = every dim
  bool operator==(const LoopRule&) const = default;
};

/// One way of giving dims to the two sides of an array.
struct Assignment {
  std::vector<std::string> rows, cols;
  bool operator==(const Assignment&) const = default;
};

/// P at one fanout. A spatial loop is legal when some assignment lists its dim on its side.
struct ParallelRule {
  std::vector<Assignment> assignments;  ///< any of these; empty = any dims on either side
  int max_dims_per_side = 0;            ///< 0 = no limit
  bool operator==(const ParallelRule&) const = default;
};

/// S at one fanout with rows*cols units.
struct ShapeRule {
  enum class Kind : std::uint8_t { kFixed, kBlocks, kFree };
  Kind kind = Kind::kFixed;
  Count block_rows = 1, block_cols = 1;  ///< kBlocks: rows are a multiple of block_rows, made of whole blocks
  bool operator==(const ShapeRule&) const = default;
};

/// F at one memory: which tiles of tensors between layers it may hold (docs/fusion.md). Tensors may live there whole in
/// any case.
struct FusionRule {
  bool tiles = true;                             ///< any at all
  std::optional<std::vector<std::string>> dims;  ///< loops may cut along these dims of the layer that makes the tensor
  int depth = 0;                                 ///< most loops over dims around a tile; 0 = no limit
  bool operator==(const FusionRule&) const = default;
};

/// Rules of one level; memories use tile/order/loops, fanouts parallel/shape.
struct LevelFlexibility {
  TileRule tile;
  OrderRule order;
  LoopRule loops;
  ParallelRule parallel;
  ShapeRule shape;
  bool operator==(const LevelFlexibility&) const = default;
};

/// One entry per level of the accelerator, in its order.
struct Flexibility {
  std::string name;  ///< "FullFlex-1011", a preset's name, or empty
  std::vector<LevelFlexibility> levels;
  bool operator==(const Flexibility&) const = default;
};

/// What an accelerator offers to classes for some of its axes: the fixed choice of its baseline, or its partial
/// settings. Only the axes given count.
struct AxisSettings {
  Flexibility rules;
  PerAxis<bool> given{};
  std::optional<std::vector<FusionRule>> fusion;  ///< F, by level
  bool operator==(const AxisSettings&) const = default;
};

/// For all families, and for those that have settings of their own.
struct ClassSettings {
  AxisSettings all;
  std::map<Operation, AxisSettings> by_family;
  const AxisSettings& of(Operation operation) const {
    auto own = by_family.find(operation);
    if (own == by_family.end()) own = by_family.find(parent_family(operation));
    return own == by_family.end() ? all : own->second;
  }
  bool operator==(const ClassSettings&) const = default;
};

}  // namespace pliant
