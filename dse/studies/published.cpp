// SPDX-License-Identifier: Apache-2.0
#include "dse/studies/published.h"

#include <array>
#include <charconv>

#include "core/enum_names.h"
#include "core/input/source_text.h"
#include "dse/studies/study_csv.h"

namespace pliant {
namespace {

constexpr std::array<std::string_view, 6> kRelations = {"=", "<", "<=", ">", ">=", "~"};

}  // namespace

std::string_view to_string(PublishedValue::Relation relation) { return kRelations[static_cast<std::size_t>(relation)]; }

std::vector<PublishedValue> parse_published(std::string_view text, std::string_view name) {
  std::vector<PublishedValue> values;
  for (const StudyCsvRow& row : read_study_csv(text, name, {"study", "figure", "quantity", "relation", "value"})) {
    PublishedValue one;
    one.study = row.text(0);
    one.figure = row.text(1);
    one.quantity = row.text(2);
    const auto relation = enum_of<PublishedValue::Relation>(kRelations, row.text(3));
    if (!relation) row.fail(3, "an unknown relation", "=, <, <=, >, >= or ~");
    one.relation = *relation;
    one.text = row.text(4);
    const char* end = one.text.data() + one.text.size();
    const auto [at, error] = std::from_chars(one.text.data(), end, one.value);
    if (error != std::errc() || at != end) row.fail(4, "not a number", "a number as printed");
    const std::size_t point = one.text.find('.');
    one.decimals = point == std::string::npos ? 0 : static_cast<int>(one.text.size() - point - 1);
    values.push_back(std::move(one));
  }
  return values;
}

std::vector<PublishedValue> load_published(const Library& library) {
  const std::filesystem::path file = library.configs() / "studies" / "published.csv";
  return parse_published(read_source(file), file.string());
}

}  // namespace pliant
