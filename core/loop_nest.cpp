// SPDX-License-Identifier: Apache-2.0
// to_loop_nest: a mapping as a person reads it.
#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "core/affine.h"
#include "core/mapping.h"

namespace pliant {

namespace {

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

Count capped_product(Count a, Count b) {
  Count product = 0;
  return __builtin_mul_overflow(a, b, &product) ? std::numeric_limits<Count>::max() : product;
}

class LoopNest {
 public:
  LoopNest(const Layer& layer, const Accelerator& accelerator, const Mapping& mapping)
      : layer_(layer), accelerator_(accelerator), mapping_(mapping), tile_(layer.dims.size(), 1) {
    for (const LevelMapping& level : mapping.levels) {
      for (const Loop& loop : level.temporal) enter(loop.dim, loop.bound);
      for (const SpatialLoop& loop : level.spatial) enter(loop.dim, loop.bound);
    }
  }

  std::string print() {
    const std::size_t levels = std::min(mapping_.levels.size(), accelerator_.levels.size());
    for (std::size_t k = 0; k < levels; ++k) {
      const Level& level = accelerator_.levels[k];
      const LevelMapping& loops = mapping_.levels[k];
      if (level.is_memory()) print_memory(level, loops);
      if (level.is_fanout())
        line(level.name + " " + std::to_string(level.fanout().rows) + "x" + std::to_string(level.fanout().cols));
      for (const Loop& loop : loops.temporal) print_loop("for ", loop.dim, loop.bound, "");
      for (const SpatialLoop& loop : loops.spatial)
        print_loop("parallel-for ", loop.dim, loop.bound, loop.side == Side::kRows ? " over rows" : " over columns");
      if (level.is_compute()) line(level.name + ": " + statement());
    }
    return std::move(text_);
  }

 private:
  void enter(int dim, Count bound) {
    Count& tile = tile_[static_cast<std::size_t>(dim)];
    tile = capped_product(tile, bound);
  }

  Count size(std::size_t dim) const { return mapping_.padded.empty() ? layer_.dims[dim].size : mapping_.padded[dim]; }

  /// Words of the largest tile of a tensor over the loops not yet printed.
  Count tile_words(const Tensor& tensor) const {
    Count words = 1;
    std::vector<Stride> strides;
    for (const Rank& rank : tensor.ranks) {
      strides.clear();
      for (const Term& term : rank.terms) {
        const auto dim = static_cast<std::size_t>(term.dim);
        strides.push_back({term.coefficient, std::min(tile_[dim], size(dim))});
      }
      words = capped_product(words, accelerator_.conventions.footprint == Conventions::Footprint::kDistinct
                                        ? distinct_values(strides)
                                        : bounding_extent(strides));
    }
    return words;
  }

  void print_memory(const Level& level, const LevelMapping& loops) {
    std::string kept;
    Count total = 0;
    double share = 0;  // of the words of this memory, where elements are not as wide
    bool wide = false;
    for (std::size_t x = 0; x < layer_.tensors.size(); ++x) {
      if ((loops.keeps >> x & 1) == 0) continue;
      const Count words = tile_words(layer_.tensors[x]);
      total = words > std::numeric_limits<Count>::max() - total ? std::numeric_limits<Count>::max() : total + words;
      kept += (kept.empty() ? "" : ", ") + layer_.tensors[x].name + " " + std::to_string(words);
      const int bits = accelerator_.held_bits(accelerator_.find_level(level.name), layer_, static_cast<int>(x));
      wide |= bits != level.memory().word_bits;
      share += static_cast<double>(words) * bits / level.memory().word_bits;
    }
    if (wide) total = static_cast<Count>(std::ceil(std::min(share, 1e18)));
    std::string header = level.name + " [" + kept + "]";
    if (const auto capacity = level.memory().capacity_words; capacity && !kept.empty())
      header += "  " + std::to_string(total) + " of " + std::to_string(*capacity / level.memory().buffers) + " words";
    line(header);
  }

  void print_loop(const char* keyword, int dim, Count bound, const char* suffix) {
    const auto d = static_cast<std::size_t>(dim);
    const Count below = bound > 0 ? tile_[d] / bound : tile_[d];
    std::string text = keyword + lower(layer_.dims[d].name) + " in [0:" + std::to_string(bound) + ")" + suffix;
    if (below > 0 && bound > 0) {
      // The digit of D - 1 in this slot (Ruby, eq. 5): how far the loop runs in the last tile that encloses it.
      const Count last = (size(d) - 1) / below % bound + 1;
      if (last != bound) text += "  (last: [0:" + std::to_string(last) + "))";
    }
    line(text);
    ++depth_;
    tile_[d] = below;
  }

  std::string element(const Tensor& tensor) const {
    std::string text = tensor.name + "[";
    for (std::size_t r = 0; r < tensor.ranks.size(); ++r) {
      if (r > 0) text += ", ";
      for (std::size_t t = 0; t < tensor.ranks[r].terms.size(); ++t) {
        const Term& term = tensor.ranks[r].terms[t];
        if (t > 0) text += " + ";
        if (term.coefficient != 1) text += std::to_string(term.coefficient) + "*";
        text += lower(layer_.dims[static_cast<std::size_t>(term.dim)].name);
      }
    }
    return text + "]";
  }

  std::string statement() const {
    std::string target, factors;
    for (const Tensor& tensor : layer_.tensors) {
      if (tensor.is_output()) {
        target = element(tensor);
      } else {
        factors += (factors.empty() ? "" : " * ") + element(tensor);
      }
    }
    return target + " += " + factors;
  }

  void line(const std::string& text) { text_ += std::string(2 * depth_, ' ') + text + "\n"; }

  const Layer& layer_;
  const Accelerator& accelerator_;
  const Mapping& mapping_;
  std::vector<Count> tile_;  ///< by dim: product of the bounds not yet printed
  std::size_t depth_ = 0;
  std::string text_;
};

}  // namespace

std::string to_loop_nest(const Layer& layer, const Accelerator& accelerator, const Mapping& mapping) {
  return LoopNest(layer, accelerator, mapping).print();
}

}  // namespace pliant
