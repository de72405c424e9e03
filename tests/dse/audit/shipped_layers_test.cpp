// SPDX-License-Identifier: Apache-2.0
// Claims of layers of a size that people have, on accelerators that the project ships.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "core/input/load.h"
#include "dse/audit/audit.h"
#include "dse/mappers/mapper.h"

namespace pliant::audit {
namespace {

AuditReport audited(const std::string& accelerator, const char* layer, Objective objective) {
  const std::filesystem::path source(PLIANT_SOURCE_DIR);
  pliant::Task task;
  task.accelerator = load_accelerator(Library(source / "configs"), accelerator);
  task.layer = parse_layer(layer, "test");
  task.flexibility = task.accelerator.flexibility_of(task.layer);
  task.objective = objective;
  SearchOptions options;
  options.record_parts = true;
  const SearchResult found = run_mapper(*make_mapper("exact"), task, options);
  EXPECT_TRUE(found.certified);
  return audit({task, found.mapping, found.value, found.lower_bound, true, false, found.parts}, {});
}

void expect_clean(const std::string& accelerator, const char* layer, Objective objective) {
  const AuditReport report = audited(accelerator, layer, objective);
  EXPECT_TRUE(report.clean()) << accelerator << ": " << report.wrong.size() << " wrong, " << report.undecided.size()
                              << " undecided";
}

// A bound that just reaches what is asked for confirms it: sums that are rounded on the way do not make it less.
TEST(AuditOfShippedLayers, IsClean) {
  for (const char* accelerator : {"flexref", "npu"})
    for (const Objective objective : {Objective::kEnergy, Objective::kEdp, Objective::kRuntime})
      expect_clean(accelerator, "conv:M=512,C=512,P=7,Q=7,R=3,S=3", objective);
}

// Least energy and least cycles are those of different mappings, and no line between the two is as high as the optimum:
// tile by tile, and order by order, the bounds are.
TEST(AuditOfShippedLayers, IsCleanWhereLinesLeaveAGap) {
  for (const char* chip : {"odd3", "quad128"})
    expect_clean(PLIANT_SOURCE_DIR "/bench/chips/" + std::string(chip) + ".yaml", "gemm:M=2048,N=8192,K=8192",
                 Objective::kEdp);
}

// 44,814,469 unrollings of four fanouts, of which three are one network: neither the search nor the audit lists them.
TEST(AuditOfShippedLayers, IsCleanWhereUnrollingsAreTooManyToBeListed) {
  const AuditReport report =
      audited(PLIANT_SOURCE_DIR "/bench/chips/sm114.yaml", "conv:M=64,C=64,P=56,Q=56,R=3,S=3", Objective::kEdp);
  EXPECT_TRUE(report.clean()) << report.wrong.size() << " wrong, " << report.undecided.size() << " undecided";
  EXPECT_GT(report.choices, 40'000'000U);
  EXPECT_EQ(report.checked, report.choices);
}

}  // namespace
}  // namespace pliant::audit
