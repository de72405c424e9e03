// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <iostream>
#include <string_view>

#include "dse/cli/count_command.h"
#include "dse/cli/version_command.h"

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "--version") {
    std::fputs(pliant::version_text().c_str(), stdout);
    return 0;
  }
  if (argc >= 2 && std::string_view(argv[1]) == "count")
    return pliant::count_command({argv + 2, argv + argc}, std::cout, std::cerr);
  std::fputs("usage: pliant --version | count\n", stderr);
  return 2;
}
