// SPDX-License-Identifier: Apache-2.0
// The ledger, the sources, the tests and the pages of docs/dev/proof say the same: every row stands at one function,
// which passes its bound through it, has a test, and is argued for on one page. PLIANT_RECORD_CASES=1 prints the tables
// of the pages anew.
#include "dse/mappers/exact/task/ledger.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "architecture/function_lengths.h"
#include "architecture/source_files.h"

namespace pliant::exact {
namespace {

using test::SourceFile;

const std::filesystem::path kPages = std::filesystem::path(PLIANT_SOURCE_DIR) / "docs" / "dev" / "proof";

/// Functions of the sources in which a bound passes through a row, by row.
std::map<std::string, std::set<std::string>> sites() {
  static const std::regex site(R"re(\b(?:at_least|at_most|sure)<"(L[\d.]+)">)re");
  std::map<std::string, std::set<std::string>> found;
  for (const SourceFile& file : test::files_under({"dse/mappers/exact"}, {".h", ".cpp"})) {
    if (file.path.ends_with("/task/ledger.h")) continue;
    const std::vector<test::FunctionSpan> functions = test::functions_of(file);
    for (std::size_t i = 0; i < file.lines.size(); ++i)
      for (std::sregex_iterator at(file.lines[i].begin(), file.lines[i].end(), site), end; at != end; ++at) {
        std::string name = file.path;
        for (const test::FunctionSpan& function : functions)
          if (function.first <= i + 1 && i + 1 <= function.last) name = function.name;
        found[(*at)[1]].insert(name);
      }
  }
  return found;
}

std::string last_part(const std::string& name) { return name.substr(name.rfind(':') + 1); }

TEST(Ledger, EveryRowStandsAtItsFunction) {
  const auto all = sites();
  for (const LedgerRow& row : kLedger) {
    const auto found = all.find(std::string(row.id));
    ASSERT_NE(found, all.end()) << row.id << " passes through no function";
    ASSERT_EQ(found->second.size(), 1u) << row.id << " stands at several functions";
    EXPECT_EQ(last_part(*found->second.begin()), last_part(std::string(row.function))) << row.id;
  }
  EXPECT_EQ(all.size(), kLedger.size());
}

TEST(Ledger, RowsAreInOrderAndNamedOnce) {
  const auto number = [](std::string_view id) {
    const std::string text(id.substr(1));
    const std::size_t dot = text.find('.');
    return std::pair(std::stoi(text.substr(0, dot)), std::stoi(text.substr(dot + 1)));
  };
  for (std::size_t i = 1; i < kLedger.size(); ++i) {
    const auto before = number(kLedger[i - 1].id), here = number(kLedger[i].id);
    EXPECT_TRUE(here == std::pair(before.first, before.second + 1) || here == std::pair(before.first + 1, 1))
        << kLedger[i].id;
  }
}

TEST(Ledger, EveryRowNamesATest) {
  static const std::regex declared(R"(^TEST(?:_[FP])?\((\w+), (\w+)\))");
  std::set<std::string> tests;
  std::smatch match;
  for (const SourceFile& file : test::files_under({"tests"}, {"_test.cpp"}))
    for (const std::string& line : file.lines)
      if (std::regex_search(line, match, declared)) tests.insert(match[1].str() + "." + match[2].str());
  for (const LedgerRow& row : kLedger) EXPECT_TRUE(tests.contains(std::string(row.test))) << row.id << ' ' << row.test;
}

std::string lemma_of(std::string_view id) { return std::string(id.substr(0, id.find('.'))); }

/// The table of one lemma, as its page has it.
std::string table_of(const std::string& lemma) {
  std::string table = "| row | claim | function | test | where |\n|---|---|---|---|---|\n";
  for (const LedgerRow& row : kLedger)
    if (lemma_of(row.id) == lemma)
      for (const std::string_view part :
           {std::string_view("| "), row.id, std::string_view(" | `"), row.claim, std::string_view("` | `"),
            row.function, std::string_view("` | `"), row.test, std::string_view("` | "), row.holds,
            std::string_view(row.holds.empty() ? "|\n" : " |\n")})
        table += part;
  return table;
}

std::string read(const std::filesystem::path& file) {
  std::string text;
  for (const std::string& line : test::read_lines(file)) text += line + '\n';
  return text;
}

TEST(Ledger, EveryLemmaHasAPageWithItsTableAndAnArgumentForEveryRow) {
  std::set<std::string> lemmas;
  for (const LedgerRow& row : kLedger) lemmas.insert(lemma_of(row.id));
  for (const std::string& lemma : lemmas) {
    const std::filesystem::path page = kPages / (lemma + ".md");
    std::string text = read(page);
    ASSERT_FALSE(text.empty()) << page;
    const std::size_t begin = text.find("| row | claim |"), end = text.find("\n\n", begin);
    ASSERT_NE(end, std::string::npos) << page << " has no table";
    const std::string printed = table_of(lemma);
    if (std::getenv("PLIANT_RECORD_CASES") != nullptr) {
      text.replace(begin, end + 1 - begin, printed);
      std::ofstream(page) << text;
    }
    EXPECT_EQ(text.substr(begin, printed.size()), printed) << page << ": set PLIANT_RECORD_CASES=1 to print it anew";
    static const std::regex argued(R"(\n\*\*(L[\d.]+)\*\*)");
    std::set<std::string> arguments;
    for (std::sregex_iterator at(text.begin(), text.end(), argued), none; at != none; ++at)
      EXPECT_TRUE(arguments.insert((*at)[1]).second) << (*at)[1] << " is argued for twice";
    for (const LedgerRow& row : kLedger) {
      if (lemma_of(row.id) != lemma) continue;
      EXPECT_EQ(arguments.erase(std::string(row.id)), 1u) << page << " has no argument for " << row.id;
    }
    EXPECT_TRUE(arguments.empty()) << page << " argues for " << *arguments.begin() << ", which is no row";
  }
}

TEST(Ledger, BoundsPassThroughUnchanged) {
  if (std::getenv("PLIANT_BREAK") != nullptr || std::getenv("PLIANT_WITHOUT") != nullptr) GTEST_SKIP();
  EXPECT_EQ(at_least<"L3.1">(3, 1), 3);
  EXPECT_EQ(at_most<"L3.3">(3, 5), 3);
  EXPECT_TRUE(sure<"L4.2">(true));
  EXPECT_FALSE(sure<"L4.2">(false));
}

}  // namespace
}  // namespace pliant::exact
