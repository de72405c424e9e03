// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <string_view>

#include "dse/cli/version_command.h"

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "--version") {
    std::fputs(pliant::version_text().c_str(), stdout);
    return 0;
  }
  std::fputs("usage: pliant --version\n", stderr);
  return 2;
}
