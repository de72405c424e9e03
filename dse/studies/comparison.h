// SPDX-License-Identifier: Apache-2.0
// Published beside ours, with a verdict that says no more than was shown. There is no word for "refuted"; where a
// paper's setting is public and a certificate of ours contradicts it, the remark says so.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "dse/studies/published.h"
#include "dse/studies/remarks.h"
#include "dse/studies/study.h"

namespace pliant {

enum class Verdict : std::uint8_t {
  kExact,          ///< ours, rounded to the printed digits, is the printed number
  kCut,            ///< ours, cut off at the printed digits, is; only where a rule is known to give the printed number
  kNear,           ///< a number, within 5 %
  kHolds,          ///< a statement that ours meets
  kNotReproduced,  ///< ours is farther off, or does not meet the statement; the remark says what was tried
  kUnchecked,      ///< what would decide it is not printed; the remark says what
  kInput,          ///< the printed number is an input of ours
  kFitted,         ///< ours is as near as kExact, kNear or kHolds, by a choice that was made for it
  kSkipped,        ///< not attempted, though it could be checked
  kOursOnly,       ///< nothing is printed
};

struct Comparison {
  std::string figure, quantity;
  std::string published;        ///< "0.98", "<= 1"; empty when nothing is printed
  std::optional<double> ours;   ///< empty where there is nothing of ours to set beside it
  std::optional<double> ratio;  ///< ours / published, for printed numbers
  Verdict verdict = Verdict::kOursOnly;
  std::string because;  ///< the remark; empty where the verdict needs none
  bool must_be_exact = false;

  std::string verdict_text() const;  ///< "exact", "within 0.3 %", "holds", "not reproduced", ...
};

/// One row for each published value of the study that was found or cannot be checked, in the file's order, then what
/// only we have. Another published value that was not found is left out: a quick run does not make all of them.
std::vector<Comparison> compare(const std::vector<PublishedValue>& published, const std::vector<Remark>& remarks,
                                std::string_view study, const std::vector<Finding>& findings);

/// The columns figure, quantity, published, ours, ratio, verdict, because.
DataTable comparison_table(const std::vector<Comparison>& rows);

}  // namespace pliant
