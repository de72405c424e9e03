// SPDX-License-Identifier: Apache-2.0
// All legal mappings of a small task by choice: spatial factors and kept tensors. What bounds on a choice are compared
// with.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/arithmetic.h"
#include "core/input/load.h"
#include "costmodel/report.h"
#include "dse/mappers/exact/choices/spatial_choices.h"
#include "dse/mappers/exact/task/resolved_task.h"
#include "dse/mappers/space.h"
#include "flex/mapspace/legal_walk.h"
#include "support/campaign_cases.h"
#include "support/random_cases.h"

namespace pliant::exact {

/// Sums of the same products in different orders.
inline constexpr double kSame = 1e-9;

inline bool at_most(double bound, double truth) { return bound <= truth + kSame * std::max(1.0, std::abs(truth)); }

/// What one mapping really costs, part by part.
struct Priced {
  double energy = 0;  // without leakage
  double value = 0, cycles = 0, steps = 0;
  bool unfinished = false;                       // partial sums come to a memory that takes none
  std::vector<double> load;                      // by port
  std::map<std::array<int, 3>, Transfer> words;  // by tensor, parent, child
  Durations durations{};                         // iterations in time, by dim
  Mapping mapping;
};

/// One choice and all its mappings.
struct Choice {
  Spatial spatial;
  Keeps keeps{};
  std::vector<Priced> mappings;

  double least(const std::function<double(const Priced&)>& part) const {
    double best = kInfinity;
    for (const Priced& mapping : mappings) best = std::min(best, part(mapping));
    return best;
  }
};

/// All legal mappings of a task by choice; stops where there are too many.
class Truth {
 public:
  static constexpr std::size_t kMostMappings = 400;

  explicit Truth(const Task& of) : task(of), problem(task.layer, task.accelerator), space_(task) {
    LegalWalk<Truth> walk(space_, *this);
    complete = walk.run() && seen_ > 0;
  }

  // The walk's questions.
  bool go_on() { return ++looked_ < 100 * kMostMappings; }
  Walk chains_placed(const Candidate&, double) { return Walk::kInto; }
  void kept(int, TensorSet) {}
  void ordered(int, const LoopOrder&) {}
  bool visit(const Candidate& candidate) {
    const Mapping mapping = space_.mapping(candidate);
    Priced one = priced(mapping);
    if (one.unfinished) return true;  // illegal: the walk does not ask where partial sums go
    choice_of(mapping).mappings.push_back(std::move(one));
    return ++seen_ <= kMostMappings;
  }

  const Task task;
  const Problem problem;
  std::deque<Choice> choices;
  bool complete = false;

 private:
  Choice& choice_of(const Mapping& mapping) {
    std::vector<Count> key;
    std::array<Unrolling, kMaxLevels> unrollings{};
    for (int l = 0; l < problem.levels; ++l) {
      key.insert(key.end(),
                 {-1, static_cast<Count>(mapping.levels[static_cast<std::size_t>(l)].keeps)});  // a new level
      unrollings[static_cast<std::size_t>(l)].rows.fill(1);
      unrollings[static_cast<std::size_t>(l)].cols.fill(1);
      for (const SpatialLoop& loop : mapping.levels[static_cast<std::size_t>(l)].spatial) {
        Unrolling& at = unrollings[static_cast<std::size_t>(l)];
        (loop.side == Side::kRows ? at.rows : at.cols)[static_cast<std::size_t>(loop.dim)] =
            static_cast<std::int32_t>(loop.bound);
        key.insert(key.end(), {l, loop.dim, loop.bound, static_cast<Count>(loop.side)});
      }
    }
    const auto [entry, fresh] = known_.try_emplace(key, nullptr);
    if (!fresh) return *entry->second;
    choices.emplace_back();
    Choice& choice = choices.back();
    for (int l = 0; l < problem.levels; ++l) {
      choice.keeps[static_cast<std::size_t>(l)] = mapping.levels[static_cast<std::size_t>(l)].keeps;
      if (problem.is_memory[static_cast<std::size_t>(l)]) continue;
      storage_.push_back(unrollings[static_cast<std::size_t>(l)]);
      choice.spatial.unrolling[static_cast<std::size_t>(l)] = &storage_.back();
      for (int d = 0; d < problem.dims; ++d)
        choice.spatial.factor[static_cast<std::size_t>(l)][static_cast<std::size_t>(d)] = storage_.back().factor(d);
    }
    entry->second = &choice;
    return choice;
  }

  Priced priced(const Mapping& mapping) const {
    Priced result;
    result.mapping = mapping;
    std::fill_n(result.durations.begin(), problem.dims, Count{1});
    for (const LevelMapping& level : mapping.levels)
      for (const Loop& loop : level.temporal) result.durations[static_cast<std::size_t>(loop.dim)] *= loop.bound;
    Nest nest(problem);
    nest.load(flatten(problem, mapping));
    const Totals totals = nest.price();
    result.value = task_value(task, totals);
    result.unfinished = totals.unfinished;
    result.cycles = totals.cycles;
    result.steps = totals.steps;
    result.energy = totals.energy_pj - problem.leak_pj_per_cycle_total * totals.cycles;
    for (const Transfer& words : nest.transfers()) result.words[{words.tensor, words.parent, words.child}] = words;
    const CostReport report = price(task.layer, task.accelerator, mapping);
    for (const Port& port : problem.ports) {
      if (port.stationary >= 0) {
        const double fill = nest.fill_cycles(port);
        result.load.push_back(fill > 0 ? totals.steps + fill : 0);
        continue;
      }
      double words = 0;
      for (std::size_t x = 0; x < task.layer.tensors.size(); ++x) {
        const TensorCost& tensor = report.levels[static_cast<std::size_t>(port.level)].tensors[x];
        if (port.reads >> x & 1U) words += tensor.words_read;
        if (port.writes >> x & 1U) words += tensor.words_written;
      }
      result.load.push_back(words / (port.bandwidth * nest.instances_peak(port.level)));
    }
    return result;
  }

  Space space_;
  std::map<std::vector<Count>, Choice*> known_;
  std::deque<Unrolling> storage_;
  std::size_t seen_ = 0, looked_ = 0;
};

/// A task made for one lemma.
inline Task task_of(const std::string& accelerator, const std::string& einsum) {
  Task task;
  task.accelerator = parse_accelerator_text(Library(PLIANT_SOURCE_DIR "/configs"),
                                            "pliant: accelerator\nname: small\n" + accelerator, "accelerator.yaml");
  task.layer = parse_layer_text("pliant: layer\nlayer: small\neinsum:\n" + einsum, "layer.yaml");
  task.flexibility = task.accelerator.flexibility_of(task.layer);
  return task;
}

/// The einsum O[M, other] = W[M] * X[other], `dims` such as "M: 3, B: 40".
inline std::string outer_product(const std::string& dims, const std::string& other) {
  return "  dims: {" + dims + "}\n  tensors:\n    - {name: W, role: weights, projection: [M]}\n" +
         "    - {name: X, role: inputs, projection: [" + other + "]}\n    - {name: O, role: outputs, projection: [M, " +
         other + "]}\n";
}

using Source = std::function<Task(std::uint64_t seed)>;

/// Tasks of the campaign; every third one with conventions that no preset puts together. And some where tensors live on
/// chip.
inline Task any_task(std::uint64_t seed) {
  if (seed % 7 == 5) return tests::random_case(seed, {.most_mappings = 3'000, .residents = true}).task;
  return tests::campaign_task(seed % 3 == 0 ? tests::kAnyConventions + seed : seed);
}

/// A whole number from the environment: PLIANT_TIMES for so many times the tasks, PLIANT_SEED for others.
inline std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

/// Padding is mapped as perfect factors of a larger layer: it has no bounds of its own.
inline void for_each_task(
    std::uint64_t tasks, const std::function<void(const Truth&, const ResolvedTask&)>& check,
    const std::function<bool(const Task&)>& wanted = [](const Task&) { return true; },
    const Source& source = any_task) {
  tasks *= from_environment("PLIANT_TIMES", 1);
  for (std::uint64_t seed = from_environment("PLIANT_SEED", 1); tasks > 0 && !testing::Test::HasFailure(); ++seed) {
    const Task task = source(seed);
    if (task.factorization == Factorization::kPadding || !wanted(task)) continue;
    const Truth truth(task);
    if (!truth.complete) continue;
    SCOPED_TRACE("seed " + std::to_string(seed));
    const ResolvedTask resolved(truth.task, truth.problem);
    check(truth, resolved);
    --tasks;
  }
}

/// For every mapping of an unrolling that is not listed, a mapping of a listed one with the same kept tensors takes no
/// more energy and no more cycles. Returns how many choices are not listed.
inline int expect_others_do_as_well(const Truth& truth) {
  const auto factors = [&](const Spatial& spatial) {
    std::vector<Count> all;
    for (int l = 0; l < truth.problem.levels; ++l)
      for (int d = 0; d < truth.problem.dims; ++d)
        all.push_back(spatial.factor[static_cast<std::size_t>(l)][static_cast<std::size_t>(d)]);
    return all;
  };
  SearchLimits limits{SearchOptions{}};
  const SpatialChoices choices(truth.task, truth.problem, limits);
  std::set<std::vector<Count>> listed;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    Spatial spatial;
    choices.get(i, spatial);
    listed.insert(factors(spatial));
  }
  const auto is_listed = [&](const Choice& choice) { return listed.contains(factors(choice.spatial)); };
  int left_out = 0;
  for (const Choice& choice : truth.choices) {
    if (is_listed(choice)) continue;
    ++left_out;
    for (const Priced& mapping : choice.mappings) {
      const bool as_good = std::ranges::any_of(truth.choices, [&](const Choice& other) {
        return other.keeps == choice.keeps && is_listed(other) &&
               std::ranges::any_of(other.mappings, [&](const Priced& m) {
                 return at_most(m.energy, mapping.energy) && at_most(m.cycles, mapping.cycles);
               });
      });
      EXPECT_TRUE(as_good) << "energy " << mapping.energy << ", cycles " << mapping.cycles;
    }
  }
  return left_out;
}

}  // namespace pliant::exact
