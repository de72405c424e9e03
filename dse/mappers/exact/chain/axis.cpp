// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/exact/chain/axis.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <optional>

#include "costmodel/bits.h"
#include "dse/mappers/exact/task/facts.h"
#include "dse/mappers/exact/task/ledger.h"
#include "dse/mappers/exact/task/resolved_task.h"
#include "flex/mapspace/factors.h"

namespace pliant::exact {

/// Under Ruby and Ruby-T: of temporal bounds that leave the same iterations outside, is the smallest as good as any?
///
/// Take a loop of bound b that finds n iterations and leaves n' = ceil(n / b): n' - 1 rounds of b and a last one of
/// n - (n' - 1) * b. A smaller b with the same n' has shorter rounds and a longer last one, and the loops inside and
/// outside keep what they find. Words along a dim without windows come from how many combinations of the counted loops
/// of the dim occur, and so do steps. The counted ones are all temporal loops outside the node and some fanouts.
///
/// - A dim that is not unrolled: the combinations outside a node are the tiles there, ceil(size / tile). The loop at
///   hand leaves that number alone at its own node and, with n', at those outside it.
/// - Ruby-T: unrolled bounds divide what they find, so every unit has work in every round. Inside the node fanouts
///   multiply. Outside it a fanout that counts as one hides the short last round behind a full one: the loop counts b
///   times for what is outside, and a smaller b counts no more often.
/// - Ruby: no. Where the last round has a single tile, nothing hides how short it is: with 9 = 4 + 4 + 1 on two units
///   the last round takes 1 step, with 9 = 3 + 3 + 3 it takes 3. The wider bound may be better.
///
/// Nor where operands stay at the compute units (quickflow): the innermost loops count there and those around them do
/// not, so a last round of one counts a short one inside it, as with Ruby's fanouts.
///
/// Nor where fills of a systolic array hide behind steps: nothing waits for the last tile, so it had better be the
/// short one, and as short as can be.
///
/// Nor where something else than these combinations counts: shares of a box, which are dealt by tiles; drains of
/// `parent-writes`, which a ratio of two counts gives, so that fewer words served may be more drained; and remembered
/// displacements, which the model counts by another rule as soon as any dim leaves a remainder.
bool smallest_bound_will_do(const MapSpaceRules& rules, const Problem& problem, const Spatial& spatial, int d) {
  // Demands are rounded after divisions whose error differs with the steps: a wider bound may save a cycle there.
  if (rounds_demands(problem)) return false;
  if (problem.windowed[d] != 0 || !rules.allows_smaller_tiles(d)) return false;
  if (problem.conventions.compute_reuse == Conventions::ComputeReuse::kOutsideInnermostMemory) return false;
  if (problem.conventions.drain == Conventions::Drain::kParentWrites) return false;
  if (deals_boxes(problem) || displacement_walks(problem)) return false;
  if (std::ranges::any_of(problem.ports, &Port::once)) return false;
  for (int l = 0; l < problem.levels; ++l)
    if (rules.factorization == Factorization::kRuby && spatial.factor[l][d] > 1) return false;
  return true;
}

namespace {

/// A lattice over longer axes could not be walked anyway.
constexpr std::size_t kMostStates = 1500;

constexpr Count kAny = std::numeric_limits<Count>::max();

/// The largest tile of one dim that a memory holds, everything else being as small as it can be; 0 when nothing fits.
Count largest_tile(const Problem& problem, const MemoryRules& memory, TensorSet keeps, int d) {
  if (!memory.is_limited()) return kAny;
  // Along an affine rank the distinct values of one term alone are a lower bound.
  keeps &= ~memory.resident;
  double growing = 0, others = 0;
  for (int x = 0; x < problem.tensors; ++x)
    if (contains(keeps, x))
      (problem.is_coupled(x, d) ? growing : others) += memory.element[static_cast<std::size_t>(x)];
  if (growing == 0) return others > memory.capacity ? 0 : kAny;
  const double most = std::floor((memory.capacity - others) / growing);
  return most >= problem.size[d] ? kAny : static_cast<Count>(std::max(0.0, most));
}

/// With perfect factors tiles are divisors of the dim: the largest that is no larger. Limits between two of them are
/// the same limit, and share a chain.
Count largest_divisor(const std::vector<Count>& known, Count limit) {
  if (limit == kAny) return limit;
  const auto above = std::upper_bound(known.begin(), known.end(), limit);
  return above == known.begin() ? 0 : *(above - 1);
}

const std::vector<Count>& divisors_of(AxisCache& cache, int d, Count size) {
  const std::lock_guard lock(cache.mutex);
  std::vector<Count>& known = cache.divisors[static_cast<std::size_t>(d)];
  if (known.empty()) known = divisors(size);
  return known;
}

using Limits = LargestTiles;
using State = Axis::State;

/// The axes of one dim: outwards every state that can be reached, then inwards without those that lead nowhere.
class ChainBuilder {
 public:
  /// `tiles`: with perfect factors the divisors of the dim.
  ChainBuilder(const MapSpaceRules& rules, const Problem& problem, const Spatial& spatial, const Limits& largest, int d,
               std::span<const Count> tiles)
      : rules_(rules),
        problem_(problem),
        spatial_(spatial),
        largest_(largest),
        d_(d),
        tiles_(tiles),
        size_(rules.layer.dims[d].size),
        stages_(static_cast<int>(rules.memories.size())),
        loose_(may_be_imperfect(rules.factorization, false)),
        dividing_(!may_be_imperfect(rules.factorization, true)),
        smallest_only_(loose_ && sure<"L9.6">(smallest_bound_will_do(rules, problem, spatial, d))),
        axes_(stages_) {}

  std::optional<Chain> build() {
    std::vector<State> reached{{1, size_}};
    for (int k = 0; k < stages_; ++k) {
      if (!reach(k, reached)) return std::nullopt;
      reached = axes_[k].states;
      if (reached.empty()) return Chain{};
    }
    std::vector<bool> useful(axes_[stages_ - 1].states.size(), true);
    for (int k = stages_ - 1; k >= 0; --k)
      if (!drop_dead_ends(k, useful)) return Chain{};
    if (axes_[0].from_inside[0] < 0) return Chain{};
    axes_[0].start = axes_[0].from_inside[0];
    return std::move(axes_);
  }

 private:
  const MemoryRules& memory(int k) const { return rules_.memories[static_cast<std::size_t>(stages_ - 1 - k)]; }
  bool loops_at(int k) const { return contains(memory(k).may_loop, d_); }

  /// The unrolled loops between memory k and the one inside it, innermost first; columns lie inside rows.
  std::vector<Count> unrolled_below(int k) const {
    std::vector<Count> unrolled;
    const int inside = k == 0 ? problem_.levels : memory(k - 1).level;
    for (int l = inside - 1; l > memory(k).level; --l)
      for (const Count bound : {spatial_.unrolling[l]->cols[d_], spatial_.unrolling[l]->rows[d_]})
        if (bound > 1) unrolled.push_back(bound);
    return unrolled;
  }

  /// The states of memory k, from those of the memory inside it. False when there are too many.
  bool reach(int k, const std::vector<State>& inside) {
    const std::vector<Count> unrolled = unrolled_below(k);
    const auto cross = [&](State state) -> std::optional<State> {
      for (const Count b : unrolled) {
        if (b > state.left || (dividing_ && state.left % b != 0)) return std::nullopt;
        state = {state.tile * b, ceil_div(state.left, b)};
      }
      return state;
    };
    std::vector<std::optional<State>> starts;
    std::vector<State> all;
    for (const State& state : inside) {
      starts.push_back(cross(state));
      if (starts.back()) all.push_back(*starts.back());
    }
    if (loops_at(k) && !(tiles_.empty() ? add_loops(k, all) : take_multiples(k, all))) return false;
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    if (all.size() > kMostStates) return false;
    keep_states(k, all);
    Axis& axis = axes_[k];
    axis.from_inside.assign(inside.size(), -1);
    for (std::size_t i = 0; i < inside.size(); ++i) {
      if (!starts[i]) continue;
      const auto at = std::lower_bound(axis.states.begin(), axis.states.end(), *starts[i]);
      if (at != axis.states.end() && *at == *starts[i])
        axis.from_inside[i] = static_cast<int>(at - axis.states.begin());
    }
    return true;
  }

  /// The same with perfect factors: every tile that is a multiple of one that was reached.
  bool take_multiples(int k, std::vector<State>& all) const {
    const std::vector<State> entered = std::move(all);
    all.clear();
    all.reserve(tiles_.size());
    for (const Count tile : tiles_) {
      if (tile > largest_[k]) break;
      if (std::ranges::any_of(entered, [tile](const State& state) { return tile % state.tile == 0; }))
        all.push_back({tile, size_ / tile});
    }
    return true;
  }

  /// What one loop at memory k makes of each state.
  bool add_loops(int k, std::vector<State>& all) {
    const std::size_t entered = all.size();
    for (std::size_t i = 0; i < entered; ++i) {
      const State state = all[i];
      if (all.size() > 100 * kMostStates) return false;
      if (!loose_) {
        for (const Count b : factors_of(state.left)) all.push_back({state.tile * b, state.left / b});
        continue;
      }
      for (Count b = 2; b <= state.left && state.tile <= largest_[k] / b;) {
        const Count left = ceil_div(state.left, b);
        all.push_back({state.tile * b, left});
        if (left == 1 && smallest_only_) break;
        b = smallest_only_ ? ceil_div(state.left, left - 1) : b + 1;
      }
    }
    return true;
  }

  const std::vector<Count>& factors_of(Count n) {
    auto [entry, fresh] = known_.try_emplace(n);
    if (fresh) entry->second = divisors(n);
    return entry->second;
  }

  void keep_states(int k, const std::vector<State>& all) {
    const Count fixed = rules_.fixed_tile(memory(k), d_, size_);
    // The last tile is as many times the units as the dim takes iterations in time.
    Count last = spatial_.durations[d_];
    for (int l = 0; l < problem_.levels; ++l) last *= spatial_.factor[l][d_];
    for (const State& state : all) {
      if (state.tile > largest_[k]) continue;
      axes_[k].states.push_back(state);
      const Count held = std::min(state.tile, size_);
      axes_[k].may_end.push_back((fixed == 0 || held == fixed) &&
                                 (k + 1 < stages_ || (state.left == 1 && (last == 0 || state.tile == last))));
    }
  }

  /// Is there a loop of memory k from state a to state b?
  bool leads(const State& a, const State& b) const {
    if (b.tile <= a.tile || b.tile % a.tile != 0) return false;
    if (!tiles_.empty()) return true;
    const Count factor = b.tile / a.tile;
    return loose_ ? (factor <= a.left && ceil_div(a.left, factor) == b.left)
                  : (a.left % factor == 0 && a.left / factor == b.left);
  }

  /// Keeps of memory k what leads to a state that may end there and is `useful` to the next memory out. On return
  /// `useful` says the same of the states inside. False when nothing is left.
  bool drop_dead_ends(int k, std::vector<bool>& useful) {
    const Axis& axis = axes_[k];
    const int n = static_cast<int>(axis.states.size());
    Pairs leads_to(n);
    std::vector<char> ends(n), alive(n);
    const bool loops = loops_at(k);
    for (int i = 0; i < n; ++i) ends[i] = axis.may_end[i] && useful[i] ? 1 : 0;
    for (int i = 0; i < n; ++i) {
      const State from = axis.states[i];
      for (int j = i; j < (loops ? n : i + 1); ++j)
        if (i == j || leads(from, axis.states[j])) {
          leads_to.add(i, j);
          alive[i] |= ends[j];
        }
    }
    std::vector<int> renumber(n, -1);
    Axis kept;
    for (int i = 0; i < n; ++i) {
      if (alive[i] == 0) continue;
      renumber[i] = static_cast<int>(kept.states.size());
      kept.states.push_back(axis.states[i]);
      kept.left.push_back(static_cast<double>(axis.states[i].left));
      kept.may_end.push_back(ends[i] != 0);
    }
    if (kept.states.empty()) return false;
    add_steps(leads_to, renumber, kept);
    useful.clear();
    for (const int to : axis.from_inside) {
      kept.from_inside.push_back(to < 0 ? -1 : renumber[to]);
      useful.push_back(kept.from_inside.back() >= 0);
    }
    axes_[k] = std::move(kept);
    if (k + 1 < stages_) {
      // The outer axis was renumbered already; its map from here must follow our renumbering.
      std::vector<int> map(axes_[k].states.size(), -1);
      for (int i = 0; i < n; ++i)
        if (renumber[i] >= 0) map[renumber[i]] = axes_[k + 1].from_inside[i];
      axes_[k + 1].from_inside = std::move(map);
    }
    return true;
  }

  /// Pairs of states as rows of bits.
  struct Pairs {
    explicit Pairs(int states)
        : words((static_cast<std::size_t>(states) + 63) / 64),
          under(static_cast<std::size_t>(states) * words),
          over(under.size()) {}
    void add(int from, int to) {
      row(under, to)[from / 64] |= std::uint64_t{1} << (from % 64);
      row(over, from)[to / 64] |= std::uint64_t{1} << (to % 64);
    }
    std::uint64_t* row(std::vector<std::uint64_t>& rows, int state) {
      return rows.data() + static_cast<std::size_t>(state) * words;
    }
    std::size_t words;
    std::vector<std::uint64_t> under, over;  // by state: those that lead to it, and those it leads to; itself included
  };

  /// The pairs among what is kept, and steps with nothing in between. Dividing chains are closed by prime steps; loose
  /// ones need all pairs.
  void add_steps(Pairs& pairs, const std::vector<int>& renumber, Axis& kept) const {
    const int n = static_cast<int>(renumber.size());
    std::vector<std::uint64_t> alive(pairs.words);
    for (int i = 0; i < n; ++i)
      if (renumber[i] >= 0) alive[static_cast<std::size_t>(i) / 64] |= std::uint64_t{1} << (i % 64);
    kept.first_leading.reserve(kept.states.size() + 1);
    for (int j = 0; j < n; ++j) {
      if (renumber[j] < 0) continue;
      kept.first_leading.push_back(static_cast<int>(kept.leading.size()));
      const std::uint64_t* const under = pairs.row(pairs.under, j);
      for (std::size_t w = 0; w < pairs.words; ++w)
        for (std::uint64_t rest = under[w] & alive[w]; rest != 0; rest &= rest - 1) {
          const int i = static_cast<int>(64 * w) + std::countr_zero(rest);
          kept.leading.push_back(renumber[i]);
          if (i == j) continue;
          const std::uint64_t* const over = pairs.row(pairs.over, i);
          bool direct = true;
          for (std::size_t v = 0; v < pairs.words && direct && !loose_; ++v) {
            std::uint64_t between = under[v] & over[v] & alive[v];
            for (const int end : {i, j})
              if (static_cast<std::size_t>(end) / 64 == v) between &= ~(std::uint64_t{1} << (end % 64));
            direct = between == 0;
          }
          if (direct) kept.edges.emplace_back(renumber[i], renumber[j]);
        }
    }
    kept.first_leading.push_back(static_cast<int>(kept.leading.size()));
  }

  const MapSpaceRules& rules_;
  const Problem& problem_;
  const Spatial& spatial_;
  const Limits& largest_;
  const int d_;
  const std::span<const Count> tiles_;
  const Count size_;
  const int stages_;
  const bool loose_;     // temporal loops may leave a remainder
  const bool dividing_;  // unrolled loops may not
  const bool smallest_only_;
  Chain axes_;
  std::map<Count, std::vector<Count>> known_;  // divisors
};

}  // namespace

LargestTiles largest_tiles(const MapSpaceRules& rules, const Problem& problem, const Keeps& keeps, int d) {
  LargestTiles largest{};
  for (std::size_t k = 0; k < rules.memories.size(); ++k) {
    const MemoryRules& memory = rules.memories[rules.memories.size() - 1 - k];
    largest[k] = largest_tile(problem, memory, keeps[memory.level], d);
  }
  return largest;
}

std::optional<Axes> build_axes(const MapSpaceRules& rules, const Problem& problem, const Spatial& spatial,
                               const Keeps& keeps, AxisCache& cache) {
  Axes axes;
  const bool perfect = rules.factorization == Factorization::kPerfect;
  std::vector<Count> key;
  for (int d = 0; d < problem.dims; ++d) {
    key.assign({d, spatial.durations[d]});
    Limits largest = largest_tiles(rules, problem, keeps, d);
    const std::vector<Count>* const tiles = perfect ? &divisors_of(cache, d, rules.layer.dims[d].size) : nullptr;
    for (std::size_t k = 0; k < rules.memories.size(); ++k) {
      if (perfect) largest[k] = largest_divisor(*tiles, largest[k]);
      key.push_back(largest[k]);
    }
    for (int l = 0; l < problem.levels; ++l) {
      if (problem.is_memory[l]) continue;
      key.push_back(spatial.unrolling[l]->rows[d]);
      key.push_back(spatial.unrolling[l]->cols[d]);
    }
    const std::optional<Chain>& chain = cache.chain(key, [&] {
      const std::span<const Count> all = perfect ? std::span<const Count>(*tiles) : std::span<const Count>();
      return ChainBuilder(rules, problem, spatial, largest, d, all).build();
    });
    if (!chain) return std::nullopt;
    if (chain->empty()) return Axes{};
    axes.push_back(&*chain);
  }
  return axes;
}

}  // namespace pliant::exact
