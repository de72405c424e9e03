// SPDX-License-Identifier: Apache-2.0
// The class behind check_legality: one function for each rule. Only core/legality*.cpp include it.
//
// Mappings may come from a file, so no number in them is trusted: tiles are clipped to the dim at every step, and sums
// and products are formed in 128 bits and cut off far above any real limit.
#pragma once

#include <string>
#include <vector>

#include "core/legality.h"
#include "core/wide.h"

namespace pliant::legality {

inline constexpr Wide kHuge = Wide{1} << 100;

inline Wide times(Wide a, Wide b) { return a == 0 || b == 0 ? 0 : (a > kHuge / b ? kHuge : a * b); }
inline Count rounded_up(Count a, Count b) { return a / b + (a % b != 0); }
inline double number(Wide value) { return static_cast<double>(value); }
std::string text(Wide value);

/// Words of the largest tile of a tensor with these sizes along the dims: the checker's own count. The generators of
/// mappings count in flex/mapspace/footprint.h, the cost model by itself.
Wide tile_words(const Tensor& tensor, Conventions::Footprint footprint, const std::vector<Count>& tiles);

class Judge {
 public:
  Judge(const Layer& layer, const Accelerator& accelerator, const Flexibility& flexibility, Factorization rule,
        const Mapping& mapping)
      : layer_(layer), accelerator_(accelerator), flexibility_(flexibility), rule_(rule), mapping_(mapping) {}

  std::vector<Violation> check();

 private:
  using Rule = Violation::Rule;
  /// One loop of one dim on the way from the MAC outwards.
  struct ChainLoop {
    std::size_t level;
    Count bound;
    bool spatial;
  };

  void refuse(Rule rule, std::string level, std::string tensor, std::string dim, double needed, double available,
              std::string message);
  void malformed(std::string level, std::string dim, double needed, double available, std::string message) {
    refuse(Rule::kShape, std::move(level), {}, std::move(dim), needed, available, std::move(message));
  }
  const std::string& level_name(std::size_t k) const { return accelerator_.levels[k].name; }
  const std::string& dim_name(int d) const { return layer_.dims[static_cast<std::size_t>(d)].name; }
  const LevelFlexibility& rules(std::size_t k) const;
  Count size(std::size_t d) const { return mapping_.padded.empty() ? layer_.dims[d].size : mapping_.padded[d]; }

  // core/legality.cpp: the mapping as a whole.
  bool well_formed();
  void check_loop(const Level& level, int dim, Count bound, DimSet& seen);
  std::vector<ChainLoop> chain(std::size_t d) const;
  bool may_be_imperfect(const ChainLoop& loop) const;
  void check_chain(std::size_t d);
  void check_padding(std::size_t d, const std::vector<ChainLoop>& loops);
  void check_homes();

  // core/legality_sums.cpp.
  void check_partial_sums(std::size_t k);

  // core/legality_levels.cpp: one memory, one fanout.
  void grow_tiles(std::size_t k);
  void check_memory(std::size_t k);
  void check_burst(int k, const LevelMapping& loops, Count burst);
  int held_bits(int k, std::size_t tensor) const;
  void check_capacity(int k, const LevelMapping& loops, const TileRule& rule);
  Count clipped(Count fixed, Count whole) const;
  void check_fixed_tile(const Level& level, const TileRule::Tile& tile);
  void check_order(const Level& level, const LevelMapping& loops, const OrderRule& rule);
  bool matches(const std::vector<int>& order, const OrderPattern& pattern) const;
  void check_fanout(std::size_t k);
  void check_shape(const Level& level, const ShapeRule& rule, Wide rows, Wide cols);
  void check_wires(const Level& level, const std::vector<SpatialLoop>& loops);
  void check_parallel(const Level& level, const ParallelRule& rule, const std::vector<SpatialLoop>& loops);

  const Layer& layer_;
  const Accelerator& accelerator_;
  const Flexibility& flexibility_;
  const Factorization rule_;
  const Mapping& mapping_;
  std::vector<Count> tiles_;
  std::vector<Violation> found_;
};

}  // namespace pliant::legality
