// SPDX-License-Identifier: Apache-2.0
// The presets that build quickly compile several sources of a room as one, so private names must differ within a room
// and within the tests of a room. The preset `ci` compiles each source by itself and would not notice.
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <regex>
#include <string>
#include <vector>

#include "architecture/source_files.h"

namespace pliant::test {
namespace {

/// What stands at the left margin inside `namespace {`: a type or a constant by its name, a function by its name and
/// the first line of its parameters (functions of one name may differ in those).
std::vector<std::string> private_names(const std::vector<std::string>& lines) {
  static const std::regex type(R"re(^(?:struct|class|enum class|union) (\w+)(?: final)?(?: :.*)? ?\{.*$)re");
  static const std::regex constant(
      R"re(^(?:inline |static |const |constexpr )+[^()]*?\b(k[A-Z]\w*)(?:\[\w*\])*(?: ?=|\{|\().*$)re");
  static const std::regex function(R"re(^[A-Za-z][\w:<>,*& ]*[ *&](\w+\([^{;]*[{,]).*$)re");
  std::vector<std::string> names;
  bool inside = false;
  for (const std::string& line : lines) {
    std::smatch match;
    if (line == "namespace {") inside = true;
    if (line.starts_with("}  // namespace")) inside = false;
    if (!inside || line.starts_with("TEST")) continue;
    if (std::regex_match(line, match, type) || std::regex_match(line, match, constant) ||
        std::regex_match(line, match, function))
      names.push_back(match[1]);
  }
  return names;
}

/// The folders whose sources become one target, as CMake is told.
std::vector<std::string> batched_folders() {
  static const std::regex layer(R"re(^pliant_add_layer\(([\w/]+).*$)re");
  static const std::regex tests(R"re(^pliant_add_room_tests\(([\w/]+).*$)re");
  const std::filesystem::path root(PLIANT_SOURCE_DIR);
  std::vector<std::string> folders;
  std::smatch match;
  for (const std::string& line : read_lines(root / "CMakeLists.txt"))
    if (std::regex_match(line, match, layer)) folders.push_back(match[1]);
  for (const std::string& line : read_lines(root / "tests/CMakeLists.txt"))
    if (std::regex_match(line, match, tests)) folders.push_back("tests/" + match[1].str());
  return folders;
}

TEST(Batches, PrivateNamesAreFound) {
  const std::vector<std::string> names = private_names({"constexpr int kOutside = 1;",  //
                                                        "namespace {",                  //
                                                        "constexpr double kHalf = 0.5;",
                                                        "const std::vector<int> kList{1, 2};",  //
                                                        "struct Pair {",                        //
                                                        "  int first = 0;",                     //
                                                        "};",                                   //
                                                        "int twice(int x) { return 2 * x; }",   //
                                                        "std::string long_one(const std::string& first,",
                                                        "TEST(Suite, Case) {",  //
                                                        "}  // namespace",      //
                                                        "int after() { return 0; }"});
  const std::vector<std::string> expected = {"kHalf", "kList", "Pair", "twice(int x) {",
                                             "long_one(const std::string& first,"};
  EXPECT_EQ(names, expected);
}

TEST(Batches, PrivateNamesDifferWithinARoom) {
  const std::vector<std::string> folders = batched_folders();
  ASSERT_GT(folders.size(), 20u);
  std::size_t found = 0;
  for (const std::string& folder : folders) {
    std::map<std::string, std::string> owner;
    const std::filesystem::path root = std::filesystem::path(PLIANT_SOURCE_DIR) / folder;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
      if (entry.path().extension() != ".cpp") continue;
      for (const std::string& name : private_names(read_lines(entry.path()))) {
        ++found;
        const auto [known, is_new] = owner.emplace(name, entry.path().string());
        EXPECT_TRUE(is_new || known->second == entry.path().string())
            << folder << ": `" << name << "` is private to " << known->second << " and to " << entry.path().string();
      }
    }
  }
  EXPECT_GT(found, 500u);
}

/// What the library defines outside `namespace {`, at the left margin: types by their full names.
std::vector<std::string> public_types(const std::vector<std::string>& lines) {
  static const std::regex opened(R"re(^namespace ([\w:]+) \{$)re");
  static const std::regex type(R"re(^(?:struct|class|enum class|union) (\w+)(?: final)?(?: :.*)? ?\{.*$)re");
  std::vector<std::string> names;
  std::string outer;
  bool is_private = false;
  for (const std::string& line : lines) {
    std::smatch match;
    if (std::regex_match(line, match, opened)) outer = match[1];
    if (line == "namespace {") is_private = true;
    if (line.starts_with("}  // namespace")) is_private = false;
    if (!is_private && std::regex_match(line, match, type)) names.push_back(outer + "::" + match[1].str());
  }
  return names;
}

// Two types of one name in one program are undefined behaviour even where no source sees both; where a batch does, it
// does not compile.
TEST(Batches, TypesHaveNamesOfTheirOwn) {
  EXPECT_EQ(public_types({"namespace pliant {", "struct Shown {", "namespace {", "struct Hidden {", "}  // namespace"}),
            std::vector<std::string>{"pliant::Shown"});
  std::map<std::string, std::string> owner;
  for (const SourceFile& file : library_sources()) {
    for (const std::string& name : public_types(file.lines)) {
      const auto [known, is_new] = owner.emplace(name, file.path);
      EXPECT_TRUE(is_new) << name << " is a type of " << known->second << " and of " << file.path;
    }
  }
  EXPECT_GT(owner.size(), 300u);
}

}  // namespace
}  // namespace pliant::test
