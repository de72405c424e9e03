// SPDX-License-Identifier: Apache-2.0
// What files of other tools may use of YAML and ours may not.
#include <gtest/gtest.h>

#include "core/input/yaml_node.h"

namespace pliant {
namespace {

YamlNode parse(std::string_view text, YamlDialect dialect) {
  Diagnostics problems;
  YamlNode node = parse_yaml(text, "x.yaml", problems, dialect);
  problems.throw_if_any();
  return node;
}

TEST(YamlDialect, TagsAreKeptWhereTheDialectHasThem) {
  const YamlNode tree = parse("nodes:\n  - !Container {name: a}\n  - !Word b\n", {.tags = true});
  EXPECT_EQ(tree.find("nodes")->items[0].tag, "!Container");
  EXPECT_EQ(tree.find("nodes")->items[1].tag, "!Word");
  EXPECT_EQ(tree.find("nodes")->items[1].text, "b");
  EXPECT_THROW(parse("a: !Word b\n", {}), InputError);
}

TEST(YamlDialect, MergeKeysAddWhatIsMissing) {
  constexpr std::string_view base = "base: &base {a: 1, in: {x: 1, y: 2}}\n";
  const YamlNode shallow = parse(std::string(base) + "own: {<<: *base, in: {x: 5}}\n", {.merge_keys = true});
  const YamlNode* own = shallow.find("own");
  EXPECT_EQ(own->find("a")->text, "1");
  EXPECT_EQ(own->find("in")->find("x")->text, "5");
  EXPECT_EQ(own->find("in")->find("y"), nullptr);
  const YamlNode deep = parse(std::string(base) + "own: {<<<: *base, in: {x: 5}}\n", {.merge_keys = true});
  EXPECT_EQ(deep.find("own")->find("in")->find("x")->text, "5");
  EXPECT_EQ(deep.find("own")->find("in")->find("y")->text, "2");
  EXPECT_THROW(parse(std::string(base) + "own: {<<: *base}\n", {}), InputError);
  EXPECT_THROW(parse("own: {<<: word}\n", {.merge_keys = true}), InputError);
}

}  // namespace
}  // namespace pliant
