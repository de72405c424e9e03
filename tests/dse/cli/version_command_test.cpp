// SPDX-License-Identifier: Apache-2.0
#include "dse/cli/version_command.h"

#include <gtest/gtest.h>

namespace pliant {
namespace {

TEST(VersionCommand, NamesEveryLibraryWithAVersion) {
  const std::string text = "\n" + version_text();
  EXPECT_EQ(text.find("\npliant "), 0u);
  for (const char* name :
       {"sources", "compiler", "Arrow", "Boost", "OpenSSL", "Parquet", "fmt", "nlohmann-json", "oneTBB", "yaml-cpp"}) {
    const std::size_t line = text.find(std::string("\n  ") + name + " ");
    ASSERT_NE(line, std::string::npos) << name;
    const std::string rest = text.substr(line + 1, text.find('\n', line + 1) - line - 1);
    EXPECT_NE(rest.find_first_of("0123456789"), std::string::npos) << rest;
  }
}

}  // namespace
}  // namespace pliant
