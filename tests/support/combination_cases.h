// SPDX-License-Identifier: Apache-2.0
// Questions that have certain traits, small enough to answer in milliseconds: the files and the words of the command
// line. Which rows there are follows from the table of what works with what (dse/combinations).
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "dse/combinations/combinations.h"
#include "support/covering_array.h"

namespace pliant::tests {

/// What varies: of each factor a row has one value, a trait or nothing.
struct CombinationFactor {
  std::string name;
  std::vector<std::optional<Trait>> values;
};
const std::vector<CombinationFactor>& combination_factors();

/// Rows with every pair (2) or triple (3) of what works together.
const CoveringArray& combinations(int strength);
Traits traits_of(const Row& row);
/// "map, ruby-s, energy, conv, bits, gap".
std::string names_of(const Traits& traits);

/// One question: its files are in a folder, which its words name.
struct CombinationCase {
  std::uint64_t seed = 0;
  Traits traits;
  Trait question = Trait::kMap;
  std::filesystem::path folder;
  std::string accelerator, workload, sweep;  ///< texts of accelerator.yaml, workload.yaml and sweep.yaml
  bool has(Trait trait) const { return traits.has(trait); }
  std::string file(const std::string& name) const { return (folder / name).string(); }
  /// The command that asks it; of a deadline nothing is said, for it depends on what is found.
  std::vector<std::string> question_words() const;
  /// `map` of the layer `a` or of the whole workload, with all that the traits say but save, certificate and deadline.
  std::vector<std::string> map_words(bool whole_workload) const;
  /// Of a question that is refused, with a deadline and with what only `count` has.
  std::vector<std::string> refused_words() const;
  /// sweep.yaml with so many cycles as a limit.
  std::string sweep_within(double cycles) const;
  /// Of a factorization, an objective, ...: its word.
  std::string word(TraitGroup group) const;
};

/// Draws what the traits leave open and writes the files.
CombinationCase make_case(const Traits& traits, std::uint64_t seed, const std::filesystem::path& folder);

/// Questions with two traits that do not work together, for every pair that the command line can be asked for: not of a
/// mapping, of GOMA's template, of workloads without a graph or of two questions at once, which have tests of their
/// own.
std::vector<Traits> refused_questions();

}  // namespace pliant::tests
