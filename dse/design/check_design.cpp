// SPDX-License-Identifier: Apache-2.0
// What a design search cannot be asked.
#include "core/conventions.h"
#include "core/input/diagnostics.h"
#include "dse/combinations/combinations.h"
#include "dse/design/design_search.h"
#include "dse/sweep/design_space.h"

namespace pliant {

void check_design_sweep(const Sweep& sweep) {
  const auto refuse = [&](std::string key, std::string what, std::string expected) {
    return InputError(Diagnostic{sweep.name, 0, 0, std::move(key), std::move(what), std::move(expected), ""});
  };
  if (!sweep.goals) throw refuse("minimize", "missing", "one to three columns, such as [area_um2, edp_pj_cycles]");
  check_works(sweep.name, Traits{Trait::kDesign}.add(TraitGroup::kMappers, sweep.mapper), "mapper");
}

void check_design_conventions(const Library& library, const Sweep& sweep) {
  const DesignPoint first = DesignSpace(library, std::make_shared<const Sweep>(sweep)).design(0);
  if (!first.accelerator || Conventions::preset(first.accelerator->conventions.name())) return;
  throw InputError(Diagnostic{sweep.name, 0, 0, "conventions",
                              "a design search proves, and mixed conventions have no proof",
                              "a preset (physical, timeloop, quickflow), or `pliant sweep`", ""});
}

}  // namespace pliant
