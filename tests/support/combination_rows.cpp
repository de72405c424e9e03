// SPDX-License-Identifier: Apache-2.0
// Writes the questions of every pair of traits, and those that are refused, for tests that are not C++: a folder of
// input files for each, and rows.json with the words of the command line that ask it. Usage: combination_rows FOLDER
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>

#include "support/combination_cases.h"

namespace {

using namespace pliant;

/// A network within it may be found or not: who is asked does not matter to that.
constexpr double kSomeDeadline = 100;

nlohmann::ordered_json told(const tests::CombinationCase& one) {
  const bool of_sweep = one.question == Trait::kSweep || one.question == Trait::kDesign;
  const std::optional<Refused> found = refused(one.traits);
  std::vector<std::string> words = found ? one.refused_words() : one.question_words();
  if (!found && one.has(Trait::kDeadline) && of_sweep)
    std::ofstream(one.file("sweep.yaml"), std::ios::binary) << one.sweep_within(kSomeDeadline);
  if (!found && one.has(Trait::kDeadline) && one.question == Trait::kNetwork)
    words.insert(words.end(), {"--deadline", std::to_string(kSomeDeadline)});
  nlohmann::ordered_json row{{"traits", tests::names_of(one.traits)},
                             {"question", info_of(one.question).name},
                             {"folder", one.folder.string()},
                             {"words", words},
                             {"map", one.map_words(false)}};
  if (found) row["refused"] = {{"what", found->what}, {"instead", found->instead}};
  return row;
}

}  // namespace

int main(int count, char** words) {
  if (count != 2) {
    std::cerr << "usage: combination_rows FOLDER\n";
    return 2;
  }
  const std::filesystem::path folder = std::filesystem::absolute(words[1]);
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  const auto add = [&](const Traits& traits) {
    const std::size_t seed = rows.size() + 1;
    rows.push_back(told(tests::make_case(traits, seed, folder / std::to_string(seed))));
  };
  for (const tests::Row& row : tests::combinations(2).rows) add(tests::traits_of(row));
  for (const Traits& traits : tests::refused_questions()) add(traits);
  return (std::ofstream(folder / "rows.json", std::ios::binary) << rows.dump(1) << "\n").flush() ? 0 : 1;
}
