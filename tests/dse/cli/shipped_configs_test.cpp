// SPDX-License-Identifier: Apache-2.0
#include "dse/answers/shipped_configs.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

namespace pliant {
namespace {

namespace fs = std::filesystem;

class ShippedConfigs : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::path(::testing::TempDir()) / ("pliant_configs_" + std::to_string(::getpid()));
    fs::create_directories(root_);
  }
  void TearDown() override { fs::remove_all(root_); }

  fs::path make(const std::string& relative) {
    fs::create_directories(root_ / relative);
    return root_ / relative;
  }

  fs::path root_;
};

TEST_F(ShippedConfigs, AreThoseOfTheBuildTree) {
  const fs::path configs = make("configs");
  EXPECT_EQ(shipped_configs(make("build/release/bin"), nullptr), configs);
}

TEST_F(ShippedConfigs, AreThoseInstalled) {
  const fs::path configs = make("share/pliant/configs");
  EXPECT_EQ(shipped_configs(make("bin"), nullptr), configs);
  EXPECT_EQ(shipped_configs(make("bin"), ""), configs);
}

TEST_F(ShippedConfigs, AreThoseTheEnvironmentNames) {
  make("configs");
  const fs::path mine = make("mine");
  EXPECT_EQ(shipped_configs(make("build/release/bin"), mine.c_str()), mine);
}

TEST_F(ShippedConfigs, AreNotGuessedWhenTheEnvironmentNamesNothing) {
  make("configs");
  EXPECT_EQ(shipped_configs(make("build/release/bin"), (root_ / "nowhere").c_str()), std::nullopt);
}

TEST_F(ShippedConfigs, MayBeMissing) { EXPECT_EQ(shipped_configs(make("build/release/bin"), nullptr), std::nullopt); }

}  // namespace
}  // namespace pliant
