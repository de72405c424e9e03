// SPDX-License-Identifier: Apache-2.0
// Checks a dataset of a design search: its rows as those of a sweep; that its boxes hold every design once; and random
// designs inside closed boxes, by mapping them: none may beat its box's bounds, or the frontier.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "dse/sweep/verify_dataset.h"

namespace pliant {

struct DesignVerdict {
  DatasetVerdict rows;
  std::int64_t boxes = 0, designs = 0;  ///< read; held by the boxes
  std::int64_t opened_again = 0;        ///< random designs that were mapped
  std::vector<std::string> wrong;       ///< about boxes
  bool good() const { return rows.good() && wrong.empty(); }
};

/// `samples` designs of closed boxes are mapped. InputError when the sweep is not the one the dataset was made from.
DesignVerdict verify_design(const Library& library, const Sweep& sweep, const std::filesystem::path& dataset,
                            const DatasetProofs& proofs, std::int64_t samples);

}  // namespace pliant
