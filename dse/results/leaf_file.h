// SPDX-License-Identifier: Apache-2.0
// A Parquet file written leaf by leaf, straight from numbers and texts, by the library's own column writers: for a
// table of many rows and nested columns, where arrays of Arrow in between took most of the time. All rows are one
// group.
#pragma once

#include <arrow/type.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pliant {

/// A list that asks for memory in few large steps: a search leaves many small pieces behind, and each request for a
/// large one would join them all.
template <class Value>
class LeafValues {
 public:
  void push_back(Value value) {
    if (all_.size() == all_.capacity()) all_.reserve(std::max(kFirst, 4 * all_.size()));
    all_.push_back(value);
  }
  void assign(std::size_t count, Value value) { all_.assign(count, value); }
  const std::vector<Value>& all() const { return all_; }

 private:
  static constexpr std::size_t kFirst = 4096;
  std::vector<Value> all_;
};

/// Where the values of a leaf stand, entry by entry; the leaves of one list share it. An entry says how much of the
/// path to the leaf is there (all of it: a value follows) and which list it continues (0 = a new row).
struct Levels {
  LeafValues<std::int16_t> there, continues;
  void add(int path, int list) {
    there.push_back(static_cast<std::int16_t>(path));
    continues.push_back(static_cast<std::int16_t>(list));
  }
};

class LeafFile {
 public:
  /// All fields of the schema can be null. Leaves follow in its order, each by its name: that of the column, and inside
  /// it of the fields on the way ("memories.tensors.reads"). Another one is an error of the program.
  explicit LeafFile(const arrow::Schema& schema);
  ~LeafFile();
  LeafFile(const LeafFile&) = delete;
  LeafFile& operator=(const LeafFile&) = delete;

  /// Where the values of the leaves that follow stand, which are leaves of one list. Not copied.
  void set_levels(const Levels& levels) { levels_ = &levels; }

  /// A value for every entry whose path is there; what is not a number is null.
  void reals(std::string_view leaf, std::span<const double> values);
  void integers(std::string_view leaf, std::span<const std::int64_t> values);
  void truths(std::string_view leaf, std::span<const std::uint8_t> values);  ///< 0 or 1
  void texts(std::string_view leaf, std::span<const std::string_view> values);
  /// Empty texts are null.
  void optional_texts(std::string_view leaf, std::span<const std::string_view> values);

  /// The whole file, once every leaf is written.
  std::string finish();

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
  const Levels* levels_ = nullptr;
};

}  // namespace pliant
