// SPDX-License-Identifier: Apache-2.0
// All studies at a glance, from the comparisons that their runs left behind (FOLDER/NAME.csv): how many values each
// place of each paper prints, and how many of them came out; and every published value with its verdict.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "dse/studies/study.h"

namespace pliant {

/// One published value, as a kept comparison has it.
struct SummaryRow {
  std::string paper, study, figure, quantity, published, ours, verdict, because;
  bool statement() const;  ///< in words ("<= 1"), not a number
};

/// What became of the values of one place of one paper; the verdicts add up to `printed`.
struct SummaryCount {
  std::string paper, figure;
  int printed = 0, exact = 0, near = 0, holds = 0, input = 0, fitted = 0, not_reproduced = 0, skipped = 0,
      unchecked = 0;
  int always_one = 0;  ///< printed numbers that a model which answers 1.00 to everything would have within 5 %
};

/// Every published value, study by study. StudyError when a study has left no comparison.
std::vector<SummaryRow> read_summary(const std::filesystem::path& folder);
/// By paper and place, in the order of first appearance, with a sum for each paper.
std::vector<SummaryCount> count_verdicts(const std::vector<SummaryRow>& rows);

/// Markdown tables.
std::string counts_text(const std::vector<SummaryCount>& counts);
std::string rows_text(const std::vector<SummaryRow>& rows);
/// The whole page, docs/studies/summary.md.
std::string summary_page(const std::vector<SummaryRow>& rows);

}  // namespace pliant
