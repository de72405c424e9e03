// SPDX-License-Identifier: Apache-2.0
// Rows of a table in groups, and one row for each group.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dse/results/data_table.h"

namespace pliant {

/// count, min(COLUMN), max(COLUMN), mean(COLUMN) or sum(COLUMN).
struct Aggregate {
  enum class Kind { kCount, kMin, kMax, kMean, kSum } kind = Kind::kCount;
  std::string column;
  std::string name() const;
  static std::optional<Aggregate> parse(std::string_view text);
};

/// Row numbers of each group, groups in the order of their first row.
std::vector<std::vector<std::size_t>> group_rows(const DataTable& table, const std::vector<std::string>& by,
                                                 const std::vector<std::size_t>& rows);

/// The group's columns, then one per aggregate. Empty cells do not count; an aggregate of nothing is empty.
DataTable aggregate(const DataTable& table, const std::vector<std::string>& by,
                    const std::vector<std::vector<std::size_t>>& groups, const std::vector<Aggregate>& aggregates);

/// Below, equal, above: numbers by value, flags false first, texts by bytes; empty cells last.
int compare(const Cell& a, const Cell& b);

}  // namespace pliant
