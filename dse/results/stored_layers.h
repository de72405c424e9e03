// SPDX-License-Identifier: Apache-2.0
// Rows of `layers` as a part file holds them, to be checked against what they claim.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/accelerator.h"
#include "core/layer.h"
#include "core/mapping.h"

namespace pliant {

struct StoredLayer {
  std::int64_t design_id = 0, layer_index = 0, count = 1;
  std::string workload, layer, status;
  std::optional<double> energy_pj, runtime_cycles, edp_pj_cycles, utilization;
  std::optional<double> value, lower_bound, gap;
  bool certified = false;
  std::string on_chip;  ///< empty of layers that are mapped by themselves

  using Loops = std::vector<std::pair<std::string, Count>>;  ///< dim, bound
  struct Level {
    std::string level;
    Loops temporal, rows, cols, padded;
    std::vector<std::string> keeps;
  };
  std::vector<Level> mapping;

  /// The mapping in the terms of its layer and its accelerator; nullopt when it names levels, dims or tensors that they
  /// do not have.
  std::optional<Mapping> mapping_of(const Layer& of, const Accelerator& accelerator) const;
};

/// All rows of one part, in order. StorageError when it is damaged or lacks a column.
std::vector<StoredLayer> read_stored_layers(const std::filesystem::path& file);

}  // namespace pliant
