// SPDX-License-Identifier: Apache-2.0
// The questions of the command line inside this process.
#include <sstream>

#include "dse/answers/answers.h"
#include "src/bindings.h"
#include "src/inputs.h"
#include "src/interrupt.h"

namespace pliant::python {
namespace {

/// Ctrl-C asks the command to stop, as it asks a search.
class PythonFace : public Face {
 public:
  PythonFace(std::ostream& out_stream, std::ostream& err_stream, bool interruptible)
      : Face(out_stream, err_stream, python::library()), call_(interruptible) {}
  std::stop_token begin_work(std::string_view, double) override { return call_.token(); }

 private:
  InterruptibleCall call_;
};

/// With --json: exit code, what it said and what it complained about.
nb::tuple ask(std::vector<std::string> words, bool interruptible) {
  std::ostringstream out, err;
  words.emplace_back("--json");
  int code = 0;
  {
    const nb::gil_scoped_release unlocked;
    PythonFace face(out, err, interruptible);
    code = answer(words, face);
  }
  return nb::make_tuple(code, out.str(), err.str());
}

}  // namespace

void bind_commands(nb::module_& module) {
  using namespace nb::literals;
  module.def("ask", &ask, "words"_a, "interruptible"_a);
}

}  // namespace pliant::python
