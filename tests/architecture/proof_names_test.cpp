// SPDX-License-Identifier: Apache-2.0
// docs/dev/proof names functions that compute bounds and tests that compare them with the truth. A page that names what
// is no longer there proves nothing.
#include <gtest/gtest.h>

#include <cctype>
#include <filesystem>
#include <regex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "architecture/source_files.h"

namespace pliant::test {
namespace {

std::vector<std::string> page() {
  std::vector<std::string> lines;
  for (const SourceFile& file : files_under({"docs/dev/proof"}, {".md"}))
    lines.insert(lines.end(), file.lines.begin(), file.lines.end());
  return lines;
}

/// "Suite.Name" of every test there is, and "Suite." of every suite.
const std::set<std::string>& tests() {
  static const std::set<std::string> all = [] {
    static const std::regex declared(R"(^TEST(?:_[FP])?\((\w+), (\w+)\))");
    std::set<std::string> found;
    std::smatch match;
    for (const SourceFile& file : files_under({"tests"}, {"_test.cpp"})) {
      for (const std::string& line : file.lines) {
        if (!std::regex_search(line, match, declared)) continue;
        found.insert(match[1].str() + ".");
        found.insert(match[1].str() + "." + match[2].str());
      }
    }
    return found;
  }();
  return all;
}

/// "Suite.Name", "Suite.Na*", "Suite.Na..." or "Suite.*": is there a test of that name, or one that begins so?
bool is_test(std::string name) {
  const bool begins = name.ends_with("*") || name.ends_with("...");
  while (!name.empty() && (name.back() == '*' || (begins && name.back() == '.' && name.ends_with("..."))))
    name.resize(name.size() - (name.back() == '*' ? 1 : 3));
  if (!begins) return tests().contains(name);
  const auto first = tests().lower_bound(name);
  return first != tests().end() && first->starts_with(name);
}

/// Every word of the sources.
const std::set<std::string>& words() {
  static const std::set<std::string> all = [] {
    std::set<std::string> found;
    for (const SourceFile& file : library_sources()) {
      for (const std::string& line : file.lines) {
        std::string word;
        for (const char c : line + " ") {
          if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_') {
            word += c;
          } else if (!word.empty()) {
            found.insert(std::exchange(word, ""));
          }
        }
      }
    }
    return found;
  }();
  return all;
}

template <class Visit>
void for_each_name(const std::string& text, const Visit& visit) {
  static const std::regex quoted("`([^`]+)`");
  for (std::sregex_iterator at(text.begin(), text.end(), quoted), end; at != end; ++at) visit((*at)[1].str());
}

const std::regex& test_name() {
  static const std::regex pattern(R"([A-Z]\w+\.(\*|[A-Z]\w*(\*|\.\.\.)?))");
  return pattern;
}

TEST(Proof, NamesTestsAndFunctionsThatExist) {
  static const std::regex scoped(R"(([A-Z]\w+)::(\w+))"), camel(R"([A-Z][a-z]+[A-Z]\w*)"), snake(R"([a-z]+(_[a-z]+)+)");
  int named_tests = 0, named_functions = 0;
  for (const std::string& line : page()) {
    for_each_name(line, [&](const std::string& name) {
      std::smatch match;
      if (std::regex_match(name, test_name())) {
        ++named_tests;
        EXPECT_TRUE(is_test(name)) << "no test " << name;
      } else if (std::regex_match(name, match, scoped)) {
        ++named_functions;
        EXPECT_TRUE(words().contains(match[1].str()) && words().contains(match[2].str())) << "no function " << name;
      } else if (std::regex_match(name, camel) || std::regex_match(name, snake)) {
        ++named_functions;
        EXPECT_TRUE(words().contains(name) || tests().contains(name + ".")) << "nothing is called " << name;
      }
    });
  }
  EXPECT_GT(named_tests, 30);
  EXPECT_GT(named_functions, 30);
}

TEST(Proof, EveryBreakNamesATest) {
  static const std::regex broken(R"(^\| (\d+): .* \| (.*) \|$)");
  int breaks = 0;
  const auto names_a_test = [](const std::string& text) {
    bool found = false;
    for_each_name(text, [&](const std::string& name) { found |= std::regex_match(name, test_name()); });
    return found;
  };
  for (const std::string& line : page()) {
    std::smatch match;
    if (std::regex_match(line, match, broken)) {
      ++breaks;
      EXPECT_TRUE(names_a_test(match[2].str())) << line;
    }
  }
  EXPECT_GE(breaks, 20);
}

TEST(Proof, ANameThatIsNotThereIsFound) {
  EXPECT_TRUE(is_test("Proof.ANameThatIsNotThereIsFound"));
  EXPECT_TRUE(is_test("Proof.ANameThat*"));
  EXPECT_TRUE(is_test("Proof.ANameThat..."));
  EXPECT_TRUE(is_test("Proof.*"));
  EXPECT_FALSE(is_test("Proof.ANameThatIsNowhere"));
  EXPECT_FALSE(is_test("Proof.ANameThatIsNowhere*"));
  EXPECT_FALSE(is_test("Prooof.*"));
  EXPECT_FALSE(words().contains("a_function_that_was_" + std::string("renamed")));
}

}  // namespace
}  // namespace pliant::test
