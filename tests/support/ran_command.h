// SPDX-License-Identifier: Apache-2.0
// A command line as a user or a script would type it, and what came back.
#pragma once

#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "dse/cli/command.h"

namespace pliant {

struct Ran {
  int code = 0;
  std::string out, err;
};

/// With the shipped configurations of the source tree.
inline Ran run(const std::vector<std::string>& args) {
  ::setenv("PLIANT_CONFIGS", PLIANT_SOURCE_DIR "/configs", 1);
  std::ostringstream out, err;
  const int code = run_pliant(args, out, err);
  return {code, out.str(), err.str()};
}

}  // namespace pliant
