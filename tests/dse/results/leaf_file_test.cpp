// SPDX-License-Identifier: Apache-2.0
#include "dse/results/leaf_file.h"

#include <arrow/array.h>
#include <arrow/table.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "dse/results/atomic_file.h"
#include "dse/results/parquet_file.h"
#include "support/temporary_folder.h"

namespace pliant {
namespace {

/// A row: a number, a text or none, a real number or none, and loops.
struct Row {
  std::int64_t number = 0;
  std::string text;
  double real = 0;
  std::vector<std::pair<std::string, std::int64_t>> loops;
};

/// As many different texts and bounds as asked for; lists of 0 to 4 loops, in stretches of equal lengths and not.
std::vector<Row> random_rows(std::size_t count, int different, unsigned seed) {
  std::mt19937 random(seed);
  const auto below = [&](int limit) { return static_cast<int>(random() % static_cast<unsigned>(limit)); };
  std::vector<Row> rows(count);
  int length = 0;
  for (Row& row : rows) {
    row.number = below(3) == 0 ? below(1'000'000) : 7;
    if (below(4) > 0) row.text = "text " + std::to_string(below(different));
    row.real = below(5) > 0 ? 0.25 * below(1000) : std::numeric_limits<double>::quiet_NaN();
    if (below(6) == 0) length = below(5);
    for (int i = 0; i < length; ++i) row.loops.emplace_back(std::to_string(below(7)), below(different));
  }
  return rows;
}

std::string file_of(const std::vector<Row>& rows) {
  const auto loop = arrow::struct_({arrow::field("dim", arrow::utf8()), arrow::field("bound", arrow::int64())});
  LeafFile file(*arrow::schema({arrow::field("number", arrow::int64()), arrow::field("text", arrow::utf8()),
                                arrow::field("real", arrow::float64()), arrow::field("loops", arrow::list(loop))}));
  Levels each, inside;
  std::vector<std::int64_t> numbers, bounds;
  std::vector<std::string_view> texts, dims;
  std::vector<double> reals;
  for (const Row& row : rows) {
    each.add(1, 0);
    numbers.push_back(row.number);
    texts.push_back(row.text);
    reals.push_back(row.real);
    if (row.loops.empty()) inside.add(1, 0);
    for (std::size_t i = 0; i < row.loops.size(); ++i) {
      inside.add(4, i == 0 ? 0 : 1);
      dims.push_back(row.loops[i].first);
      bounds.push_back(row.loops[i].second);
    }
  }
  file.set_levels(each);
  file.integers("number", numbers);
  file.optional_texts("text", texts);
  file.reals("real", reals);
  file.set_levels(inside);
  file.texts("loops.dim", dims);
  file.integers("loops.bound", bounds);
  return file.finish();
}

/// What Arrow reads.
std::vector<Row> read_rows(const std::filesystem::path& path) {
  const auto table = read_parquet(*open_parquet(path), {}, path)->CombineChunks().ValueOrDie();
  std::vector<Row> rows(static_cast<std::size_t>(table->num_rows()));
  if (rows.empty()) return rows;
  const auto column = [&](int i) { return table->column(i)->chunk(0); };
  const auto& numbers = dynamic_cast<const arrow::Int64Array&>(*column(0));
  const auto& texts = dynamic_cast<const arrow::StringArray&>(*column(1));
  const auto& reals = dynamic_cast<const arrow::DoubleArray&>(*column(2));
  const auto& lists = dynamic_cast<const arrow::ListArray&>(*column(3));
  const auto& loops = dynamic_cast<const arrow::StructArray&>(*lists.values());
  const auto& dims = dynamic_cast<const arrow::StringArray&>(*loops.field(0));
  const auto& bounds = dynamic_cast<const arrow::Int64Array&>(*loops.field(1));
  for (std::int64_t i = 0; i < table->num_rows(); ++i) {
    Row& row = rows[static_cast<std::size_t>(i)];
    row.number = numbers.Value(i);
    if (!texts.IsNull(i)) row.text = texts.GetString(i);
    row.real = reals.IsNull(i) ? std::numeric_limits<double>::quiet_NaN() : reals.Value(i);
    for (std::int64_t k = lists.value_offset(i); k < lists.value_offset(i + 1); ++k)
      row.loops.emplace_back(dims.GetString(k), bounds.Value(k));
  }
  return rows;
}

class LeafFileRows : public ::testing::TestWithParam<std::pair<std::size_t, int>> {};

TEST_P(LeafFileRows, ComeBackThroughArrow) {
  const TemporaryFolder folder;
  const auto [count, different] = GetParam();
  const std::vector<Row> rows = random_rows(count, different, 17 + static_cast<unsigned>(count));
  write_atomically(folder.path() / "rows.parquet", file_of(rows));
  const std::vector<Row> read = read_rows(folder.path() / "rows.parquet");
  ASSERT_EQ(read.size(), rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    ASSERT_EQ(read[i].number, rows[i].number) << i;
    ASSERT_EQ(read[i].text, rows[i].text) << i;
    ASSERT_TRUE(read[i].real == rows[i].real || (std::isnan(read[i].real) && std::isnan(rows[i].real))) << i;
    ASSERT_EQ(read[i].loops, rows[i].loops) << i;
  }
}

// Lengths around groups of eight; places of 1, 5, 12 and 17 bits; texts that hardly repeat, which take no dictionary.
INSTANTIATE_TEST_SUITE_P(Sizes, LeafFileRows,
                         ::testing::Values(std::pair{0UL, 1}, std::pair{1UL, 1}, std::pair{7UL, 2}, std::pair{8UL, 2},
                                           std::pair{9UL, 2}, std::pair{1000UL, 1}, std::pair{1001UL, 20},
                                           std::pair{20'000UL, 3000}, std::pair{20'000UL, 1'000'000},
                                           std::pair{150'000UL, 70'000}));

}  // namespace
}  // namespace pliant
