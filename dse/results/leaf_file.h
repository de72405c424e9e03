// SPDX-License-Identifier: Apache-2.0
// A Parquet file written leaf by leaf, straight from numbers and texts: for a table of many rows and nested columns,
// where arrays of Arrow in between, and finding the levels of every leaf by itself, took most of the time.
#pragma once

#include <arrow/type.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace pliant {

/// Where the values of a leaf stand, entry by entry; the leaves of one list share it. An entry says how much of the
/// path to the leaf is there (all of it: a value follows) and which list it continues (0 = a new row).
struct Levels {
  std::vector<std::int16_t> there, continues;
  void add(int path, int list) {
    there.push_back(static_cast<std::int16_t>(path));
    continues.push_back(static_cast<std::int16_t>(list));
  }
};

class LeafFile {
 public:
  /// All fields of the schema can be null. Leaves follow in its order.
  explicit LeafFile(const arrow::Schema& schema);
  ~LeafFile();
  LeafFile(const LeafFile&) = delete;
  LeafFile& operator=(const LeafFile&) = delete;

  /// A value for every entry whose path is there; what is not a number is null.
  void reals(const Levels& levels, const std::vector<double>& values);
  void integers(const Levels& levels, const std::vector<std::int64_t>& values);
  void truths(const Levels& levels, const std::vector<std::uint8_t>& values);
  void texts(const Levels& levels, const std::vector<std::string_view>& values);
  /// Empty texts are null.
  void optional_texts(const Levels& levels, const std::vector<std::string_view>& values);

  /// The whole file, once every leaf is written.
  std::string finish();

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace pliant
