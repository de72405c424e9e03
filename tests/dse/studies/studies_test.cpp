// SPDX-License-Identifier: Apache-2.0
// The studies: what is published must parse, what must be exact is exact, and a quick run gives the numbers that are
// kept in results/studies.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <sstream>

#include "core/input/csv.h"
#include "dse/studies/fixed_design.h"
#include "dse/studies/run_study.h"
#include "support/temporary_folder.h"

namespace pliant {
namespace {

namespace fs = std::filesystem;

Library shipped() { return Library(fs::path(PLIANT_SOURCE_DIR) / "configs"); }

std::string text_of(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  return text.str();
}

struct Kept {
  std::string published, verdict;
  double ours = 0;
};

/// results/studies/NAME.csv by quantity.
std::map<std::string, Kept> kept_results(std::string_view study) {
  const fs::path file = fs::path(PLIANT_SOURCE_DIR) / "results" / "studies" / (std::string(study) + ".csv");
  Diagnostics problems;
  std::map<std::string, Kept> kept;
  for (const CsvRow& row : parse_csv(text_of(file), std::make_shared<const std::string>("kept"), problems))
    if (row.fields.size() == 7 && row.fields[1].text != "quantity")
      kept[row.fields[1].text] = {row.fields[2].text, row.fields[5].text, std::stod(row.fields[3].text)};
  return kept;
}

TEST(Published, EveryRowBelongsToAStudyAndIsNamedOnce) {
  std::set<std::string> names;
  for (const PublishedValue& value : load_published(shipped())) {
    EXPECT_NE(find_study(value.study), nullptr) << value.study;
    EXPECT_TRUE(names.insert(value.study + "/" + value.quantity).second) << value.quantity;
  }
  EXPECT_GT(names.size(), 300U);
}

TEST(Published, BadRowsAreLocated) {
  constexpr const char* kHeader = "study,figure,quantity,relation,value,status,because\n";
  const auto problem_of = [&](const std::string& row) {
    try {
      parse_published(kHeader + row, "p.csv");
    } catch (const InputError& error) {
      return error.diagnostics().front().text();
    }
    return std::string();
  };
  EXPECT_EQ(problem_of("area,T,x,=,1.5,exact,\n"), "");
  EXPECT_EQ(problem_of("area,T,x,=,much,exact,\n"), "p.csv:2:12: value: not a number; expected a number as printed");
  EXPECT_EQ(problem_of("area,T,x,~,1,exact,\n"),
            "p.csv:2:10: relation: an unknown relation; expected =, <, <=, > or >=");
}

TEST(Comparison, Verdicts) {
  const auto verdict = [](const std::string& relation, const std::string& printed, double ours,
                          const std::string& status = "open") {
    const auto published = parse_published("study,figure,quantity,relation,value,status,because\ns,f,q," + relation +
                                               "," + printed + "," + status + ",why\n",
                                           "p");
    return compare(published, "s", {{"q", ours}}).at(0).verdict_text();
  };
  EXPECT_EQ(verdict("=", "0.98", 0.9764), "exact");
  EXPECT_EQ(verdict("=", "0.63", 0.625), "exact");  // halves go up
  EXPECT_EQ(verdict("=", "0.21", 0.2191, "exact"), "exact (printed value is cut off)");
  EXPECT_EQ(verdict("=", "0.21", 0.2191), "within 4.3 %");
  EXPECT_EQ(verdict("=", "100", 102), "within 2 %");
  EXPECT_EQ(verdict("=", "100", 110), "different");
  EXPECT_EQ(verdict("<", "1", 1), "does not hold");
  EXPECT_EQ(verdict("<=", "1", 1), "holds");
  EXPECT_EQ(verdict(">", "1", 1.01), "holds");
}

/// All tiles, pairs and shapes of a small network, one by one.
TEST(FixedDesign, BranchAndBoundFindsTheBestOfAll) {
  Workload network;
  network.name = "small";
  network.layers = {{make_conv("a", {.M = 6, .C = 4, .P = 5, .Q = 5, .R = 3, .S = 3}), 2},
                    {make_conv("b", {.M = 10, .C = 9, .P = 7, .Q = 7}), 1},
                    {make_conv("d", {.M = 8, .C = 8, .P = 7, .Q = 7, .R = 3, .S = 3, .groups = 8}), 1}};
  for (const Count buffer : {Count{12}, Count{40}, Count{1000}}) {
    const FixedDesign best = best_fixed_design(network, 12, buffer);
    EXPECT_DOUBLE_EQ(fixed_design_cycles(best, network), best.cycles);
    double least = 1e300;
    for (const char* row : {"M", "C", "P", "Q", "R", "S"})
      for (const char* col : {"M", "C", "P", "Q", "R", "S"})
        for (Count rows = 1; rows <= 12; ++rows)
          for (Count row_tile = 1; row_tile <= 10; ++row_tile)
            for (Count col_tile = 1; col_tile <= 10; ++col_tile) {
              if (std::string(row) == col) continue;
              FixedDesign one;
              one.row_dim = row;
              one.col_dim = col;
              one.rows = rows;
              one.cols = 12 / rows;
              one.row_tile = row_tile;
              one.col_tile = col_tile;
              const auto tile = [&](const char* dim) {
                return std::string(row) == dim ? row_tile : std::string(col) == dim ? col_tile : Count{1};
              };
              const Count words = tile("C") * (tile("P") + tile("R") - 1) * (tile("Q") + tile("S") - 1) +
                                  tile("M") * tile("C") * tile("R") * tile("S") + tile("M") * tile("P") * tile("Q");
              if (words <= buffer) least = std::min(least, fixed_design_cycles(one, network));
            }
    EXPECT_DOUBLE_EQ(best.cycles, least) << "buffer " << buffer;
  }
}

class StudyTest : public ::testing::TestWithParam<std::string> {};

TEST_P(StudyTest, QuickRunGivesTheKeptNumbers) {
  const TemporaryFolder folder;
  const Study& study = *find_study(GetParam());
  StudyOptions options;
  options.output = folder.path();
  options.quick = true;
  options.threads = 2;
  const StudyRun run = run_study(shipped(), study, options);
  const std::map<std::string, Kept> kept = kept_results(study.name);
  EXPECT_FALSE(run.rows.empty());
  for (const Comparison& row : run.rows) {
    if (row.quantity.ends_with("of the quick run")) continue;
    const auto known = kept.find(row.quantity);
    if (known == kept.end()) {
      ADD_FAILURE() << row.quantity << " is not in results/studies";
      continue;
    }
    EXPECT_NEAR(row.ours, known->second.ours, 1e-9 * std::abs(row.ours)) << row.quantity;
  }
  EXPECT_TRUE(fs::exists(folder.path() / study.name / "comparison.parquet"));
}

/// Everything that the papers print exactly, in the numbers that are kept.
TEST_P(StudyTest, KeptNumbersAreExactWhereTheyMustBe) {
  const std::map<std::string, Kept> kept = kept_results(GetParam());
  for (const PublishedValue& value : load_published(shipped())) {
    if (value.study != GetParam()) continue;
    const auto known = kept.find(value.quantity);
    ASSERT_NE(known, kept.end()) << value.quantity;
    if (value.exact) {
      EXPECT_TRUE(known->second.verdict.starts_with("exact")) << value.quantity << ": " << known->second.ours;
    }
  }
}

std::vector<std::string> study_names() {
  std::vector<std::string> names;
  for (const Study& study : all_studies()) names.emplace_back(study.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(All, StudyTest, ::testing::ValuesIn(study_names()), [](const auto& one) {
  std::string name = one.param;
  std::ranges::replace(name, '-', '_');
  return name;
});

/// Figure 13 as it should have been: no class is slower than one it contains, on any network.
TEST(FutureProofing, TheKeptTableIsMonotone) {
  const std::map<std::string, Kept> kept = kept_results("future-proofing");
  int compared = 0;
  for (const auto& [quantity, entry] : kept) {
    if (!quantity.starts_with("FullFlex-") || quantity.find("speedup") != std::string::npos ||
        quantity.find(" over ") != std::string::npos)
      continue;
    const std::string bits = quantity.substr(9, 4), network = quantity.substr(14);
    for (std::size_t axis = 0; axis < 4; ++axis) {
      if (bits[axis] == '1') continue;
      std::string more = bits;
      more[axis] = '1';
      const auto other = kept.find("FullFlex-" + more + " " + network);
      ASSERT_NE(other, kept.end()) << more << " " << network;
      EXPECT_LE(other->second.ours, entry.ours * (1 + 1e-12)) << quantity << " and " << more;
      ++compared;
    }
  }
  EXPECT_GE(compared, 7 * 28);
}

/// One axis at a time: what is partly or fully flexible contains the inflexible design.
TEST(Isolation, FlexibilityIsNeverSlower) {
  int compared = 0;
  for (const auto& [quantity, entry] : kept_results("isolation")) {
    if (!quantity.ends_with(" runtime")) continue;
    EXPECT_LE(entry.ours, 1) << quantity;
    ++compared;
  }
  EXPECT_GE(compared, 40);
}

}  // namespace
}  // namespace pliant
