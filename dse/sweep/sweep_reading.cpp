// SPDX-License-Identifier: Apache-2.0
#include "dse/sweep/sweep_reading.h"

#include <system_error>

#include "dse/results/content_hash.h"

namespace pliant {

namespace fs = std::filesystem;

std::string SweepReading::beside(const std::string& name) const {
  std::error_code error;
  const fs::path own = fs::path(file).parent_path() / name;
  return fs::is_regular_file(own, error) ? own.string() : name;
}

void SweepReading::note_input(std::string what, const std::string& name, const std::string& content) {
  sweep.inputs.push_back({std::move(what), fs::path(name).filename().string(), sha256(content)});
}

void SweepReading::relay(const Cursor& at, const InputError& error) {
  for (const Diagnostic& d : error.diagnostics()) {
    if (d.line > 0 || !d.setting.empty()) {
      problems.add(d);
    } else {
      at.problem(d.what, d.expected, d.did_you_mean);
    }
  }
}

std::vector<Cursor> one_or_list(const Cursor& c) { return c.node().is_sequence() ? c.items() : std::vector<Cursor>{c}; }

}  // namespace pliant
