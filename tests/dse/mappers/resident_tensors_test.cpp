// SPDX-License-Identifier: Apache-2.0
// Tensors that live whole in a memory (Memory::resident, Memory::reserved_words): proofs agree with enumeration, the
// enumeration with the checker, and the checker's words say what is too much.
#include <gtest/gtest.h>

#include "core/big_count.h"
#include "core/legality.h"
#include "dse/mappers/mapper.h"
#include "flex/mapspace/enumerate.h"
#include "flex/mapspace/legal_count.h"
#include "support/proof_agreement.h"

namespace pliant {
namespace {

using tests::cases_or;
using tests::expect_proofs_agree;

tests::CaseOptions with_residents(std::vector<Factorization> factorizations) {
  tests::CaseOptions options;
  options.factorizations = std::move(factorizations);
  options.residents = true;
  options.infeasible_share = 0.1;
  options.most_mappings = 8'000;
  return options;
}

TEST(ResidentTensors, ExactAgreesWithEnumeration) {
  expect_proofs_agree(with_residents({Factorization::kPerfect}), cases_or(250));
}

TEST(ResidentTensors, ExactAgreesWithEnumerationWhereRemaindersAre) {
  expect_proofs_agree(with_residents({Factorization::kRubyS, Factorization::kRubyT, Factorization::kRuby}),
                      cases_or(150));
}

/// What the generators list as legal is what the checker finds legal among everything the slots allow.
TEST(ResidentTensors, TheCheckerCountsTheSameMappings) {
  tests::CaseOptions options = with_residents({Factorization::kPerfect, Factorization::kRubyS});
  options.most_mappings = 1'500;
  for (std::uint64_t seed = 1000; seed < 1000 + cases_or(60); ++seed) {
    const Task task = tests::random_case(seed, options).task;
    std::uint64_t legal = 0;
    for_each_mapping(task.layer, task.accelerator, task.flexibility, task.factorization, [&](const Mapping& mapping) {
      legal += check_legality(task.layer, task.accelerator, task.flexibility, task.factorization, mapping).empty();
      return true;
    });
    const auto counted =
        count_legal_mappings(task.layer, task.accelerator, task.flexibility, task.factorization, {20'000, 5'000'000});
    ASSERT_TRUE(counted.has_value());
    ASSERT_EQ(*counted, BigCount(legal)) << tests::random_case(seed, options).text;
  }
}

/// 8 words hold two tiles of 4; with 5 of them taken, only tiles of the operand that is not at home there count.
TEST(ResidentTensors, TheCheckerSaysWhatIsTooMuch) {
  Task task;
  task.layer = make_gemm("gemm", {.M = 2, .N = 1, .K = 2});
  Memory outer, buffer;
  buffer.capacity_words = 8;
  task.accelerator.levels = {{"DRAM", outer}, {"Buffer", buffer}, {"MAC", Compute{}}};
  Memory& held = task.accelerator.levels[1].memory();
  Mapping mapping = empty_mapping(task.layer, task.accelerator);
  mapping.levels[1].temporal = {{0, 2}, {2, 2}};
  const auto judged = [&] {
    return check_legality(task.layer, task.accelerator, task.flexibility, task.factorization, mapping);
  };
  EXPECT_TRUE(judged().empty());  // 4 inputs, 2 weights, 2 outputs
  held.reserved_words = {1, 0, 0};
  ASSERT_EQ(judged().size(), 1U);
  EXPECT_EQ(judged()[0].available, 7);
  held.resident[static_cast<std::size_t>(Role::kInput)] = true;
  task.accelerator.levels[0].memory().may_keep[static_cast<std::size_t>(Role::kInput)] = false;
  mapping.levels[0].keeps &= ~TensorSet{1};
  held.reserved_words = {4, 0, 0};
  EXPECT_TRUE(judged().empty());
  held.reserved_words = {5, 0, 0};
  ASSERT_EQ(judged().size(), 1U);
  EXPECT_EQ(judged()[0].needed, 4);
  EXPECT_EQ(judged()[0].available, 3);
  held.reserved_words = {5, 0, 4};
  ASSERT_EQ(judged().size(), 1U);
  EXPECT_EQ(judged()[0].message, "tensors that live in Buffer need 9 words; it has 8");
}

}  // namespace
}  // namespace pliant
