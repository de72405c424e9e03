// SPDX-License-Identifier: Apache-2.0
// A certificate says the same after it was written and read.
#include "dse/audit/certificate.h"

#include <gtest/gtest.h>

#include "core/flexibility_class.h"
#include "core/input/load.h"
#include "dse/mappers/mapper.h"
#include "support/random_cases.h"
#include "support/shipped_library.h"

namespace pliant::audit {
namespace {

Certificate proven(const Task& task) {
  SearchOptions options;
  options.record_parts = true;
  const SearchResult found = run_mapper(*make_mapper("exact"), task, options);
  return {task, found.mapping, found.value, found.lower_bound, found.certified, found.infeasible, found.parts};
}

/// Random flexibility may say what no file may, a share of a memory for a tensor that it does not keep.
bool can_be_a_file(const Task& task) {
  Accelerator accelerator = task.accelerator;
  accelerator.flexibility = task.flexibility;
  try {
    parse_accelerator_text(library(), write_accelerator(accelerator), "random.yaml");
    return true;
  } catch (const InputError&) {
    return false;
  }
}

TEST(Certificate, SaysTheSameAfterItWasWrittenAndRead) {
  int compared = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const tests::RandomCase random = tests::random_case(seed);
    if (!can_be_a_file(random.task)) continue;
    ++compared;
    SCOPED_TRACE(random.text);
    const Certificate written = proven(random.task);
    const std::string text = write_certificate(written);
    const Certificate read = read_certificate(library(), text, "written.json");
    EXPECT_TRUE(read.task.layer == written.task.layer);
    EXPECT_TRUE(read.task.flexibility.levels == written.task.flexibility.levels);
    EXPECT_EQ(read.task.objective, written.task.objective);
    EXPECT_EQ(read.task.factorization, written.task.factorization);
    EXPECT_EQ(write_certificate(read), text);  // loops that run in parallel have no order
    EXPECT_EQ(read.value, written.value);
    EXPECT_EQ(read.lower_bound, written.lower_bound);
    EXPECT_EQ(read.certified, written.certified);
    EXPECT_EQ(read.infeasible, written.infeasible);
    ASSERT_EQ(read.parts.size(), written.parts.size());
    for (std::size_t i = 0; i < read.parts.size(); ++i) {
      const Part &a = read.parts[i], &b = written.parts[i];
      EXPECT_EQ(a.closed_by, b.closed_by);
      EXPECT_EQ(a.lower_bound, b.lower_bound);
      EXPECT_EQ(a.scope, b.scope);
      EXPECT_EQ(a.choices, b.choices);
      EXPECT_EQ(a.least_steps, b.least_steps);
      ASSERT_EQ(a.members.size(), b.members.size());
      for (std::size_t m = 0; m < a.members.size(); ++m) {
        EXPECT_EQ(a.members[m].unrolling, b.members[m].unrolling);
        EXPECT_EQ(a.members[m].kept, b.members[m].kept);
        EXPECT_EQ(a.members[m].lower_bound, b.members[m].lower_bound);
      }
    }
  }
  EXPECT_GE(compared, 30);
}

// The rules of a class are those of the layer's family, and a class may leave a choice that its name does not promise.
TEST(Certificate, KeepsTheRulesOfEveryClassAndFamily) {
  const Accelerator npu = load_accelerator(library(), "npu");
  int compared = 0;
  for (const char* bits : {"0000", "0111", "1000", "0100", "1111"})
    for (const char* layer :
         {"conv:M=4,C=4,P=2,Q=2,R=1,S=1", "gemm:M=4,N=4,K=4", "conv:M=4,C=4,P=2,Q=2,R=3,S=3,groups=4"}) {
      SCOPED_TRACE(std::string(bits) + " " + layer);
      const Accelerator in_class = apply_class(npu, *parse_flexibility_class(bits));
      Certificate written;
      written.task.layer = parse_layer(layer, "test");
      written.task.accelerator = in_class;
      written.task.flexibility = in_class.flexibility_of(written.task.layer);
      const Certificate read = read_certificate(library(), write_certificate(written), "written.json");
      EXPECT_TRUE(read.task.flexibility.levels == written.task.flexibility.levels);
      ++compared;
    }
  EXPECT_EQ(compared, 15);
}

// No part claims less than the certificate does as a whole, and a certified optimum leaves nothing open.
TEST(Certificate, EveryPartIsClosedAtTheOptimum) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const tests::RandomCase random = tests::random_case(seed);
    SCOPED_TRACE(random.text);
    const Certificate certificate = proven(random.task);
    ASSERT_FALSE(certificate.parts.empty());
    for (const Part& part : certificate.parts) {
      EXPECT_GE(part.lower_bound, certificate.lower_bound * (1 - 1e-9)) << to_string(part.closed_by);
      if (certificate.certified || certificate.infeasible) {
        EXPECT_NE(part.closed_by, ClosedBy::kLeft);
      }
    }
  }
}

TEST(Certificate, SaysWhatIsWrongInAFile) {
  const auto problem = [](const std::string& text) -> std::string {
    try {
      read_certificate(library(), text, "bad.json");
    } catch (const InputError& error) {
      return error.diagnostics().front().text();
    }
    return "";
  };
  EXPECT_NE(problem("{").find("bad.json: is no JSON"), std::string::npos) << problem("{");
  EXPECT_NE(problem("{}").find("pliant: is not `certificate`"), std::string::npos) << problem("{}");
  EXPECT_NE(problem(R"({"pliant": "certificate", "schema": 1})").find("task"), std::string::npos);
  EXPECT_NE(problem(R"({"pliant": "certificate", "schema": 7})").find("schema: is not 1"), std::string::npos);
}

}  // namespace
}  // namespace pliant::audit
