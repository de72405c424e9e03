// SPDX-License-Identifier: Apache-2.0
// How Parquet writes the values of a leaf: one after the other as they are (PLAIN), or as places in a list of those
// that differ (RLE_DICTIONARY). Nesting levels and places are small numbers in runs (RLE).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace pliant {

/// Bits of the numbers up to `greatest`.
int bits_for(std::uint32_t greatest);

/// Groups of eight: equal ones as a run, others bit by bit. The last group may be shorter.
void append_runs(std::span<const std::int16_t> numbers, int bits, std::string& to);
void append_runs(std::span<const std::uint32_t> numbers, int bits, std::string& to);

void append_plain(std::span<const double> values, std::string& to);
void append_plain(std::span<const std::int64_t> values, std::string& to);
void append_plain(std::span<const std::string_view> values, std::string& to);
void append_plain(std::span<const bool> values, std::string& to);

/// The values that differ, in the order in which they come, and which of them each is.
template <class Value>
class Distinct {
 public:
  explicit Distinct(std::span<const Value> all) {
    indices_.reserve(all.size());
    for (const Value& value : all) {
      // Few values come again and again: mostly the one that was in this place before.
      std::uint32_t& before = before_[place_of(value)];
      if (before >= values_.size() || values_[before] != value) before = find(value);
      indices_.push_back(before);
    }
  }
  std::span<const Value> values() const { return values_; }
  std::span<const std::uint32_t> indices() const { return indices_; }

 private:
  static std::uint8_t place_of(std::int64_t value) { return static_cast<std::uint8_t>(value ^ value >> 8); }
  static std::uint8_t place_of(std::string_view text) {
    if (text.empty()) return 0;
    return static_cast<std::uint8_t>(text.front() + 31 * text.back() + 7 * text[text.size() / 2] + 3 * text.size());
  }
  std::uint32_t find(const Value& value) {
    const auto [found, fresh] = places_.try_emplace(value, static_cast<std::uint32_t>(values_.size()));
    if (fresh) values_.push_back(value);
    return found->second;
  }

  std::array<std::uint32_t, 256> before_{};
  std::unordered_map<Value, std::uint32_t> places_;
  std::vector<Value> values_;
  std::vector<std::uint32_t> indices_;
};

}  // namespace pliant
