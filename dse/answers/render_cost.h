// SPDX-License-Identifier: Apache-2.0
// A priced mapping as text for people and as JSON for scripts; shared by `eval` and `map`.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/accelerator.h"
#include "core/layer.h"
#include "core/legality.h"
#include "core/mapping.h"
#include "costmodel/report.h"

namespace pliant {

/// What was priced. References must outlive the rendering.
struct PricedMapping {
  const Layer& layer;
  const Accelerator& accelerator;
  const Mapping& mapping;
  Factorization factorization = Factorization::kPerfect;
  const CostReport& report;
};

/// The fields `eval` and `map` have in common: layer, accelerator, conventions, energy_pj, runtime_cycles,
/// edp_pj_cycles, area_um2, utilization, bound_by, levels, compute, mapping. docs/json.md is the contract.
nlohmann::ordered_json cost_json(const PricedMapping& priced);

/// A mapping in the shape of a mapping file: saved as it is, --mapping reads it back.
nlohmann::ordered_json mapping_json(const PricedMapping& priced);

/// Where energy and time go, how full the buffers are, the loop nest. `ascii` uses no character beyond ASCII.
std::string cost_text(const PricedMapping& priced, bool ascii);

/// A bar of up to 24 characters.
std::string share_bar(double share, bool ascii);

/// One line per violated limit.
std::string violations_text(const std::vector<Violation>& violations);
nlohmann::ordered_json violations_json(const std::vector<Violation>& violations);

}  // namespace pliant
