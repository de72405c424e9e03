// SPDX-License-Identifier: Apache-2.0
// Limits that keep the code readable: lengths of files, functions and lines, a README in every folder.
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <set>
#include <string>

#include "architecture/function_lengths.h"
#include "architecture/source_files.h"

namespace pliant::test {
namespace {

constexpr std::size_t kMaxFileLines = 450;
constexpr std::size_t kMaxFunctionLines = 80;
constexpr std::size_t kMaxLineLength = 120;

// What does not comply yet. These lists only shrink; nothing may be added.
const std::map<std::string, std::string> kLongFiles = {};
const std::map<std::string, std::string> kLongFunctions = {};
const std::set<std::string> kLongLines = {};

TEST(FunctionLengths, FindsFunctionsAndTheirEnds) {
  const SourceFile file{"example.cpp",
                        {"// int comment() {",                              //
                         "namespace a {",                                   //
                         "class C : public B {",                            //
                         "  C(int x) : x_(x), y_{1} {",                     //
                         "  }",                                             //
                         "  int f() const { return 1; }",                   //
                         "  int table_[2] = {1, 2};",                       //
                         "};",                                              //
                         "const char* text = \"int g() {\";",               //
                         "template <class T>",                              //
                         "int long_one(const T& t = T(),",                  //
                         "             int n = 0) {",                       //
                         "  const auto inner = [&](int k) { return k; };",  //
                         "  if (n > 0) {",                                  //
                         "    return inner('{');",                          //
                         "  }",                                             //
                         "  return 0;",                                     //
                         "}",                                               //
                         "bool C::operator==(const C&) const {",            //
                         "  return true;",                                  //
                         "}",                                               //
                         "}  // namespace a"}};
  std::map<std::string, std::size_t> lengths;
  for (const FunctionSpan& f : functions_of(file)) lengths[f.name] = f.lines();
  EXPECT_EQ(lengths["f"], 1u);
  EXPECT_EQ(lengths["long_one"], 9u);
  EXPECT_EQ(lengths["operator=="], 3u);
  EXPECT_FALSE(lengths.contains("g"));
  EXPECT_FALSE(lengths.contains("comment"));
  EXPECT_FALSE(lengths.contains("inner"));
}

TEST(Limits, FunctionsAreShort) {
  std::size_t functions = 0;
  for (const SourceFile& file : library_sources()) {
    for (const FunctionSpan& f : functions_of(file)) {
      ++functions;
      if (f.lines() <= kMaxFunctionLines) continue;
      const std::string name = file.path + ": " + f.name;
      if (!kLongFunctions.contains(name)) {
        ADD_FAILURE() << file.path << ":" << f.first << ": " << f.name << " has " << f.lines() << " lines";
      }
    }
  }
  EXPECT_GT(functions, 1500u) << "the scanner has lost most functions";
}

TEST(Limits, FilesAreShort) {
  for (const SourceFile& file :
       files_under({"core", "flex", "costmodel", "dse", "tests", "bench", "fuzz", "examples", "python"},
                   {".h", ".cpp", ".js", ".py"})) {
    if (file.lines.size() > kMaxFileLines && !kLongFiles.contains(file.path)) {
      ADD_FAILURE() << file.path << " has " << file.lines.size() << " lines";
    }
  }
}

/// In characters, not bytes.
std::size_t length_of(const std::string& line) {
  return static_cast<std::size_t>(
      std::ranges::count_if(line, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

/// A table's row, a link or a heading cannot be wrapped; in a fenced or indented block the text is quoted.
bool can_wrap(const SourceFile& file, const std::string& line) {
  if (!file.path.ends_with(".md")) return true;
  const std::size_t start = line.find_first_not_of(' ');
  if (start == std::string::npos || line[start] == '|' || line[start] == '#' || line[start] == '!') return false;
  const std::size_t indent = line.find_first_not_of(" -*0123456789.>");
  return indent != std::string::npos && line.find(' ', indent) < kMaxLineLength;
}

TEST(Limits, LinesOfDocsAndScriptsWrap) {
  std::vector<SourceFile> files =
      files_under({"docs", "dse", "core", "flex", "costmodel", "tests", "bench", "cmake", "scripts", "results", "fuzz",
                   "examples", "python", "configs", ".github"},
                  {".md", ".js", ".css", ".py", ".cmake", ".txt", ".yml"});
  const std::filesystem::path root = PLIANT_SOURCE_DIR;
  for (const char* folder : {"scripts", ".ci", "."}) {
    for (const auto& entry : std::filesystem::directory_iterator(root / folder)) {
      const std::string name = entry.path().filename().string();
      const bool script = entry.is_regular_file() && entry.path().extension().empty() && name[0] != '.';
      const bool project = folder == std::string(".") && (name.ends_with(".md") || name == "CMakeLists.txt");
      if (name == "LICENSE" || !(script || project)) continue;
      files.push_back({std::filesystem::path(std::string(folder) + "/" + name).lexically_normal().generic_string(),
                       read_lines(entry.path())});
    }
  }
  EXPECT_GT(files.size(), 60u);
  for (const SourceFile& file : files) {
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
      if (length_of(file.lines[i]) <= kMaxLineLength || !can_wrap(file, file.lines[i])) continue;
      EXPECT_TRUE(kLongLines.contains(file.path))
          << file.path << ":" << i + 1 << ": " << length_of(file.lines[i]) << " characters";
    }
  }
}

TEST(Limits, EveryFolderOfSourcesOpensWithAReadme) {
  std::set<std::string> folders;
  for (const SourceFile& file : library_sources()) {
    folders.insert(std::filesystem::path(file.path).parent_path().generic_string());
  }
  for (const char* folder : {"dse", "tests", "bench", "fuzz", "examples", "python", "cmake"}) folders.insert(folder);
  EXPECT_GE(folders.size(), 20u);
  for (const std::string& folder : folders) {
    const std::filesystem::path readme = std::filesystem::path(PLIANT_SOURCE_DIR) / folder / "README.md";
    EXPECT_TRUE(std::filesystem::exists(readme)) << folder << " has no README.md";
    EXPECT_TRUE(read_lines(readme).size() >= 3) << folder << "/README.md says nothing";
  }
}

/// A path in backticks, from the root, from the page's folder, or the end of the path of a file there is.
TEST(Limits, GuidesNameFilesThatExist) {
  static const std::regex name(R"(`([\w./-]+\.(h|cpp|js|py|json|yaml|cmake|md))`)");
  const std::filesystem::path root = PLIANT_SOURCE_DIR;
  std::string all = "\n";
  for (const SourceFile& file : files_under({"core", "flex", "costmodel", "dse", "tests", "docs", "configs", "bench",
                                             "fuzz", "cmake", "examples", "results", "python"},
                                            {".h", ".cpp", ".js", ".py", ".json", ".yaml", ".cmake", ".md"})) {
    all += "/" + file.path + "\n";
  }
  std::vector<SourceFile> guides = files_under({"core", "flex", "costmodel", "dse", "tests", "bench", "fuzz"}, {".md"});
  for (const char* page : {"CONTRIBUTING.md", "docs/reading-order.md", "docs/adding-a-rule.md", "docs/mappers.md",
                           "docs/dev/proof/README.md", "docs/glossary.md"}) {
    guides.push_back({page, read_lines(root / page)});
  }
  std::size_t named = 0;
  for (const SourceFile& guide : guides) {
    for (const std::string& line : guide.lines) {
      for (std::sregex_iterator at(line.begin(), line.end(), name), end; at != end; ++at) {
        ++named;
        EXPECT_NE(all.find("/" + (*at)[1].str() + "\n"), std::string::npos) << guide.path << ": " << (*at)[1];
      }
    }
  }
  EXPECT_GT(named, 60u);
}

/// Which version this is stands in project(); CITATION.cff repeats it for people who cite.
TEST(Limits, TheVersionStandsOnce) {
  static const std::regex project(R"(^project\(pliant VERSION ([0-9.]+).*)"), citation(R"(^version: (.*)$)");
  const auto find = [](const std::string& file, const std::regex& pattern) {
    std::smatch match;
    for (const std::string& line : read_lines(std::filesystem::path(PLIANT_SOURCE_DIR) / file)) {
      if (std::regex_match(line, match, pattern)) return match[1].str();
    }
    return "no version in " + file;
  };
  EXPECT_EQ(find("CMakeLists.txt", project), find("CITATION.cff", citation));
}

}  // namespace
}  // namespace pliant::test
