// SPDX-License-Identifier: Apache-2.0
// Sizes of map-spaces as JSON: what `pliant count` and the Python package answer. Counts are decimal texts, for they
// may have 30 digits and more.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "core/accelerator.h"
#include "core/layer.h"
#include "core/mapping.h"

namespace pliant {

/// Whose mappings are counted. Without levels the accelerator is none.
struct CountedMapSpace {
  Layer layer;
  Accelerator accelerator;
  Factorization rule = Factorization::kPerfect;
  std::string command = "pliant count";  ///< named in diagnostics
};

/// Factor chains x loop orders x bypasses, before capacities and the joint limits of fanouts.
nlohmann::ordered_json map_space_json(const CountedMapSpace& space);
/// Every limit applied. InputError when the map-space cannot be counted this way.
nlohmann::ordered_json legal_json(const CountedMapSpace& space);
/// The same by listing and judging every mapping. InputError when there are too many.
nlohmann::ordered_json enumerated_json(const CountedMapSpace& space);
/// QuickFlow's formula.
nlohmann::ordered_json quickflow_json(const CountedMapSpace& space);
/// Loop orders of one memory that differ in reuse.
nlohmann::ordered_json orders_json(const CountedMapSpace& space);

/// "57456", or "1075458121...000 (1.08e24)" with an approximation a person can compare.
std::string readable_size(const std::string& digits);

}  // namespace pliant
