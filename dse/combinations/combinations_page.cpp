// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "dse/combinations/combinations.h"

namespace pliant {

namespace {

constexpr std::string_view kIntroduction = R"(# What works with what

Everything works with everything else, except what this page says. The table is that of `dse/combinations`: the program
asks it before it searches, this page is printed from it, and the tests run every pair (and with the label `long` every
triple) of what works.

`layer` is `pliant map --layer`; `workload` is `pliant map` of all layers of a workload, `network` the same with
`--network`, `frontier` `pliant map --layer` with several objectives; `timeloop`, `zigzag` and `c` are formats of
`pliant export`, asked about a mapping that `map --save` wrote; `verify` is of what the others wrote. In a sweep file
`network: true` is `residency`, `network: false` `residency off`, and a limit on time such as `latency_s <= 2 ms` is a
`deadline`. A dot works; a dash has nothing to do with the question; a number does not work, and the list says why and
what to do instead. Python has functions for most, and `pliant.ask` for all.

)";

std::vector<TraitInfo> in_group(TraitGroup group) {
  std::vector<TraitInfo> some;
  std::ranges::copy_if(all_traits(), std::back_inserter(some),
                       [&](const TraitInfo& one) { return one.group == group; });
  return some;
}

/// The number in the list of what a pair is refused by, from 1; 0 = it is not.
std::size_t refusal_number(Trait one, Trait other) {
  for (std::size_t i = 0; i < refusals().size(); ++i) {
    const Refusal& row = refusals()[i];
    if ((row.beside.has(one) && row.refused.has(other)) || (row.beside.has(other) && row.refused.has(one)))
      return i + 1;
  }
  return 0;
}

std::string cell(Trait question, Trait trait) {
  const bool absent = std::ranges::any_of(
      absences(), [&](const Absence& row) { return row.question == question && row.traits.has(trait); });
  const std::size_t number = refusal_number(question, trait);
  return number > 0 ? fmt::format("{}", number) : absent ? "-" : ".";
}

std::string names_of(const Traits& some) {
  std::string text;
  for (const TraitInfo& one : all_traits())
    if (some.has(one.trait)) text += fmt::format("{}{}", text.empty() ? "" : ", ", one.name);
  return text;
}

}  // namespace

std::string combinations_page() {
  const std::vector<TraitInfo> questions = in_group(TraitGroup::kQuestions);
  std::string page(kIntroduction), line = "|";
  page += "| |";
  for (const TraitInfo& question : questions) {
    page += fmt::format(" {} |", question.name);
    line += "---|";
  }
  page += fmt::format("\n{}---|\n", line);
  for (const TraitInfo& trait : all_traits()) {
    if (trait.group == TraitGroup::kQuestions) continue;
    page += fmt::format("| {} |", trait.name);
    for (const TraitInfo& question : questions) page += fmt::format(" {} |", cell(question.trait, trait.trait));
    page += "\n";
  }
  page += "\n## What does not work\n\n";
  for (std::size_t i = 0; i < refusals().size(); ++i) {
    const Refusal& row = refusals()[i];
    std::string what(row.what);
    if (const std::size_t at = what.find("{}"); at != std::string::npos) what.replace(at, 2, "...");
    page += fmt::format("{}. {}\n   with {}:\n   {}; instead: {}.\n", i + 1, names_of(row.beside),
                        names_of(row.refused), what, row.instead);
  }
  return page;
}

}  // namespace pliant
