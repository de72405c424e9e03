// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/infeasible.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "core/partial_sums.h"
#include "dse/mappers/space.h"

namespace pliant {

namespace {

constexpr std::uint64_t kMostSteps = 2'000'000;  ///< of the search for a legal mapping
constexpr Count kHugeArray = Count{1} << 20;

/// Is there a legal mapping? Chains by growing tiles, dims one after the other; dims not placed yet count with their
/// smallest tiles, so a branch ends as soon as those overflow.
class Existence {
 public:
  explicit Existence(const Task& task) : space_(task) {
    for (int d = 0; d < space_.dims && empty_dim_ < 0; ++d) {
      // Perfect chains are legal under every rule and can be few where the others are millions; fixed tiles under
      // ruby-t and ruby need not divide, and only then the imperfect ones are listed.
      list(d, Factorization::kPerfect);
      if (chains_[d].empty() && task.factorization != Factorization::kPerfect) list(d, task.factorization);
      if (chains_[d].empty()) empty_dim_ = d;
    }
  }

  bool exists() {
    if (empty_dim_ >= 0) return false;
    if (some_chains_will_do()) return place_all();
    // A rule may refuse the perfect chains together though each of them is allowed.
    if (place_all()) return true;
    for (int d = 0; d < space_.dims; ++d) {
      chains_[d].clear();
      list(d, space_.task.factorization);
    }
    return place_all();
  }

  /// Each dim with its own smallest tiles, whether the whole is legal or not.
  std::optional<Mapping> smallest() {
    if (empty_dim_ >= 0) return std::nullopt;
    for (int d = 0; d < space_.dims; ++d) candidate_.chain[d] = &chains_[d].front();
    for (const int l : space_.memories) {
      candidate_.keeps[l] = space_.least_kept(l);
      const auto orders = space_.orders(l, space_.loops_at(l, candidate_));
      for (int d = 0; d < space_.dims; ++d)
        candidate_.order[l][static_cast<std::size_t>(d)] = static_cast<std::uint8_t>(d);
      if (!orders.empty()) candidate_.order[l] = orders.front();
    }
    return space_.mapping(candidate_);
  }

 private:
  bool some_chains_will_do() const {
    if (space_.task.factorization == Factorization::kPerfect) return true;
    for (int d = 0; d < space_.dims; ++d)
      if (!space_.rules.allows_smaller_tiles(d)) return false;
    return true;
  }

  bool place_all() {
    for (int d = 0; d < space_.dims; ++d) {
      smallest_[d] = chains_[d].front();
      for (const Chain& chain : chains_[d])
        for (int l = 0; l < space_.levels; ++l) smallest_[d].tile[l] = std::min(smallest_[d].tile[l], chain.tile[l]);
      smallest_[d].rows.fill(1);
      smallest_[d].cols.fill(1);
      candidate_.chain[d] = &smallest_[d];
    }
    steps_ = 0;
    return place(0);
  }

  /// Chains with growing tiles, so many at most.
  void list(int d, Factorization factorization) {
    constexpr std::size_t kMostChains = 20'000;
    for_each_chain(space_.size(d), space_.slots(d), factorization, [&](std::span<const Count> bounds) {
      const Chain chain = space_.make_chain(d, bounds);
      if (space_.tiles_allowed(d, chain)) chains_[d].push_back(chain);
      return chains_[d].size() < kMostChains;
    });
    const auto weight = [&](const Chain& chain) {
      double tiles = 0, units = 0;
      for (const int l : space_.memories) tiles += static_cast<double>(chain.tile[l]);
      for (const int l : space_.fanouts) units += static_cast<double>(chain.bound[l]);
      return std::pair(tiles, units);
    };
    std::stable_sort(chains_[d].begin(), chains_[d].end(),
                     [&](const Chain& a, const Chain& b) { return weight(a) < weight(b); });
  }

  bool may_fit() const {
    return space_.fanouts_allowed(candidate_, space_.dims) && std::ranges::none_of(space_.memories, [&](int l) {
             return space_.memory_overflows(l, candidate_, space_.least_kept(l), space_.dims);
           });
  }

  bool place(int d) {
    if (++steps_ > kMostSteps || !may_fit()) return false;
    if (d == space_.dims)
      return std::all_of(space_.memories.begin(), space_.memories.end(), [&](int l) {
        return space_.memory_allowed(l, candidate_, space_.least_kept(l)) &&
               (space_.any_order(l) || !space_.orders(l, space_.loops_at(l, candidate_)).empty());
      });
    for (const Chain& chain : chains_[d]) {
      candidate_.chain[static_cast<std::size_t>(d)] = &chain;
      if (place(d + 1)) return true;
    }
    candidate_.chain[static_cast<std::size_t>(d)] = &smallest_[d];
    return false;
  }

  Space space_;
  std::array<std::vector<Chain>, kMaxDims> chains_;
  std::array<Chain, kMaxDims> smallest_;
  Candidate candidate_;
  int empty_dim_ = -1;
  std::uint64_t steps_ = 0;
};

bool exists(const Task& task) { return Existence(task).exists(); }

struct Liftable {
  Limit limit;
  std::function<void(Task&)> lift;
};

std::vector<Liftable> limits_of(const Task& task) {
  std::vector<Liftable> all;
  const auto add = [&](const std::string& level, Violation::Rule rule, std::string text,
                       std::function<void(Task&)> lift) {
    all.push_back({{level, std::string(to_string(rule)), std::move(text)}, std::move(lift)});
  };
  for (std::size_t l = 0; l < task.accelerator.levels.size(); ++l) {
    const Level& level = task.accelerator.levels[l];
    if (level.is_memory() && level.memory().capacity_words) {
      const Memory& memory = level.memory();
      add(level.name, Violation::Rule::kCapacity,
          fmt::format("{} holds {} words{}", level.name, *memory.capacity_words / std::max(1, memory.buffers),
                      memory.buffers > 1 ? fmt::format(" at a time ({} buffers of them)", memory.buffers) : ""),
          [l](Task& t) { t.accelerator.levels[l].memory().capacity_words.reset(); });
    }
    if (level.is_fanout()) {
      const Fanout& fanout = level.fanout();
      const bool any_shape =
          l < task.flexibility.levels.size() && task.flexibility.levels[l].shape.kind != ShapeRule::Kind::kFixed;
      add(level.name, Violation::Rule::kFanout,
          any_shape ? fmt::format("{} has {} units", level.name, fanout.units())
                    : fmt::format("{} has {} x {} units", level.name, fanout.rows, fanout.cols),
          [l](Task& t) {
            t.accelerator.levels[l].fanout().rows = kHugeArray;
            t.accelerator.levels[l].fanout().cols = kHugeArray;
          });
    }
    if (l >= task.flexibility.levels.size()) continue;
    const LevelFlexibility& rules = task.flexibility.levels[l];
    if (level.is_memory()) {
      if (!rules.tile.fixed.empty()) {
        std::string tiles;
        for (const TileRule::Tile& tile : rules.tile.fixed)
          tiles += fmt::format("{}{}={}", tiles.empty() ? "" : ", ", tile.dim, tile.size);
        add(level.name, Violation::Rule::kTile, fmt::format("tiles at {} are fixed: {}", level.name, tiles),
            [l](Task& t) { t.flexibility.levels[l].tile.fixed.clear(); });
      }
      if (rules.tile.partition)
        add(level.name, Violation::Rule::kTile,
            fmt::format("{} is partitioned {}:{}:{} between inputs, weights and outputs", level.name,
                        (*rules.tile.partition)[0], (*rules.tile.partition)[1], (*rules.tile.partition)[2]),
            [l](Task& t) { t.flexibility.levels[l].tile.partition.reset(); });
      if (rules.tile.burst > 1)
        add(level.name, Violation::Rule::kTile,
            fmt::format("{} holds tiles of whole bursts of {} words", level.name, rules.tile.burst),
            [l](Task& t) { t.flexibility.levels[l].tile.burst = 1; });
      if (rules.loops.dims) {
        std::string dims;
        for (const std::string& name : *rules.loops.dims) dims += (dims.empty() ? "" : ", ") + name;
        add(level.name, Violation::Rule::kLoops,
            fmt::format("only {} may loop at {}", dims.empty() ? "nothing" : dims, level.name),
            [l](Task& t) { t.flexibility.levels[l].loops.dims.reset(); });
      }
      if (!rules.order.allowed.empty())
        add(level.name, Violation::Rule::kOrder, fmt::format("{} runs its loops in given orders", level.name),
            [l](Task& t) { t.flexibility.levels[l].order.allowed.clear(); });
    } else if (level.is_fanout()) {
      if (!rules.parallel.assignments.empty() || rules.parallel.max_dims_per_side > 0)
        add(level.name, Violation::Rule::kParallel, fmt::format("{} takes given dims only", level.name),
            [l](Task& t) { t.flexibility.levels[l].parallel = {}; });
    }
  }
  return all;
}

}  // namespace

std::optional<Limit> overlapping_outputs(const Task& task) {
  const Accelerator& accelerator = task.accelerator;
  if (takes_partial_sums_everywhere(accelerator)) return std::nullopt;
  // One window of every rank, over all iterations of its dims.
  Layer overlapping = task.layer;
  const int output = overlapping.output();
  DimSet windows = 0;
  for (const Rank& rank : overlapping.tensors[static_cast<std::size_t>(output)].ranks)
    for (const Term& term : rank.terms)
      if (rank.terms.size() > 1) windows |= DimSet{1} << term.dim;
  for (std::size_t d = 0; d < overlapping.dims.size(); ++d)
    if ((windows >> d & 1U) == 0) overlapping.dims[d].size = 1;
  const Count elements = overlapping.tensor_words(output);
  if (windows == 0 || elements == 1) return std::nullopt;
  constexpr auto kOutputs = static_cast<std::size_t>(Role::kOutput);
  bool outermost = true;
  for (std::size_t l = 0; l < accelerator.levels.size(); ++l) {
    const Level& level = accelerator.levels[l];
    if (!level.is_memory() || !level.memory().may_keep[kOutputs]) continue;
    const bool must_keep = std::exchange(outermost, false) || !level.memory().may_bypass[kOutputs];
    if (takes_partial_sums(level.memory()) || !must_keep) continue;
    bool fits = false;
    for (std::size_t inside = l + 1; inside < accelerator.levels.size(); ++inside) {
      if (!accelerator.levels[inside].is_memory()) continue;
      const Memory& memory = accelerator.levels[inside].memory();
      const double needed = static_cast<double>(elements) *
                            accelerator.held_bits(static_cast<int>(inside), task.layer, output) / memory.word_bits;
      fits |= memory.may_keep[kOutputs] && (!memory.capacity_words || memory.resident[kOutputs] ||
                                            static_cast<double>(*memory.capacity_words / memory.buffers) >= needed);
    }
    if (!fits)
      return Limit{level.name, std::string(to_string(Violation::Rule::kKeep)),
                   fmt::format("{} takes no partial sums, and no memory inside it holds the {} outputs whose windows "
                               "overlap",
                               level.name, elements)};
  }
  return std::nullopt;
}

std::optional<Infeasibility> why_nothing_fits(const Task& task) {
  Infeasibility why;
  if (const auto limit = overlapping_outputs(task)) {
    why.conflict.push_back(*limit);
    return why;
  }
  if (exists(task)) return std::nullopt;
  Existence space(task);
  if (why.nearest = space.smallest(); why.nearest)
    why.nearest_miss = check_legality(task.layer, task.accelerator, task.flexibility, task.factorization, *why.nearest);
  // Deletion filter: lift one limit after the other; what stays impossible without it did not need it.
  Task reduced = task;
  for (const Liftable& one : limits_of(task)) {
    Task without = reduced;
    one.lift(without);
    if (exists(without)) {
      why.conflict.push_back(one.limit);
    } else {
      reduced = std::move(without);
    }
  }
  return why;
}

}  // namespace pliant
