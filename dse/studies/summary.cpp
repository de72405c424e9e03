// SPDX-License-Identifier: Apache-2.0
#include "dse/studies/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "core/input/source_text.h"
#include "dse/studies/study_csv.h"

namespace pliant {
namespace {

constexpr const char* kAllPlaces = "**all**";

/// What a model that answers 1.00 to everything would have within 5 %.
bool one_would_do(const SummaryRow& row) {
  constexpr double kNear = 0.05;
  return !row.statement() && std::abs(std::strtod(row.published.c_str(), nullptr) - 1) <= kNear;
}

void count(SummaryCount& into, const SummaryRow& row) {
  ++into.printed;
  into.always_one += one_would_do(row) ? 1 : 0;
  if (row.verdict.starts_with("exact"))
    ++into.exact;
  else if (row.verdict.starts_with("within"))
    ++into.near;
  else if (row.verdict == "holds")
    ++into.holds;
  else if (row.verdict == "input")
    ++into.input;
  else if (row.verdict == "fitted")
    ++into.fitted;
  else if (row.verdict == "not reproduced")
    ++into.not_reproduced;
  else if (row.verdict == "not attempted")
    ++into.skipped;
  else
    ++into.unchecked;
}

/// Five digits are enough to look at; the kept tables have all.
std::string short_number(const std::string& text) {
  return text.empty() ? "" : fmt::format("{:.5g}", std::strtod(text.c_str(), nullptr));
}

/// Remarks of a study, each once, by number.
class Notes {
 public:
  /// " [3]", or nothing for a row without a remark.
  std::string mark(const std::string& because) {
    if (because.empty()) return "";
    auto at = std::ranges::find(texts_, because);
    if (at == texts_.end()) at = texts_.insert(texts_.end(), because);
    return fmt::format(" [{}]", at - texts_.begin() + 1);
  }
  std::string list() const {
    if (texts_.empty()) return "";
    std::string text = "\n| note | |\n|---|---|\n";
    for (std::size_t i = 0; i < texts_.size(); ++i) text += fmt::format("| [{}] | {} |\n", i + 1, texts_[i]);
    return text;
  }

 private:
  std::vector<std::string> texts_;
};

}  // namespace

bool SummaryRow::statement() const { return published.find_first_of("<>~") != std::string::npos; }

std::vector<SummaryRow> read_summary(const std::filesystem::path& folder) {
  std::vector<SummaryRow> rows;
  for (const Study& study : all_studies()) {
    const std::filesystem::path file = folder / (std::string(study.name) + ".csv");
    if (!std::filesystem::exists(file))
      throw StudyError(fmt::format("no {}; run `pliant study {}` first", file.string(), study.name));
    for (const StudyCsvRow& row :
         read_study_csv(read_source(file), file.string(),
                        {"figure", "quantity", "published", "ours", "ratio", "verdict", "because"}))
      if (!row.text(2).empty())
        rows.push_back({std::string(study.paper), std::string(study.name), row.text(0), row.text(1), row.text(2),
                        row.text(3), row.text(5), row.text(6)});
  }
  return rows;
}

std::vector<SummaryCount> count_verdicts(const std::vector<SummaryRow>& rows) {
  std::vector<std::string> papers;
  for (const SummaryRow& row : rows)
    if (std::ranges::find(papers, row.paper) == papers.end()) papers.push_back(row.paper);
  std::vector<SummaryCount> counts;
  for (const std::string& paper : papers) {
    const auto first = static_cast<std::ptrdiff_t>(counts.size());
    SummaryCount all{paper, kAllPlaces};
    for (const SummaryRow& row : rows) {
      if (row.paper != paper) continue;
      auto place = std::find_if(counts.begin() + first, counts.end(),
                                [&](const SummaryCount& one) { return one.figure == row.figure; });
      if (place == counts.end()) place = counts.insert(counts.end(), SummaryCount{paper, row.figure});
      count(*place, row);
      count(all, row);
    }
    counts.push_back(all);
  }
  return counts;
}

std::string counts_text(const std::vector<SummaryCount>& counts) {
  std::string text =
      "| paper | where | printed | exact | within 5 % | \"1.00\" would have | statement holds | input | fitted | not "
      "reproduced | not attempted | cannot be checked |\n"
      "|---|---|---|---|---|---|---|---|---|---|---|---|\n";
  const auto cell = [](int number) { return number == 0 ? std::string() : std::to_string(number); };
  for (const SummaryCount& one : counts)
    text += fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |\n", one.paper, one.figure,
                        one.printed, cell(one.exact), cell(one.near), cell(one.always_one), cell(one.holds),
                        cell(one.input), cell(one.fitted), cell(one.not_reproduced), cell(one.skipped),
                        cell(one.unchecked));
  return text;
}

std::string rows_text(const std::vector<SummaryRow>& rows) {
  std::string text, study;
  Notes notes;
  for (const SummaryRow& row : rows) {
    if (row.study != study) {
      text += notes.list();
      notes = {};
      text += fmt::format(
          "{}### {}: study `{}`\n\n| where | quantity | published | ours | verdict |\n|---|---|---|---|---|\n",
          study.empty() ? "" : "\n", row.paper, row.study);
    }
    study = row.study;
    text += fmt::format("| {} | {} | {} | {} | {}{} |\n", row.figure, row.quantity, row.published,
                        short_number(row.ours), row.verdict, notes.mark(row.because));
  }
  return text + notes.list();
}

std::string summary_page(const std::vector<SummaryRow>& rows) {
  return fmt::format(
      "# Every published value, and what became of it\n\n"
      "Made by `pliant study summary` from the kept tables in `results/studies`. A test fails when a row of\n"
      "`configs/studies/published.csv` is missing here, or when this page is not what the program makes.\n\n"
      "## Counts\n\n{}\n## Values\n\n{}",
      counts_text(count_verdicts(rows)), rows_text(rows));
}

}  // namespace pliant
