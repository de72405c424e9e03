// SPDX-License-Identifier: Apache-2.0
#include "dse/studies/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "dse/studies/study_table.h"

namespace pliant {
namespace {

constexpr double kNearShare = 0.05;
/// Sums of doubles may end a hair below a half.
constexpr double kHair = 1e-9;

bool meets(PublishedValue::Relation relation, double ours, double value) {
  switch (relation) {
    case PublishedValue::Relation::kEqual: return ours == value;
    case PublishedValue::Relation::kLess: return ours < value;
    case PublishedValue::Relation::kAtMost: return ours <= value * (1 + kHair);
    case PublishedValue::Relation::kGreater: return ours > value;
    case PublishedValue::Relation::kAtLeast: return ours >= value * (1 - kHair);
  }
  return false;
}

Verdict judge(const PublishedValue& published, double ours) {
  if (published.relation != PublishedValue::Relation::kEqual)
    return meets(published.relation, ours, published.value) ? Verdict::kHolds : Verdict::kRefuted;
  const double scale = std::pow(10.0, published.decimals);
  const double printed = std::round(published.value * scale);
  if (std::floor(ours * scale + 0.5 + kHair) == printed) return Verdict::kExact;
  if (published.exact && std::floor(ours * scale + kHair) == printed) return Verdict::kCut;
  return std::abs(ours - published.value) <= kNearShare * std::abs(published.value) ? Verdict::kNear
                                                                                    : Verdict::kDifferent;
}

/// Twelve digits: sums taken in another order may differ in the last ones.
double rounded(double value) { return std::stod(fmt::format("{:.12g}", value)); }

}  // namespace

std::string Comparison::verdict_text() const {
  switch (verdict) {
    case Verdict::kExact: return "exact";
    case Verdict::kCut: return "exact (printed value is cut off)";
    case Verdict::kNear: return fmt::format("within {:.2g} %", 100 * std::abs(*ratio - 1));
    case Verdict::kDifferent: return "different";
    case Verdict::kHolds: return "holds";
    case Verdict::kRefuted: return "does not hold";
    case Verdict::kOursOnly: return "not printed";
  }
  return "?";
}

std::vector<Comparison> compare(const std::vector<PublishedValue>& published, std::string_view study,
                                const std::vector<Finding>& findings) {
  std::vector<Comparison> rows;
  for (const PublishedValue& value : published) {
    if (value.study != study) continue;
    const auto found = std::ranges::find(findings, value.quantity, &Finding::quantity);
    if (found == findings.end()) continue;
    Comparison row;
    row.figure = value.figure;
    row.quantity = value.quantity;
    const bool number = value.relation == PublishedValue::Relation::kEqual;
    row.published = number ? value.text : fmt::format("{} {}", to_string(value.relation), value.text);
    row.ours = rounded(found->value);
    row.verdict = judge(value, found->value);
    row.must_be_exact = value.exact;
    if (number && value.value != 0) row.ratio = rounded(found->value / value.value);
    const bool differs =
        row.verdict == Verdict::kNear || row.verdict == Verdict::kDifferent || row.verdict == Verdict::kRefuted;
    if (differs) row.because = value.because;
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
    add_row(table, row.figure, row.quantity, row.published, row.ours, row.ratio.value_or(0), row.verdict_text(),
            row.because);
    if (!row.ratio) table.columns[4].cells.back() = std::monostate();
  }
  return table;
}

}  // namespace pliant
