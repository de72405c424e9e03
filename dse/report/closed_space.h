// SPDX-License-Identifier: Apache-2.0
// The boxes of a design search for the page: what became of the designs that have no rows.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>

namespace pliant {

/// {"rows", "columns", "left_out"} of boxes.parquet, the largest boxes and all mapped designs; null when the dataset is
/// no design search's.
nlohmann::ordered_json closed_space(const std::filesystem::path& dataset);

}  // namespace pliant
