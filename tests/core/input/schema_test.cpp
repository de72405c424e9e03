// SPDX-License-Identifier: Apache-2.0
// The JSON Schema files list exactly the keys that the readers know.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "core/conventions.h"
#include "core/input/keys.h"

namespace pliant {
namespace {

nlohmann::json read_schema(std::string_view name) {
  std::ifstream stream(std::filesystem::path(PLIANT_SOURCE_DIR) / "configs" / "schema" / name);
  return nlohmann::json::parse(stream);
}

TEST(Schema, ListsTheKeysOfTheReaders) {
  for (const KeyTable& table : known_keys()) {
    SCOPED_TRACE(std::string(table.schema_file) + "#" + std::string(table.schema_pointer));
    const nlohmann::json schema = read_schema(table.schema_file);
    const nlohmann::json::json_pointer pointer{std::string(table.schema_pointer)};
    ASSERT_TRUE(schema.contains(pointer));
    const nlohmann::json& block = schema[pointer];
    ASSERT_TRUE(block.contains("properties"));
    EXPECT_EQ(block["additionalProperties"], false);
    std::set<std::string> listed;
    for (const auto& [key, value] : block["properties"].items()) listed.insert(key);
    EXPECT_EQ(listed, std::set<std::string>(table.keys.begin(), table.keys.end()));
  }
}

TEST(Schema, EveryReferenceResolves) {
  for (const auto& entry :
       std::filesystem::directory_iterator(std::filesystem::path(PLIANT_SOURCE_DIR) / "configs" / "schema")) {
    const std::string file = entry.path().filename().string();
    const nlohmann::json flat = read_schema(file).flatten();
    for (const auto& [path, value] : flat.items()) {
      if (!path.ends_with("/$ref")) continue;
      const std::string target = value.get<std::string>();
      const std::size_t hash = target.find('#');
      const nlohmann::json other = read_schema(hash == 0 ? file : target.substr(0, hash));
      EXPECT_TRUE(other.contains(nlohmann::json::json_pointer(target.substr(hash + 1))))
          << file << path << " -> " << target;
    }
  }
}

TEST(Schema, ListsTheConventions) {
  const nlohmann::json schema = read_schema("accelerator.json");
  const nlohmann::json& forms = schema["properties"]["conventions"]["anyOf"];
  EXPECT_EQ(forms[0]["enum"].get<std::vector<std::string>>(), Conventions::preset_names());
  nlohmann::json options = forms[1]["properties"];
  EXPECT_EQ(options["preset"]["enum"].get<std::vector<std::string>>(), Conventions::preset_names());
  options.erase("preset");
  EXPECT_EQ(options.size(), convention_options().size());
  for (const ConventionOption& option : convention_options()) {
    SCOPED_TRACE(option.key);
    EXPECT_EQ(options[std::string(option.key)]["enum"].get<std::vector<std::string>>(),
              std::vector<std::string>(option.values.begin(), option.values.end()));
  }
}

}  // namespace
}  // namespace pliant
