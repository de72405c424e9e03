// SPDX-License-Identifier: Apache-2.0
#include "dse/answers/answers.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <ostream>

#include "core/input/diagnostics.h"
#include "dse/answers/json_schema.h"
#include "dse/answers/text_table.h"
#include "dse/answers/validate_measured.h"
#include "dse/validation/vectors.h"

namespace pliant {
namespace {

using nlohmann::ordered_json;

ordered_json differences_json(const std::vector<Mismatch>& differences) {
  ordered_json list = ordered_json::array();
  for (const Mismatch& difference : differences) {
    ordered_json item{{"vector", difference.vector},
                      {"quantity", difference.quantity},
                      {"expected", difference.expected},
                      {"ours", difference.ours}};
    if (!difference.excuse.empty()) item["reason"] = difference.excuse;
    list.push_back(std::move(item));
  }
  return list;
}

void print_json(const ValidationResult& result, bool excused, std::ostream& out) {
  ordered_json json{{"schema", kJsonSchema},
                    {"vectors", result.vectors},
                    {"mismatches", result.mismatched_vectors},
                    {"excused", result.excused_vectors},
                    {"numbers_compared", result.compared}};
  json["differences"] = differences_json(result.mismatches);
  if (excused) json["excused_differences"] = differences_json(result.excused);
  out << json.dump(2) << "\n";
}

std::string table(const std::vector<Mismatch>& differences, std::size_t limit) {
  TextTable rows({"vector", "quantity<", "expected", "ours", "reason<"});
  for (std::size_t i = 0; i < std::min(limit, differences.size()); ++i) {
    const Mismatch& one = differences[i];
    rows.add(
        {one.vector, one.quantity, fmt::format("{:.10g}", one.expected), fmt::format("{:.10g}", one.ours), one.excuse});
  }
  return rows.text("  ");
}

void print_validation(const ValidationResult& result, const Arguments& arguments, std::ostream& out) {
  const auto show = *arguments.whole("show");
  if (!result.mismatches.empty()) {
    out << fmt::format("mismatches ({} numbers, the first {})\n", result.mismatches.size(),
                       std::min(show, result.mismatches.size()))
        << table(result.mismatches, show) << "\n";
  }
  if (arguments.has("excused") && !result.excused.empty())
    out << "excused differences\n" << table(result.excused, result.excused.size()) << "\n";
  if (!result.excused.empty()) {
    std::map<std::string, int> by_reason;
    for (const Mismatch& one : result.excused)
      for (std::size_t from = 0; from < one.excuse.size();) {
        const std::size_t to = std::min(one.excuse.find("; ", from), one.excuse.size());
        ++by_reason[one.excuse.substr(from, to - from)];
        from = to + 2;
      }
    std::vector<std::pair<int, std::string>> sorted;
    for (const auto& [reason, count] : by_reason) sorted.emplace_back(count, reason);
    std::sort(sorted.rbegin(), sorted.rend());
    out << "why differences are excused (a number may have several reasons)\n";
    TextTable reasons({"what the reference does", "numbers"});
    for (const auto& [count, reason] : sorted) reasons.add({reason, fmt::format("{}", count)});
    out << reasons.text("  ") << "\n";
  }
  out << fmt::format("{} numbers compared, {} differ with an excuse\n", result.compared, result.excused.size());
  out << fmt::format("{} vectors, {} mismatches, {} excused\n", result.vectors, result.mismatched_vectors,
                     result.excused_vectors);
}

}  // namespace

int answer_validate(const Arguments& arguments, Face& face) {
  if (arguments.has("measured")) {
    if (arguments.word()) throw arguments.bad("--measured", "beside a file of reference vectors", "one of the two");
    return validate_measured(arguments, face);
  }
  const auto file = arguments.word();
  if (!file) throw arguments.bad("", "no file named", "one file");
  const ValidationResult result = validate_vectors(*file, face.library.configs());
  if (arguments.has("json")) {
    print_json(result, arguments.has("excused"), face.out);
  } else {
    print_validation(result, arguments, face.out);
  }
  return result.mismatched_vectors == 0 ? 0 : 1;
}

}  // namespace pliant
