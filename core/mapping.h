// SPDX-License-Identifier: Apache-2.0
// A mapping gives every level its loops and every memory the tensors it keeps.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/accelerator.h"
#include "core/layer.h"

namespace pliant {

/// Which slots may hold bounds that do not divide (Ruby). Padding rounds dims up and pays for the padded work.
enum class Factorization : std::uint8_t { kPerfect, kRubyS, kRubyT, kRuby, kPadding };
std::string_view to_string(Factorization rule);  // "pfm", "ruby-s", "ruby-t", "ruby", "padding"
std::optional<Factorization> parse_factorization(std::string_view text);

/// A temporal loop. The bound of the last iteration follows from the dim's size (see tile chains below).
struct Loop {
  int dim = 0;
  Count bound = 1;
  bool operator==(const Loop&) const = default;
};

struct SpatialLoop {
  int dim = 0;
  Count bound = 1;
  Side side = Side::kCols;
  bool operator==(const SpatialLoop&) const = default;
};

struct LevelMapping {
  std::vector<Loop> temporal;        ///< memories: outermost first; bounds of 1 are left out
  std::vector<SpatialLoop> spatial;  ///< fanouts: rows outside columns, as listed
  TensorSet keeps = 0;               ///< memories: tensors stored here
  bool operator==(const LevelMapping&) const = default;
};

/// Parallel to Accelerator::levels (the compute level's entry is empty).
///
/// Tile chains. Take one dim of size D and its loops from the innermost outwards; after a loop of bound b the tile
/// grows from t to t*b. Tiles start at multiples of t; only the last one is short, so a loop over tiles of size t runs
/// ceil(extent / t) times within an extent. Perfect mappings have D = product of bounds; otherwise product >= D and no
/// bound is larger than it can ever be used: b <= ceil(D / t).
struct Mapping {
  std::vector<LevelMapping> levels;
  std::vector<Count> padded;  ///< padding only: the padded size of every dim; empty otherwise
  bool operator==(const Mapping&) const = default;
};

/// A mapping with no loops that keeps everything everywhere it may be kept.
Mapping empty_mapping(const Layer& layer, const Accelerator& accelerator);

/// Readable loop nest, outermost first, with level names, tiles and what each memory keeps.
std::string to_loop_nest(const Layer& layer, const Accelerator& accelerator, const Mapping& mapping);

}  // namespace pliant
