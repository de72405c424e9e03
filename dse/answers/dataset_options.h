// SPDX-License-Identifier: Apache-2.0
// What the commands on datasets (pareto, query, report, verify) have in common.
#pragma once

#include <filesystem>
#include <iosfwd>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/input/load.h"
#include "dse/answers/arguments.h"
#include "dse/results/data_table.h"

namespace pliant {

/// Words between commas.
std::vector<std::string> split_names(const std::string& text);

/// The command's word: a folder that `pliant sweep` wrote, or one Parquet file. InputError when there is nothing.
std::filesystem::path dataset_of(const Arguments& arguments);

/// Says on `err` which parts a dataset lacks, and which are `damaged`. True when nothing is wrong.
bool tell_if_incomplete(const std::filesystem::path& dataset, TableKind table, const std::vector<std::string>& damaged,
                        std::ostream& err);
/// When no part of a table can be read: what is wrong with each, or that there is none.
InputError no_table(const Arguments& arguments, const std::filesystem::path& dataset, TableKind table,
                    const std::vector<std::string>& damaged);
/// Of a command that answered from a dataset: 0, or 1 when it is not complete and --partial was not given.
int exit_code(const Arguments& arguments, bool complete);

/// "area_um2 runs from 189000 to 1.3e+06" for each column of numbers in the rows; empty when there are none.
std::string ranges_text(const DataTable& rows);

/// --table: designs or layers.
TableKind table_of(const Arguments& arguments);

/// The column that a name without its unit, a misspelt one or another word for it means; "" when none comes near.
std::string nearest_column(const std::string& name, const std::vector<std::string>& known);
InputError unknown_column(std::string_view command, std::string option, const std::string& name,
                          const std::vector<std::string>& known);

/// A file, or the shipped sweep of this name; InputError with near names otherwise.
std::filesystem::path find_sweep(const Library& library, const std::string& name);

/// For people: six digits.
std::string shown(const Cell& cell);
nlohmann::ordered_json to_json(const Cell& cell);

}  // namespace pliant
