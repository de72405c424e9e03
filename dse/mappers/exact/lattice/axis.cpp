// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/exact/lattice/axis.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>

#include "flex/mapspace/factors.h"

namespace pliant::exact {

namespace {

bool temporal_imperfect(Factorization rule) { return rule == Factorization::kRuby || rule == Factorization::kRubyT; }

/// The fixed tile of a dim as the legality rule reads it, or 0 when none is fixed.
Count fixed_tile(const Task& task, int level, int d) {
  for (const TileRule::Tile& tile : task.flexibility.levels[level].tile.fixed) {
    if (tile.dim != task.layer.dims[d].name) continue;
    const Count size = task.layer.dims[d].size, wanted = std::min(tile.size, size);
    if (temporal_imperfect(task.factorization)) return wanted;
    Count best = 1;
    for (const Count divisor : divisors(size))
      if (divisor <= wanted) best = divisor;
    return best;
  }
  return 0;
}

/// A lattice over longer axes could not be walked anyway.
constexpr std::size_t kMostStates = 1500;

constexpr Count kAny = std::numeric_limits<Count>::max();

/// The largest tile of one dim that a memory holds, everything else being as small as it can be; 0 when nothing fits.
Count largest_tile(const Problem& problem, int level, TensorSet keeps, int d) {
  if (problem.capacity[level] > 1e300) return kAny;
  // Along an affine rank the distinct values of one term alone are a lower bound.
  double growing = 0, others = 0;
  for (int x = 0; x < problem.tensors; ++x)
    if (keeps >> x & 1U) (problem.is_coupled(x, d) ? growing : others) += 1;
  if (growing == 0) return others > problem.capacity[level] ? 0 : kAny;
  const double most = std::floor((problem.capacity[level] - others) / growing);
  return most >= problem.size[d] ? kAny : static_cast<Count>(std::max(0.0, most));
}

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
bool smallest_bound_will_do(const Task& task, const Problem& problem, const Spatial& spatial, int d) {
  if (problem.windowed[d] != 0) return false;
  if (problem.conventions.compute_reuse == Conventions::ComputeReuse::kOutsideInnermostMemory) return false;
  for (int l = 0; l < problem.levels; ++l) {
    if (fixed_tile(task, l, d) != 0) return false;
    if (task.factorization == Factorization::kRuby && spatial.factor[l][d] > 1) return false;
  }
  return true;
}

using Limits = std::array<Count, kMaxLevels>;  // by memory, from the innermost outwards

}  // namespace

static std::optional<Chain> build_chain(const Task& task, const Problem& problem, const Spatial& spatial,
                                        const Limits& largest, const std::vector<int>& memories,
                                        const std::vector<DimSet>& may_loop, int d) {
  const bool loose = temporal_imperfect(task.factorization);
  const bool dividing = task.factorization == Factorization::kPerfect || task.factorization == Factorization::kRubyT;
  const int stages = static_cast<int>(memories.size());
  Chain axes(stages);
  const bool smallest_only = loose && smallest_bound_will_do(task, problem, spatial, d);
  std::map<Count, std::vector<Count>> known;
  const auto factors_of = [&](Count n) -> const std::vector<Count>& {
    auto [entry, fresh] = known.try_emplace(n);
    if (fresh) entry->second = divisors(n);
    return entry->second;
  };
  {
    // 1. Outwards: every state that can be reached.
    std::vector<Axis::State> reached{{1, task.layer.dims[d].size}};
    int level = problem.levels;
    for (int k = 0; k < stages; ++k) {
      Axis& axis = axes[k];
      // The unrolled loops between the memory inside and this one, innermost first; columns lie inside rows.
      std::vector<Count> unrolled;
      for (int l = level - 1; l > memories[k]; --l) {
        for (const Count bound : {spatial.unrolling[l]->cols[d], spatial.unrolling[l]->rows[d]})
          if (bound > 1) unrolled.push_back(bound);
      }
      const auto cross = [&](Axis::State state) -> std::optional<Axis::State> {
        for (const Count b : unrolled) {
          if (b > state.left || (dividing && state.left % b != 0)) return std::nullopt;
          state = {state.tile * b, (state.left + b - 1) / b};
        }
        return state;
      };
      std::vector<std::optional<Axis::State>> starts;
      std::vector<Axis::State> all;
      for (const Axis::State& state : reached) {
        starts.push_back(cross(state));
        if (!starts.back()) continue;
        all.push_back(*starts.back());
      }
      if (may_loop[k] >> d & 1U) {
        const std::size_t entered = all.size();
        for (std::size_t i = 0; i < entered; ++i) {
          const Axis::State state = all[i];
          if (all.size() > 100 * kMostStates) return std::nullopt;
          if (loose) {
            for (Count b = 2; b <= state.left && state.tile <= largest[k] / b;) {
              const Count left = (state.left + b - 1) / b;
              all.push_back({state.tile * b, left});
              if (left == 1 && smallest_only) break;
              b = smallest_only ? (state.left + left - 2) / (left - 1) : b + 1;
            }
          } else {
            for (const Count b : factors_of(state.left)) all.push_back({state.tile * b, state.left / b});
          }
        }
      }
      std::sort(all.begin(), all.end());
      all.erase(std::unique(all.begin(), all.end()), all.end());
      if (all.size() > kMostStates) return std::nullopt;
      const Count fixed = fixed_tile(task, memories[k], d);
      // The last tile is as many times the units as the dim takes iterations in time.
      Count last = spatial.durations[d];
      for (int l = 0; l < problem.levels; ++l) last *= spatial.factor[l][d];
      for (const Axis::State& state : all) {
        if (state.tile > largest[k]) continue;
        axis.states.push_back(state);
        const Count held = std::min(state.tile, task.layer.dims[d].size);
        axis.may_end.push_back((fixed == 0 || held == fixed) &&
                               (k + 1 < stages || (state.left == 1 && (last == 0 || state.tile == last))));
      }
      axis.from_inside.assign(reached.size(), -1);
      for (std::size_t i = 0; i < reached.size(); ++i) {
        if (!starts[i]) continue;
        const auto at = std::lower_bound(axis.states.begin(), axis.states.end(), *starts[i]);
        if (at != axis.states.end() && *at == *starts[i])
          axis.from_inside[i] = static_cast<int>(at - axis.states.begin());
      }
      reached = axis.states;
      level = memories[k];
      if (reached.empty()) return Chain{};
    }
    // 2. Inwards: drop what cannot be completed.
    std::vector<bool> useful(axes[stages - 1].states.size(), true);
    for (int k = stages - 1; k >= 0; --k) {
      Axis& axis = axes[k];
      const int n = static_cast<int>(axis.states.size());
      const bool loops = (may_loop[k] >> d & 1U) != 0;
      std::vector<bool> ends(n), alive(n);
      for (int i = 0; i < n; ++i) ends[i] = axis.may_end[i] && useful[i];
      const auto leads = [&](int i, int j) {
        if (i == j) return true;
        if (!loops) return false;
        const Axis::State &a = axis.states[i], &b = axis.states[j];
        if (b.tile <= a.tile || b.tile % a.tile != 0) return false;
        const Count factor = b.tile / a.tile;
        return loose ? (factor <= a.left && (a.left + factor - 1) / factor == b.left)
                     : (a.left % factor == 0 && a.left / factor == b.left);
      };
      axis.below.assign(n, {});
      for (int i = 0; i < n; ++i)
        for (int j = i; j < n; ++j)
          if (leads(i, j)) {
            axis.below[j].push_back(i);
            if (ends[j]) alive[i] = true;
          }
      // renumber
      std::vector<int> renumber(n, -1);
      Axis kept;
      for (int i = 0; i < n; ++i) {
        if (!alive[i]) continue;
        renumber[i] = static_cast<int>(kept.states.size());
        kept.states.push_back(axis.states[i]);
        kept.may_end.push_back(ends[i]);
      }
      if (kept.states.empty()) return Chain{};
      kept.below.resize(kept.states.size());
      for (int j = 0; j < n; ++j) {
        if (renumber[j] < 0) continue;
        for (const int i : axis.below[j]) {
          if (renumber[i] < 0) continue;
          kept.below[renumber[j]].push_back(renumber[i]);
        }
      }
      // Edges: steps with nothing in between. Dividing chains are closed by prime steps; loose ones need all pairs.
      const std::size_t count = kept.states.size(), words = (count + 63) / 64;
      std::vector<std::uint64_t> under(count * words), over(count * words);
      for (std::size_t j = 0; j < count; ++j)
        for (const int i : kept.below[j]) {
          if (i == static_cast<int>(j)) continue;
          under[j * words + static_cast<std::size_t>(i) / 64] |= std::uint64_t{1} << (i % 64);
          over[static_cast<std::size_t>(i) * words + j / 64] |= std::uint64_t{1} << (j % 64);
        }
      for (std::size_t j = 0; j < count; ++j) {
        for (const int i : kept.below[j]) {
          bool direct = i != static_cast<int>(j);
          for (std::size_t w = 0; w < words && direct && !loose; ++w)
            direct = (under[j * words + w] & over[static_cast<std::size_t>(i) * words + w]) == 0;
          if (direct) kept.edges.emplace_back(i, static_cast<int>(j));
        }
      }
      kept.from_inside.resize(axis.from_inside.size());
      for (std::size_t i = 0; i < axis.from_inside.size(); ++i)
        kept.from_inside[i] = axis.from_inside[i] < 0 ? -1 : renumber[axis.from_inside[i]];
      useful.assign(kept.from_inside.size(), false);
      for (std::size_t i = 0; i < kept.from_inside.size(); ++i) useful[i] = kept.from_inside[i] >= 0;
      axis = std::move(kept);
      if (k + 1 < stages) {
        // The outer axis was renumbered already; its map from here must follow our renumbering.
        Axis& outer = axes[k + 1];
        std::vector<int> map(axis.states.size(), -1);
        for (int i = 0; i < n; ++i)
          if (renumber[i] >= 0) map[renumber[i]] = outer.from_inside[i];
        outer.from_inside = std::move(map);
      }
    }
    if (axes[0].from_inside[0] < 0) return Chain{};
    axes[0].start = axes[0].from_inside[0];
  }
  return axes;
}

std::optional<Axes> build_axes(const Task& task, const Problem& problem, const Spatial& spatial, const Keeps& keeps,
                               const std::vector<int>& memories, const std::vector<DimSet>& may_loop,
                               AxisCache& cache) {
  Axes axes;
  for (int d = 0; d < problem.dims; ++d) {
    std::vector<Count> key{d, spatial.durations[d]};
    Limits largest{};
    for (std::size_t k = 0; k < memories.size(); ++k) {
      largest[k] = largest_tile(problem, memories[k], keeps[memories[k]], d);
      key.push_back(largest[k]);
    }
    for (int l = 0; l < problem.levels; ++l) {
      if (problem.is_memory[l]) continue;
      key.push_back(spatial.unrolling[l]->rows[d]);
      key.push_back(spatial.unrolling[l]->cols[d]);
    }
    const std::optional<Chain>* chain = nullptr;
    {
      const std::lock_guard lock(cache.mutex);
      if (const auto entry = cache.chains.find(key); entry != cache.chains.end()) chain = entry->second.get();
    }
    if (chain == nullptr) {
      auto fresh = std::make_unique<const std::optional<Chain>>(
          build_chain(task, problem, spatial, largest, memories, may_loop, d));
      const std::lock_guard lock(cache.mutex);
      chain = cache.chains.try_emplace(std::move(key), std::move(fresh)).first->second.get();
    }
    if (!*chain) return std::nullopt;
    if ((*chain)->empty()) return Axes{};
    axes.push_back(&**chain);
  }
  return axes;
}

}  // namespace pliant::exact
