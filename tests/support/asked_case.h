// SPDX-License-Identifier: Apache-2.0
// A case while it is checked: runs commands, reads what they print, and notes what does not hold.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "support/combination_relations.h"
#include "support/ran_command.h"

namespace pliant::tests {

using Words = std::vector<std::string>;
using nlohmann::json;

inline Words with(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

/// The same question with another value of an option that it has, or with one that it has not.
inline Words with_option(Words words, const std::string& option, const std::string& value) {
  for (std::size_t i = 0; i + 1 < words.size(); ++i)
    if (words[i] == option) {
      words[i + 1] = value;
      return words;
    }
  return with(std::move(words), {option, value});
}

inline Words without_option(Words words, const std::string& option) {
  for (std::size_t i = 0; i + 1 < words.size();)
    if (words[i] == option)
      words.erase(words.begin() + static_cast<std::ptrdiff_t>(i), words.begin() + static_cast<std::ptrdiff_t>(i) + 2);
    else
      ++i;
  return words;
}

/// Takes away what time decides.
inline void forget_times(json& answer) {
  if (answer.is_object()) {
    for (const char* key : {"solve_seconds", "solve_cpu_seconds", "seconds", "search_seconds"}) answer.erase(key);
  }
  if (answer.is_structured())
    for (json& inner : answer) forget_times(inner);
}

class AskedCase {
 public:
  explicit AskedCase(const CombinationCase& one) : one_(one) {}

  const CombinationCase& one() const { return one_; }
  bool has(Trait trait) const { return one_.has(trait); }
  CheckedCase& checked() { return checked_; }

  /// Exact, and nothing that ends it before the optimum is proven.
  bool proves() const { return has(Trait::kExact) && !has(Trait::kGap) && !has(Trait::kHints); }

  Ran ask(const Words& words) {
    asked_ = "pliant";
    for (const std::string& word : words)
      asked_ += word.find_first_of(" *<>()") == std::string::npos ? " " + word : " '" + word + "'";
    try {
      return run(words);
    } catch (const std::exception& error) {
      problem(fmt::format("ended with {}", error.what()));
      return {-1, "", error.what()};
    }
  }

  /// The JSON of an answer; nothing, with a problem noted, when the exit code is none of these.
  std::optional<json> answer(const Words& words, const std::vector<int>& codes = {0}) {
    const Ran ran = ask(with(words, {"--json"}));
    if (std::find(codes.begin(), codes.end(), ran.code) == codes.end()) {
      if (ran.code >= 0) problem(fmt::format("exit code {}: {}{}", ran.code, ran.err, ran.out.substr(0, 2000)));
      return std::nullopt;
    }
    if (ran.out.empty()) return json::object();
    const json read = json::parse(ran.out, nullptr, false);
    if (read.is_discarded()) {
      problem("prints no JSON: " + ran.out.substr(0, 200));
      return std::nullopt;
    }
    return read;
  }

  void expect_code(const Words& words, int code) {
    const Ran ran = ask(words);
    if (ran.code != code && ran.code >= 0)
      problem(fmt::format("exit code {}, not {}: {}{}", ran.code, code, ran.err, ran.out));
  }

  void expect(bool holds, const std::string& what) {
    if (!holds) problem(what);
  }
  void expect_equal(double one, double other, const std::string& what) {
    expect(std::abs(one - other) <= kRounding * std::max(std::abs(one), std::abs(other)),
           fmt::format("{}: {:.15g} and {:.15g}", what, one, other));
  }
  void expect_at_most(double one, double other, const std::string& what) {
    expect(one <= other + kRounding * std::abs(other), fmt::format("{}: {:.15g} above {:.15g}", what, one, other));
  }

  void problem(const std::string& what) { checked_.problems.push_back(what + "\n  last asked: " + asked_); }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(one_.file(name), std::ios::binary) << text;
  }

 private:
  static constexpr double kRounding = 1e-9;

  const CombinationCase& one_;
  CheckedCase checked_;
  std::string asked_;
};

/// Cycles that a network, asked by these words, can keep but not with every mapping; nothing when it has no mappings.
std::optional<double> some_deadline(AskedCase& asked, const Words& words);

// By what is asked.
void check_map(AskedCase& asked);
void check_workload(AskedCase& asked);
void check_network(AskedCase& asked);
void check_frontier(AskedCase& asked);
void check_verify(AskedCase& asked);
void check_export(AskedCase& asked);
void check_flexion(AskedCase& asked);
void check_count(AskedCase& asked);
void check_sweep(AskedCase& asked);
void check_design(AskedCase& asked);

}  // namespace pliant::tests
