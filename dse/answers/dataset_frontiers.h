// SPDX-License-Identifier: Apache-2.0
// The frontiers of a table, one for each group of rows: what `pliant pareto` and the Python package answer.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "dse/results/data_table.h"
#include "dse/results/pareto.h"

namespace pliant {

/// What the user wants of a frontier. Names of columns; `command` is named in diagnostics.
struct FrontierQuestion {
  std::string command = "pliant pareto";
  std::vector<std::string> minimize, maximize;  ///< none at all: area and EDP, where the table has them
  std::vector<std::string> group_by;
  std::vector<std::string> reference;  ///< of the hypervolume, a number per column; empty: the worst of each group
};

/// The rows of a table that count: those that meet the conditions and break no constraint of their sweep on results.
struct CountingRows {
  DataTable table;
  std::size_t over_limit = 0, filtered = 0;  ///< left out: by the sweep's constraints on results, by the conditions
};
/// `where`: conditions as --where takes them. Parts that cannot be read are described in `damaged`.
CountingRows read_counting_rows(const std::filesystem::path& dataset, TableKind kind,
                                const std::vector<std::string>& where, std::vector<std::string>& damaged);

struct DatasetFrontiers {
  struct Goal {
    std::string column;
    double sign = 1;  ///< -1 when maximised
  };
  struct Group {
    std::vector<std::string> names;     ///< values of the group-by columns
    std::vector<std::size_t> rows;      ///< that have all goals
    std::size_t incomplete = 0;         ///< left out: a goal is empty
    std::vector<std::size_t> frontier;  ///< rows of the table
    Point reference;                    ///< as written, not signed
    double volume = 0;
    std::optional<std::size_t> knee;  ///< in frontier
  };
  DataTable table;
  std::vector<Goal> goals;
  std::vector<std::string> group_by;
  std::vector<Group> groups;

  /// InputError with near names when there is none; `option` is named in it.
  const DataColumn& column(const std::string& name, const std::string& command, const std::string& option) const;
  /// `complete`: every part of the dataset could be read.
  nlohmann::ordered_json json(bool complete) const;
  /// All columns of the frontier's rows, which of them is the knee, and the hypervolume of its group.
  DataTable rows() const;
};

/// InputError for columns that do not exist, are no numbers or are named twice.
DatasetFrontiers find_frontiers(DataTable table, const FrontierQuestion& question);

}  // namespace pliant
