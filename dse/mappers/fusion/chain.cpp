// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/fusion/chain.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>

namespace pliant::fusion {

namespace {

Count size_of(const Layer& layer, int dim) { return layer.dims[static_cast<std::size_t>(dim)].size; }

/// Its terms that move at all; the first where none does.
std::vector<Term> moving_terms(const Layer& layer, const Rank& rank) {
  std::vector<Term> moving;
  for (const Term& term : rank.terms)
    if (size_of(layer, term.dim) > 1) moving.push_back(term);
  if (moving.empty() && !rank.terms.empty()) moving.push_back(rank.terms.front());
  return moving;
}

/// The dim of a rank that is nothing but it, and that no other rank of the tensor has.
std::optional<int> plain_dim(const Layer& layer, const Tensor& tensor, const Rank& rank) {
  const std::vector<Term> terms = moving_terms(layer, rank);
  if (terms.size() != 1 || terms.front().coefficient != 1) return std::nullopt;
  const int dim = terms.front().dim;
  int uses = 0;
  for (const Rank& other : tensor.ranks)
    for (const Term& term : other.terms) uses += term.dim == dim ? 1 : 0;
  if (uses != 1) return std::nullopt;
  return dim;
}

/// A window p + r: `p` indexes the layer's output, `r` does not.
struct Window {
  int dim = 0;
  Count step = 1, overlap = 0, extent = 0;
};
std::optional<Window> window_of(const Layer& layer, const Rank& rank) {
  const std::vector<Term> terms = moving_terms(layer, rank);
  if (terms.size() != 2) return std::nullopt;
  const DimSet outputs = layer.coupled(layer.output());
  Term moving = terms[0], inside = terms[1];
  if ((outputs >> moving.dim & 1U) == 0) std::swap(moving, inside);
  if ((outputs >> moving.dim & 1U) == 0 || (outputs >> inside.dim & 1U) != 0) return std::nullopt;
  const Count reach = inside.coefficient * (size_of(layer, inside.dim) - 1) + 1;
  const Count overlap = reach - moving.coefficient;
  // With gaps between windows, or inside one, some of what is made would never be read.
  if (overlap < 0 || inside.coefficient != 1) return std::nullopt;
  return Window{moving.dim, moving.coefficient, overlap, moving.coefficient * size_of(layer, moving.dim) + overlap};
}

/// Dims of all layers, those that are one axis in one set.
class Sets {
 public:
  explicit Sets(const std::vector<const Task*>& layers) {
    for (const Task* task : layers) {
      first_.push_back(static_cast<int>(parent_.size()));
      parent_.resize(parent_.size() + task->layer.dims.size());
    }
    std::iota(parent_.begin(), parent_.end(), 0);
  }
  int find(std::size_t layer, int dim) const { return root(first_[layer] + dim); }
  void unite(int a, int b) { parent_[static_cast<std::size_t>(root(a))] = root(b); }

 private:
  int root(int x) const {
    while (parent_[static_cast<std::size_t>(x)] != x) x = parent_[static_cast<std::size_t>(x)];
    return x;
  }
  std::vector<int> first_, parent_;
};

/// What is known of one rank of the tensor between two layers.
struct Shared {
  int made = 0;                  ///< dim of the producer
  int read = 0;                  ///< dim of the reader
  std::optional<Window> window;  ///< that the reader sees
};

/// Rank by rank; nothing where the two layers see different shapes.
std::vector<Shared> shared_dims(const Layer& producer, const Layer& reader, int operand) {
  const Tensor &made = producer.tensors[static_cast<std::size_t>(producer.output())],
               &read = reader.tensors[static_cast<std::size_t>(operand)];
  if (made.ranks.size() != read.ranks.size()) return {};
  std::vector<Shared> all;
  for (std::size_t r = 0; r < made.ranks.size(); ++r) {
    const std::optional<int> from = plain_dim(producer, made, made.ranks[r]);
    if (!from) return {};
    if (const std::optional<int> to = plain_dim(reader, read, read.ranks[r])) {
      if (size_of(producer, *from) != size_of(reader, *to)) return {};
      all.push_back({*from, *to, std::nullopt});
    } else if (const std::optional<Window> window = window_of(reader, read.ranks[r])) {
      // Padding is less than a filter on each side. Rows that nobody reads are no tile's.
      const Count padding = window->extent - size_of(producer, *from);
      if (padding >= 0 && padding <= 2 * (window->overlap + window->step - 1))
        all.push_back({*from, window->dim, window});
    } else {
      return {};
    }
  }
  return all;
}

/// Rows of what a GEMM makes are known; of another layer any index may be one.
bool is_row(const Layer& producer, int dim) {
  const Tensor& made = producer.tensors[static_cast<std::size_t>(producer.output())];
  return producer.operation != Operation::kGemm || plain_dim(producer, made, made.ranks.back()) == dim;
}

}  // namespace

Place::Window Place::window(Count tile, Count rounds) const {
  Window all;
  Count before = 0;
  for (Count i = 0; i < rounds; ++i) {
    const Count now = end(tile, i, rounds);
    ++all.made[now - before];
    all.held = std::max(all.held, now - begin(tile, i));
    if (i + 1 < rounds) all.kept = std::max(all.kept, now - begin(tile, i + 1));
    before = now;
  }
  return all;
}

bool Chain::indexes(const TileLoop& loop, int l, int tensor) const {
  const Axis& axis = axes[static_cast<std::size_t>(loop.axis)];
  if (axis.counts()) return (axis.own[static_cast<std::size_t>(l)] >> tensor & 1U) != 0;
  const int dim = place(loop.axis, l).dim;
  return dim >= 0 && (layer(l).coupled(tensor) >> dim & 1U) != 0;
}

namespace {

/// Layers of a node are taken one by one: of several at once every tile would only be larger.
void add_heads(Chain& chain, const Heads& heads) {
  const auto add = [&](Count size, const auto& own) {
    if (size < 2) return -1;
    Axis axis{size, std::vector<Place>(chain.layers.size())};
    for (std::size_t l = 0; l < chain.layers.size(); ++l) axis.own.push_back(own(l));
    chain.axes.push_back(std::move(axis));
    return static_cast<int>(chain.axes.size()) - 1;
  };
  constexpr TensorSet all = ~TensorSet{0};
  chain.groups = add(heads.count / heads.shared, [](std::size_t) { return all; });
  chain.heads = add(heads.shared, [&](std::size_t l) { return all & ~heads.same[l]; });
}

}  // namespace

Chain make_chain(std::vector<const Task*> layers, const std::vector<Between>& between, const Heads& heads) {
  Chain chain;
  chain.layers = std::move(layers);
  Sets sets(chain.layers);
  std::vector<std::vector<Shared>> shared;
  for (std::size_t i = 0; i < between.size(); ++i) {
    shared.push_back(shared_dims(chain.layers[i]->layer, chain.layers[i + 1]->layer, between[i].read));
    for (const Shared& rank : shared.back())
      if (!rank.window) sets.unite(sets.find(i, rank.made), sets.find(i + 1, rank.read));
  }
  std::map<int, int> axis_of;  // by set
  std::vector<bool> unclear;
  for (std::size_t l = 0; l < chain.layers.size(); ++l)
    for (int d = 0; d < static_cast<int>(chain.layers[l]->layer.dims.size()); ++d) {
      const auto [known, is_new] = axis_of.emplace(sets.find(l, d), static_cast<int>(chain.axes.size()));
      if (is_new) {
        chain.axes.push_back({size_of(chain.layers[l]->layer, d), std::vector<Place>(chain.layers.size())});
        unclear.push_back(false);
      }
      Place& place = chain.axes[static_cast<std::size_t>(known->second)].at[l];
      if (place.dim >= 0) unclear[static_cast<std::size_t>(known->second)] = true;  // two dims of one layer
      place.dim = d;
      place.size = size_of(chain.layers[l]->layer, d);
    }
  for (std::size_t i = 0; i < between.size(); ++i) {
    Link link;
    const Layer& producer = chain.layers[i]->layer;
    link.made = producer.output();
    link.read = between[i].read;
    for (const Shared& rank : shared[i]) {
      const bool is_cut_row = (between[i].whole_rows || between[i].online) && is_row(producer, rank.made);
      // Parts of a row can be corrected afterwards where the reader adds them up.
      const Layer& reader = chain.layers[i + 1]->layer;
      const bool online = between[i].online && !between[i].whole_rows && !rank.window &&
                          producer.operation == Operation::kGemm && reader.operation == Operation::kGemm &&
                          (reader.coupled(reader.output()) >> rank.read & 1U) == 0;
      if (is_cut_row && !online) continue;
      const int axis = axis_of.at(sets.find(i + 1, rank.read));
      if (unclear[static_cast<std::size_t>(axis)] || chain.axes[static_cast<std::size_t>(axis)].size < 2) continue;
      if (rank.window) {
        Place& place = chain.axes[static_cast<std::size_t>(axis)].at[i];
        if (place.dim >= 0) continue;
        const Count size = size_of(producer, rank.made), padding = rank.window->extent - size;
        place = {rank.made,         size,
                 rank.window->step, rank.window->overlap,
                 (padding + 1) / 2, rank.window->overlap > 0 || padding > 0};
      }
      if (is_cut_row) link.online = axis;
      link.axes.push_back(axis);
      link.windows.push_back(rank.window && chain.place(axis, static_cast<int>(i)).slides);
    }
    chain.links.push_back(std::move(link));
  }
  for (Axis& axis : chain.axes) {
    axis.in_all = true;
    for (std::size_t l = 0; l < chain.layers.size(); ++l)
      for (int x = 0; x < static_cast<int>(chain.layers[l]->layer.tensors.size()); ++x)
        axis.in_all &= axis.at[l].dim >= 0 && (chain.layers[l]->layer.coupled(x) >> axis.at[l].dim & 1U) != 0;
  }
  add_heads(chain, heads);
  return chain;
}

std::vector<Stack> all_stacks(const Chain& chain, int link) {
  const Link& of = chain.links[static_cast<std::size_t>(link)];
  std::vector<Stack> all;
  Stack stack;
  // Groups of layers are outermost: nothing inside is shared by two of them. Layers of a group may be anywhere, but not
  // inside a window, whose rows would have to stay for all of them.
  const auto take = [&](bool ends_with_window) {
    Stack counted = stack;
    if (chain.groups >= 0) counted.insert(counted.begin(), {chain.groups, 1});
    if (chain.heads < 0) {
      if (!counted.empty()) all.push_back(std::move(counted));
      return;
    }
    const std::size_t first = chain.groups >= 0 ? 1 : 0, last = counted.size() - (ends_with_window ? 1 : 0);
    for (std::size_t i = first; i <= last; ++i) {
      all.push_back(counted);
      all.back().insert(all.back().begin() + static_cast<std::ptrdiff_t>(i), {chain.heads, 1});
    }
  };
  take(false);
  const auto grow = [&](auto&& self) -> void {
    for (std::size_t i = 0; i < of.axes.size(); ++i) {
      const int axis = of.axes[i];
      if (std::ranges::find(stack, axis, &TileLoop::axis) != stack.end()) continue;
      const Count size = chain.axes[static_cast<std::size_t>(axis)].size;
      for (Count tile = size / 2; tile > 0; --tile) {  // fewer rounds first: of equals the first is taken
        if (size % tile != 0) continue;
        stack.push_back({axis, tile});
        take(of.windows[i]);
        // What stays of a window stays for all that loops inside it would tell apart.
        const bool side_by_side = chain.axes[static_cast<std::size_t>(stack.front().axis)].in_all;
        if (!of.windows[i] && stack.size() < kDeepestStack + (side_by_side ? 1 : 0)) self(self);
        stack.pop_back();
      }
    }
  };
  grow(grow);
  return all;
}

FusionRule rule_at(const Accelerator& accelerator, int memory) {
  return accelerator.fusion.empty() ? FusionRule{} : accelerator.fusion[static_cast<std::size_t>(memory)];
}

bool allows(const FusionRule& rule, const Chain& chain, int link, const Stack& stack) {
  int depth = 0;
  for (const TileLoop& loop : stack) {
    if (chain.axes[static_cast<std::size_t>(loop.axis)].counts()) continue;
    ++depth;
    const Place& made = chain.place(loop.axis, link);
    const std::string& dim = chain.layer(link).dims[static_cast<std::size_t>(made.dim)].name;
    if (rule.dims && std::ranges::find(*rule.dims, dim) == rule.dims->end()) return false;
  }
  return rule.tiles && (rule.depth == 0 || depth <= rule.depth);
}

bool nest_together(const Stack& a, const Stack& b) {
  const std::size_t both = std::min(a.size(), b.size());
  return std::equal(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(both), b.begin());
}

}  // namespace pliant::fusion
