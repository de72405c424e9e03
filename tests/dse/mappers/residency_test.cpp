// SPDX-License-Identifier: Apache-2.0
// Networks whose tensors stay on chip: the optimum is the best of all choices of where tensors live with all mappings,
// never worse than without, and equal to it where nothing fits. tests/long/residency_soak_test.cpp has more networks.
#include "dse/mappers/residency/residency.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "core/arithmetic.h"
#include "core/flexibility_class.h"
#include "core/input/load.h"
#include "support/random_graphs.h"
#include "support/residency_agreement.h"

namespace pliant {
namespace {

const Library kLibrary(std::filesystem::path(PLIANT_SOURCE_DIR) / "configs");

const char* const kSkip = R"(name: skip
layers:
  - {layer: a, conv: {M: 16, C: 8, P: 14, Q: 14, R: 1, S: 1}}
  - {layer: b, conv: {M: 64, C: 16, P: 14, Q: 14, R: 1, S: 1}}
  - {layer: c, conv: {M: 16, C: 64, P: 14, Q: 14, R: 1, S: 1}}
graph:
  - {layer: a}
  - {layer: b, from: a}
  - {layer: c, from: b}
  - {op: add, name: sum, from: [a, c]}
  - {op: pool, name: out, words: 16, from: sum}
)";

residency::Optimum optimum(const Accelerator& accelerator, const Workload& workload, bool stay) {
  std::vector<Task> rows;
  for (const Workload::Entry& entry : workload.layers)
    rows.push_back({entry.layer, accelerator, accelerator.flexibility_of(entry.layer)});
  const std::unique_ptr<Mapper> exact = make_mapper("exact");
  const SearchOptions options;
  return residency::Search(*exact, workload, rows, options).run({Objective::kEdp}, stay);
}

TEST(Residency, NothingFitsNothingChanges) {
  const Workload skip = parse_workload_text(kSkip, "skip.yaml");
  Accelerator small = load_accelerator(kLibrary, "flexref");
  small.levels[1].memory().capacity_words = 3000;  // the smallest tensor that anyone reads has 3136
  const residency::Optimum with = optimum(small, skip, true), without = optimum(small, skip, false);
  ASSERT_TRUE(with.certified && without.certified);
  EXPECT_EQ(with.value, without.value);
  EXPECT_EQ(with.homes, std::vector<residency::Home>(with.homes.size(), residency::kOutside));
}

/// 3136 + 12544 words are alive beside b and c. What holds all of it keeps all of it, what holds less cannot.
TEST(Residency, ASkipTakesRoomFromWhatItSpans) {
  const Workload skip = parse_workload_text(kSkip, "skip.yaml");
  Accelerator machine = load_accelerator(kLibrary, "flexref");
  machine.levels[1].memory().capacity_words = 3136 + 12544 + 3136 + 200;
  const residency::Optimum large = optimum(machine, skip, true);
  EXPECT_EQ(large.homes, (std::vector<residency::Home>{1, 1, 1, 1, residency::kOutside}));
  EXPECT_LT(large.value, optimum(machine, skip, false).value);
  machine.levels[1].memory().capacity_words = 3136 + 12544 - 1;
  const residency::Optimum tight = optimum(machine, skip, true);
  ASSERT_TRUE(tight.certified);
  EXPECT_NE(tight.homes[0] == 1, tight.homes[1] == 1);  // one of the two
}

/// A tensor that the network gives away and reads again: where it stays on chip it is moved out once, where it lives
/// outside it is there already.
TEST(Residency, WhatIsGivenAwayIsMovedOutOfTheChip) {
  const std::string layers = R"(name: heads
layers:
  - {layer: a, gemm: {M: 8, N: 16, K: 4}}
  - {layer: b, gemm: {M: 8, N: 4, K: 16}}
graph:
  - {layer: a}
)";
  const Workload kept = parse_workload_text(layers + "  - {layer: b, from: a}\n", "kept.yaml"),
                 given = parse_workload_text(
                     layers + "  - {op: output, name: features, from: a}\n  - {layer: b, from: a}\n", "given.yaml");
  const Accelerator machine = load_accelerator(kLibrary, "flexref");
  const Memory& outside = machine.levels[0].memory();
  const Memory& buffer = machine.levels[1].memory();
  EXPECT_EQ(optimum(machine, given, false).energy_pj, optimum(machine, kept, false).energy_pj);
  const residency::Optimum with = optimum(machine, given, true), without = optimum(machine, kept, true);
  ASSERT_TRUE(with.certified && without.certified);
  ASSERT_EQ(with.homes[0], 1);
  EXPECT_NEAR(with.parts.operators.energy_pj, 8 * 16 * (buffer.read_pj + outside.write_pj), 1e-6);
}

/// Of three parts each reads its own words.
TEST(Residency, APartReadsWhatItMakes) {
  const Workload parts = parse_workload_text(R"(name: parts
layers:
  - {layer: a, gemm: {M: 8, N: 12, K: 4}}
  - {layer: b, gemm: {M: 8, N: 5, K: 4}}
graph:
  - {layer: a}
  - {op: part, name: q, words: 32, from: a}
  - {layer: b, from: q}
)",
                                             "parts.yaml");
  const Accelerator machine = load_accelerator(kLibrary, "flexref");
  const Memory& outside = machine.levels[0].memory();
  EXPECT_NEAR(optimum(machine, parts, false).parts.operators.energy_pj, 32 * (outside.read_pj + outside.write_pj),
              1e-6);
}

/// Borders that nobody reads are not moved.
TEST(Residency, AnActivationMayLeaveOutSome) {
  const auto moved = [](const std::string& op) {
    const Workload cut = parse_workload_text(
        "name: cut\nlayers:\n  - {layer: a, gemm: {M: 8, N: 12, K: 4}}\n  - {layer: b, gemm: {M: 8, N: 5, K: 4}}\n"
        "graph:\n  - {layer: a}\n  - {op: " +
            op + ", name: q, words: 32, from: a}\n  - {layer: b, from: q}\n",
        "cut.yaml");
    return optimum(load_accelerator(kLibrary, "flexref"), cut, false).parts.operators.energy_pj;
  };
  EXPECT_EQ(moved("activation"), 0);
  EXPECT_GT(moved("pool"), 0);
}

/// By hand: an activation of 96 words in place takes 4 operations a word on 3 lanes, which is 128 cycles in which
/// everything leaks; a softmax takes 5 operations a word while its words move, and whoever is done first waits.
TEST(Residency, AVectorUnitWorksWhileWordsMove) {
  const auto operators = [](const std::string& op, std::optional<VectorUnit> unit) {
    const Workload workload = parse_workload_text(
        "name: work\nlayers:\n  - {layer: a, gemm: {M: 8, N: 12, K: 4}}\n  - {layer: b, gemm: {M: 8, N: 5, K: 12}}\n"
        "graph:\n  - {layer: a}\n  - {op: " +
            op + ", name: q, words: 96, from: a}\n  - {layer: b, from: q}\n",
        "work.yaml");
    Accelerator machine = load_accelerator(kLibrary, "flexref");
    machine.levels[0].memory().leak_pj_per_cycle = 0.5;
    machine.levels[0].memory().bus_words_per_cycle = 4;
    machine.vector = unit;
    return optimum(machine, workload, false).parts.operators;
  };
  const VectorUnit slow{.lanes = 3, .pj_per_op = 2}, fast{.lanes = 1e6, .pj_per_op = 2};
  const NetworkParts::Part none = operators("activation", std::nullopt), in_place = operators("activation", slow);
  EXPECT_EQ(none.cycles, 0);
  EXPECT_EQ(none.count, 0);
  EXPECT_EQ(in_place.cycles, 96 * 4 / 3);
  EXPECT_EQ(in_place.count, 1);
  EXPECT_DOUBLE_EQ(in_place.energy_pj, 96 * 4 * 2 + 128 * 0.5);
  const NetworkParts::Part moved = operators("softmax", std::nullopt), waits = operators("softmax", slow);
  EXPECT_EQ(moved.cycles, 2 * 96 / 4);
  EXPECT_EQ(waits.cycles, 96 * 5 / 3);
  EXPECT_DOUBLE_EQ(waits.energy_pj, moved.energy_pj + 96 * 5 * 2 + (160 - 48) * 0.5);
  const NetworkParts::Part soon = operators("softmax", fast);
  EXPECT_EQ(soon.cycles, moved.cycles);
  EXPECT_DOUBLE_EQ(soon.energy_pj, moved.energy_pj + 96 * 5 * 2);
}

/// More freedom is never worse, with residency as without.
TEST(Residency, ClassesAreMonotone) {
  const Workload skip = parse_workload_text(kSkip, "skip.yaml");
  const Accelerator flexref = load_accelerator(kLibrary, "flexref");
  const auto value = [&](const std::string& name) {
    const residency::Optimum found = optimum(apply_class(flexref, *parse_flexibility_class(name)), skip, true);
    EXPECT_TRUE(found.certified) << name;
    return found.value;
  };
  for (const char* degree : {"FullFlex-", "PartFlex-"}) {
    std::vector<double> values;
    for (unsigned bits = 0; bits < 16; ++bits) {
      std::string name = bits == 0 ? "InFlex-" : degree;
      for (unsigned axis = 0; axis < 4; ++axis) name += (bits >> (3 - axis) & 1U) != 0 ? '1' : '0';
      values.push_back(value(name));
    }
    for (unsigned bits = 0; bits < 16; ++bits)
      for (unsigned axis = 0; axis < 4; ++axis)
        EXPECT_LE(values[bits | (1U << axis)], values[bits] * (1 + 1e-12)) << degree << bits << " " << axis;
  }
}

TEST(Residency, OptimumWithWeightsThatStayIsTheBestOfAllChoices) {
  tests::ResidencyCounts counts;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) tests::compare_weights_with_enumeration(seed, counts);
  EXPECT_GE(counts.better, 8);
  EXPECT_GE(counts.networks, 20);
}

// Rules that are lifted allow more mappings and leave more room to tensors that stay: nothing gets worse.
TEST(Residency, MoreFlexibilityIsNeverWorse) {
  const std::unique_ptr<Mapper> exact = make_mapper("exact");
  const SearchOptions options;
  int better = 0;
  for (std::uint64_t seed = 100; seed < 130; ++seed) {
    const tests::RandomGraph graph = tests::random_graph(seed);
    SCOPED_TRACE(graph.text);
    tests::RandomGraph free = graph;
    for (Task& row : free.rows)
      for (LevelFlexibility& rules : row.flexibility.levels) {
        rules.order = {};
        rules.tile = {};
      }
    residency::Search narrow(*exact, graph.workload, graph.rows, options),
        wide(*exact, free.workload, free.rows, options);
    for (const Objective objective : {Objective::kRuntime, Objective::kEnergy, Objective::kEdp}) {
      const residency::Optimum least = narrow.run({objective}, true), more = wide.run({objective}, true);
      if (!least.found()) continue;
      ASSERT_TRUE(more.certified);
      EXPECT_LE(more.value, least.value * (1 + 1e-12));
      better += more.value < least.value * (1 - 1e-9) ? 1 : 0;
    }
  }
  EXPECT_GE(better, 10);
}

TEST(Residency, OptimumIsTheBestOfAllChoices) {
  tests::ResidencyCounts counts;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) tests::compare_with_enumeration(seed, counts);
  EXPECT_GE(counts.better, 20);  // else the networks have nothing to keep
  EXPECT_GE(counts.networks, 40);
}

/// Stops whoever asks after some searches, and then or before finds nothing now and then, without a proof.
class Failing final : public Mapper {
 public:
  Failing(std::stop_source& stop, int searches, int fails) : stop_(stop), left_(searches), fails_(fails) {}
  std::string_view name() const override { return "exact"; }
  SearchResult search(const Task& task, const SearchOptions& options) const override {
    if (--left_ <= 0) stop_.request_stop();
    if (fails_ > 0 && left_ % fails_ == 0) return {};
    SearchOptions own = options;
    own.stop = {};
    return exact_->search(task, own);
  }

 private:
  std::stop_source& stop_;
  mutable int left_;
  int fails_;
  std::unique_ptr<Mapper> exact_ = make_mapper("exact");
};

// Whatever was searched when the time was up, and whatever searches did not find: no bound is above the enumeration's
// optimum, and none is zero.
TEST(Residency, WhatIsNotSearchedIsBoundedByFloors) {
  int bounded = 0, open = 0;
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    const tests::RandomGraph graph = tests::random_graph(seed);
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + graph.text);
    const tests::Pairs all = tests::every_choice(graph, true);
    if (all.empty()) continue;
    for (const Objective objective : {Objective::kEdp, Objective::kEnergy, Objective::kRuntime}) {
      double optimum = kInfinity;
      for (const auto& [energy, cycles] : all) optimum = std::min(optimum, network_value(objective, energy, cycles));
      for (const int searches : {1, 4, 9, 1000})
        for (const int fails : {0, 2, 3}) {
          std::stop_source stop;
          const Failing mapper(stop, searches, fails);
          SearchOptions options;
          options.stop = stop.get_token();
          residency::Search search(mapper, graph.workload, graph.rows, options);
          const residency::Optimum best = search.run({objective}, true);
          EXPECT_FALSE(best.infeasible);
          if (!best.found()) continue;
          EXPECT_LE(best.lower_bound, optimum * (1 + 1e-9));
          EXPECT_GT(best.lower_bound, 0);
          EXPECT_GE(best.value, optimum * (1 - 1e-9));
          ++bounded;
          open += best.certified ? 0 : 1;
        }
    }
  }
  EXPECT_GE(bounded, 150);
  EXPECT_GE(open, 50);
}

}  // namespace
}  // namespace pliant
