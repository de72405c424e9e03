// SPDX-License-Identifier: Apache-2.0
#include "dse/audit/remainder_tiles.h"

#include <algorithm>
#include <cmath>

#include "core/arithmetic.h"
#include "costmodel/bits.h"

namespace pliant::audit {

RemainderTiles::RemainderTiles(const TileRules& rules, const ChoiceTransfers& transfers, const Kept& kept,
                               Factorization factorization, RemainderTables& tables, double alike)
    : rules_(rules),
      transfers_(transfers),
      p_(transfers.problem()),
      kept_(kept),
      loops_divide_(factorization == Factorization::kRubyS || factorization == Factorization::kPerfect),
      tables_(tables) {
  within_ = p_.conventions.stationarity == Conventions::Stationarity::kWithinLevel;
  displaced_ = p_.conventions.halo == Conventions::Halo::kDisplacement ||
               p_.conventions.halo == Conventions::Halo::kTwoIterations;
  for (int d = 0; d < p_.dims; ++d) {
    axes_[d] = tables_.axis(rules, transfers, d, loops_divide_, alike);
    if (axes_[d] == nullptr) most_nodes_ = kInfinity;
  }
  for (std::size_t k = 0; k <= rules_.memories.size() && most_nodes_ < kInfinity; ++k) {
    double nodes = 1;
    auto& stride = stride_.emplace_back();
    for (int d = 0; d < p_.dims; ++d) {
      stride.push_back(static_cast<std::uint32_t>(std::min(nodes, 4e9)));
      nodes *= static_cast<double>(axes_[d]->groups(k));
    }
    nodes_.push_back(static_cast<std::uint32_t>(std::min(nodes, 4e9)));
    most_nodes_ = std::max(most_nodes_, nodes);
  }
}

/// Calls visit(first, last, g) for all nodes [first, last) next to each other whose tile along a dim is of group g.
template <typename Visit>
void RemainderTiles::along(int d, std::size_t k, const Visit& visit) const {
  const auto count = static_cast<std::uint32_t>(axes_[d]->groups(k));
  for (std::uint32_t first = 0; first < nodes_[k];)
    for (std::uint32_t g = 0; g < count; ++g, first += stride_[k][d]) visit(first, first + stride_[k][d], g);
}

int RemainderTiles::keeper_number(int x, std::size_t k) const {
  int number = 0;
  for (std::size_t m = 0; m <= k; ++m) number += keeps(x, m) ? 1 : 0;
  return number;
}

/// As in NestedTiles: the outermost transfer that may wait in the loops of a memory.
int RemainderTiles::last_waiting(int x, std::size_t k) const {
  const int inside = k == 0 ? 0 : keeper_number(x, k - 1);
  return std::min(inside, static_cast<int>(transfers_.of(x).size()) - 1);
}

double RemainderTiles::weighed(const std::vector<double>& by_measure) const {
  double sum = 0;
  for (std::size_t m = 0; m < weights_.size(); ++m) sum += weights_[m] * by_measure[m];
  return sum;
}

// ---- Words ----

namespace {

/// Units of a fanout that work when its first one does: all of them where it has one loop over the dim, which runs over
/// no more than is left; of two loops more than half.
double units_at_work(const FanoutRules& fanout, int dim, Count factor) {
  const bool both = fanout.may_run(dim, Side::kRows) && fanout.may_run(dim, Side::kCols);
  for (const Count rows : divisors_of(factor))
    if (both && rows > 1 && rows < factor && fanout.holds(rows, factor / rows))
      return static_cast<double>(ceil_div(factor, 2));
  return static_cast<double>(factor);
}

}  // namespace

/// What counts: loops outside the run, copies of the parent (or of the child), and units that a fanout between them
/// does not serve as one. What does not: loops inside the run and all other fanouts. One iteration that counts covers
/// at most the product of the bounds that do not, so there are at least size / product of them. And there are as many
/// as units work that count when all loops outside are at their first iteration: of the outermost fanout each but the
/// last has all of its work, so that all units inside it work.
std::vector<std::vector<double>> RemainderTiles::fewest(const Transfer& t, std::size_t k, bool at_parent) const {
  std::vector<std::vector<double>> by_dim(static_cast<std::size_t>(p_.dims));
  const int here = level(k);
  for (int d = 0; d < p_.dims; ++d) {
    if (p_.is_coupled(t.tensor, d)) continue;
    double counted_inside = 1, uncounted_outside = 1, at_work = 1;
    for (int l = p_.levels - 1; l >= 0; --l) {
      if (p_.is_memory[l] || transfers_.factor(l, d) == 1) continue;
      const bool shares = (p_.sharing[t.tensor] >> l & 1U) != 0;
      const bool counts = at_parent ? l < t.parent || (l < t.child && !shares) : l < t.child;
      const auto factor = static_cast<double>(transfers_.factor(l, d));
      if (!counts && l < here) uncounted_outside *= factor;
      if (!counts || l < here) continue;
      const auto fanout = std::ranges::find(rules_.space.fanouts, l, &FanoutRules::level);
      at_work = (units_at_work(*fanout, d, transfers_.factor(l, d)) - 1) * counted_inside + 1;
      counted_inside *= factor;
    }
    for (const RemainderAxis::Group& group : stage(d, k).groups) {
      const double covered = static_cast<double>(group.most()) * uncounted_outside / counted_inside;
      by_dim[d].push_back(std::max(at_work, std::ceil(p_.size[d] / covered - 1e-9)));
    }
  }
  return by_dim;
}

/// The iterations of each of a rank's dims whose words come together: a child's tile, and what neighbours share. A run
/// has no loop over these dims, so fanouts inside the memory where it ends put tiles side by side. Further out loops
/// may lie between; and where windows slide, between the tiles of a child.
RemainderTables::BlockOfTerm RemainderTiles::blocks(const Problem::AffineRank& rank, const Transfer& t, std::size_t k,
                                                    bool at_parent, int sliding) const {
  RemainderTables::BlockOfTerm blocks;
  const int here = level(k);
  const std::uint32_t sharing = at_parent ? (p_.sharing_equal[t.tensor] | p_.uniting[t.tensor]) & ~below(t.parent) : 0;
  const bool beside = p_.conventions.halo == Conventions::Halo::kOneLoop;  // slides are laid out otherwise
  for (int i = 0; i < rank.terms; ++i) {
    const int d = rank.dim[i];
    RemainderTables::Block& block = blocks[i];
    bool apart = false;  // something lies between the tiles of what is outside
    for (int l = t.child - 1; l >= 0; --l) {
      const Count factor = p_.is_memory[l] ? 1 : transfers_.factor(l, d);
      if (factor == 1) continue;
      const bool shares = (sharing >> l & 1U) != 0;
      if (l > here) block.inside *= factor;
      if (shares) {
        block.shared *= factor;
        block.together &= l > here && !apart;
      } else {
        apart |= l > here;
      }
    }
    if (d == sliding) block.together &= !apart && !beside;
  }
  return blocks;
}

std::vector<std::uint32_t> RemainderTiles::rank_index(const Problem::AffineRank& rank, std::size_t k) const {
  std::vector<std::uint32_t> index(nodes_[k], 0);
  std::uint32_t stride = 1;
  for (int i = 0; i < rank.terms; ++i) {
    along(rank.dim[i], k, [&](std::uint32_t first, std::uint32_t last, std::uint32_t g) {
      for (std::uint32_t n = first; n < last; ++n) index[n] += stride * g;
    });
    stride *= static_cast<std::uint32_t>(axes_[rank.dim[i]]->groups(k));
  }
  return index;
}

/// Every iteration that counts brings each element that its blocks of the other dims have. (Timeloop's memory of
/// displacements may find windows of before: there the tensor comes once in all.)
const RemainderTiles::Table& RemainderTiles::words(int x, std::size_t i, std::size_t k, bool at_parent, int without) {
  auto [entry, fresh] = words_.try_emplace({x, static_cast<int>(i), static_cast<int>(k), at_parent ? 1 : 0, without});
  Table& words = entry->second;
  if (!fresh) return words;
  if (displaced_ && p_.affine_dims[x] != 0) {
    words.assign(nodes_[k], p_.tensor_words[x]);
    return words;
  }
  const Transfer& t = transfers_.of(x)[i];
  words.assign(nodes_[k], p_.simple_words[x]);
  const std::vector<std::vector<double>> times = fewest(t, k, at_parent);
  for (int d = 0; d < p_.dims; ++d) {
    const std::vector<double>& by_group = times[d];
    if (std::ranges::all_of(by_group, [](double n) { return n == 1; })) continue;
    along(d, k, [&](std::uint32_t first, std::uint32_t last, std::uint32_t g) {
      for (std::uint32_t n = first; n < last; ++n) words[n] *= by_group[g];
    });
  }
  for (std::size_t r = 0; r < p_.windows[x].size(); ++r) {
    if (static_cast<int>(r) == without) continue;
    const Problem::AffineRank& rank = p_.windows[x][r];
    const auto of_rank = tables_.words(p_, rank, axes_, k, blocks(rank, t, k, at_parent, -1));
    const std::vector<std::uint32_t> index = rank_index(rank, k);
    for (std::size_t n = 0; n < words.size(); ++n) words[n] *= (*of_rank)[index[n]];
  }
  return words;
}

void RemainderTiles::charge(Table& table, int x, int since, std::size_t k) {
  const auto add = [&](std::size_t i, bool at_parent, double cost, double cost_of_more, double most_first) {
    if (cost == 0 && cost_of_more == 0) return;
    const Table& moved = words(x, i, k, at_parent);
    for (std::size_t n = 0; n < table.size(); ++n)
      table[n] += cost * moved[n] + cost_of_more * std::max(0.0, moved[n] - most_first);
  };
  for (int i = since; i <= last_waiting(x, k); ++i) {
    const Transfer& t = transfers_.of(x)[i];
    add(static_cast<std::size_t>(i), true, weighed(t.served), weighed(t.read_back), t.most_first_parent);
    add(static_cast<std::size_t>(i), false, weighed(t.delivered), weighed(t.fill), t.most_first_child);
  }
}

void RemainderTiles::add_slides(std::vector<Slide>& slides, int x, int since, std::size_t k, int dim) {
  int number = 0;  // of the rank that has the dim
  for (int r = 0; r < static_cast<int>(p_.windows[x].size()); ++r)
    for (int i = 0; i < p_.windows[x][r].terms; ++i)
      if (p_.windows[x][r].dim[i] == dim) number = r;
  const Problem::AffineRank& rank = p_.windows[x][number];
  for (int i = since; i <= last_waiting(x, k); ++i) {
    const Transfer& t = transfers_.of(x)[i];
    for (const bool at_parent : {true, false}) {
      const double cost = weighed(at_parent ? t.served : t.delivered);
      const double cost_of_more = weighed(at_parent ? t.read_back : t.fill);
      if (cost == 0 && cost_of_more == 0) continue;
      slides.push_back({&rank, &words(x, static_cast<std::size_t>(i), k, at_parent, number),
                        tables_.words(p_, rank, axes_, k, blocks(rank, t, k, at_parent, dim)), cost, cost_of_more,
                        at_parent ? t.most_first_parent : t.most_first_child});
    }
  }
}

// ---- Steps of the programme ----

/// The least over all smaller tiles along a dim; groups ascend, so what a loop starts from is done before.
void RemainderTiles::lower_along(Table& table, int dim, std::size_t k) const {
  const std::uint32_t stride = stride_[k][dim];
  const auto count = static_cast<std::uint32_t>(axes_[dim]->groups(k));
  for (std::uint32_t from = 0; from < count; ++from)
    for (const std::uint32_t to : stage(dim, k).loops[from])
      for (std::uint32_t first = 0; first < table.size(); first += stride * count)
        for (std::uint32_t n = 0; n < stride; ++n)
          table[first + to * stride + n] = std::min(table[first + to * stride + n], table[first + from * stride + n]);
}

/// A sliding loop: its words are those of the longer window that it leads to. A slide that may go on costs no more than
/// any longer one does.
void RemainderTiles::slide_along(Table& table, int dim, const std::vector<Slide>& slides, std::size_t k) const {
  const bool goes_on = p_.conventions.halo == Conventions::Halo::kRun && (rules_.movable[k] >> dim & 1U) == 0;
  const std::uint32_t stride = stride_[k][dim];
  const auto count = static_cast<std::uint32_t>(axes_[dim]->groups(k));
  // By slide: the place of a node in the rank's table, how far the next group of the dim is from there, and the words.
  struct Words {
    std::vector<std::uint32_t> index;
    std::uint32_t step;
    std::vector<double> words;
  };
  std::vector<Words> all;
  for (const Slide& slide : slides) {
    Words one{rank_index(*slide.rank, k), 1, *slide.words};
    for (int i = 0; slide.rank->dim[i] != dim; ++i)
      one.step *= static_cast<std::uint32_t>(axes_[slide.rank->dim[i]]->groups(k));
    for (std::size_t n = one.words.size(); goes_on && n-- > 0;)
      if (n / one.step % count + 1 < count) one.words[n] = std::min(one.words[n], one.words[n + one.step]);
    all.push_back(std::move(one));
  }
  Table moved(table.size(), kInfinity);
  for (std::uint32_t from = 0; from < table.size(); ++from) {
    if (table[from] == kInfinity) continue;
    const std::uint32_t g = from / stride % count;
    const auto lead = [&](std::uint32_t to) {
      double cost = table[from];
      for (std::size_t s = 0; s < all.size(); ++s) {
        const double words = (*slides[s].rest)[from] * all[s].words[all[s].index[from] + (to - g) * all[s].step];
        cost += slides[s].cost * words + slides[s].cost_of_more * std::max(0.0, words - slides[s].most_first);
      }
      double& least = moved[from + (to - g) * stride];
      least = std::min(least, cost);
    };
    lead(g);
    for (const std::uint32_t to : stage(dim, k).loops[g])
      if (to != g) lead(to);
  }
  table = std::move(moved);
}

void RemainderTiles::merge(Tables& tables, const Waiting& waiting, Table&& table) const {
  auto [entry, fresh] = tables.try_emplace(waiting, std::move(table));
  if (fresh) return;
  for (std::size_t n = 0; n < table.size(); ++n) entry->second[n] = std::min(entry->second[n], table[n]);
}

void RemainderTiles::pass_moving_loop(const Waiting& waiting, Table table, Tables& tables, int dim, std::size_t k) {
  Waiting after = waiting;
  std::vector<Slide> slides;
  for (int x = 0; x < p_.tensors; ++x) {
    if (waiting[x] == 0 || !p_.is_coupled(x, dim)) continue;
    after[x] = 0;
    if ((p_.sliding[x] >> dim & 1U) != 0 && !displaced_)
      add_slides(slides, x, waiting[x], k, dim);
    else
      charge(table, x, waiting[x], k);
  }
  if (slides.empty())
    lower_along(table, dim, k);
  else
    slide_along(table, dim, slides, k);
  merge(tables, after, std::move(table));
}

void RemainderTiles::evolve(Tables& tables, DimSet dims, std::size_t k) {
  const auto count = [](const Waiting& waiting) {
    return static_cast<int>(std::ranges::count_if(waiting, [](std::int8_t since) { return since > 0; }));
  };
  for (int waiting = p_.tensors; waiting >= 0; --waiting) {
    std::vector<Waiting> states;
    for (const auto& [state, table] : tables)
      if (count(state) == waiting) states.push_back(state);
    for (const Waiting& state : states) {
      DimSet moving = 0;
      for (int x = 0; x < p_.tensors; ++x)
        if (state[x] > 0) moving |= p_.coupled[x];
      Table& table = tables.at(state);
      for_each_bit(dims & ~moving, [&](int d) { lower_along(table, d, k); });
      for_each_bit(dims & moving, [&](int d) { pass_moving_loop(state, table, tables, d, k); });
    }
  }
}

/// To the next stage, one dim after the other.
RemainderTiles::Table RemainderTiles::onward(const Table& table, std::size_t k) const {
  Table from = table;
  std::uint32_t inner = 1;          // nodes of the dims that are there already
  std::uint32_t outer = nodes_[k];  // of this one and those that are not
  for (int d = 0; d < p_.dims; ++d) {
    const auto& onward = stage(d, k).onward;
    const auto count = static_cast<std::uint32_t>(axes_[d]->groups(k));
    const auto after = static_cast<std::uint32_t>(axes_[d]->groups(k + 1));
    outer /= count;
    Table to(static_cast<std::size_t>(inner) * after * outer, kInfinity);
    for (std::uint32_t o = 0; o < outer; ++o)
      for (std::uint32_t g = 0; g < count; ++g)
        for (const std::uint32_t h : onward[g])
          for (std::uint32_t n = 0; n < inner; ++n) {
            double& least = to[(o * after + h) * inner + n];
            least = std::min(least, from[(o * count + g) * inner + n]);
          }
    from = std::move(to);
    inner *= after;
  }
  return from;
}

RemainderTiles::Tables RemainderTiles::leave_memory(Tables tables, std::size_t k) {
  Tables left;
  const bool last = k + 1 == rules_.memories.size();
  for (auto& [state, table] : tables) {
    for (std::size_t n = 0; n < table.size(); ++n)
      if (!fits_[k][n]) table[n] = kInfinity;
    Waiting after = state;
    for (int x = 0; x < p_.tensors; ++x) {
      // What still waits when all loops are placed moves once. Where displacements are remembered, loops outside the
      // parent need not repeat a transfer.
      if (after[x] > 0 && (last || (within_ && keeps(x, k) && !(displaced_ && p_.affine_dims[x] != 0)))) {
        charge(table, x, after[x], k);
        after[x] = 0;
      }
      if (last || !keeps(x, k)) continue;
      const int number = keeper_number(x, k);
      if (after[x] == 0 && number < static_cast<int>(transfers_.of(x).size()))
        after[x] = static_cast<std::int8_t>(number);
    }
    merge(left, after, onward(table, k));
  }
  return left;
}

/// Nodes whose tiles a memory may hold: a dim's tile is the product of all bounds inside, and at most the dim. Of a
/// group the smallest tile is asked, and where it does not fit, larger ones along the first dim do not.
void RemainderTiles::find_fitting(std::size_t k) {
  const std::size_t m = rules_.memories[k];
  auto& fits = fits_.emplace_back(nodes_[k], char{1});
  if (rules_.space.memories[m].holds_everything() && !rules_.space.memories[m].has_fixed_tile) return;
  MemoryRules memory = rules_.space.memories[m];
  std::array<Count, kMaxDims> fixed{}, whole{}, tile{};
  std::array<std::size_t, kMaxDims> at{};
  for (int d = 0; d < p_.dims; ++d) {
    whole[d] = static_cast<Count>(p_.size[d]);
    fixed[d] = rules_.space.fixed_tile(memory, d, whole[d]);
    for (const RemainderAxis::Group& group : stage(d, k).groups)
      if (group.tiles.size() > 1) memory.burst_bits = 0;  // some tile may be a multiple of it
  }
  if (memory.holds_everything() && !memory.has_fixed_tile) return;
  bool full = false;
  for (std::uint32_t n = 0; n < nodes_[k]; ++n) {
    bool stands = true;
    for (int d = 0; d < p_.dims; ++d) {
      const RemainderAxis::Group& group = stage(d, k).groups[at[d]];
      tile[d] = std::min(group.least(), whole[d]);
      stands &= fixed[d] == 0 ||
                std::ranges::any_of(group.tiles, [&](Count one) { return std::min(one, whole[d]) == fixed[d]; });
    }
    full &= at[0] > 0;
    fits[n] = !full && stands && memory.holds(kept_[m], rules_.space.elements, tile) ? 1 : 0;
    full |= stands && fits[n] == 0 && memory.burst_bits == 0;
    for (int d = 0; d < p_.dims; ++d) {
      at[d] = at[d] + 1 == axes_[d]->groups(k) ? 0 : at[d] + 1;
      if (at[d] > 0) break;
    }
  }
}

/// Where only fanouts round, mappings that end at a node have their loops in time in common: all take the same steps.
const std::vector<double>& RemainderTiles::steps() {
  const std::size_t end = rules_.memories.size();
  if (!steps_.empty() || std::ranges::find(nodes_, 0U) != nodes_.end()) return steps_;
  steps_.assign(nodes_[end], p_.cycles_per_mac);
  for (int d = 0; d < p_.dims; ++d) {
    Count units = 1;
    for (int l = 0; l < p_.levels; ++l) units *= transfers_.factor(l, d);
    const Count least = ceil_div(static_cast<Count>(p_.size[d]), units);
    along(d, end, [&](std::uint32_t first, std::uint32_t last, std::uint32_t g) {
      const Count loops = stage(d, end).groups[g].least() / units;
      for (std::uint32_t n = first; n < last; ++n)
        steps_[n] *= static_cast<double>(loops_divide_ ? std::max(least, loops) : least);
    });
  }
  return steps_;
}

std::vector<double> RemainderTiles::least(const std::vector<double>& weights) {
  weights_ = weights;
  if (steps().empty()) return {};
  Table start(nodes_[0], kInfinity);
  start[0] = 0;  // of all dims the smallest tile
  Tables tables;
  tables.emplace(Waiting{}, std::move(start));
  for (std::size_t k = 0; k < rules_.memories.size(); ++k) {
    if (fits_.size() == k) find_fitting(k);
    Tables ended;
    for (const std::vector<DimSet>& sets : rules_.orders[k]) {
      Tables here = tables;
      for (const DimSet dims : sets) evolve(here, dims, k);
      for (auto& [state, table] : here) merge(ended, state, std::move(table));
    }
    tables = leave_memory(std::move(ended), k);
  }
  return tables.empty() ? Table(nodes_.back(), kInfinity) : std::move(tables.begin()->second);
}

}  // namespace pliant::audit
