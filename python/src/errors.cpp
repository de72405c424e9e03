// SPDX-License-Identifier: Apache-2.0
// Bad input becomes pliant.InputError, a disk that refuses pliant.StorageError, changed inputs pliant.ChangedInputs.
#include "src/errors.h"
#include "core/input/diagnostics.h"
#include "dse/results/atomic_file.h"
#include "dse/sweep/run_sweep.h"
#include "src/bindings.h"

namespace pliant::python {
namespace {

nb::list as_tuples(const std::vector<Diagnostic>& diagnostics) {
  nb::list all;
  for (const Diagnostic& one : diagnostics)
    all.append(
        nb::make_tuple(one.file, one.line, one.column, one.key, one.what, one.expected, one.did_you_mean, one.text()));
  return all;
}

void raise_from(const char* type, const nb::object& argument) {
  const nb::object raised = nb::module_::import_("pliant._errors").attr(type)(argument);
  PyErr_SetObject(raised.type().ptr(), raised.ptr());
}

void translate(const std::exception_ptr& thrown, void* /*payload*/) {
  try {
    std::rethrow_exception(thrown);
  } catch (const InputError& error) {
    raise_from("InputError", as_tuples(error.diagnostics()));
  } catch (const IllegalMapping& error) {
    raise_from("IllegalMapping", nb::str(error.what()));
  } catch (const ChangedInputs& error) {
    raise_from("ChangedInputs", nb::str(error.what()));
  } catch (const StorageError& error) {
    raise_from("StorageError", nb::str(error.what()));
  }
}

}  // namespace

void bind_errors(nb::module_& /*module*/) { nb::register_exception_translator(translate); }

}  // namespace pliant::python
