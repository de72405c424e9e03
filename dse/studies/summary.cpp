// SPDX-License-Identifier: Apache-2.0
#include "dse/studies/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "core/input/source_text.h"
#include "dse/studies/study_csv.h"

namespace pliant {
namespace {

constexpr const char* kAllPlaces = "**all**";

void count(SummaryCount& into, const SummaryRow& row) {
  ++into.printed;
  if (row.verdict.starts_with("exact"))
    ++into.exact;
  else if (row.verdict.starts_with("within"))
    ++into.near;
  else if (row.verdict == "holds")
    ++into.holds;
  else if (row.verdict == "not reproduced")
    ++into.not_reproduced;
  else
    ++into.unchecked;
}

/// Five digits are enough to look at; the kept tables have all.
std::string short_number(const std::string& text) {
  return text.empty() ? "" : fmt::format("{:.5g}", std::strtod(text.c_str(), nullptr));
}

/// "not reproduced (ours 1.69; what we tried)"
std::string verdict_cell(const SummaryRow& row) {
  if (row.because.empty()) return row.verdict;
  if (row.verdict == "not reproduced")
    return fmt::format("{} (ours {}; {})", row.verdict, short_number(row.ours), row.because);
  return fmt::format("{} ({})", row.verdict, row.because);
}

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
      "| paper | where | printed | exact | within 5 % | statement holds | not reproduced | cannot be checked |\n"
      "|---|---|---|---|---|---|---|---|\n";
  const auto cell = [](int number) { return number == 0 ? std::string() : std::to_string(number); };
  for (const SummaryCount& one : counts)
    text +=
        fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} |\n", one.paper, one.figure, one.printed, cell(one.exact),
                    cell(one.near), cell(one.holds), cell(one.not_reproduced), cell(one.unchecked));
  return text;
}

std::string rows_text(const std::vector<SummaryRow>& rows) {
  std::string text, study;
  for (const SummaryRow& row : rows) {
    if (row.study != study)
      text += fmt::format(
          "{}### {}: study `{}`\n\n| where | quantity | published | ours | verdict |\n|---|---|---|---|---|\n",
          study.empty() ? "" : "\n", row.paper, row.study);
    study = row.study;
    text += fmt::format("| {} | {} | {} | {} | {} |\n", row.figure, row.quantity, row.published, short_number(row.ours),
                        verdict_cell(row));
  }
  return text;
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
