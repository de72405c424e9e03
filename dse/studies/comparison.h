// SPDX-License-Identifier: Apache-2.0
// Published beside ours, with a verdict.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "dse/studies/published.h"
#include "dse/studies/study.h"

namespace pliant {

enum class Verdict : std::uint8_t {
  kExact,      ///< ours, rounded to the printed digits, is the printed number
  kCut,        ///< ours, cut off at the printed digits, is; only where a rule is known to give the printed number
  kNear,       ///< within 5 %
  kDifferent,  ///< farther off; the reason is in the file of published values
  kHolds,      ///< a claim that ours meets
  kRefuted,    ///< a claim that ours does not meet
  kOursOnly,   ///< no number is printed
};

struct Comparison {
  std::string figure, quantity;
  std::string published;  ///< "0.98", "<= 1"; empty when nothing is printed
  double ours = 0;
  std::optional<double> ratio;  ///< ours / published, for printed numbers
  Verdict verdict = Verdict::kOursOnly;
  std::string because;  ///< empty where the verdict needs no reason
  bool must_be_exact = false;

  std::string verdict_text() const;  ///< "exact", "within 0.3 %", "different", "holds", ...
};

/// One row for each published value of the study that was found, in the file's order, then what only we have. A
/// published value that was not found is left out: a quick run does not make all of them.
std::vector<Comparison> compare(const std::vector<PublishedValue>& published, std::string_view study,
                                const std::vector<Finding>& findings);

/// The columns figure, quantity, published, ours, ratio, verdict, because.
DataTable comparison_table(const std::vector<Comparison>& rows);

}  // namespace pliant
