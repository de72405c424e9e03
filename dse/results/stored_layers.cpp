// SPDX-License-Identifier: Apache-2.0
#include "dse/results/stored_layers.h"

#include <arrow/array.h>
#include <arrow/table.h>
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "dse/results/arrow_status.h"
#include "dse/results/checked_file.h"

namespace pliant {
namespace {

/// The columns of one part as arrays of known types.
class Reader {
 public:
  explicit Reader(const std::filesystem::path& file) : file_(file.string()) {
    table_ = CheckedFile(file).read({});
    table_ = require_value(table_->CombineChunks(), file_);
  }

  std::int64_t rows() const { return table_->num_rows(); }

  template <class Array>
  const Array& column(const std::string& name) const {
    const auto chunks = table_->GetColumnByName(name);
    return typed<Array>(chunks && chunks->num_chunks() == 1 ? chunks->chunk(0) : nullptr, name);
  }

  template <class Array>
  const Array& field(const arrow::StructArray& parent, const std::string& name) const {
    return typed<Array>(parent.GetFieldByName(name), name);
  }

  template <class Array>
  const Array& values(const arrow::ListArray& list, const std::string& name) const {
    return typed<Array>(list.values(), name);
  }

 private:
  template <class Array>
  const Array& typed(const std::shared_ptr<arrow::Array>& array, const std::string& name) const {
    const auto* found = dynamic_cast<const Array*>(array.get());
    if (found == nullptr) throw StorageError(fmt::format("{}: no column {} of the kind it should be", file_, name));
    return *found;
  }

  std::string file_;
  std::shared_ptr<arrow::Table> table_;
};

std::optional<double> real(const arrow::DoubleArray& column, std::int64_t row) {
  return column.IsNull(row) ? std::nullopt : std::optional(column.Value(row));
}

/// Reads the mapping column: list<struct<level, temporal, rows, cols, keeps, padded>>.
class MappingReader {
 public:
  explicit MappingReader(const Reader& reader)
      : reader_(reader),
        list_(reader.column<arrow::ListArray>("mapping")),
        levels_(reader.values<arrow::StructArray>(list_, "mapping")) {}

  std::vector<StoredLayer::Level> at(std::int64_t row) const {
    std::vector<StoredLayer::Level> all;
    if (list_.IsNull(row)) return all;
    for (std::int64_t i = list_.value_offset(row); i < list_.value_offset(row + 1); ++i) {
      StoredLayer::Level level;
      level.level = reader_.field<arrow::StringArray>(levels_, "level").GetString(i);
      level.temporal = loops("temporal", i);
      level.rows = loops("rows", i);
      level.cols = loops("cols", i);
      level.padded = loops("padded", i);
      const auto& keeps = reader_.field<arrow::ListArray>(levels_, "keeps");
      const auto& names = reader_.values<arrow::StringArray>(keeps, "keeps");
      for (std::int64_t k = keeps.value_offset(i); k < keeps.value_offset(i + 1); ++k)
        level.keeps.push_back(names.GetString(k));
      all.push_back(std::move(level));
    }
    return all;
  }

 private:
  StoredLayer::Loops loops(const char* name, std::int64_t level) const {
    const auto& list = reader_.field<arrow::ListArray>(levels_, name);
    const auto& entries = reader_.values<arrow::StructArray>(list, name);
    const auto& dims = reader_.field<arrow::StringArray>(entries, "dim");
    const auto& bounds = reader_.field<arrow::Int64Array>(entries, "bound");
    StoredLayer::Loops found;
    for (std::int64_t i = list.value_offset(level); i < list.value_offset(level + 1); ++i)
      found.emplace_back(dims.GetString(i), bounds.Value(i));
    return found;
  }

  const Reader& reader_;
  const arrow::ListArray& list_;
  const arrow::StructArray& levels_;
};

}  // namespace

std::vector<StoredLayer> read_stored_layers(const std::filesystem::path& file) {
  const Reader reader(file);
  const auto& design = reader.column<arrow::Int64Array>("design_id");
  const auto& workload = reader.column<arrow::StringArray>("workload");
  const auto& index = reader.column<arrow::Int64Array>("layer_index");
  const auto& layer = reader.column<arrow::StringArray>("layer");
  const auto& count = reader.column<arrow::Int64Array>("count");
  const auto& status = reader.column<arrow::StringArray>("status");
  const auto& energy = reader.column<arrow::DoubleArray>("energy_pj");
  const auto& cycles = reader.column<arrow::DoubleArray>("runtime_cycles");
  const auto& edp = reader.column<arrow::DoubleArray>("edp_pj_cycles");
  const auto& utilization = reader.column<arrow::DoubleArray>("utilization");
  const auto& certificate = reader.column<arrow::StructArray>("certificate");
  const auto& value = reader.field<arrow::DoubleArray>(certificate, "value");
  const auto& bound = reader.field<arrow::DoubleArray>(certificate, "lower_bound");
  const auto& gap = reader.field<arrow::DoubleArray>(certificate, "gap");
  const auto& certified = reader.field<arrow::BooleanArray>(certificate, "certified");
  const auto& on_chip = reader.column<arrow::StringArray>("on_chip");
  const MappingReader mapping(reader);
  std::vector<StoredLayer> rows;
  rows.reserve(static_cast<std::size_t>(reader.rows()));
  for (std::int64_t i = 0; i < reader.rows(); ++i) {
    StoredLayer row;
    row.design_id = design.Value(i);
    row.layer_index = index.Value(i);
    row.count = count.Value(i);
    row.workload = workload.GetString(i);
    row.layer = layer.GetString(i);
    row.status = status.GetString(i);
    row.energy_pj = real(energy, i);
    row.runtime_cycles = real(cycles, i);
    row.edp_pj_cycles = real(edp, i);
    row.utilization = real(utilization, i);
    row.value = real(value, i);
    row.lower_bound = real(bound, i);
    row.gap = real(gap, i);
    row.certified = !certified.IsNull(i) && certified.Value(i);
    row.on_chip = on_chip.IsNull(i) ? std::string() : on_chip.GetString(i);
    row.mapping = mapping.at(i);
    rows.push_back(std::move(row));
  }
  return rows;
}

std::optional<Mapping> StoredLayer::mapping_of(const Layer& of, const Accelerator& accelerator) const {
  if (mapping.size() != accelerator.levels.size()) return std::nullopt;
  bool known = true;
  const auto dim = [&](const std::string& name) {
    const auto found = std::ranges::find(of.dims, name, &Dim::name);
    known = known && found != of.dims.end();
    return static_cast<int>(found - of.dims.begin());
  };
  Mapping all;
  for (std::size_t l = 0; l < mapping.size(); ++l) {
    const Level& stored = mapping[l];
    if (stored.level != accelerator.levels[l].name) return std::nullopt;
    LevelMapping level;
    for (const auto& [name, bound] : stored.temporal) level.temporal.push_back({dim(name), bound});
    for (const auto& [name, bound] : stored.rows) level.spatial.push_back({dim(name), bound, Side::kRows});
    for (const auto& [name, bound] : stored.cols) level.spatial.push_back({dim(name), bound, Side::kCols});
    for (const std::string& name : stored.keeps) {
      const auto found = std::ranges::find(of.tensors, name, &Tensor::name);
      if (found == of.tensors.end()) return std::nullopt;
      level.keeps |= TensorSet{1} << (found - of.tensors.begin());
    }
    for (const auto& [name, bound] : stored.padded) {
      if (all.padded.empty())
        for (const Dim& one : of.dims) all.padded.push_back(one.size);
      const int padded = dim(name);
      if (known) all.padded[static_cast<std::size_t>(padded)] = bound;
    }
    all.levels.push_back(std::move(level));
  }
  if (!known) return std::nullopt;
  return all;
}

}  // namespace pliant
