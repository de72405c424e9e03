// SPDX-License-Identifier: Apache-2.0
// The commands of the command line inside this process, for what has no function of its own.
#include <signal.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <mutex>
#include <sstream>

#include "dse/answers/option_table.h"
#include "dse/cli/command.h"
#include "src/bindings.h"
#include "src/inputs.h"

namespace pliant::python {
namespace {

/// Commands answer Ctrl-C in their own way while they run; afterwards Python's handlers stand again.
class KeptSignals {
 public:
  KeptSignals() {
    for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], nullptr, &before_[i]);
  }
  ~KeptSignals() {
    for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &before_[i], nullptr);
  }
  KeptSignals(const KeptSignals&) = delete;
  KeptSignals& operator=(const KeptSignals&) = delete;

 private:
  static constexpr std::array kSignals = {SIGINT, SIGTERM};
  std::array<struct sigaction, kSignals.size()> before_{};
};

/// With --json where the command has it: exit code, what it said, what it complained about, and whether that is JSON.
/// One at a time: commands look for the shipped files by an environment variable.
nb::tuple command(std::vector<std::string> words) {
  std::ostringstream out, err;
  const bool json = !words.empty() && std::ranges::any_of(options_of(words.front()), [](const OptionInfo& option) {
    return option.name == "json";
  });
  if (json) words.emplace_back("--json");
  int code = 0;
  {
    const nb::gil_scoped_release unlocked;
    static std::mutex one_at_a_time;
    const std::lock_guard lock(one_at_a_time);
    const KeptSignals kept;
    const bool set = std::getenv("PLIANT_CONFIGS") == nullptr;
    if (set) setenv("PLIANT_CONFIGS", library().configs().c_str(), 1);
    code = run_pliant(words, out, err);
    if (set) unsetenv("PLIANT_CONFIGS");
  }
  return nb::make_tuple(code, out.str(), err.str(), json);
}

}  // namespace

void bind_commands(nb::module_& module) {
  using namespace nb::literals;
  module.def("command", &command, "words"_a);
}

}  // namespace pliant::python
