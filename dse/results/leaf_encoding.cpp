// SPDX-License-Identifier: Apache-2.0
#include "dse/results/leaf_encoding.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <stdexcept>

namespace pliant {
namespace {

static_assert(std::endian::native == std::endian::little, "Parquet's numbers are little-endian, and copied");

template <class Number>
void append_bytes(const Number* numbers, std::size_t count, std::string& to) {
  to.append(reinterpret_cast<const char*>(numbers), count * sizeof(Number));
}

void append_varint(std::uint64_t number, std::string& to) {
  for (; number >= 128; number >>= 7) to += static_cast<char>(number | 128);
  to += static_cast<char>(number);
}

template <class Number>
bool all_equal(std::span<const Number> group) {
  for (const Number number : group.subspan(1))
    if (number != group.front()) return false;
  return true;
}

template <class Number>
class RunWriter {
 public:
  RunWriter(std::span<const Number> numbers, int bits, std::string& to) : numbers_(numbers), bits_(bits), to_(to) {}

  void write() {
    std::size_t at = 0;
    while (at < numbers_.size()) at = equal(at) ? write_equal(at) : write_others(at);
  }

 private:
  static constexpr std::size_t kGroup = 8;
  std::span<const Number> group(std::size_t at) const {
    return numbers_.subspan(at, std::min(kGroup, numbers_.size() - at));
  }
  bool equal(std::size_t at) const { return all_equal(group(at)); }

  std::size_t write_equal(std::size_t at) {
    const Number number = numbers_[at];
    std::size_t end = at + group(at).size();
    while (end < numbers_.size() && numbers_[end] == number && equal(end)) end += group(end).size();
    append_varint((end - at) << 1, to_);
    const auto value = static_cast<std::uint32_t>(number);
    to_.append(reinterpret_cast<const char*>(&value), static_cast<std::size_t>(bits_ + 7) / 8);
    return end;
  }

  std::size_t write_others(std::size_t at) {
    std::size_t end = at, groups = 0;
    for (; end < numbers_.size() && !equal(end); ++groups) end += group(end).size();
    append_varint(groups << 1 | 1, to_);
    std::uint64_t waiting = 0;
    int filled = 0;
    for (std::size_t i = at; i < at + groups * kGroup; ++i) {
      waiting |= (i < end ? static_cast<std::uint64_t>(numbers_[i]) : 0) << filled;
      for (filled += bits_; filled >= 8; filled -= 8, waiting >>= 8) to_ += static_cast<char>(waiting);
    }
    return end;
  }

  std::span<const Number> numbers_;
  int bits_;
  std::string& to_;
};

}  // namespace

int bits_for(std::uint32_t greatest) { return std::bit_width(greatest); }

void append_runs(std::span<const std::int16_t> numbers, int bits, std::string& to) {
  RunWriter(numbers, bits, to).write();
}

void append_runs(std::span<const std::uint32_t> numbers, int bits, std::string& to) {
  RunWriter(numbers, bits, to).write();
}

void append_plain(std::span<const double> values, std::string& to) { append_bytes(values.data(), values.size(), to); }

void append_plain(std::span<const std::int64_t> values, std::string& to) {
  append_bytes(values.data(), values.size(), to);
}

void append_plain(std::span<const std::string_view> values, std::string& to) {
  for (const std::string_view value : values) {
    const auto size = static_cast<std::uint32_t>(value.size());
    append_bytes(&size, 1, to);
    to += value;
  }
}

void append_plain(std::span<const bool> values, std::string& to) {
  for (std::size_t i = 0; i < values.size(); i += 8) {
    unsigned byte = 0;
    for (std::size_t k = i; k < std::min(i + 8, values.size()); ++k)
      byte |= static_cast<unsigned>(values[k]) << (k - i);
    to += static_cast<char>(byte);
  }
}

}  // namespace pliant
