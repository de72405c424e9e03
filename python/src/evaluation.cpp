// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <nlohmann/json.hpp>

#include "core/legality.h"
#include "costmodel/report.h"
#include "dse/answers/json_schema.h"
#include "dse/answers/render_cost.h"
#include "src/bindings.h"
#include "src/errors.h"
#include "src/inputs.h"

namespace pliant::python {
namespace {

/// A mapping that was given, and what it costs.
struct EvaluatedMapping {
  Layer layer;
  Accelerator accelerator;
  MappingFile file;
  CostReport report;

  PricedMapping priced() const { return {layer, accelerator, file.mapping, file.factorization, report}; }
  std::string json() const {
    nlohmann::ordered_json json{{"schema", kJsonSchema}};
    json.update(cost_json(priced()));
    return json.dump();
  }
};

/// `mapping` is a path, or a whole file when `in_memory`.
EvaluatedMapping evaluate(const LoadedLayer& layer, const LoadedAccelerator& accelerator, const std::string& mapping,
                          bool in_memory, const std::optional<std::string>& factorization) {
  EvaluatedMapping made{layer.layer, accelerator.accelerator, {}, {}};
  made.file = in_memory ? parse_mapping_text(mapping, kInMemory, made.layer, made.accelerator)
                        : load_mapping(mapping, made.layer, made.accelerator);
  if (factorization) made.file.factorization = read_factorization(*factorization, "pliant");
  const std::vector<Violation> violations =
      check_legality(made.layer, made.accelerator, made.accelerator.flexibility_of(made.layer), made.file.factorization,
                     made.file.mapping);
  if (!violations.empty()) throw IllegalMapping(violations_json(violations).dump());
  made.report = price(made.layer, made.accelerator, made.file.mapping);
  return made;
}

}  // namespace

void bind_evaluation(nb::module_& module) {
  using namespace nb::literals;
  nb::class_<EvaluatedMapping>(module, "EvaluatedMapping")
      .def_prop_ro("energy_pj", [](const EvaluatedMapping& e) { return e.report.totals.energy_pj; })
      .def_prop_ro("runtime_cycles", [](const EvaluatedMapping& e) { return e.report.totals.cycles; })
      .def_prop_ro("edp_pj_cycles", [](const EvaluatedMapping& e) { return e.report.totals.edp(); })
      .def_prop_ro("utilization", [](const EvaluatedMapping& e) { return e.report.totals.utilization; })
      .def_prop_ro("bound_by", [](const EvaluatedMapping& e) { return e.report.bound_by; })
      .def_prop_ro("layer", [](const EvaluatedMapping& e) { return e.layer.name; })
      .def_prop_ro("accelerator", [](const EvaluatedMapping& e) { return e.accelerator.name; })
      .def("json", &EvaluatedMapping::json)
      .def("text", [](const EvaluatedMapping& e) { return cost_text(e.priced(), false); })
      .def("loop_nest", [](const EvaluatedMapping& e) { return to_loop_nest(e.layer, e.accelerator, e.file.mapping); })
      .def("mapping_file", [](const EvaluatedMapping& e) {
        return write_mapping(e.layer, e.accelerator, e.file.mapping, e.file.factorization);
      });
  module.def("evaluate", &evaluate, "layer"_a, "accelerator"_a, "mapping"_a, "in_memory"_a, "factorization"_a.none(),
             nb::call_guard<nb::gil_scoped_release>());
}

}  // namespace pliant::python
