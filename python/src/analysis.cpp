// SPDX-License-Identifier: Apache-2.0
// Flexion and sizes of map-spaces.
#include <fmt/format.h>

#include "dse/answers/count_json.h"
#include "dse/answers/flexion_comparison.h"
#include "dse/import/open.h"
#include "src/bindings.h"
#include "src/inputs.h"

namespace pliant::python {
namespace {

/// Of a workload, or of one layer when there is one.
std::string flexion(const LoadedAccelerator& loaded, const LoadedWorkload* workload, const LoadedLayer* layer,
                    bool tile_tuples) {
  Workload asked;
  if (workload != nullptr) asked = workload->workload;
  if (layer != nullptr) {
    asked.layers = {{layer->layer, 1}};
    asked.graph.reset();
  }
  if (asked.layers.empty()) throw bad_option("pliant", "--workload", "neither a workload nor a layer", "one of them");
  // compare_flexion chooses the flexibility by itself, so that it knows the class.
  const Accelerator own =
      loaded.flexibility
          ? (loaded.in_memory ? parse_accelerator_text(library(), loaded.source, kInMemory, loaded.settings)
                              : open_accelerator(library(), loaded.source, loaded.settings))
          : loaded.accelerator;
  return compare_flexion(library(), own, std::move(asked), loaded.flexibility, tile_tuples).json().dump();
}

std::string count(const LoadedLayer& layer, const LoadedAccelerator* accelerator, const std::string& factorization,
                  const std::string& mode) {
  CountedMapSpace space;
  space.command = "pliant";
  space.layer = layer.layer;
  space.rule = read_factorization(factorization, space.command);
  if (accelerator != nullptr) space.accelerator = accelerator->accelerator;
  if (mode == "orders") return orders_json(space).dump();
  if (accelerator == nullptr) throw bad_option("pliant", "--accelerator", "none", "an accelerator");
  if (mode == "map-space") return map_space_json(space).dump();
  if (mode == "legal") return legal_json(space).dump();
  if (mode == "enumerate") return enumerated_json(space).dump();
  if (mode == "quickflow") return quickflow_json(space).dump();
  const std::vector<std::string> modes{"map-space", "legal", "enumerate", "quickflow", "orders"};
  throw bad_option("pliant", "--mode", fmt::format("unknown mode `{}`", mode),
                   fmt::format("one of {}", fmt::join(modes, ", ")), nearest(mode, modes));
}

}  // namespace

void bind_analysis(nb::module_& module) {
  using namespace nb::literals;
  const nb::call_guard<nb::gil_scoped_release> unlocked;
  module.def("flexion", &flexion, "accelerator"_a, "workload"_a.none(), "layer"_a.none(), "tile_tuples"_a, unlocked);
  module.def("count", &count, "layer"_a, "accelerator"_a.none(), "factorization"_a, "mode"_a, unlocked);
}

}  // namespace pliant::python
