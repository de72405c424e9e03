// SPDX-License-Identifier: Apache-2.0
#include "core/version.h"
#include "dse/answers/json_schema.h"
#include "src/bindings.h"

NB_MODULE(_core, module) {
  module.doc() = "The C++ core of pliant; use the package, not this module.";
  module.attr("version") = std::string(pliant::version());
  module.attr("json_schema") = pliant::kJsonSchema;
  pliant::python::bind_errors(module);
  pliant::python::bind_inputs(module);
  pliant::python::bind_search(module);
  pliant::python::bind_evaluation(module);
  pliant::python::bind_tables(module);
  pliant::python::bind_analysis(module);
  pliant::python::bind_networks(module);
  pliant::python::bind_sweeps(module);
  pliant::python::bind_designs(module);
  pliant::python::bind_datasets(module);
  pliant::python::bind_commands(module);
}
