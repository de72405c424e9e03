// SPDX-License-Identifier: Apache-2.0
#include "dse/results/part_file.h"

#include <arrow/io/file.h>
#include <arrow/util/key_value_metadata.h>
#include <fmt/format.h>
#include <parquet/arrow/reader.h>
#include <parquet/arrow/writer.h>
#include <parquet/exception.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <set>
#include <system_error>

#include "dse/results/arrow_rows.h"
#include "dse/results/arrow_status.h"
#include "dse/results/parquet_file.h"

namespace pliant {

namespace fs = std::filesystem;

namespace {

constexpr std::array kTables = {TableKind::kLayers, TableKind::kDesigns};

/// Looks at one file; fills in what is wrong with it.
PartState check_file(const fs::path& file, const std::string& sweep_sha256, bool thorough, std::string& what,
                     std::int64_t& rows) {
  std::error_code error;
  if (!fs::exists(file, error)) return PartState::kMissing;
  try {
    const auto reader = open_parquet(file);
    std::shared_ptr<arrow::Schema> schema;
    require_ok(reader->GetSchema(&schema), file.string());
    rows = reader->parquet_reader()->metadata()->num_rows();
    const auto metadata = schema->metadata();
    const auto value = [&](const char* key) {
      return metadata ? metadata->Get(key).ValueOr(std::string()) : std::string();
    };
    if (value("pliant.sweep_sha256") != sweep_sha256 || value("pliant.schema") != std::to_string(kTableSchema)) {
      what = fmt::format("{}: written by another sweep, or by this one with other inputs", file.string());
      return PartState::kForeign;
    }
    if (thorough) read_parquet(*reader, {}, file);
    return PartState::kDone;
  } catch (const StorageError& problem) {
    what = problem.what();
    return PartState::kDamaged;
  }
}

}  // namespace

fs::path part_path(const fs::path& dataset, TableKind table, std::int64_t part) {
  return dataset / std::string(to_string(table)) / fmt::format("part-{:06}.parquet", part);
}

void write_part(const fs::path& dataset, const Provenance& provenance, const std::vector<LayerRow>& layers,
                const std::vector<DesignRow>& designs) {
  write_parquet(*layers_table(provenance, layers), part_path(dataset, TableKind::kLayers, provenance.part));
  write_parquet(*designs_table(provenance, designs), part_path(dataset, TableKind::kDesigns, provenance.part));
}

PartCheck check_part(const fs::path& dataset, std::int64_t part, const std::string& sweep_sha256, bool thorough) {
  PartCheck check;
  check.state = PartState::kDone;
  for (const TableKind table : kTables) {
    std::int64_t& rows = table == TableKind::kLayers ? check.layer_rows : check.design_rows;
    const PartState state = check_file(part_path(dataset, table, part), sweep_sha256, thorough, check.what, rows);
    if (state == PartState::kDone) continue;
    check.state = state;
    if (state != PartState::kMissing) break;
  }
  return check;
}

std::vector<std::int64_t> list_parts(const fs::path& dataset) {
  std::set<std::int64_t> parts;
  for (const TableKind table : kTables) {
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(dataset / std::string(to_string(table)), error)) {
      const std::string name = entry.path().filename().string();
      if (!name.starts_with("part-") || !name.ends_with(".parquet")) continue;
      std::int64_t part = 0;
      const char* end = name.data() + name.size() - 8;
      if (std::from_chars(name.data() + 5, end, part).ptr == end) parts.insert(part);
    }
  }
  return {parts.begin(), parts.end()};
}

void remove_part(const fs::path& dataset, std::int64_t part) {
  for (const TableKind table : kTables) {
    std::error_code error;
    fs::remove(part_path(dataset, table, part), error);
    if (error)
      throw StorageError(
          fmt::format("{}: cannot remove it: {}", part_path(dataset, table, part).string(), error.message()));
  }
}

}  // namespace pliant
