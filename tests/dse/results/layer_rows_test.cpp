// SPDX-License-Identifier: Apache-2.0
#include "dse/results/layer_rows.h"

#include <arrow/array.h>
#include <arrow/table.h>
#include <gtest/gtest.h>

#include <limits>

#include "core/input/load.h"
#include "dse/results/atomic_file.h"
#include "dse/results/parquet_file.h"
#include "dse/results/stored_layers.h"
#include "support/shipped_library.h"
#include "support/temporary_folder.h"

namespace pliant {
namespace {

/// A layer of eyeriss that is solved, padded along its first dim.
LayerRow solved_row() {
  auto accelerator = std::make_shared<Accelerator>(load_accelerator(library(), "eyeriss"));
  accelerator->clock_hz = 1e9;
  LayerRow row;
  row.design =
      std::make_shared<const DesignKey>(DesignKey{7, {std::int64_t{64}, 0.5}, "own", "1011", "pfm", "edp", "m"});
  row.workload = "net";
  row.layer = std::make_shared<const Layer>(parse_layer("gemm:M=7,N=4,K=2", "g"));
  TaskResult result;
  result.status = TaskStatus::kSolved;
  result.energy_pj = 3;
  result.runtime_cycles = 2;
  result.mapping.padded = {8, 4, 2};
  result.mapping.levels.resize(accelerator->levels.size());
  result.mapping.levels[0].temporal = {{0, 8}, {2, 2}};
  result.mapping.levels[0].keeps = 7;
  result.mapping.levels[1].spatial = {{1, 2, Side::kRows}, {1, 2, Side::kCols}};
  const double unbounded = std::numeric_limits<double>::infinity();
  result.memories = {{0, 1, unbounded, 5, 0, 0, 0, 0, {{1, 10, 0, 0, 20, 30, 2}, {0, 1, 2, 3, 4, 5, 6}}},
                     {0, 1, 16, 5, 0, 0, 0, 0, {}}};
  result.energy_by_level = {{"DRAM", 1}, {"MAC", 2}};
  result.value = 6;
  result.certified = true;
  row.result = std::make_shared<const TaskResult>(result);
  row.accelerator = accelerator;
  return row;
}

LayerRow row_without_mapping(LayerRow row) {
  TaskResult result;
  result.status = TaskStatus::kNoLegalMapping;
  result.reason = "too small";
  row.result = std::make_shared<const TaskResult>(result);
  row.layer_index = 1;
  return row;
}

class StoredLayerRows : public ::testing::Test {
 protected:
  StoredLayerRows() : file_(folder_.path() / "layers.parquet") {
    const LayerRow first = solved_row();
    LayerRow last = first;
    last.layer_index = 2;
    const AxisColumn rows{"rows", "set_rows", AxisColumn::Kind::kInteger},
        share{"share", "set_share", AxisColumn::Kind::kReal};
    LayerRows gathered;
    gathered.add(first);
    gathered.add(row_without_mapping(first));
    gathered.add(last);
    write_atomically(file_, gathered.parquet({"sweep", "hash", {rows, share}, 3}));
    table_ = read_parquet(*open_parquet(file_), {}, file_)->CombineChunks().ValueOrDie();
  }
  template <class Array>
  const Array& column(const std::string& name) const {
    return dynamic_cast<const Array&>(*table_->GetColumnByName(name)->chunk(0));
  }
  TemporaryFolder folder_;
  std::filesystem::path file_;
  std::shared_ptr<arrow::Table> table_;
};

TEST_F(StoredLayerRows, MappingsComeBack) {
  const auto rows = read_stored_layers(file_);
  ASSERT_EQ(rows.size(), 3U);
  const LayerRow solved = solved_row();
  for (const std::size_t i : {0U, 2U}) {
    EXPECT_EQ(rows[i].layer_index, static_cast<int>(i));
    EXPECT_EQ(rows[i].mapping_of(*solved.layer, *solved.accelerator), solved.result->mapping);
    EXPECT_EQ(rows[i].edp_pj_cycles, 6);
    EXPECT_TRUE(rows[i].certified);
  }
  EXPECT_EQ(rows[1].status, "no_legal_mapping");
  EXPECT_TRUE(rows[1].mapping.empty());
  EXPECT_TRUE(column<arrow::ListArray>("mapping").IsNull(1));
  EXPECT_FALSE(rows[1].energy_pj || rows[1].value);
  EXPECT_TRUE(rows[1].certified);
}

TEST_F(StoredLayerRows, ListsInsideListsKeepTheirLengths) {
  const auto& memories = column<arrow::ListArray>("memories");
  EXPECT_EQ(memories.value_length(0), 2);
  EXPECT_TRUE(memories.IsNull(1));
  EXPECT_EQ(memories.value_length(2), 2);
  const auto& entries = dynamic_cast<const arrow::StructArray&>(*memories.values());
  const auto& tensors = dynamic_cast<const arrow::ListArray&>(*entries.GetFieldByName("tensors"));
  EXPECT_EQ(tensors.value_length(0), 2);
  EXPECT_EQ(tensors.value_length(1), 0);
  EXPECT_FALSE(tensors.IsNull(1));
  EXPECT_EQ(tensors.value_length(2), 2);
  const auto& traffic = dynamic_cast<const arrow::StructArray&>(*tensors.values());
  const auto& names = dynamic_cast<const arrow::StringArray&>(*traffic.GetFieldByName("tensor"));
  const auto& written = dynamic_cast<const arrow::DoubleArray&>(*traffic.GetFieldByName("words_written"));
  const std::shared_ptr<const Layer> layer = solved_row().layer;
  EXPECT_EQ(names.GetString(2), layer->tensors[1].name);
  EXPECT_EQ(names.GetString(3), layer->tensors[0].name);
  EXPECT_EQ(written.Value(2), 30);
  EXPECT_EQ(written.Value(3), 5);
}

TEST_F(StoredLayerRows, WhatIsUnknownIsNull) {
  const auto& entries = dynamic_cast<const arrow::StructArray&>(*column<arrow::ListArray>("memories").values());
  const auto& capacity = dynamic_cast<const arrow::DoubleArray&>(*entries.GetFieldByName("capacity_words"));
  EXPECT_TRUE(capacity.IsNull(0));  // unbounded
  EXPECT_EQ(capacity.Value(1), 16);
  EXPECT_TRUE(capacity.IsNull(2));
  EXPECT_FALSE(column<arrow::DoubleArray>("latency_s").IsNull(0));
  EXPECT_TRUE(column<arrow::DoubleArray>("latency_s").IsNull(1));
  EXPECT_TRUE(column<arrow::StringArray>("reason").IsNull(0));
  EXPECT_EQ(column<arrow::StringArray>("reason").GetString(1), "too small");
  EXPECT_EQ(column<arrow::DoubleArray>("set_share").Value(2), 0.5);
  EXPECT_EQ(column<arrow::Int64Array>("set_rows").Value(2), 64);
}

TEST(LayerRows, NoRowsMakeAFileToo) {
  const TemporaryFolder folder;
  write_atomically(folder.path() / "empty.parquet", LayerRows().parquet({"sweep", "hash", {}, 0}));
  EXPECT_TRUE(read_stored_layers(folder.path() / "empty.parquet").empty());
}

}  // namespace
}  // namespace pliant
