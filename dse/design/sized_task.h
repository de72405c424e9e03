// SPDX-License-Identifier: Apache-2.0
// A task and how much its accelerator has of everything: what is proven on one that has no less of anything holds here.
#pragma once

#include <optional>
#include <vector>

#include "costmodel/task.h"

namespace pliant {

/// A task apart from its sizes, and the sizes as numbers of which a larger one is never worse (Lemma 1 of
/// docs/design-search.md, for two accelerators instead of a box and its ideal).
struct SizedTask {
  Task form;
  std::vector<double> sizes;
};

/// nullopt where more is not better: the objective has the utilization in it, or hints leave mappings out by it.
std::optional<SizedTask> sized_task(const Task& task);

/// Every mapping that is legal for `worse` is legal for `better`, and has no more energy and cycles there. Of tasks
/// with the same form.
bool no_worse(const std::vector<double>& better, const std::vector<double>& worse);

}  // namespace pliant
