// SPDX-License-Identifier: Apache-2.0
#include "dse/studies/published.h"

#include <array>
#include <charconv>
#include <memory>

#include "core/input/csv.h"
#include "core/input/source_text.h"

namespace pliant {
namespace {

constexpr std::array<std::string_view, 7> kColumns = {"study", "figure", "quantity", "relation",
                                                      "value", "status", "because"};
constexpr std::array<std::string_view, 5> kRelations = {"=", "<", "<=", ">", ">="};

}  // namespace

std::string_view to_string(PublishedValue::Relation relation) { return kRelations[static_cast<std::size_t>(relation)]; }

std::vector<PublishedValue> parse_published(std::string_view text, std::string_view name) {
  Diagnostics problems;
  const auto file = std::make_shared<const std::string>(name);
  const std::vector<CsvRow> rows = parse_csv(text, file, problems);
  const auto bad = [&](const CsvRow& row, std::size_t field, std::string what, std::string expected) {
    const int column = field < row.fields.size() ? row.fields[field].column : 1;
    throw InputError(Diagnostic{std::string(name), row.line, column, std::string(kColumns[field]), std::move(what),
                                std::move(expected), ""});
  };
  problems.throw_if_any();
  std::vector<PublishedValue> values;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const CsvRow& row = rows[i];
    if (row.fields.size() != kColumns.size()) bad(row, 0, "another number of fields", "seven");
    if (i == 0) {
      for (std::size_t c = 0; c < kColumns.size(); ++c)
        if (row.fields[c].text != kColumns[c]) bad(row, c, "another column", std::string(kColumns[c]));
      continue;
    }
    PublishedValue one;
    one.study = row.fields[0].text;
    one.figure = row.fields[1].text;
    one.quantity = row.fields[2].text;
    std::size_t relation = 0;
    while (relation < kRelations.size() && kRelations[relation] != row.fields[3].text) ++relation;
    if (relation == kRelations.size()) bad(row, 3, "an unknown relation", "=, <, <=, > or >=");
    one.relation = static_cast<PublishedValue::Relation>(relation);
    one.text = row.fields[4].text;
    const char* end = one.text.data() + one.text.size();
    const auto [at, error] = std::from_chars(one.text.data(), end, one.value);
    if (error != std::errc() || at != end) bad(row, 4, "not a number", "a number as printed");
    const std::size_t point = one.text.find('.');
    one.decimals = point == std::string::npos ? 0 : static_cast<int>(one.text.size() - point - 1);
    if (row.fields[5].text != "exact" && row.fields[5].text != "open") bad(row, 5, "unknown", "exact or open");
    one.exact = row.fields[5].text == "exact";
    one.because = row.fields[6].text;
    values.push_back(std::move(one));
  }
  return values;
}

std::vector<PublishedValue> load_published(const Library& library) {
  const std::filesystem::path file = library.configs() / "studies" / "published.csv";
  return parse_published(read_source(file), file.string());
}

}  // namespace pliant
