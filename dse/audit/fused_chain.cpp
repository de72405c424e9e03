// SPDX-License-Identifier: Apache-2.0
#include "dse/audit/fused_chain.h"

#include <algorithm>
#include <utility>

namespace pliant::audit {

namespace {

/// Loops over dims around one tile; one more inside products that lie side by side.
constexpr std::size_t kMostLoops = 2;

Count size_of(const Layer& layer, int dim) { return layer.dims[static_cast<std::size_t>(dim)].size; }
bool has(DimSet dims, int dim) { return (dims >> dim & 1U) != 0; }

/// Terms that move; where none does, the first.
std::vector<Term> terms_that_move(const Layer& layer, const Rank& rank) {
  std::vector<Term> terms;
  std::ranges::copy_if(rank.terms, std::back_inserter(terms),
                       [&](const Term& term) { return size_of(layer, term.dim) > 1; });
  if (terms.empty() && !rank.terms.empty()) terms.push_back(rank.terms[0]);
  return terms;
}

/// The dim that the rank is, which the tensor uses nowhere else; -1 when it is something else.
int dim_of_rank(const Layer& layer, int tensor, std::size_t r) {
  const std::vector<Rank>& ranks = layer.tensors[static_cast<std::size_t>(tensor)].ranks;
  const std::vector<Term> terms = terms_that_move(layer, ranks[r]);
  if (terms.size() != 1 || terms[0].coefficient != 1) return -1;
  std::ptrdiff_t uses = 0;
  for (const Rank& rank : ranks) uses += std::ranges::count(rank.terms, terms[0].dim, &Term::dim);
  return uses == 1 ? terms[0].dim : -1;
}

/// A window over a rank: step * outer + inner, where the layer makes one result for each `outer` and adds over `inner`.
struct Filter {
  int outer = -1;
  Count step = 1, width = 1;
};
Filter filter_of(const Layer& layer, int tensor, std::size_t r) {
  std::vector<Term> terms = terms_that_move(layer, layer.tensors[static_cast<std::size_t>(tensor)].ranks[r]);
  if (terms.size() != 2) return {};
  const DimSet results = layer.coupled(layer.output());
  if (!has(results, terms[0].dim)) std::swap(terms[0], terms[1]);
  if (!has(results, terms[0].dim) || has(results, terms[1].dim)) return {};
  // Filters with holes, and steps over a gap, would leave elements that nobody reads.
  const Count width = size_of(layer, terms[1].dim);
  if (terms[1].coefficient != 1 || terms[0].coefficient > width) return {};
  return {terms[0].dim, terms[0].coefficient, width};
}

/// One rank of the tensor between two layers that both see alike.
struct CommonRank {
  int made = 0, read = 0;  ///< dims of the two
  Filter filter{};         ///< of the second, where it has one
};

std::vector<CommonRank> common_ranks(const Layer& maker, const Layer& reader, int operand) {
  const int output = maker.output();
  const std::size_t count = maker.tensors[static_cast<std::size_t>(output)].ranks.size();
  if (reader.tensors[static_cast<std::size_t>(operand)].ranks.size() != count) return {};
  std::vector<CommonRank> all;
  for (std::size_t r = 0; r < count; ++r) {
    const int made = dim_of_rank(maker, output, r), read = dim_of_rank(reader, operand, r);
    if (made < 0) return {};
    if (read >= 0) {
      if (size_of(maker, made) != size_of(reader, read)) return {};
      all.push_back({made, read});
      continue;
    }
    const Filter filter = filter_of(reader, operand, r);
    if (filter.outer < 0) return {};
    // All that is made is seen, and padding is less than a filter on each side.
    const Count seen = filter.step * (size_of(reader, filter.outer) - 1) + filter.width;
    const Count padding = seen - size_of(maker, made);
    if (padding >= 0 && padding <= 2 * (filter.width - 1)) all.push_back({made, filter.outer, filter});
  }
  return all;
}

/// Is the dim the row of what the layer makes? Of a product the last index; of others it may be any.
bool may_be_row(const Layer& maker, int dim) {
  const int output = maker.output();
  return maker.operation != Operation::kGemm ||
         dim_of_rank(maker, output, maker.tensors[static_cast<std::size_t>(output)].ranks.size() - 1) == dim;
}

class ChainMaker {
 public:
  ChainMaker(std::vector<const Task*> layers, const std::vector<BetweenLayers>& between) : between_(between) {
    chain_.layers = std::move(layers);
  }

  FusedChain make(const CountedLayers& counted) {
    for (std::size_t i = 0; i < between_.size(); ++i)
      common_.push_back(common_ranks(chain_.layer(i), chain_.layer(i + 1), between_[i].read));
    name_axes();
    for (std::size_t i = 0; i < between_.size(); ++i) add_link(i);
    for (FusedChain::Axis& axis : chain_.axes) axis.everywhere = is_everywhere(axis);
    constexpr TensorSet all = ~TensorSet{0};
    chain_.group_axis = count_layers(counted.count / counted.sharing, [](std::size_t) { return all; });
    chain_.head_axis = count_layers(counted.sharing, [&](std::size_t l) { return all & ~counted.same[l]; });
    return std::move(chain_);
  }

 private:
  /// Every dim of every layer is an axis; those that index the same rank without a window become one.
  void name_axes() {
    int next = 0;
    for (const Task* task : chain_.layers) {
      axis_of_.emplace_back();
      for (std::size_t d = 0; d < task->layer.dims.size(); ++d) axis_of_.back().push_back(next++);
    }
    for (std::size_t i = 0; i < common_.size(); ++i)
      for (const CommonRank& rank : common_[i]) {
        if (rank.filter.outer >= 0) continue;
        const int from = axis_of_[i + 1][static_cast<std::size_t>(rank.read)],
                  to = axis_of_[i][static_cast<std::size_t>(rank.made)];
        for (auto& of_layer : axis_of_)
          for (int& axis : of_layer)
            if (axis == from) axis = to;
      }
    chain_.axes.resize(static_cast<std::size_t>(next));
    twice_.resize(chain_.axes.size());
    for (auto& axis : chain_.axes) axis.at.resize(chain_.layers.size());
    for (std::size_t l = 0; l < chain_.layers.size(); ++l)
      for (std::size_t d = 0; d < axis_of_[l].size(); ++d) {
        const auto a = static_cast<std::size_t>(axis_of_[l][d]);
        if (chain_.axes[a].size == 0) chain_.axes[a].size = chain_.layer(l).dims[d].size;
        twice_[a] = twice_[a] || chain_.axes[a].at[l].dim >= 0;  // two dims of one layer: nothing to loop over
        chain_.axes[a].at[l].dim = static_cast<int>(d);
      }
  }

  void add_link(std::size_t i) {
    const Layer &maker = chain_.layer(i), &reader = chain_.layer(i + 1);
    FusedChain::Link& link = chain_.links.emplace_back();
    link.made = maker.output();
    link.read = between_[i].read;
    for (const CommonRank& rank : common_[i]) {
      const int axis = axis_of_[i + 1][static_cast<std::size_t>(rank.read)];
      FusedChain::Axis& of = chain_.axes[static_cast<std::size_t>(axis)];
      const bool window = rank.filter.outer >= 0;
      const bool row = (between_[i].whole_rows || between_[i].online) && may_be_row(maker, rank.made);
      // Parts of rows can be corrected later where the reader is a product that adds over them.
      const bool in_parts = between_[i].online && !between_[i].whole_rows && !window &&
                            maker.operation == Operation::kGemm && reader.operation == Operation::kGemm &&
                            !has(reader.coupled(reader.output()), rank.read);
      if ((row && !in_parts) || twice_[static_cast<std::size_t>(axis)] || of.size < 2) continue;
      if (window) {
        if (of.at[i].dim >= 0) continue;
        const Count overlap = rank.filter.width - rank.filter.step;
        const Count padding = rank.filter.step * of.size + overlap - size_of(maker, rank.made);
        of.at[i] = {rank.made, rank.filter.step, overlap, (padding + 1) / 2, overlap > 0 || padding > 0};
        if (of.at[i].slides) link.slides.push_back(axis);
      }
      if (row) link.rows = axis;
      link.axes.push_back(axis);
    }
  }

  bool is_everywhere(const FusedChain::Axis& axis) const {
    for (std::size_t l = 0; l < chain_.layers.size(); ++l)
      for (int x = 0; x < static_cast<int>(chain_.layer(l).tensors.size()); ++x)
        if (axis.at[l].dim < 0 || !has(chain_.layer(l).coupled(x), axis.at[l].dim)) return false;
    return true;
  }

  template <class Apart>
  int count_layers(Count size, const Apart& apart) {
    if (size < 2) return -1;
    FusedChain::Axis axis;
    axis.size = size;
    axis.at.resize(chain_.layers.size());
    for (std::size_t l = 0; l < chain_.layers.size(); ++l) axis.apart.push_back(apart(l));
    chain_.axes.push_back(std::move(axis));
    return static_cast<int>(chain_.axes.size()) - 1;
  }

  const std::vector<BetweenLayers>& between_;
  FusedChain chain_;
  std::vector<std::vector<CommonRank>> common_;  ///< by link
  std::vector<std::vector<int>> axis_of_;        ///< by layer and dim
  std::vector<bool> twice_;
};

}  // namespace

FusedChain fused_chain(std::vector<const Task*> layers, const std::vector<BetweenLayers>& between,
                       const CountedLayers& counted) {
  return ChainMaker(std::move(layers), between).make(counted);
}

bool FusedChain::tells_apart(const GroupLoop& loop, std::size_t l, int tensor) const {
  const Axis& axis = axes[static_cast<std::size_t>(loop.axis)];
  if (!axis.apart.empty()) return (axis.apart[l] >> tensor & 1U) != 0;
  return axis.at[l].dim >= 0 && has(layer(l).coupled(tensor), axis.at[l].dim);
}

/// Round after round: what the reader's tile sees, of which the end has not been made before.
SlidingRounds FusedChain::slide(const GroupLoop& loop, std::size_t l) const {
  const AxisPlace& at = place(loop, l);
  const Count size = size_of(layer(l), at.dim), all = rounds(loop);
  SlidingRounds out;
  Count made = 0;
  for (Count round = 0; round < all; ++round) {
    const Count first = std::max<Count>(0, at.scale * loop.tile * round - at.padding);
    const Count next = std::max<Count>(0, at.scale * loop.tile * (round + 1) - at.padding);
    const Count end =
        round + 1 == all ? size : std::min(size, at.scale * loop.tile * (round + 1) + at.overlap - at.padding);
    const Count fresh = end - made;
    made = end;
    out.held = std::max(out.held, end - first);
    if (round + 1 < all) out.kept = std::max(out.kept, end - next);
    if (fresh <= 0) continue;
    const auto known = std::ranges::find(out.made, fresh, &std::pair<Count, Count>::first);
    if (known == out.made.end())
      out.made.emplace_back(fresh, 1);
    else
      ++known->second;
  }
  return out;
}

std::vector<GroupLoops> FusedChain::stacks(std::size_t l) const {
  const Link& link = links[l];
  std::vector<GroupLoops> plain{{}};
  for (std::size_t i = 0; i < plain.size(); ++i) {
    const GroupLoops outer = plain[i];  // the list grows
    const bool ended = !outer.empty() && std::ranges::find(link.slides, outer.back().axis) != link.slides.end();
    const bool beside = !outer.empty() && axes[static_cast<std::size_t>(outer.front().axis)].everywhere;
    if (ended || outer.size() == kMostLoops + (beside ? 1 : 0)) continue;
    for (const int axis : link.axes) {
      if (std::ranges::find(outer, axis, &GroupLoop::axis) != outer.end()) continue;
      const Count size = axes[static_cast<std::size_t>(axis)].size;
      for (Count tile = 1; tile < size; ++tile) {
        if (size % tile != 0) continue;
        plain.push_back(outer);
        plain.back().push_back({axis, tile});
      }
    }
  }
  // Loops over layers that a node counts: groups outermost, the layers of one anywhere but inside a window.
  std::vector<GroupLoops> all;
  for (const GroupLoops& loops : plain) {
    GroupLoops counted = loops;
    if (group_axis >= 0) counted.insert(counted.begin(), GroupLoop{group_axis, 1});
    if (head_axis < 0) {
      if (!counted.empty()) all.push_back(std::move(counted));
      continue;
    }
    const bool window = !loops.empty() && std::ranges::find(link.slides, loops.back().axis) != link.slides.end();
    const std::size_t first = group_axis >= 0 ? 1 : 0, last = counted.size() - (window ? 1 : 0);
    for (std::size_t at = first; at <= last; ++at) {
      all.push_back(counted);
      all.back().insert(all.back().begin() + static_cast<std::ptrdiff_t>(at), GroupLoop{head_axis, 1});
    }
  }
  return all;
}

bool rule_allows(const FusionRule& rule, const FusedChain& chain, std::size_t link, const GroupLoops& loops) {
  if (!rule.tiles) return false;
  int deep = 0;
  for (const GroupLoop& loop : loops) {
    if (chain.counts(loop.axis)) continue;
    const std::string& cut = chain.layer(link).dims[static_cast<std::size_t>(chain.place(loop, link).dim)].name;
    if (rule.dims && std::ranges::find(*rule.dims, cut) == rule.dims->end()) return false;
    ++deep;
  }
  return rule.depth == 0 || deep <= rule.depth;
}

}  // namespace pliant::audit
