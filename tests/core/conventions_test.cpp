// SPDX-License-Identifier: Apache-2.0
#include "core/conventions.h"

#include <gtest/gtest.h>

namespace pliant {
namespace {

TEST(Conventions, PresetsKnowTheirNames) {
  for (const std::string& name : Conventions::preset_names()) {
    ASSERT_TRUE(Conventions::preset(name).has_value());
    EXPECT_EQ(Conventions::preset(name)->name(), name);
  }
  EXPECT_EQ(Conventions{}.name(), "physical");
  EXPECT_FALSE(Conventions::preset("maestro").has_value());
  Conventions mixed = Conventions::timeloop();
  mixed.halo = Conventions::Halo::kOneLoop;
  EXPECT_EQ(mixed.name(), "custom");
}

TEST(Conventions, EveryOptionIsSetAndReadBack) {
  const auto& options = convention_options();
  for (std::size_t option = 0; option < options.size(); ++option)
    for (std::size_t value = 0; value < options[option].values.size(); ++value) {
      Conventions conventions;
      set_convention(conventions, option, value);
      for (std::size_t other = 0; other < options.size(); ++other)
        EXPECT_EQ(get_convention(conventions, other), other == option ? value : 0) << options[other].key;
    }
}

TEST(Conventions, OptionsTellPresetsApart) {
  const auto& options = convention_options();
  Conventions rebuilt;
  for (std::size_t option = 0; option < options.size(); ++option)
    set_convention(rebuilt, option, get_convention(Conventions::quickflow(), option));
  EXPECT_EQ(rebuilt, Conventions::quickflow());
}

}  // namespace
}  // namespace pliant
