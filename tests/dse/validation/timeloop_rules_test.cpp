// SPDX-License-Identifier: Apache-2.0
// Two implementations of Timeloop's rules that share nothing, and the walked loop nest where those rules have
// artefacts.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "costmodel/report.h"
#include "dse/validation/reference_bookkeeping.h"
#include "dse/validation/timeloop_vectors.h"
#include "support/agreement.h"
#include "support/reference_walker.h"
#include "support/small_cases.h"

namespace pliant {
namespace {

ReferenceNest nest_of(const Layer& layer, const Accelerator& accelerator, const Mapping& mapping) {
  ReferenceNest nest{&layer, &accelerator, {}, {}, {}};
  for (std::size_t l = 0; l + 1 < accelerator.levels.size(); ++l) {
    if (accelerator.levels[l].is_memory()) {
      nest.levels.push_back(static_cast<int>(l));
      nest.keeps.push_back(mapping.levels[l].keeps);
    }
    const int memory = static_cast<int>(nest.levels.size()) - 1;
    for (const Loop& loop : mapping.levels[l].temporal)
      nest.loops.push_back({memory, false, loop.dim, loop.bound, loop.bound});
    for (const SpatialLoop& loop : mapping.levels[l].spatial)
      nest.loops.push_back({memory, true, loop.dim, loop.bound, loop.bound});
  }
  return nest;
}

bool has_plain_output(const Layer& layer) {
  DimSet seen = 0;
  for (const Rank& rank : layer.tensors[static_cast<std::size_t>(layer.output())].ranks) {
    if (rank.terms.size() != 1 || rank.terms.front().coefficient != 1) return false;
    const DimSet bit = DimSet{1} << rank.terms.front().dim;
    if ((seen & bit) != 0) return false;
    seen |= bit;
  }
  return true;
}

// With perfect factors the model in closed form equals instance 0 followed step by step, whatever the layer, the
// bypass, the fanouts and the bandwidth: nothing is fitted to the vectors at hand.
TEST(TimeloopRules, ModelEqualsTheReferenceBookkeepingOnRandomPerfectMappings) {
  reference::Random random(11);
  int compared = 0;
  for (int i = 0; i < 900; ++i) {
    using reference::Kind;
    const Kind kind = std::array{Kind::kGemm, Kind::kConv, Kind::kEinsum}[static_cast<std::size_t>(i % 3)];
    const Layer layer = reference::random_layer(random, kind, 20000);
    if (!has_plain_output(layer)) continue;
    Accelerator accelerator = reference::random_accelerator(random, false);
    accelerator.conventions = Conventions::timeloop();
    accelerator.conventions.halo = Conventions::Halo::kTwoIterations;
    for (Level& level : accelerator.levels) {
      if (level.is_memory()) level.memory().leak_pj_per_cycle = 0;
      if (!level.is_memory() && !level.is_fanout()) level.part = Compute{.mac_pj = 0.5};
    }
    const Mapping mapping = reference::random_mapping(random, layer, accelerator, Factorization::kPerfect);
    const ReferenceNest nest = nest_of(layer, accelerator, mapping);
    const Prediction predicted = predict_reference(nest);
    const CostReport report = price(layer, accelerator, mapping);
    SCOPED_TRACE("case " + std::to_string(i) + "\n" + to_loop_nest(layer, accelerator, mapping));
    for (std::size_t m = 0; m < nest.levels.size(); ++m) {
      const LevelCost& level = report.levels[static_cast<std::size_t>(nest.levels[m])];
      for (std::size_t x = 0; x < layer.tensors.size(); ++x) {
        if (!level.tensors[x].kept) continue;
        const TensorCost& ours = level.tensors[x];
        const ReferenceCounts& theirs = predicted.counts[m][x];
        ASSERT_EQ(ours.reads, theirs.reads * theirs.instances);
        ASSERT_EQ(ours.fills, theirs.fills * theirs.instances);
        ASSERT_EQ(ours.updates, theirs.updates * theirs.instances);
        ASSERT_EQ(ours.tile_words, theirs.tile_words);
        ASSERT_EQ(level.instances_average, theirs.instances);
      }
    }
    ASSERT_EQ(report.totals.cycles, predicted.cycles);
    ASSERT_NEAR(report.totals.energy_pj, predicted.energy_pj, 1e-9 * predicted.energy_pj);
    ++compared;
  }
  EXPECT_GT(compared, 500);
}

// Where remainders make the reference depart from the loop nest, our words are those of the nest: walked, element by
// element. (A strided or dilated box has words that no element fills; those tensors are left out.)
TEST(TimeloopRules, WordsOfImperfectVectorsAreThoseOfTheWalkedNest) {
  std::ifstream in(PLIANT_SOURCE_DIR "/tests/data/oracle_imperfect.jsonl");
  int vectors = 0, pairs = 0;
  for (std::string line; std::getline(in, line);) {
    const nlohmann::json record = nlohmann::json::parse(line);
    const TimeloopCase given = read_timeloop_case(record);
    if (given.layer.macs() > 60000) continue;
    SCOPED_TRACE(record.at("id").get<std::string>());
    Accelerator walked_on = given.accelerator;
    walked_on.conventions = Conventions::physical();
    walked_on.conventions.drain = Conventions::Drain::kFree;
    const reference::Walked walked = reference::walk(given.layer, walked_on, given.mapping);
    const Problem problem(given.layer, given.accelerator);
    Nest nest(problem);
    nest.load(flatten(problem, given.mapping));
    EXPECT_EQ(nest.price().steps, static_cast<double>(walked.steps));
    ASSERT_EQ(nest.transfers().size(), walked.words.size());
    for (std::size_t i = 0; i < walked.words.size(); ++i) {
      const reference::Words& words = walked.words[i];
      bool dense = true;
      for (const Rank& rank : given.layer.tensors[static_cast<std::size_t>(words.tensor)].ranks)
        for (const Term& term : rank.terms) dense &= term.coefficient == 1;
      if (!dense) continue;
      const Transfer& ours = nest.transfers()[i];
      EXPECT_EQ(ours.served, static_cast<double>(words.served));
      EXPECT_EQ(ours.delivered, static_cast<double>(words.delivered));
      EXPECT_EQ(ours.first_parent, static_cast<double>(words.first_parent));
      EXPECT_EQ(ours.first_child, static_cast<double>(words.first_child));
      ++pairs;
    }
    ++vectors;
  }
  EXPECT_GT(vectors, 15);
  EXPECT_GT(pairs, 100);
}

}  // namespace
}  // namespace pliant
