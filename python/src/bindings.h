// SPDX-License-Identifier: Apache-2.0
// The parts of the module pliant._core, one function for each source file. Results leave as the JSON of the command
// line (docs/json.md) or as Arrow streams; the classes that people see are in python/pliant.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

namespace pliant::python {

namespace nb = nanobind;

void bind_errors(nb::module_& module);
void bind_inputs(nb::module_& module);
void bind_search(nb::module_& module);
void bind_evaluation(nb::module_& module);
void bind_tables(nb::module_& module);
void bind_analysis(nb::module_& module);
void bind_networks(nb::module_& module);
void bind_sweeps(nb::module_& module);
void bind_designs(nb::module_& module);
void bind_datasets(nb::module_& module);
void bind_commands(nb::module_& module);

}  // namespace pliant::python
