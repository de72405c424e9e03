// SPDX-License-Identifier: Apache-2.0
// configs/schema/sweep.json lists exactly the keys and words that the reader of sweep files knows.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "dse/mappers/mapper.h"
#include "dse/sweep/sweep_keys.h"

namespace pliant {
namespace {

using nlohmann::json;

json read_schema(std::string_view name) {
  std::ifstream stream(std::filesystem::path(PLIANT_SOURCE_DIR) / "configs" / "schema" / name);
  return json::parse(stream);
}

TEST(SweepSchema, ListsTheKeysOfTheReader) {
  for (const KeyTable& table : sweep_keys()) {
    SCOPED_TRACE(std::string(table.schema_pointer));
    const json schema = read_schema(table.schema_file);
    const json::json_pointer pointer{std::string(table.schema_pointer)};
    ASSERT_TRUE(schema.contains(pointer));
    EXPECT_EQ(schema[pointer]["additionalProperties"], false);
    std::set<std::string> listed;
    for (const auto& [key, value] : schema[pointer]["properties"].items()) listed.insert(key);
    EXPECT_EQ(listed, std::set<std::string>(table.keys.begin(), table.keys.end()));
  }
}

TEST(SweepSchema, ListsTheObjectivesAndMappers) {
  const json schema = read_schema("sweep.json");
  EXPECT_EQ(schema["properties"]["objective"]["anyOf"][0]["enum"], json(objective_names()));
  EXPECT_EQ(schema["properties"]["mapper"]["anyOf"][0]["enum"], json(mapper_names()));
  EXPECT_EQ(schema["$defs"]["mapper"]["properties"]["name"]["enum"], json(mapper_names()));
}

}  // namespace
}  // namespace pliant
