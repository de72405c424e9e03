// SPDX-License-Identifier: Apache-2.0
#include "dse/studies/remarks.h"

#include <algorithm>
#include <array>

#include "core/input/source_text.h"
#include "dse/studies/study_csv.h"

namespace pliant {
namespace {

constexpr std::array<std::string_view, 6> kStatus = {"exact", "open", "unchecked", "input", "fitted", "skipped"};

}  // namespace

bool fits(std::string_view pattern, std::string_view text) {
  const std::size_t star = pattern.find('*');
  if (star == std::string_view::npos) return pattern == text;
  if (!text.starts_with(pattern.substr(0, star))) return false;
  const std::string_view rest = pattern.substr(star + 1);
  for (std::size_t at = star; at <= text.size(); ++at)
    if (fits(rest, text.substr(at))) return true;
  return false;
}

std::vector<Remark> parse_remarks(std::string_view text, std::string_view name) {
  std::vector<Remark> remarks;
  for (const StudyCsvRow& row : read_study_csv(text, name, {"study", "figure", "quantity", "status", "remark"})) {
    const auto status = std::ranges::find(kStatus, row.text(3));
    if (status == kStatus.end()) row.fail(3, "unknown", "exact, open, unchecked, input, fitted or skipped");
    const auto which = static_cast<Remark::Status>(status - kStatus.begin());
    const bool needs_text = which != Remark::Status::kExact && which != Remark::Status::kOpen;
    if (needs_text && row.text(4).empty()) row.fail(4, "empty", "why");
    remarks.push_back({row.text(0), row.text(1), row.text(2), which, row.text(4)});
  }
  return remarks;
}

std::vector<Remark> load_remarks(const Library& library) {
  const std::filesystem::path file = library.configs() / "studies" / "remarks.csv";
  return parse_remarks(read_source(file), file.string());
}

const Remark& remark_on(const PublishedValue& value, const std::vector<Remark>& remarks) {
  static const Remark kNone;
  const auto found = std::ranges::find_if(remarks, [&](const Remark& remark) {
    return fits(remark.study, value.study) && fits(remark.figure, value.figure) &&
           fits(remark.quantity, value.quantity);
  });
  return found == remarks.end() ? kNone : *found;
}

}  // namespace pliant
