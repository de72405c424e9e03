// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/fusion/group.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "core/affine.h"
#include "core/partial_sums.h"

namespace pliant::fusion {

using residency::WordsByLevel;

namespace {

/// Sizes of a layer's dims under some loops, with so many elements of the dim along which a window slides.
std::vector<Count> cut_sizes(const Chain& chain, int l, const Stack& loops, Count window) {
  std::vector<Count> sizes;
  for (const Dim& dim : chain.layer(l).dims) sizes.push_back(dim.size);
  for (const TileLoop& loop : loops) {
    const Place& place = chain.place(loop.axis, l);
    if (place.dim < 0) continue;  // it counts layers
    sizes[static_cast<std::size_t>(place.dim)] = place.slides ? window : place.step * loop.tile;
  }
  return sizes;
}

/// The loop along which a window of the layer slides.
const TileLoop* sliding_loop(const Chain& chain, int l, const Stack& loops) {
  for (const TileLoop& loop : loops)
    if (chain.place(loop.axis, l).slides) return &loop;
  return nullptr;
}

Place::Window window_of(const Chain& chain, int l, const TileLoop& loop) {
  return chain.place(loop.axis, l).window(loop.tile, chain.trips(loop));
}

Count elements_of(const Layer& layer, int tensor, const std::vector<Count>& sizes) {
  // Ranks that share no dim are counted one by one, which is what nearly all tensors have.
  Count product = 1;
  DimSet seen = 0;
  bool apart = true;
  for (const Rank& rank : layer.tensors[static_cast<std::size_t>(tensor)].ranks) {
    std::array<Stride, kMaxDims> strides{};
    std::size_t count = 0;
    for (const Term& term : rank.terms) {
      apart = apart && (seen >> term.dim & 1U) == 0 && count < strides.size();
      seen |= DimSet{1} << term.dim;
      if (apart) strides[count++] = {term.coefficient, sizes[static_cast<std::size_t>(term.dim)]};
    }
    if (apart) product *= distinct_values(std::span(strides.data(), count));
  }
  if (apart) return product;
  Layer cut;
  cut.dims = layer.dims;
  cut.tensors = layer.tensors;
  for (std::size_t d = 0; d < sizes.size(); ++d) cut.dims[d].size = sizes[d];
  return cut.tensor_words(tensor);
}

/// How many of a tensor there are inside some loops: one for each layer that its node counts there.
Count copies_under(const Chain& chain, int l, int tensor, const Stack& loops) {
  Count product = 1;
  for (const int axis : {chain.groups, chain.heads})
    if (axis >= 0 && std::ranges::find(loops, axis, &TileLoop::axis) == loops.end() &&
        chain.indexes({axis, 1}, l, tensor))
      product *= chain.axes[static_cast<std::size_t>(axis)].size;
  return product;
}

/// Loops around a layer, and how often what is inside them happens.
class Rounds {
 public:
  struct Kind {
    std::vector<Count> sizes;
    double times = 0;
  };
  Rounds(const Chain& chain, int l, const Stack& loops) : chain_(chain), layer_(l), loops_(loops) {
    double all = 1;
    for (const TileLoop& loop : loops) all *= static_cast<double>(chain.trips(loop));
    const TileLoop* sliding = sliding_loop(chain, l, loops);
    if (sliding == nullptr) {
      kinds_.push_back({cut_sizes(chain, l, loops, 0), all});
      return;
    }
    for (const auto& [made, rounds] : window_of(chain, l, *sliding).made)
      if (made > 0)
        kinds_.push_back({cut_sizes(chain, l, loops, made),
                          all / static_cast<double>(chain.trips(*sliding)) * static_cast<double>(rounds)});
  }
  const std::vector<Kind>& kinds() const { return kinds_; }
  /// Elements of a tensor that all rounds touch, added up.
  double elements(int tensor) const {
    double sum = 0;
    for (const Kind& kind : kinds_)
      sum += kind.times * static_cast<double>(elements_of(chain_.layer(layer_), tensor, kind.sizes));
    return sum * static_cast<double>(copies_under(chain_, layer_, tensor, loops_));
  }
  /// Of the round that touches most.
  Count most_elements(int tensor) const {
    Count most = 0;
    for (const Kind& kind : kinds_) most = std::max(most, elements_of(chain_.layer(layer_), tensor, kind.sizes));
    return most * copies_under(chain_, layer_, tensor, loops_);
  }
  /// How many rounds add to the same sums.
  double splits() const {
    double product = 1;
    const int output = chain_.layer(layer_).output();
    for (const TileLoop& loop : loops_)
      if (!chain_.indexes(loop, layer_, output)) product *= static_cast<double>(chain_.trips(loop));
    return product;
  }

 private:
  const Chain& chain_;
  int layer_;
  const Stack& loops_;
  std::vector<Kind> kinds_;
};

Stack outer_loops(const Stack& nest, std::size_t depth) {
  return {nest.begin(), nest.begin() + static_cast<std::ptrdiff_t>(depth)};
}

/// Of each row of an online softmax: the largest element so far, and the sum.
constexpr Count kCarried = 2;

/// The loop that cuts the rows of an online softmax before the layer.
std::optional<std::size_t> row_loop(const Chain& chain, int l, const Stack& nest) {
  const int axis = l > 0 ? chain.links[static_cast<std::size_t>(l - 1)].online : -1;
  const auto at = std::ranges::find(nest, axis, &TileLoop::axis);
  if (axis < 0 || at == nest.end()) return std::nullopt;
  return static_cast<std::size_t>(at - nest.begin());
}

/// Rows of what such a layer reads, under loops that do not cut them.
Count rows_under(const Chain& chain, int l, const Stack& loops) {
  const Link& link = chain.links[static_cast<std::size_t>(l - 1)];
  return copies_under(chain, l - 1, link.made, loops) *
         elements_of(chain.layer(l - 1), link.made, cut_sizes(chain, l - 1, loops, 0)) /
         chain.axes[static_cast<std::size_t>(link.online)].size;
}

class LayerListing {
 public:
  LayerListing(const Setting& setting, int layer, const Stack& nest, TileLines& tiles)
      : setting_(setting),
        chain_(*setting.chain),
        l_(layer),
        layer_(setting.chain->layer(layer)),
        nest_(nest),
        rounds_(*setting.chain, layer, nest_),
        tiles_(tiles) {}

  std::vector<LayerChoice> list() {
    output_ = layer_.output();
    makes_tile_ = l_ + 1 < setting_.layers();
    reads_tile_ = l_ > 0 ? chain_.links[static_cast<std::size_t>(l_ - 1)].read : -1;
    rows_in_ = row_loop(chain_, l_, nest_);
    if (rounds_.splits() > 1 && (!keeps(Role::kOutput) || !sums_may_leave())) return {};
    for (int x = 0; x < static_cast<int>(layer_.tensors.size()); ++x) find_depths(x);
    choose(0);
    return std::move(all_);
  }

 private:
  Role role_of(int x) const { return layer_.tensors[static_cast<std::size_t>(x)].role; }
  bool keeps(Role role) const { return setting_.memory().may_keep[static_cast<std::size_t>(role)]; }
  Home place(int x) const {
    return setting_.places[static_cast<std::size_t>(l_)][static_cast<std::size_t>(role_of(x))];
  }

  /// Does every memory that outputs may pass take sums that are not finished?
  bool sums_may_leave() const {
    return std::ranges::all_of(setting_.accelerator().levels, [](const Level& level) {
      return !level.is_memory() || !level.memory().may_keep[static_cast<std::size_t>(Role::kOutput)] ||
             takes_partial_sums(level.memory());
    });
  }

  /// Are the sums that a loop splits wider than results?
  bool has_wide_sums() const {
    const Accelerator& accelerator = setting_.accelerator();
    for (int level = 0; level < static_cast<int>(accelerator.levels.size()); ++level)
      if (accelerator.levels[static_cast<std::size_t>(level)].is_memory() &&
          accelerator.partial_sum_bits(level, layer_) != accelerator.element_bits(level, layer_, output_))
        return true;
    return false;
  }

  void find_depths(int x) {
    if (x == reads_tile_ || (x == output_ && makes_tile_) || place(x) != kOutside) return;
    if (!residency::may_live(*chain_.layers[static_cast<std::size_t>(l_)], x, setting_.home)) return;
    std::vector<std::size_t> depths;
    for (std::size_t h = 0; h < nest_.size(); ++h)
      if (!chain_.indexes(nest_[h], l_, x) && (h == 0 || chain_.indexes(nest_[h - 1], l_, x))) depths.push_back(h);
    if (!depths.empty()) open_.push_back({x, std::move(depths)});
  }

  void choose(std::size_t i) {
    if (i == open_.size()) {
      if (!rows_in_ || results_stay()) all_.push_back(make());
      return;
    }
    choose(i + 1);
    for (const std::size_t depth : open_[i].second) {
      held_.push_back({l_, open_[i].first, depth});
      choose(i + 1);
      held_.pop_back();
    }
  }

  LayerChoice make() {
    LayerChoice choice;
    choice.held = held_;
    RunShape shape;
    shape.layer = chain_.layers[static_cast<std::size_t>(l_)];
    shape.homes = setting_.places[static_cast<std::size_t>(l_)];
    const auto stays = [&](int x) { shape.homes[static_cast<std::size_t>(role_of(x))] = setting_.home; };
    if (reads_tile_ >= 0) stays(reads_tile_);
    if (makes_tile_) stays(output_);
    for (const Held& held : held_) {
      stays(held.tensor);
      if (held.tensor != output_) load(held, choice);
    }
    shape.sums = rounds_.splits() > 1 && has_wide_sums();
    add_old_sums(shape, choice);
    if (rows_in_) carry_rows(choice);
    for (const Rounds::Kind& kind : rounds_.kinds()) {
      shape.sizes = kind.sizes;
      choice.runs.push_back({tiles_.shape(shape), kind.times});
    }
    return choice;
  }

  double words(double elements, int level, int x) const {
    const Accelerator& accelerator = setting_.accelerator();
    return elements * accelerator.element_bits(level, layer_, x) /
           accelerator.levels[static_cast<std::size_t>(level)].memory().word_bits;
  }
  double words_of_sums(double elements, int level) const {
    const Accelerator& accelerator = setting_.accelerator();
    return elements * accelerator.partial_sum_bits(level, layer_) /
           accelerator.levels[static_cast<std::size_t>(level)].memory().word_bits;
  }
  void spend(WordsByLevel at, Role role, LayerChoice& choice) const {
    const OperatorCost cost = residency::moving_cost(setting_.accelerator(), at, role, role);
    choice.moving.energy_pj += cost.energy_pj;
    choice.moving.cycles += cost.cycles;
    choice.moves.push_back({std::move(at), role, cost});
  }

  void load(const Held& held, LayerChoice& choice) const {
    const Stack loops = outer_loops(nest_, held.depth);
    const double elements = Rounds(chain_, l_, loops).elements(held.tensor);
    const int from = residency::outside_level(setting_.accelerator(), role_of(held.tensor));
    WordsByLevel at;
    at[from].read += words(elements, from, held.tensor);
    at[setting_.home].written += words(elements, setting_.home, held.tensor);
    spend(std::move(at), role_of(held.tensor), choice);
  }

  /// What runs add to: read again where it is, and brought back before where it went outside.
  void add_old_sums(RunShape& shape, LayerChoice& choice) const {
    const double again = rounds_.elements(output_) * (1 - 1 / rounds_.splits());
    const int outside = residency::outside_level(setting_.accelerator(), Role::kOutput);
    const auto held = std::ranges::find(held_, output_, &Held::tensor);
    const Home lives = results_live();
    if (again > 0) {
      const Home where = lives == kOutside ? setting_.home : lives;
      WordsByLevel at;
      at[where].read += words_of_sums(again, where);
      spend(std::move(at), Role::kOutput, choice);
      if (lives == kOutside) {
        bring_back(again, outside, choice);
        shape.sums_in = setting_.home;
      }
    }
    if (held == held_.end()) return;
    const Stack loops = outer_loops(nest_, held->depth);
    const Rounds stores(chain_, l_, loops);
    const double elements = stores.elements(output_);
    WordsByLevel at;
    const bool finished = stores.splits() == 1;
    at[setting_.home].read +=
        finished ? words(elements, setting_.home, output_) : words_of_sums(elements, setting_.home);
    at[outside].written += finished ? words(elements, outside, output_) : words_of_sums(elements, outside);
    spend(std::move(at), Role::kOutput, choice);
    if (!finished) bring_back(elements * (1 - 1 / stores.splits()), outside, choice);
  }

  Home results_live() const {
    const bool held = std::ranges::find(held_, output_, &Held::tensor) != held_.end();
    return makes_tile_ || held ? setting_.home : place(output_);
  }
  /// Results of rows that pass in parts are on chip until the last part has corrected them.
  bool results_stay() const {
    const auto held = std::ranges::find(held_, output_, &Held::tensor);
    return held == held_.end() ? results_live() != kOutside : held->depth <= *rows_in_;
  }
  /// Each part reads and writes what is carried along for its rows; the first part of a row finds nothing. Each part
  /// but the first corrects what older ones made, and in the end it is divided by the sum.
  void carry_rows(LayerChoice& choice) const {
    const auto parts = static_cast<double>(chain_.trips(nest_[*rows_in_]));
    const double rows = static_cast<double>(rows_under(chain_, l_, {}) * kCarried);
    const double width =
        static_cast<double>(setting_.accelerator().partial_sum_bits(setting_.home, chain_.layer(l_ - 1))) /
        setting_.memory().word_bits;
    WordsByLevel at;
    at[setting_.home] = {rows * (parts - 1) * width, rows * parts * width};
    spend(std::move(at), Role::kOutput, choice);
    const double words = words_of_sums(rounds_.elements(output_), results_live());
    WordsByLevel corrected;
    corrected[results_live()] = {words, words};
    spend(std::move(corrected), Role::kOutput, choice);
  }

  void bring_back(double elements, int outside, LayerChoice& choice) const {
    WordsByLevel at;
    at[outside].read += words_of_sums(elements, outside);
    at[setting_.home].written += words_of_sums(elements, setting_.home);
    spend(std::move(at), Role::kOutput, choice);
  }

  const Setting& setting_;
  const Chain& chain_;
  const int l_;
  const Layer& layer_;
  const Stack nest_;
  const Rounds rounds_;
  TileLines& tiles_;
  int output_ = 0, reads_tile_ = -1;
  bool makes_tile_ = false;
  std::optional<std::size_t> rows_in_;                          ///< the loop that cuts rows of an online softmax
  std::vector<std::pair<int, std::vector<std::size_t>>> open_;  ///< what may be held, and at which depths
  std::vector<Held> held_;
  std::vector<LayerChoice> all_;
};

Count words_in(const Setting& setting, Count elements, int bits) {
  return residency::words_taken(setting.accelerator(), elements, bits, setting.home);
}

}  // namespace

std::vector<LayerChoice> layer_choices(const Setting& setting, int layer, const Stack& nest, TileLines& tiles) {
  return LayerListing(setting, layer, nest, tiles).list();
}

std::vector<Stack> nests_of(const std::vector<Stack>& stacks) {
  std::vector<Stack> nests(stacks.size() + 1);
  for (std::size_t i = 0; i < stacks.size(); ++i)
    for (Stack* nest : {&nests[i], &nests[i + 1]})
      if (stacks[i].size() > nest->size()) *nest = stacks[i];
  return nests;
}

std::vector<Count> tile_words(const Setting& setting, const std::vector<Stack>& stacks, const std::vector<Stack>& nests,
                              const std::vector<Held>& held) {
  const Chain& chain = *setting.chain;
  const Accelerator& accelerator = setting.accelerator();
  const int last = setting.layers() - 1;
  std::vector<Count> taken(nests.size(), 0);
  /// The layers that run inside the same iteration of the next loop as this one.
  const auto reach = [&](int l, std::size_t depth, int step) {
    const Stack& mine = nests[static_cast<std::size_t>(l)];
    if (mine.size() <= depth) return l;
    const Stack inner = outer_loops(mine, depth + 1);
    while (l + step >= 0 && l + step <= last) {
      const Stack& next = nests[static_cast<std::size_t>(l + step)];
      if (next.size() <= depth || outer_loops(next, depth + 1) != inner) break;
      l += step;
    }
    return l;
  };
  for (int i = 0; i < last; ++i) {
    const Stack& stack = stacks[static_cast<std::size_t>(i)];
    const Link& link = chain.links[static_cast<std::size_t>(i)];
    const Layer &producer = chain.layer(i), &reader = chain.layer(i + 1);
    const TileLoop* sliding = sliding_loop(chain, i, stack);
    const Place::Window window = sliding == nullptr ? Place::Window{} : window_of(chain, i, *sliding);
    const Count elements = elements_of(producer, link.made, cut_sizes(chain, i, stack, window.held));
    const int sums = accelerator.partial_sum_bits(setting.home, producer);
    const int results = std::max(accelerator.element_bits(setting.home, producer, link.made),
                                 accelerator.element_bits(setting.home, reader, link.read));
    const int end = reach(i + 1, stack.size(), 1);
    for (int l = reach(i, stack.size(), -1); l <= end; ++l)
      taken[static_cast<std::size_t>(l)] += words_in(setting, elements, l <= i ? sums : results);
    if (window.kept == 0) continue;
    // What the next window needs again stays while the rest of the round runs.
    const Count again =
        words_in(setting, elements_of(producer, link.made, cut_sizes(chain, i, stack, window.kept)), results);
    for (int l = end + 1; l <= reach(i + 1, stack.size() - 1, 1); ++l) taken[static_cast<std::size_t>(l)] += again;
  }
  for (const Held& one : held) {
    const Layer& layer = chain.layer(one.layer);
    const Stack loops = outer_loops(nests[static_cast<std::size_t>(one.layer)], one.depth);
    const Count elements = Rounds(chain, one.layer, loops).most_elements(one.tensor);
    const Count words = words_in(setting, elements, accelerator.held_bits(setting.home, layer, one.tensor));
    for (int l = reach(one.layer, one.depth, -1); l <= reach(one.layer, one.depth, 1); ++l)
      taken[static_cast<std::size_t>(l)] += words;
  }
  for (int l = 1; l <= last; ++l) {
    const Stack& nest = nests[static_cast<std::size_t>(l)];
    const auto cut = row_loop(chain, l, nest);
    if (!cut) continue;
    const Count words = words_in(setting, kCarried * rows_under(chain, l, outer_loops(nest, *cut)),
                                 accelerator.partial_sum_bits(setting.home, chain.layer(l - 1)));
    for (int k = reach(l, *cut, -1); k <= reach(l, *cut, 1); ++k) taken[static_cast<std::size_t>(k)] += words;
  }
  return taken;
}

std::optional<std::vector<Reserved>> rooms_of(const Setting& setting, const std::vector<Count>& tile_words) {
  std::vector<Reserved> rooms;
  for (const Count words : tile_words) {
    rooms.push_back(setting.taken);
    std::array<Count, kRoles>& here = rooms.back()[static_cast<std::size_t>(setting.home)];
    here[0] += words;
    if (setting.memory().capacity_words && here[0] + here[1] + here[2] > *setting.memory().capacity_words)
      return std::nullopt;
  }
  return rooms;
}

}  // namespace pliant::fusion
