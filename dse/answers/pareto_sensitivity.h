// SPDX-License-Identifier: Apache-2.0
// `pliant pareto --uncertain`: which designs stay on the frontier when figures are not what the file says.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/input/load.h"
#include "dse/answers/arguments.h"
#include "dse/answers/dataset_frontiers.h"
#include "dse/results/data_table.h"
#include "dse/results/pareto.h"
#include "dse/sweep/repricing.h"

namespace pliant {

class ParetoSensitivity {
 public:
  ParetoSensitivity(const Library& library, const Arguments& arguments, const std::filesystem::path& dataset,
                    const DataTable& table, std::vector<DatasetFrontiers::Goal> goals);

  std::size_t corners() const { return corners_.size(); }
  bool searched_again() const { return remap_; }

  /// A design that is on the frontier as the figures stand, or somewhere within what is uncertain.
  struct Design {
    std::size_t row = 0;      ///< of the table
    bool now = false;         ///< on the frontier as the figures stand
    std::size_t corners = 0;  ///< corners in which it is on the frontier
  };
  /// Those of one group, the ones that stay longest first. `rows` have all goals; `frontier` are those not dominated.
  std::vector<Design> designs(const std::vector<std::size_t>& rows, const std::vector<std::size_t>& frontier) const;

 private:
  Repricing::Row name_of(std::size_t row) const;
  Point point(std::size_t row, const FigureCosts& costs) const;
  double value(const std::string& column, std::size_t row, const FigureCosts& costs) const;

  const DataTable& table_;
  std::vector<DatasetFrontiers::Goal> goals_;
  bool remap_ = false;
  const Library& library_;
  std::unique_ptr<Repricing> repricing_;
  std::vector<Corner> corners_;
};

}  // namespace pliant
