// SPDX-License-Identifier: Apache-2.0
#include "dse/studies/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

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
  if (std::floor(ours * scale + kHair) == printed) return Verdict::kCut;
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
    const bool explained = row.verdict != Verdict::kExact && row.verdict != Verdict::kHolds;
    if (explained) row.because = value.because;
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
  DataTable table;
  for (const char* name : {"figure", "quantity", "published", "ours", "ratio", "verdict", "because"})
    table.columns.push_back({name, {}});
  for (const Comparison& row : rows) {
    table.columns[0].cells.emplace_back(row.figure);
    table.columns[1].cells.emplace_back(row.quantity);
    table.columns[2].cells.emplace_back(row.published);
    table.columns[3].cells.emplace_back(row.ours);
    table.columns[4].cells.push_back(row.ratio ? Cell(*row.ratio) : Cell());
    table.columns[5].cells.emplace_back(row.verdict_text());
    table.columns[6].cells.emplace_back(row.because);
  }
  return table;
}

}  // namespace pliant
