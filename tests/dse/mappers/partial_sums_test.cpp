// SPDX-License-Identifier: Apache-2.0
// Memories that take no partial sums (`bits: {partial_sums: none}`): what the checker refuses, what a tile reserves
// there, and that every mapper keeps to it.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/input/load.h"
#include "core/legality.h"
#include "core/partial_sums.h"
#include "costmodel/report.h"
#include "dse/mappers/infeasible.h"
#include "dse/mappers/mapper.h"
#include "flex/mapspace/enumerate.h"
#include "support/proof_agreement.h"
#include "support/reference_walker.h"
#include "support/shipped_library.h"

namespace pliant {
namespace {

using tests::cases_or;
using tests::expect_proofs_agree;

tests::CaseOptions finished(std::vector<Factorization> factorizations) {
  tests::CaseOptions options;
  options.factorizations = std::move(factorizations);
  options.finished = true;
  options.widths = true;
  options.infeasible_share = 0.3;
  return options;
}

TEST(PartialSums, ExactAgreesWithEnumeration) {
  expect_proofs_agree(finished({Factorization::kPerfect}), cases_or(400));
}

TEST(PartialSums, ExactAgreesWithEnumerationWhereFanoutsLeaveRemainders) {
  expect_proofs_agree(finished({Factorization::kRubyS}), cases_or(200));
}

TEST(PartialSums, ExactAgreesWithEnumerationWhereLoopsLeaveRemainders) {
  expect_proofs_agree(finished({Factorization::kRubyT, Factorization::kRuby}), cases_or(200));
}

TEST(PartialSums, ExactAgreesWithEnumerationWithPadding) {
  expect_proofs_agree(finished({Factorization::kPadding}), cases_or(100));
}

TEST(PartialSums, OtherMappersFindLegalMappings) {
  tests::CaseOptions options = finished({Factorization::kPerfect});
  options.least_mappings = 50;
  int found_some = 0;
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    const tests::RandomCase random = tests::random_case(seed, options);
    const SearchResult truth = run_mapper(*make_mapper("exhaustive"), random.task, {});
    for (const char* name : {"random", "local", "genetic"}) {
      SearchOptions search;
      search.budget.evaluations = 2000;
      const SearchResult found = run_mapper(*make_mapper(name), random.task, search);  // judged by the checker
      if (!found.mapping) continue;
      ++found_some;
      EXPECT_GE(found.value, truth.value * (1 - 1e-9)) << name << "\n" << random.text;
    }
  }
  EXPECT_GT(found_some, 30);
}

bool refuses_sums(const std::vector<Violation>& found) {
  return std::ranges::any_of(
      found, [](const Violation& one) { return one.message.find("takes no partial sums") != std::string::npos; });
}

// An output that arrives finished, arrives once. The walker counts what arrives without knowing the rule.
TEST(PartialSums, WhereNoneAreTakenEveryOutputArrivesOnce) {
  int refused = 0, allowed = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    tests::CaseOptions options = finished({Factorization::kPerfect, Factorization::kRubyS, Factorization::kRuby});
    options.most_mappings = 400;
    const Task task = tests::random_case(seed, options).task;
    const Layer& layer = task.layer;
    // Stricter than that where windows of outputs overlap, and where conventions let compute units hold sums.
    const bool strict = task.accelerator.conventions.compute_reuse != Conventions::ComputeReuse::kNone ||
                        std::ranges::any_of(layer.tensors[static_cast<std::size_t>(layer.output())].ranks,
                                            [](const Rank& rank) { return rank.terms.size() > 1; });
    int looked_at = 0;
    for_each_mapping(layer, task.accelerator, task.flexibility, task.factorization, [&](const Mapping& mapping) {
      const auto found = check_legality(layer, task.accelerator, task.flexibility, task.factorization, mapping);
      const bool unfinished = refuses_sums(found);
      if (found.size() > (unfinished ? 1U : 0U)) return true;  // illegal for another reason
      EXPECT_EQ(price(layer, task.accelerator, mapping).totals.unfinished, unfinished)
          << to_loop_nest(layer, task.accelerator, mapping);
      bool once = true;
      for (const reference::Words& words : reference::walk(layer, task.accelerator, mapping).words)
        if (words.tensor == layer.output() &&
            !takes_partial_sums(task.accelerator.levels[static_cast<std::size_t>(words.parent)].memory()))
          once &= words.served == layer.tensor_words(layer.output());
      if (strict)
        EXPECT_TRUE(once || unfinished) << to_loop_nest(layer, task.accelerator, mapping);
      else
        EXPECT_EQ(once, !unfinished) << to_loop_nest(layer, task.accelerator, mapping);
      (unfinished ? refused : allowed) += 1;
      return ++looked_at < 300 && !testing::Test::HasFailure();
    });
    if (HasFailure()) return;
  }
  EXPECT_GT(refused, 500);
  EXPECT_GT(allowed, 500);
}

/// A GEMM of 4 x 4 x 8 on an SRAM of 8-bit words, accumulators of 32 bits and one unit.
class SeparateAccumulators : public testing::Test {
 protected:
  Task task(const std::string& sums, Count words) const {
    const std::string text =
        "pliant: accelerator\nname: apart\nword_bits: 8\nbits: {partial_sums: 32}\nlevels:\n"
        "  - {memory: DRAM, capacity: unbounded, read_pj: 100}\n"
        "  - {memory: SRAM, capacity: " +
        std::to_string(words) + " words, read_pj: 1" + sums +
        "}\n"
        "  - {memory: Accumulators, capacity: 64 words, keeps: [outputs], read_pj: 0.1}\n"
        "  - {compute: MAC, mac_pj: 1}\n";
    Task made;
    made.accelerator = parse_accelerator_text(library(), text, "apart.yaml");
    made.layer = make_gemm("gemm", {.M = 4, .N = 4, .K = 8});
    made.flexibility = made.accelerator.flexibility_of(made.layer);
    made.objective = Objective::kEnergy;
    return made;
  }
};

// Accumulators hold all sums while K runs at the DRAM. The SRAM needs 4 inputs, 4 weights and 16 outputs then, 24
// bytes, and each of 80 elements crosses the DRAM once. With room for sums of 32 bits that takes 56 bytes at least.
TEST_F(SeparateAccumulators, NoRoomIsReservedForSumsThatNeverCome) {
  const auto best = [](const Task& task) { return run_mapper(*make_mapper("exact"), task, {}); };
  const SearchResult none = best(task(", bits: {partial_sums: none}", 30)), wide = best(task("", 128)),
                     tight = best(task("", 30));
  ASSERT_TRUE(none.certified && wide.certified && tight.certified);
  EXPECT_NEAR(none.value, wide.value, 1e-9 * wide.value);
  EXPECT_GT(tight.value, none.value);
}

// 2 * (4 - 1) + 4 = 10 values along each rank overlap; 16 sums have room in the accumulators.
TEST_F(SeparateAccumulators, OutputsWhoseWindowsOverlapAreTheReasonGiven) {
  Task made = task(", bits: {partial_sums: none}", 4096);
  made.layer = make_conv(
      "up", {.M = 2, .C = 2, .P = 4, .Q = 4, .R = 4, .S = 4, .stride_p = 2, .stride_q = 2, .transposed = true});
  EXPECT_TRUE(run_mapper(*make_mapper("exact"), made, {}).infeasible);
  const auto why = why_nothing_fits(made);
  ASSERT_TRUE(why && why->conflict.size() == 1);
  EXPECT_EQ(why->conflict[0].text,
            "SRAM takes no partial sums, and no memory inside it holds the 100 outputs whose windows overlap");
  made.accelerator.levels[2].memory().capacity_words = 400;
  EXPECT_TRUE(run_mapper(*make_mapper("exact"), made, {}).certified);
}

// E tells the outputs [E, C + E] apart by itself, so its 70 iterations need no room for 70 sums; those of C do.
TEST_F(SeparateAccumulators, ADimThatIsAnIndexByItselfMakesNoOutputsOverlap) {
  for (const int kernel : {1, 3, 20}) {
    Task made = task(", bits: {partial_sums: none}", 4096);
    made.layer = parse_layer_text("pliant: layer\nlayer: einsum\neinsum:\n  dims: {C: " + std::to_string(kernel) +
                                      ", E: 70, K: 2}\n  tensors:\n"
                                      "    - {name: I, role: inputs, projection: [E, K]}\n"
                                      "    - {name: W, role: weights, projection: [K, C]}\n"
                                      "    - {name: O, role: outputs, projection: [E, C]}\n",
                                  "apart.yaml");
    made.layer.tensors[2].ranks[1].terms.push_back(made.layer.tensors[2].ranks[0].terms[0]);  // C + E
    made.flexibility = made.accelerator.flexibility_of(made.layer);
    // 16 sums of 32 bits have room in the accumulators.
    EXPECT_EQ(why_nothing_fits(made).has_value(), kernel > 16) << kernel;
    const SearchResult found = run_mapper(*make_mapper("exact"), made, {});
    EXPECT_EQ(found.infeasible, kernel > 16) << kernel;
    EXPECT_TRUE(found.infeasible || found.certified) << kernel;
  }
}

TEST_F(SeparateAccumulators, TheFileSaysItOfMemoriesOnly) {
  const Accelerator read = task(", bits: {partial_sums: none}", 80).accelerator;
  EXPECT_FALSE(takes_partial_sums(read.levels[1].memory()));
  EXPECT_TRUE(takes_partial_sums(read.levels[2].memory()));
}

}  // namespace
}  // namespace pliant
