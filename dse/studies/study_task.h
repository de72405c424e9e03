// SPDX-License-Identifier: Apache-2.0
// One search outside a sweep, as studies need them: many tiny tasks, or several mappers on the same one.
#pragma once

#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dse/mappers/mapper.h"
#include "dse/studies/study.h"

namespace pliant {

struct StudyTask {
  Layer layer;
  Factorization factorization = Factorization::kPerfect;
  Objective objective = Objective::kEdp;
  std::string mapper = "exact";
  std::uint64_t seed = 1;
  std::uint64_t evaluations = 0;  ///< 0 = the mapper's own
  double seconds = 0;             ///< 0 = no limit
  double most_cycles = std::numeric_limits<double>::infinity();
  std::vector<std::pair<std::string, std::string>> options = {};
  std::function<void(const Progress&)> on_progress = {};
};

/// StudyError when nothing was found; StudyInterrupted after Ctrl-C.
SearchResult solve(const StudyContext& context, const Accelerator& accelerator, const StudyTask& task);
/// The same by this mapper, whatever the task names.
SearchResult solve(const StudyContext& context, const Accelerator& accelerator, const StudyTask& task,
                   const Mapper& mapper);

/// Calls one(i, context) for every i below `count`, side by side on all threads, each with a context of one thread.
/// Tells how far it is: "WHAT, 3 of 8".
void for_each_task(const StudyContext& context, const std::string& what, std::size_t count,
                   const std::function<void(std::size_t, const StudyContext&)>& one);

}  // namespace pliant
