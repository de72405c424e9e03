// SPDX-License-Identifier: Apache-2.0
#include "dse/studies/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "dse/studies/study_table.h"

namespace pliant {
namespace {

constexpr double kNearShare = 0.05;
/// Sums of doubles may end a hair off: below a half, or above what they equal.
constexpr double kHair = 1e-9;

bool meets(PublishedValue::Relation relation, double ours, double value) {
  switch (relation) {
    case PublishedValue::Relation::kEqual: return ours == value;
    case PublishedValue::Relation::kLess: return ours < value * (1 - kHair);
    case PublishedValue::Relation::kAtMost: return ours <= value * (1 + kHair);
    case PublishedValue::Relation::kGreater: return ours > value * (1 + kHair);
    case PublishedValue::Relation::kAtLeast: return ours >= value * (1 - kHair);
    case PublishedValue::Relation::kNear: return std::abs(ours - value) <= kNearShare * std::abs(value);
  }
  return false;
}

Verdict judge_open(const PublishedValue& published, Remark::Status status, double ours) {
  if (published.relation != PublishedValue::Relation::kEqual)
    return meets(published.relation, ours, published.value) ? Verdict::kHolds : Verdict::kNotReproduced;
  const double scale = std::pow(10.0, published.decimals);
  const double printed = std::round(published.value * scale);
  if (std::floor(ours * scale + 0.5 + kHair) == printed) return Verdict::kExact;
  if (status == Remark::Status::kExact && std::floor(ours * scale + kHair) == printed) return Verdict::kCut;
  return meets(PublishedValue::Relation::kNear, ours, published.value) ? Verdict::kNear : Verdict::kNotReproduced;
}

Verdict judge(const PublishedValue& published, Remark::Status status, double ours) {
  if (status == Remark::Status::kUnchecked) return Verdict::kUnchecked;
  if (status == Remark::Status::kSkipped) return Verdict::kSkipped;
  if (status == Remark::Status::kInput) return Verdict::kInput;
  const Verdict verdict = judge_open(published, status, ours);
  return status == Remark::Status::kFitted && verdict != Verdict::kNotReproduced ? Verdict::kFitted : verdict;
}

/// Twelve digits: sums taken in another order may differ in the last ones.
double rounded(double value) { return std::stod(fmt::format("{:.12g}", value)); }

}  // namespace

std::string Comparison::verdict_text() const {
  switch (verdict) {
    case Verdict::kExact: return "exact";
    case Verdict::kCut: return "exact (printed value is cut off)";
    case Verdict::kNear: return fmt::format("within {:.2g} %", 100 * std::abs(*ratio - 1));
    case Verdict::kHolds: return "holds";
    case Verdict::kNotReproduced: return "not reproduced";
    case Verdict::kUnchecked: return "cannot be checked";
    case Verdict::kInput: return "input";
    case Verdict::kFitted: return "fitted";
    case Verdict::kSkipped: return "not attempted";
    case Verdict::kOursOnly: return "not printed";
  }
  return "?";
}

std::vector<Comparison> compare(const std::vector<PublishedValue>& published, const std::vector<Remark>& remarks,
                                std::string_view study, const std::vector<Finding>& findings) {
  std::vector<Comparison> rows;
  for (const PublishedValue& value : published) {
    if (value.study != study) continue;
    const Remark& remark = remark_on(value, remarks);
    const auto found = std::ranges::find(findings, value.quantity, &Finding::quantity);
    const bool without_ours = remark.status == Remark::Status::kUnchecked || remark.status == Remark::Status::kSkipped;
    if (found == findings.end() && !without_ours) continue;
    Comparison row;
    row.figure = value.figure;
    row.quantity = value.quantity;
    const bool number = value.relation == PublishedValue::Relation::kEqual;
    row.published = number ? value.text : fmt::format("{} {}", to_string(value.relation), value.text);
    row.verdict = remark.status == Remark::Status::kSkipped ? Verdict::kSkipped : Verdict::kUnchecked;
    row.must_be_exact = remark.status == Remark::Status::kExact;
    if (found != findings.end()) {
      row.ours = rounded(found->value);
      row.verdict = judge(value, remark.status, found->value);
      if (number && value.value != 0) row.ratio = rounded(found->value / value.value);
    }
    const bool needs_a_word = row.verdict != Verdict::kExact && row.verdict != Verdict::kCut;
    if (needs_a_word && row.verdict != Verdict::kHolds) row.because = remark.text;
    rows.push_back(std::move(row));
  }
  for (const Finding& finding : findings) {
    const bool printed = std::ranges::any_of(published, [&](const PublishedValue& value) {
      return value.study == study && value.quantity == finding.quantity;
    });
    if (printed) continue;
    Comparison row;
    row.quantity = finding.quantity;
    row.ours = rounded(finding.value);
    rows.push_back(std::move(row));
  }
  return rows;
}

DataTable comparison_table(const std::vector<Comparison>& rows) {
  DataTable table = table_of({"figure", "quantity", "published", "ours", "ratio", "verdict", "because"});
  for (const Comparison& row : rows) {
    add_row(table, row.figure, row.quantity, row.published, row.ours.value_or(0), row.ratio.value_or(0),
            row.verdict_text(), row.because);
    if (!row.ours) table.columns[3].cells.back() = std::monostate();
    if (!row.ratio) table.columns[4].cells.back() = std::monostate();
  }
  return table;
}

}  // namespace pliant
