// SPDX-License-Identifier: Apache-2.0
#include "core/input/diagnostics.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "core/input/one_of.h"

namespace pliant {
namespace {

///< of one map, so that looking keys up one by one stays cheap
constexpr std::size_t kMaxDiagnostics = 50;

std::string join_texts(const std::vector<Diagnostic>& diagnostics) {
  std::string text;
  for (const Diagnostic& diagnostic : diagnostics) {
    if (!text.empty()) text += '\n';
    text += diagnostic.text();
  }
  return text;
}

}  // namespace

std::string Diagnostic::text() const {
  std::string text = file;
  if (line > 0) text += fmt::format(":{}:{}", line, column);
  if (!key.empty()) text += fmt::format("{}{}", text.empty() ? "" : ": ", key);
  text += fmt::format("{}{}", text.empty() ? "" : ": ", what);
  if (!expected.empty()) text += "; expected " + expected;
  if (!did_you_mean.empty()) text += fmt::format("; did you mean {}?", did_you_mean);
  return text;
}

InputError::InputError(std::vector<Diagnostic> diagnostics)
    : std::runtime_error(join_texts(diagnostics)), diagnostics_(std::move(diagnostics)) {}

InputError::InputError(Diagnostic diagnostic) : InputError(std::vector<Diagnostic>{std::move(diagnostic)}) {}

void Diagnostics::add(const Position& at, std::string key, std::string what, std::string expected,
                      std::string did_you_mean) {
  add({at.file ? *at.file : "", at.line, at.column, std::move(key), std::move(what), std::move(expected),
       std::move(did_you_mean), at.setting ? *at.setting : ""});
}

bool Diagnostics::full() const { return diagnostics_.size() >= kMaxDiagnostics; }

void Diagnostics::add(Diagnostic diagnostic) {
  if (diagnostics_.size() < kMaxDiagnostics) {
    diagnostics_.push_back(std::move(diagnostic));
  } else {
    ++more_;
  }
}

void Diagnostics::throw_if_any() const {
  if (diagnostics_.empty()) return;
  std::vector<Diagnostic> all = diagnostics_;
  std::map<std::string_view, int> order;  // files in the order they were met
  for (const Diagnostic& diagnostic : diagnostics_) order.emplace(diagnostic.file, static_cast<int>(order.size()));
  std::ranges::stable_sort(all, {}, [&](const Diagnostic& diagnostic) {
    return std::tuple(order.at(diagnostic.file), diagnostic.line, diagnostic.column);
  });
  if (more_ > 0) {
    Diagnostic last = all.back();
    last.key.clear();
    last.line = last.column = 0;
    last.what = fmt::format("and {} more", more_);
    last.expected.clear();
    last.did_you_mean.clear();
    all.push_back(last);
  }
  throw InputError(std::move(all));
}

std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
  constexpr std::size_t kLongestWord = 64;
  if (word.empty() || word.size() > kLongestWord) return "";
  const std::size_t limit = std::max<std::size_t>(word.size() > 3 ? 2 : 1, word.size() / 3);
  std::string best;
  std::size_t best_distance = limit + 1;
  for (const std::string& candidate : candidates) {
    if (candidate.size() > kLongestWord || candidate.size() + limit < word.size() ||
        word.size() + limit < candidate.size()) {
      continue;
    }
    const std::size_t distance = edit_distance(word, candidate);
    // A word of which nothing is left is not a near miss.
    if (distance < best_distance && distance < std::max(word.size(), candidate.size())) {
      best = candidate;
      best_distance = distance;
    }
  }
  if (!best.empty() || word.size() < 3) return best;
  // `45nm` for `cmos_45nm`: a name that holds the whole word, when only one does.
  for (const std::string& candidate : candidates) {
    if (candidate.find(word) == std::string::npos) continue;
    if (!best.empty()) return "";
    best = candidate;
  }
  return best;
}

}  // namespace pliant
