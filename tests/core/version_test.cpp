// SPDX-License-Identifier: Apache-2.0
#include "core/version.h"

#include <gtest/gtest.h>

#include <regex>

namespace pliant {
namespace {

TEST(Version, IsThreeNumbers) { EXPECT_TRUE(std::regex_match(version(), std::regex(R"(\d+\.\d+\.\d+)"))) << version(); }

TEST(Version, EveryCoreLibraryHasOne) {
  for (const auto& library : core_library_versions()) {
    EXPECT_TRUE(std::regex_match(library.version, std::regex(R"(\d+\.\d+.*)"))) << library.name << library.version;
  }
}

}  // namespace
}  // namespace pliant
