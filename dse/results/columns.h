// SPDX-License-Identifier: Apache-2.0
// Every column of the two tables with its unit and meaning. The part files carry units and meanings in their metadata;
// results/README.md is checked against this table.
#pragma once

#include <span>
#include <string_view>

namespace pliant {

/// Raised whenever a column changes its name, type or meaning.
inline constexpr int kTableSchema = 8;
/// Tables since this one lack columns of later ones and differ in nothing else: who asks for columns by name reads
/// them.
inline constexpr int kOldestReadSchema = 6;
inline constexpr bool schema_is_read(int schema) { return schema >= kOldestReadSchema && schema <= kTableSchema; }

/// The status of a design whose results break a constraint of the sweep. Its numbers stay in the table; frontiers, best
/// designs and the report pass it by.
inline constexpr std::string_view kOverLimit = "over_limit";

enum class TableKind { kLayers, kDesigns };
std::string_view to_string(TableKind table);  ///< "layers", "designs"

struct ColumnInfo {
  std::string_view name;
  std::string_view unit;  ///< "pJ", "1" for ratios and counts, "" for texts
  std::string_view meaning;
};

/// In the order of the file, without the set_ columns, which follow design_id.
std::span<const ColumnInfo> column_infos(TableKind table);

}  // namespace pliant
