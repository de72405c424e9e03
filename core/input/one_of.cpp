// SPDX-License-Identifier: Apache-2.0
#include "core/input/one_of.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <numeric>

#include "core/input/source_text.h"

namespace pliant {
namespace {

/// Longer lists push the hint out of sight.
constexpr std::size_t kMostListed = 12, kMostNear = 5;

char lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same = lower(a[i - 1]) == lower(b[j - 1]);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (same ? 0 : 1)});
      if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1])) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    before.swap(last);
    last.swap(row);
  }
  return last[b.size()];
}

std::string one_of(std::string_view word, const std::vector<std::string>& known) {
  if (known.size() <= kMostListed) return "one of " + join(known);
  constexpr std::size_t kLongestWord = 64;
  const std::string_view near = word.substr(0, kLongestWord);
  std::vector<std::string> sorted = known;
  // A name that holds the whole word comes before one that merely looks like it.
  std::ranges::stable_sort(sorted, {}, [&](const std::string& one) {
    const bool holds = !near.empty() && one.find(near) != std::string::npos;
    return (holds ? 0 : 2 * kLongestWord) + edit_distance(near, std::string_view(one).substr(0, kLongestWord));
  });
  sorted.resize(kMostNear);
  return fmt::format("one of {}, such as {}", known.size(), join(sorted));
}

}  // namespace pliant
