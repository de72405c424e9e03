// SPDX-License-Identifier: Apache-2.0
#include <iostream>
#include <string>
#include <vector>

#include "dse/cli/command.h"

int main(int argc, char** argv) {
  return pliant::run_pliant(std::vector<std::string>(argv + 1, argv + argc), std::cout, std::cerr);
}
