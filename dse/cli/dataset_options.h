// SPDX-License-Identifier: Apache-2.0
// What the commands on datasets (pareto, query, verify) have in common.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/input/diagnostics.h"
#include "core/input/load.h"
#include "dse/results/data_table.h"

namespace pliant {

/// A mistake on a command's line; `command` as in "pliant query".
InputError bad_option(const std::string& command, std::string what, std::string expected,
                      std::string did_you_mean = {});

/// Words between commas.
std::vector<std::string> split_names(const std::string& text);

/// "designs" or "layers"; InputError otherwise.
TableKind table_named(const std::string& command, const std::string& word);

/// InputError when there is nothing at this path.
void require_dataset(const std::string& command, const std::filesystem::path& dataset);

InputError unknown_column(const std::string& command, const std::string& name, const std::vector<std::string>& known);

/// A file, or the shipped sweep of this name; InputError with near names otherwise.
std::filesystem::path find_sweep(const Library& library, const std::string& name);

/// For people: six digits.
std::string shown(const Cell& cell);
nlohmann::ordered_json to_json(const Cell& cell);

}  // namespace pliant
