// SPDX-License-Identifier: Apache-2.0
// Runs the rows of a covering array as a test.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "support/combination_relations.h"
#include "support/temporary_folder.h"

namespace pliant::tests {

/// Every `of`-th row from `first` on; with PLIANT_COMBINATION=ROW only that one. A failure says how to repeat it by
/// `program` and its `filter`.
inline void run_combinations(int strength, int first, int of, const std::string& program, const std::string& filter) {
  const CoveringArray& array = combinations(strength);
  const char* only = std::getenv("PLIANT_COMBINATION");
  std::size_t checked = 0, enumerated = 0;
  for (std::size_t i = static_cast<std::size_t>(first); i < array.rows.size(); i += static_cast<std::size_t>(of)) {
    if (only != nullptr && i != static_cast<std::size_t>(std::atol(only))) continue;
    const TemporaryFolder folder;
    const Traits traits = traits_of(array.rows[i]);
    const CombinationCase one = make_case(traits, i + 1, folder.path());
    const CheckedCase result = check_case(one);
    ++checked;
    enumerated += result.enumerated ? 1 : 0;
    for (const std::string& problem : result.problems)
      ADD_FAILURE() << fmt::format(
          "{}\n  {}\n{}{}{}\nrepeat: PLIANT_COMBINATION={} build/ci/bin/{} --gtest_filter='{}'", names_of(traits),
          problem, one.accelerator, one.workload, one.sweep, i, program, filter);
  }
  testing::Test::RecordProperty("rows", std::to_string(checked));
  testing::Test::RecordProperty("enumerated", std::to_string(enumerated));
  testing::Test::RecordProperty("tuples", std::to_string(array.tuples));
}

}  // namespace pliant::tests
