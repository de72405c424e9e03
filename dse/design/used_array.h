// SPDX-License-Identifier: Apache-2.0
// How much of an array a layer can use. With perfect factors the units in use are products of divisors of the layer's
// sizes, so an array of 50 units may be no more to it than one of 48: the same mappings are legal and cost the same.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "dse/results/task_store.h"
#include "dse/sweep/sweep_task.h"

namespace pliant {

/// The most rows and columns in use that the array has room for; of an array of any shape its units, in one row.
/// nullopt where a mapping's legality or cost follows from the sizes in another way.
struct UsedSizes {
  Count rows = 1, cols = 1;
  bool operator==(const UsedSizes&) const = default;
};
std::optional<UsedSizes> used_sizes(const Layer& layer, const Accelerator& accelerator, const LevelFlexibility& rules,
                                    int level);

/// Names questions by what the layer can use of the arrays.
class QuestionsByUse {
 public:
  explicit QuestionsByUse(const Sweep& sweep) : namer_(sweep) {}
  /// Questions with the same key have the same mappings, each at the same cost. nullopt: the sizes matter. The layer
  /// lives as long as this.
  std::optional<TaskKey> key(const DesignPoint& design, const Layer& layer);

 private:
  TaskNamer namer_;
  std::shared_ptr<const Accelerator> last_, without_sizes_;  ///< the latest, and the same with arrays of one unit
};

/// The answer to a question with the same key as the answer to that of this accelerator.
TaskResult answer_on(const Accelerator& accelerator, const Layer& layer, TaskResult result);

}  // namespace pliant
