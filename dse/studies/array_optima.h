// SPDX-License-Identifier: Apache-2.0
// Optima of one layer on arrays of many sizes, with perfect factors, with spatial remainders and with padding. Padding
// as a mapper without remainders would use it: a dim that runs over a side of the array is rounded up to the next
// multiple of that side, and the padded work is paid for.
#pragma once

#include <map>
#include <vector>

#include "dse/studies/study_task.h"

namespace pliant {

/// Of arrays that differ in rows and columns only, and cost nothing where they are not used: all mappings of a smaller
/// one are mappings of a larger one, at the same cost. So an optimum that was proven on a larger array and fits a
/// smaller one is its optimum too; who asks from the largest to the smallest makes few searches.
class ArrayOptima {
 public:
  struct Cost {
    double energy_pj = 0, cycles = 0, edp = 0;
    bool certified = false;
  };
  struct OnArray {
    Cost perfect, ruby_s;
    Cost always_padded;  ///< C, M and Q are all padded
    Cost padded;         ///< the best of the eight sets of them
  };

  ArrayOptima(const StudyContext& context, const Layer& layer) : context_(context), layer_(layer) {}

  /// Proven optima for EDP. C runs over the rows, M and Q over the columns.
  OnArray on(const Accelerator& array, Count rows, Count cols);
  int searches() const { return searches_; }

 private:
  struct Known {
    Count rows = 0, cols = 0;            ///< of the array that it was searched on
    Count used_rows = 1, used_cols = 1;  ///< by the mapping
    Cost cost;
  };
  Cost optimum(const Accelerator& array, Count rows, Count cols, const Layer& padded, Factorization rule);

  /// No mapping with perfect factors has less EDP: the largest optimum that was proven on an array that contains this.
  double floor_of(Count rows, Count cols, const Layer& padded) const;

  const StudyContext& context_;
  const Layer& layer_;
  std::map<std::pair<Factorization, std::vector<Count>>, std::vector<Known>> known_;  ///< by the sizes of the dims
  int searches_ = 0;
};

}  // namespace pliant
