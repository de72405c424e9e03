// SPDX-License-Identifier: Apache-2.0
// The studies: what is published must parse, what must be exact is exact, and a quick run gives the numbers that are
// kept in results/studies.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <sstream>
#include <string_view>

#include "core/input/csv.h"
#include "dse/studies/flexibility_paper.h"
#include "dse/studies/run_study.h"
#include "dse/studies/summary.h"
#include "support/file_text.h"
#include "support/temporary_folder.h"

namespace pliant {
namespace {

namespace fs = std::filesystem;

Library shipped() { return Library(fs::path(PLIANT_SOURCE_DIR) / "configs"); }

struct Kept {
  std::string published, verdict, because;
  std::optional<double> ours;
};

/// results/studies/NAME.csv by quantity, and by place and quantity.
std::map<std::string, Kept> kept_results(std::string_view study) {
  const fs::path file = fs::path(PLIANT_SOURCE_DIR) / "results" / "studies" / (std::string(study) + ".csv");
  Diagnostics problems;
  std::map<std::string, Kept> kept;
  for (const CsvRow& row : parse_csv(text_of(file), std::make_shared<const std::string>("kept"), problems))
    if (row.fields.size() == 7 && row.fields[1].text != "quantity") {
      Kept one{row.fields[2].text, row.fields[5].text, row.fields[6].text, std::nullopt};
      if (!row.fields[3].text.empty()) one.ours = std::stod(row.fields[3].text);
      kept[row.fields[1].text] = one;
      kept[row.fields[0].text + ": " + row.fields[1].text] = one;
    }
  return kept;
}

TEST(Published, EveryRowBelongsToAStudyAndIsNamedOnce) {
  std::set<std::string> names;
  for (const PublishedValue& value : load_published(shipped())) {
    EXPECT_NE(find_study(value.study), nullptr) << value.study;
    EXPECT_TRUE(names.insert(value.study + "/" + value.figure + "/" + value.quantity).second) << value.quantity;
  }
  EXPECT_GT(names.size(), 400U);
}

TEST(Published, BadRowsAreLocated) {
  constexpr const char* kHeader = "study,figure,quantity,relation,value\n";
  const auto problem_of = [&](const std::string& row) {
    try {
      parse_published(kHeader + row, "p.csv");
    } catch (const InputError& error) {
      return error.diagnostics().front().text();
    }
    return std::string();
  };
  EXPECT_EQ(problem_of("area,T,x,=,1.5\n"), "");
  EXPECT_EQ(problem_of("area,T,x,=,much\n"), "p.csv:2:12: value: not a number; expected a number as printed");
  EXPECT_EQ(problem_of("area,T,x,?,1\n"), "p.csv:2:10: relation: an unknown relation; expected =, <, <=, >, >= or ~");
  EXPECT_EQ(problem_of("area,T,x,=\n"), "p.csv:2:1: study: 4 fields; expected 5");
}

TEST(Remarks, TheFirstLineThatFitsCounts) {
  const std::vector<Remark> remarks = parse_remarks(
      "study,figure,quantity,status,remark\n"
      "s,Fig. 1,a* runtime,exact,\n"
      "s,*,a*,open,tried\n"
      "s,*,*,unchecked,not printed\n",
      "r.csv");
  const auto text_on = [&](const char* figure, const char* quantity) {
    PublishedValue value;
    value.study = "s";
    value.figure = figure;
    value.quantity = quantity;
    return remark_on(value, remarks).text;
  };
  EXPECT_EQ(text_on("Fig. 1", "abc runtime"), "");
  EXPECT_EQ(text_on("Fig. 2", "abc runtime"), "tried");
  EXPECT_EQ(text_on("Fig. 1", "bc runtime"), "not printed");
  EXPECT_TRUE(fits("a*b*", "a--b"));
  EXPECT_FALSE(fits("a*b", "a--c"));
  EXPECT_THROW(parse_remarks("study,figure,quantity,status,remark\ns,f,q,unchecked,\n", "r.csv"), InputError);
}

/// A line of remarks.csv that fits no published value is a mistake in its patterns.
TEST(Remarks, EveryLineIsUsed) {
  const std::vector<Remark> remarks = load_remarks(shipped());
  std::set<const Remark*> used;
  for (const PublishedValue& value : load_published(shipped())) used.insert(&remark_on(value, remarks));
  for (const Remark& remark : remarks)
    EXPECT_TRUE(used.contains(&remark)) << remark.study << "," << remark.figure << "," << remark.quantity;
}

TEST(Comparison, Verdicts) {
  const auto verdict = [](const std::string& relation, const std::string& printed, double ours,
                          const std::string& status = "open") {
    const auto published =
        parse_published("study,figure,quantity,relation,value\ns,f,q," + relation + "," + printed + "\n", "p");
    const auto remarks = parse_remarks("study,figure,quantity,status,remark\ns,f,q," + status + ",why\n", "r");
    return compare(published, remarks, "s", {{"q", ours}}).at(0).verdict_text();
  };
  EXPECT_EQ(verdict("=", "0.98", 0.9764), "exact");
  EXPECT_EQ(verdict("=", "0.63", 0.625), "exact");  // halves go up
  EXPECT_EQ(verdict("=", "0.21", 0.2191, "exact"), "exact (printed value is cut off)");
  EXPECT_EQ(verdict("=", "0.21", 0.2191), "within 4.3 %");
  EXPECT_EQ(verdict("=", "100", 102), "within 2 %");
  EXPECT_EQ(verdict("=", "100", 110), "not reproduced");
  EXPECT_EQ(verdict("=", "100", 100, "unchecked"), "cannot be checked");
  EXPECT_EQ(verdict("=", "100", 100, "input"), "input");
  EXPECT_EQ(verdict("=", "100", 102, "fitted"), "fitted");
  EXPECT_EQ(verdict("=", "100", 110, "fitted"), "not reproduced");
  EXPECT_EQ(verdict("=", "100", 100, "skipped"), "not attempted");
  EXPECT_EQ(verdict("~", "1", 1.04), "holds");
  EXPECT_EQ(verdict("~", "1", 1.06), "not reproduced");
  EXPECT_EQ(verdict("<", "1", 1), "not reproduced");
  EXPECT_EQ(verdict("<=", "1", 1), "holds");
  EXPECT_EQ(verdict(">", "1", 1.01), "holds");
  EXPECT_EQ(verdict(">", "1", 1 + 1e-12), "not reproduced");
}

class StudyTest : public ::testing::TestWithParam<std::string> {};

/// How far a number may be from the kept one, which another commit has made. The gains by chip are quotients of two
/// values that are searched to within a gap (configs/sweeps/study_fusion_chips.yaml), not to the optimum. All else is
/// exact.
double known_within(std::string_view study, std::string_view quantity) {
  const auto has = [&](std::string_view part) { return quantity.find(part) != std::string_view::npos; };
  return study == "fusion" && has(" on ") && !has(", class ") ? 0.01 : 1e-9;
}

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
    ASSERT_EQ(row.ours.has_value(), known->second.ours.has_value()) << row.quantity;
    if (row.ours) {
      EXPECT_NEAR(*row.ours, *known->second.ours, known_within(study.name, row.quantity) * std::abs(*row.ours))
          << row.quantity;
    }
  }
  EXPECT_TRUE(fs::exists(folder.path() / study.name / "comparison.parquet"));
}

/// Everything that the papers print exactly, in the numbers that are kept; and no verdict without its reason.
TEST_P(StudyTest, KeptNumbersAreExactWhereTheyMustBe) {
  const std::map<std::string, Kept> kept = kept_results(GetParam());
  const std::vector<Remark> remarks = load_remarks(shipped());
  for (const PublishedValue& value : load_published(shipped())) {
    if (value.study != GetParam()) continue;
    const auto known = kept.find(value.figure + ": " + value.quantity);
    ASSERT_NE(known, kept.end()) << value.figure << ": " << value.quantity;
    const Kept& row = known->second;
    if (remark_on(value, remarks).status == Remark::Status::kExact) {
      EXPECT_TRUE(row.verdict.starts_with("exact") || row.verdict == "holds") << value.quantity << ": " << *row.ours;
    }
    if (row.verdict == "not reproduced" || row.verdict == "cannot be checked") {
      EXPECT_FALSE(row.because.empty()) << value.quantity;
    }
    if (!row.because.empty()) {
      EXPECT_EQ(row.because, remark_on(value, remarks).text) << value.quantity << ": of an older remarks.csv";
    }
  }
}

/// The page that shows everything is what the program makes, and every published value stands on it.
TEST(Summary, EveryPublishedValueIsOnThePage) {
  const fs::path source(PLIANT_SOURCE_DIR);
  const std::vector<SummaryRow> rows = read_summary(source / "results" / "studies");
  std::set<std::string> shown;
  for (const SummaryRow& row : rows) shown.insert(row.study + "/" + row.figure + "/" + row.quantity);
  const std::vector<PublishedValue> published = load_published(shipped());
  for (const PublishedValue& value : published)
    EXPECT_TRUE(shown.contains(value.study + "/" + value.figure + "/" + value.quantity)) << value.quantity;
  EXPECT_EQ(rows.size(), published.size());
  EXPECT_EQ(text_of(source / "docs" / "studies" / "summary.md"), summary_page(rows))
      << "run `pliant study summary > docs/studies/summary.md`";
  EXPECT_NE(text_of(source / "docs" / "studies" / "README.md").find(counts_text(count_verdicts(rows))),
            std::string::npos)
      << "the counts in docs/studies/README.md are not those of docs/studies/summary.md";
}

TEST(Summary, VerdictsAddUp) {
  const std::vector<SummaryRow> rows = {{"P", "s", "Fig. 1", "a", "1", "1", "exact", ""},
                                        {"P", "s", "Fig. 1", "b", "1", "1.01", "within 1 %", "why"},
                                        {"P", "s", "Fig. 2", "c", "< 1", "0.5", "holds", ""},
                                        {"P", "s", "Fig. 2", "d", "2", "1", "not reproduced", "why"},
                                        {"Q", "t", "text", "e", "2", "", "cannot be checked", "no setting"},
                                        {"Q", "t", "text", "f", "3", "3", "input", "it went in"},
                                        {"Q", "t", "text", "g", "0.96", "0.96", "fitted", "chosen"},
                                        {"Q", "t", "text", "h", "3", "", "not attempted", "no setting"}};
  EXPECT_EQ(counts_text(count_verdicts(rows)),
            "| paper | where | printed | exact | within 5 % | \"1.00\" would have | statement holds | input | fitted | "
            "not reproduced | not attempted | cannot be checked |\n"
            "|---|---|---|---|---|---|---|---|---|---|---|---|\n"
            "| P | Fig. 1 | 2 | 1 | 1 | 2 |  |  |  |  |  |  |\n"
            "| P | Fig. 2 | 2 |  |  |  | 1 |  |  | 1 |  |  |\n"
            "| P | **all** | 4 | 1 | 1 | 2 | 1 |  |  | 1 |  |  |\n"
            "| Q | text | 4 |  |  | 1 |  | 1 | 1 |  | 1 | 1 |\n"
            "| Q | **all** | 4 |  |  | 1 |  | 1 | 1 |  | 1 | 1 |\n");
  const std::string text = rows_text(rows);
  EXPECT_NE(text.find("| Fig. 2 | d | 2 | 1 | not reproduced [1] |"), std::string::npos);
  EXPECT_NE(text.find("\n| [1] | no setting |\n| [2] | it went in |\n| [3] | chosen |\n"), std::string::npos);
}

TEST(FlexibilityPaper, AChartNamesAxesAndArea) {
  EXPECT_EQ(axes_label("FullFlex-1010", 0.1234), "T + P, +0.12 %");
  EXPECT_EQ(axes_label("FullFlex-0001", 0.02877), "S, +0.029 %");
  EXPECT_EQ(axes_label("FullFlex-1111", 0.3712), "all, +0.37 %");
  EXPECT_EQ(axes_label("PartFlex-1111", 0.1856), "all, in part, +0.19 %");
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
      EXPECT_LE(*other->second.ours, *entry.ours * (1 + 1e-12)) << quantity << " and " << more;
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
    EXPECT_LE(*entry.ours, 1) << quantity;
    ++compared;
  }
  EXPECT_GE(compared, 40);
}

}  // namespace
}  // namespace pliant
