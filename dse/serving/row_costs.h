// SPDX-License-Identifier: Apache-2.0
// What a layer costs on the chip at hand: searched once for each size, and bounded without a search.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "dse/mappers/layer_floor.h"
#include "dse/mappers/network_lines.h"
#include "dse/serving/request.h"

namespace pliant::serving {

/// A layer that no mapping of the chip can run.
struct NoMapping {
  std::string layer;
};

/// What is known of the layers of one accelerator, rules and objective, by sizes and the bits of weights. Requests that
/// differ in nothing of that share it.
struct KnownRows {
  using Key = std::pair<std::vector<Count>, int>;
  struct Found {
    Spent spent;
    Mapping mapping;
  };
  std::map<Key, Found> found;
  std::map<Key, LayerFloor> floors;
  std::uint64_t searches = 0;
};

class RowCosts {
 public:
  /// With `bounds_only` nothing is searched: a layer costs its floor.
  explicit RowCosts(const Request& request, std::shared_ptr<KnownRows> known = std::make_shared<KnownRows>(),
                    bool bounds_only = false);

  /// The fewest cycles and among those mappings the least energy, or the least energy. Throws NoMapping.
  const Spent& of(const Layer& layer);
  /// No mapping of the layer, and none of one that is larger along some dim, has less: docs/dev/serving.md, lemma 1.
  double floor(const Layer& layer);
  /// The layer's mapping run so many times along a dim, one part after the other, as the cost model prices it; `least`
  /// is 0. Infinite where the chip cannot: repeats() says where it is worth asking.
  Spent repeated(const Layer& layer, int dim, Count times);
  bool repeats(const Layer& layer) const;
  /// Lemma 1 holds: whole bursts are the one rule that a shorter tile may break.
  bool grows(const Layer& layer) const;
  /// The layer with the widths that are asked for: of a cache, or of parameters.
  Layer with_widths(Layer layer, bool reads_cache) const;

  std::uint64_t searches() const { return known_->searches; }
  Objective objective() const { return request_.objective; }
  const Request& request() const { return request_; }
  bool stopped() const { return request_.search.stop.stop_requested(); }

 private:
  using Key = KnownRows::Key;
  static Key key_of(const Layer& layer);
  Task task_of(const Layer& layer) const;
  const LayerFloor& floor_of(const Layer& layer);

  const Request& request_;
  std::unique_ptr<Mapper> mapper_;
  std::shared_ptr<KnownRows> known_;
  bool bounds_only_;
  Spent bound_;  ///< of the layer asked about last
};

}  // namespace pliant::serving
