// SPDX-License-Identifier: Apache-2.0
// What a flexibility rule means stands once for the generators of mappings and once for the checker.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

/// Calls visit(path relative to the repository, line) for every line of the C++ sources under a folder.
template <typename Visit>
void for_each_line(const std::string& folder, const Visit& visit) {
  const fs::path root = PLIANT_SOURCE_DIR;
  for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
    if (entry.path().extension() != ".h" && entry.path().extension() != ".cpp") continue;
    const std::string path = fs::relative(entry.path(), root).generic_string();
    std::ifstream in(entry.path());
    for (std::string line; std::getline(in, line);) visit(path, line);
  }
}

TEST(OneMapSpace, OnlyTheResolvedFormReadsRulesAsWritten) {
  const std::regex written(
      R"(block_rows|block_cols|\bOrderPattern\b|\bParallelRule\b|\bAssignment\b|\.partition\b|shape\.kind|TileRule::Tile)");
  // infeasible.cpp names rules and lifts them; it does not say what they mean.
  const std::regex allowed("flex/mapspace/(rules|order_rules)\\.(h|cpp)|dse/mappers/infeasible\\.cpp");
  int read = 0;
  for (const char* folder : {"flex", "costmodel", "dse/mappers"})
    for_each_line(folder, [&](const std::string& path, const std::string& line) {
      if (!std::regex_search(line, written)) return;
      ++read;
      EXPECT_TRUE(std::regex_match(path, allowed)) << path << ": " << line;
    });
  EXPECT_GT(read, 5);  // otherwise the expression has gone stale
}

/// Formulas and constants that stood in several files once. Each has one place; the checker and the auditor, which
/// share nothing with what they check, have one of their own.
TEST(OneMapSpace, SharedFormulasStandOnce) {
  struct Formula {
    const char* what;
    std::regex pattern;
    std::set<std::string> places;
  };
  const std::vector<Formula> formulas{
      {"the slack of a partition's shares",
       std::regex(R"(1 \+ 1e-12)"),
       {"core/legality_levels.cpp", "flex/mapspace/rules.cpp"}},
      {"rows of whole blocks",
       std::regex(R"([/*] *(\w+[.])?block_rows)"),
       {"core/legality_levels.cpp", "dse/audit/space_rules.cpp", "flex/mapspace/rules.cpp"}},
      {"kInfinity", std::regex(R"(double kInfinity\b)"), {"core/arithmetic.h"}},
      {"ceil_div", std::regex(R"(\bceil_div\([a-z:_0-9]+ \w+,)"), {"core/arithmetic.h"}},
      {"rounding of a ratio upwards by hand", std::regex(R"(\+ [^()]+ - 1\) / )"), {"core/legality_levels.cpp"}},
      {"no better than the incumbent",
       std::regex(R"(value \* \(1 - kRounding\))"),
       {"dse/mappers/exact/task/tolerances.h"}},
  };
  for (const Formula& formula : formulas) {
    std::set<std::string> found;
    for (const char* folder : {"core", "flex", "costmodel", "dse"})
      for_each_line(folder, [&](const std::string& path, const std::string& line) {
        if (std::regex_search(line, formula.pattern)) found.insert(path);
      });
    EXPECT_EQ(found, formula.places) << formula.what;
  }
}

TEST(OneMapSpace, TheCheckerSharesNothingWithTheGenerators) {
  const std::regex shared(R"(#include "(flex/.*|core/affine\.h)\")");
  int lines = 0;
  for_each_line("core", [&](const std::string& path, const std::string& line) {
    if (!path.starts_with("core/legality")) return;
    ++lines;
    EXPECT_FALSE(std::regex_search(line, shared)) << path << ": " << line;
    EXPECT_EQ(line.find("distinct_values("), std::string::npos) << path << ": " << line;
    EXPECT_EQ(line.find("independent_ranks("), std::string::npos) << path << ": " << line;
  });
  EXPECT_GT(lines, 300);
}

}  // namespace
