// SPDX-License-Identifier: Apache-2.0
#include "dse/audit/fused_plan.h"

#include <algorithm>
#include <utility>

#include "core/partial_sums.h"
#include "dse/audit/run_floor.h"

namespace pliant::audit {

namespace {

/// Numbers of each row that an online softmax carries along: the largest element, and the sum.
constexpr Count kCarriedOfARow = 2;

const Memory& memory_of(const Accelerator& accelerator, int level) {
  return accelerator.levels[static_cast<std::size_t>(level)].memory();
}

GroupLoops first_of(const GroupLoops& loops, std::size_t count) {
  return {loops.begin(), loops.begin() + static_cast<std::ptrdiff_t>(count)};
}

const GroupLoop* window_loop(const FusedChain& chain, std::size_t l, const GroupLoops& loops) {
  const auto at = std::ranges::find_if(loops, [&](const GroupLoop& loop) { return chain.place(loop, l).slides; });
  return at == loops.end() ? nullptr : &*at;
}

/// A layer's dims in one round of some loops; `of_window` elements of the dim along which a window slides.
std::vector<Count> sizes_in(const FusedChain& chain, std::size_t l, const GroupLoops& loops, Count of_window) {
  std::vector<Count> sizes;
  for (const Dim& dim : chain.layer(l).dims) sizes.push_back(dim.size);
  for (const GroupLoop& loop : loops) {
    const AxisPlace& at = chain.place(loop, l);
    if (at.dim >= 0) sizes[static_cast<std::size_t>(at.dim)] = at.slides ? of_window : at.scale * loop.tile;
  }
  return sizes;
}

/// Layers of the node that stand inside some loops, as far as each has its own of the tensor.
Count copies_inside(const FusedChain& chain, std::size_t l, int tensor, const GroupLoops& loops) {
  Count copies = 1;
  for (const int axis : {chain.group_axis, chain.head_axis}) {
    if (axis < 0 || std::ranges::find(loops, axis, &GroupLoop::axis) != loops.end()) continue;
    if (chain.tells_apart({axis, 1}, l, tensor)) copies *= chain.axes[static_cast<std::size_t>(axis)].size;
  }
  return copies;
}

/// The different rounds of some loops around a layer.
struct RoundsOfLayer {
  std::vector<std::pair<std::vector<Count>, double>> kinds;  ///< sizes, and how many rounds have them

  RoundsOfLayer(const FusedChain& chain, std::size_t l, const GroupLoops& loops) {
    double all = 1;
    for (const GroupLoop& loop : loops) all *= static_cast<double>(chain.rounds(loop));
    const GroupLoop* window = window_loop(chain, l, loops);
    if (window == nullptr) {
      kinds.emplace_back(sizes_in(chain, l, loops, 0), all);
      return;
    }
    for (const auto& [made, rounds] : chain.slide(*window, l).made)
      kinds.emplace_back(sizes_in(chain, l, loops, made),
                         all * static_cast<double>(rounds) / static_cast<double>(chain.rounds(*window)));
  }
};

/// Elements of a tensor in all rounds of some loops together, and in the one that has most.
struct Touched {
  double all = 0;
  Count most = 0;
};
Touched touched(const FusedChain& chain, std::size_t l, int tensor, const GroupLoops& loops) {
  const Count copies = copies_inside(chain, l, tensor, loops);
  Touched sum;
  for (const auto& [sizes, times] : RoundsOfLayer(chain, l, loops).kinds) {
    const Count elements = copies * elements_of(chain.layer(l), tensor, sizes);
    sum.all += times * static_cast<double>(elements);
    sum.most = std::max(sum.most, elements);
  }
  return sum;
}

/// Rounds of these loops that add to the same results.
double adding_rounds(const FusedChain& chain, std::size_t l, const GroupLoops& loops) {
  double rounds = 1;
  for (const GroupLoop& loop : loops)
    if (!chain.tells_apart(loop, l, chain.layer(l).output())) rounds *= static_cast<double>(chain.rounds(loop));
  return rounds;
}

/// Where in a layer's nest the rows of an online softmax before it are cut.
std::optional<std::size_t> cut_of_rows(const FusedChain& chain, std::size_t l, const GroupLoops& nest) {
  if (l == 0 || chain.links[l - 1].rows < 0) return std::nullopt;
  const auto at = std::ranges::find(nest, chain.links[l - 1].rows, &GroupLoop::axis);
  if (at == nest.end()) return std::nullopt;
  return static_cast<std::size_t>(at - nest.begin());
}

/// Rows that the layer reads inside some loops, which do not cut them.
Count rows_inside(const FusedChain& chain, std::size_t l, const GroupLoops& loops) {
  const FusedChain::Link& link = chain.links[l - 1];
  const Count elements = elements_of(chain.layer(l - 1), link.made, sizes_in(chain, l - 1, loops, 0));
  return copies_inside(chain, l - 1, link.made, loops) * elements /
         chain.axes[static_cast<std::size_t>(link.rows)].size;
}

class Options {
 public:
  Options(const GroupPlace& group, std::size_t l, const GroupLoops& nest)
      : group_(group),
        chain_(*group.chain),
        machine_(group.accelerator()),
        layer_(chain_.layer(l)),
        l_(l),
        nest_(nest) {
    output_ = layer_.output();
    passes_on_ = l + 1 < chain_.layers.size();
    reads_ = l > 0 ? chain_.links[l - 1].read : -1;
    rows_cut_ = cut_of_rows(chain_, l, nest);
    adding_ = adding_rounds(chain_, l, nest);
  }

  std::vector<LayerOption> all() {
    if (adding_ > 1 && !sums_can_wait()) return {};
    for (int x = 0; x < static_cast<int>(layer_.tensors.size()); ++x) {
      const bool tile = x == reads_ || (x == output_ && passes_on_);
      if (!tile && place(x) == kElsewhere && may_stand_in(layer_, x, machine_, group_.home)) may_hold_.push_back(x);
    }
    std::vector<HeldTile> none;
    hold(0, none);
    return std::move(options_);
  }

 private:
  std::size_t role(int x) const { return static_cast<std::size_t>(layer_.tensors[static_cast<std::size_t>(x)].role); }
  Place place(int x) const { return group_.places[l_][role(x)]; }
  double words(double elements, int bits, int level) const {
    return elements * bits / memory_of(machine_, level).word_bits;
  }
  double result_words(double elements, int level) const {
    return words(elements, machine_.element_bits(level, layer_, output_), level);
  }
  double sum_words(double elements, int level) const {
    return words(elements, machine_.partial_sum_bits(level, layer_), level);
  }

  /// Sums that are not finished must pass every memory of outputs, and come back to the home of the tiles.
  bool sums_can_wait() const {
    if (!group_.memory().may_keep[static_cast<std::size_t>(Role::kOutput)]) return false;
    return std::ranges::none_of(machine_.levels, [](const Level& level) {
      return level.is_memory() && level.memory().may_keep[static_cast<std::size_t>(Role::kOutput)] &&
             !takes_partial_sums(level.memory());
    });
  }
  bool sums_are_wide() const {
    for (int l = 0; l < static_cast<int>(machine_.levels.size()); ++l)
      if (machine_.levels[static_cast<std::size_t>(l)].is_memory() &&
          machine_.partial_sum_bits(l, layer_) != machine_.element_bits(l, layer_, output_))
        return true;
    return false;
  }

  /// Every operand that may be: not held, or under so many loops that the next one does not change it.
  void hold(std::size_t i, std::vector<HeldTile>& held) {
    if (i == may_hold_.size()) {
      add(held);
      return;
    }
    const int x = may_hold_[i];
    hold(i + 1, held);
    for (std::size_t h = 0; h < nest_.size(); ++h) {
      const bool changed_outside = h == 0 || chain_.tells_apart(nest_[h - 1], l_, x);
      if (chain_.tells_apart(nest_[h], l_, x) || !changed_outside) continue;
      held.push_back({l_, x, h});
      hold(i + 1, held);
      held.pop_back();
    }
  }

  void add(const std::vector<HeldTile>& held) {
    const auto stored = std::ranges::find(held, output_, &HeldTile::tensor);
    const bool holds_output = stored != held.end();
    const Place results = passes_on_ || holds_output ? group_.home : place(output_);
    // What parts of rows have made is corrected later: it stays until the last part.
    if (rows_cut_ && (holds_output ? stored->loops > *rows_cut_ : results == kElsewhere)) return;
    LayerOption option;
    option.held = held;
    LayerVariant shape;
    shape.row = group_.rows[l_];
    shape.places = group_.places[l_];
    if (reads_ >= 0) shape.places[role(reads_)] = group_.home;
    if (passes_on_) shape.places[role(output_)] = group_.home;
    for (const HeldTile& one : held) {
      shape.places[role(one.tensor)] = group_.home;
      if (one.tensor != output_) load(one, option);
    }
    if (adding_ > 1) {
      shape.sums = sums_are_wide();
      if (results == kElsewhere) shape.sums_in = group_.home;
      read_old_sums(results, option);
    }
    if (holds_output) store(stored->loops, option);
    if (rows_cut_) carry(results, option);
    for (const auto& [sizes, times] : RoundsOfLayer(chain_, l_, nest_).kinds) {
      option.runs.push_back({shape, times});
      option.runs.back().shape.sizes = sizes;
    }
    options_.push_back(std::move(option));
  }

  void spend(const WordsMoved& moved, Role role, LayerOption& option) const {
    const MovingCost cost = cost_of_moving(machine_, moved, role, role);
    option.moving.energy_pj += cost.energy_pj;
    option.moving.cycles += cost.cycles;
  }

  void load(const HeldTile& held, LayerOption& option) const {
    const double elements = touched(chain_, l_, held.tensor, first_of(nest_, held.loops)).all;
    const Role role = layer_.tensors[static_cast<std::size_t>(held.tensor)].role;
    const int from = outermost_of(machine_, role);
    WordsMoved moved;
    moved[from].first += words(elements, machine_.element_bits(from, layer_, held.tensor), from);
    moved[group_.home].second += words(elements, machine_.element_bits(group_.home, layer_, held.tensor), group_.home);
    spend(moved, role, option);
  }

  /// From where results live while nobody works on them, to the home.
  void bring_back(double elements, LayerOption& option) const {
    const int outside = outermost_of(machine_, Role::kOutput);
    WordsMoved moved;
    moved[outside].first += sum_words(elements, outside);
    moved[group_.home].second += sum_words(elements, group_.home);
    spend(moved, Role::kOutput, option);
  }

  /// All rounds but the first of each result read what older ones made.
  void read_old_sums(Place results, LayerOption& option) const {
    const double again = touched(chain_, l_, output_, nest_).all * (1 - 1 / adding_);
    const int where = results == kElsewhere ? group_.home : results;
    WordsMoved moved;
    moved[where].first += sum_words(again, where);
    spend(moved, Role::kOutput, option);
    if (results == kElsewhere) bring_back(again, option);
  }

  void store(std::size_t loops, LayerOption& option) const {
    const GroupLoops outer = first_of(nest_, loops);
    const double elements = touched(chain_, l_, output_, outer).all, adding = adding_rounds(chain_, l_, outer);
    const int outside = outermost_of(machine_, Role::kOutput);
    WordsMoved moved;
    const auto passing = [&](int level) {
      return adding > 1 ? sum_words(elements, level) : result_words(elements, level);
    };
    moved[group_.home].first += passing(group_.home);
    moved[outside].second += passing(outside);
    spend(moved, Role::kOutput, option);
    if (adding > 1) bring_back(elements * (1 - 1 / adding), option);
  }

  /// What is carried for each row is written by every part and read by all but the first; results are corrected by all
  /// parts but the first, and divided at the end.
  void carry(Place results, LayerOption& option) const {
    const auto parts = static_cast<double>(chain_.rounds(nest_[*rows_cut_]));
    const auto numbers = static_cast<double>(kCarriedOfARow * rows_inside(chain_, l_, {}));
    const int bits = machine_.partial_sum_bits(group_.home, chain_.layer(l_ - 1));
    WordsMoved carried;
    carried[group_.home] = {words(numbers * (parts - 1), bits, group_.home), words(numbers * parts, bits, group_.home)};
    spend(carried, Role::kOutput, option);
    const double corrected = sum_words(touched(chain_, l_, output_, nest_).all, results);
    spend({{results, {corrected, corrected}}}, Role::kOutput, option);
  }

  const GroupPlace& group_;
  const FusedChain& chain_;
  const Accelerator& machine_;
  const Layer& layer_;
  const std::size_t l_;
  const GroupLoops& nest_;
  int output_ = 0, reads_ = -1;
  bool passes_on_ = false;
  double adding_ = 1;
  std::optional<std::size_t> rows_cut_;
  std::vector<int> may_hold_;
  std::vector<LayerOption> options_;
};

}  // namespace

std::vector<LayerOption> layer_options(const GroupPlace& group, std::size_t layer, const GroupLoops& nest) {
  return Options(group, layer, nest).all();
}

std::vector<GroupLoops> nests(const std::vector<GroupLoops>& stacks) {
  std::vector<GroupLoops> all(stacks.size() + 1);
  for (std::size_t l = 0; l < all.size(); ++l) {
    if (l > 0) all[l] = stacks[l - 1];
    if (l < stacks.size() && stacks[l].size() > all[l].size()) all[l] = stacks[l];
  }
  return all;
}

bool nest_in_each_other(const GroupLoops& a, const GroupLoops& b) {
  return a.size() <= b.size() ? std::equal(a.begin(), a.end(), b.begin()) : std::equal(b.begin(), b.end(), a.begin());
}

std::vector<Count> words_of_tiles(const GroupPlace& group, const std::vector<GroupLoops>& stacks,
                                  const std::vector<GroupLoops>& nests, const std::vector<HeldTile>& held) {
  const FusedChain& chain = *group.chain;
  const Accelerator& machine = group.accelerator();
  std::vector<Count> taken(nests.size(), 0);
  /// Do the two run inside one iteration of the loop that follows the first `loops` ones?
  const auto together = [&](std::size_t a, std::size_t b, std::size_t loops) {
    return nests[a].size() > loops && nests[b].size() > loops &&
           std::equal(nests[a].begin(), nests[a].begin() + static_cast<std::ptrdiff_t>(loops) + 1, nests[b].begin());
  };
  /// The last layer, or with -1 the first, that runs on inside the iteration in which `l` does.
  const auto until = [&](std::size_t l, std::size_t loops, int way) {
    while ((way > 0 ? l + 1 < nests.size() : l > 0) && together(l, way > 0 ? l + 1 : l - 1, loops))
      l = way > 0 ? l + 1 : l - 1;
    return l;
  };
  const auto take = [&](std::size_t from, std::size_t to, Count words) {
    for (std::size_t l = from; l <= to; ++l) taken[l] += words;
  };
  for (std::size_t i = 0; i < stacks.size(); ++i) {
    const FusedChain::Link& link = chain.links[i];
    const Layer &maker = chain.layer(i), &reader = chain.layer(i + 1);
    const GroupLoop* window = window_loop(chain, i, stacks[i]);
    const SlidingRounds slide = window != nullptr ? chain.slide(*window, i) : SlidingRounds{};
    const auto words = [&](Count of_window, int bits) {
      return whole_words(machine, elements_of(maker, link.made, sizes_in(chain, i, stacks[i], of_window)), bits,
                         group.home);
    };
    const int finished = std::max(machine.element_bits(group.home, maker, link.made),
                                  machine.element_bits(group.home, reader, link.read));
    const std::size_t loops = stacks[i].size(), last = until(i + 1, loops, 1);
    take(until(i, loops, -1), i, words(slide.held, machine.partial_sum_bits(group.home, maker)));
    take(i + 1, last, words(slide.held, finished));
    // What the next window sees again stays through the rest of the round.
    if (slide.kept > 0) take(last + 1, until(i + 1, loops - 1, 1), words(slide.kept, finished));
  }
  for (const HeldTile& one : held) {
    const Count most = touched(chain, one.layer, one.tensor, first_of(nests[one.layer], one.loops)).most;
    take(until(one.layer, one.loops, -1), until(one.layer, one.loops, 1),
         whole_words(machine, most, machine.held_bits(group.home, chain.layer(one.layer), one.tensor), group.home));
  }
  for (std::size_t l = 1; l < nests.size(); ++l) {
    const auto cut = cut_of_rows(chain, l, nests[l]);
    if (!cut) continue;
    const Count numbers = kCarriedOfARow * rows_inside(chain, l, first_of(nests[l], *cut));
    take(until(l, *cut, -1), until(l, *cut, 1),
         whole_words(machine, numbers, machine.partial_sum_bits(group.home, chain.layer(l - 1)), group.home));
  }
  return taken;
}

}  // namespace pliant::audit
