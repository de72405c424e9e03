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

// A bound that just reaches what is asked for confirms it: sums that are rounded on the way do not make it less.
TEST(AuditOfShippedLayers, IsClean) {
  const Library library(std::filesystem::path(PLIANT_SOURCE_DIR) / "configs");
  for (const char* accelerator : {"flexref", "npu"})
    for (const Objective objective : {Objective::kEnergy, Objective::kEdp, Objective::kRuntime}) {
      pliant::Task task;
      task.accelerator = load_accelerator(library, accelerator);
      task.layer = parse_layer("conv:M=512,C=512,P=7,Q=7,R=3,S=3", "test");
      task.flexibility = task.accelerator.flexibility_of(task.layer);
      task.objective = objective;
      SearchOptions options;
      options.record_parts = true;
      const SearchResult found = run_mapper(*make_mapper("exact"), task, options);
      ASSERT_TRUE(found.certified);
      const AuditReport report =
          audit({task, found.mapping, found.value, found.lower_bound, true, false, found.parts}, {});
      EXPECT_TRUE(report.clean()) << accelerator << ": " << report.wrong.size() << " wrong, " << report.undecided.size()
                                  << " undecided";
    }
}

}  // namespace
}  // namespace pliant::audit
