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
class RunWriter {
 public:
  RunWriter(std::span<const Number> numbers, int bits, std::string& to) : numbers_(numbers), bits_(bits), to_(to) {}

  void write() {
    std::size_t at = 0;
    while (at < numbers_.size()) at = equal(at) ? write_equal(at) : write_others(at);
  }

 private:
  static constexpr std::size_t kGroup = 8;
  /// Without a branch for a whole group: where groups are not equal is hard to foresee.
  bool equal(std::size_t at) const {
    const Number first = numbers_[at];
    const std::size_t size = std::min(kGroup, numbers_.size() - at);
    Number difference = 0;
    if (size == kGroup) {
      for (std::size_t i = 0; i < kGroup; ++i) difference |= static_cast<Number>(numbers_[at + i] ^ first);
    } else {
      for (std::size_t i = 0; i < size; ++i) difference |= static_cast<Number>(numbers_[at + i] ^ first);
    }
    return difference == 0;
  }
  std::size_t group_end(std::size_t at) const { return std::min(at + kGroup, numbers_.size()); }

  std::size_t write_equal(std::size_t at) {
    const Number number = numbers_[at];
    std::size_t end = group_end(at);
    while (end < numbers_.size() && numbers_[end] == number && equal(end)) end = group_end(end);
    append_varint((end - at) << 1, to_);
    const auto value = static_cast<std::uint32_t>(number);
    to_.append(reinterpret_cast<const char*>(&value), static_cast<std::size_t>(bits_ + 7) / 8);
    return end;
  }

  std::size_t write_others(std::size_t at) {
    std::size_t end = at, groups = 0;
    for (; end < numbers_.size() && !equal(end); ++groups) end = group_end(end);
    append_varint(groups << 1 | 1, to_);
    const auto width = static_cast<std::size_t>(bits_);  // bytes of a group
    const std::size_t start = to_.size();
    to_.resize(start + groups * width + sizeof(std::uint64_t));  // some over, so that whole words can be stored
    char* out = to_.data() + start;
    for (std::size_t first = at; first < end; first += kGroup, out += width) {
      const std::span<const Number> group = numbers_.subspan(first, group_end(first) - first);
      if (bits_ <= 8 && group.size() == kGroup)
        store(group.template first<kGroup>(), out);
      else
        store_wide(group, out);
    }
    to_.resize(start + groups * width);
    return end;
  }

  void store(std::span<const Number, kGroup> group, char* out) const {
    std::uint64_t word = 0;
    for (std::size_t i = kGroup; i-- > 0;) word = word << bits_ | static_cast<std::uint64_t>(group[i]);
    std::memcpy(out, &word, sizeof word);
  }

  void store_wide(std::span<const Number> group, char* out) const {
    std::uint64_t waiting = 0;
    int filled = 0;
    for (std::size_t i = 0; i < kGroup; ++i) {
      waiting |= (i < group.size() ? static_cast<std::uint64_t>(group[i]) : 0) << filled;
      for (filled += bits_; filled >= 8; filled -= 8, waiting >>= 8) *out++ = static_cast<char>(waiting);
    }
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
