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

#include "dse/results/arrow_rows.h"
#include "dse/results/arrow_status.h"
#include "dse/results/content_hash.h"
#include "dse/results/parquet_file.h"
#include "dse/results/stored_files.h"

namespace pliant {

namespace fs = std::filesystem;

namespace {

constexpr std::array kTables = {TableKind::kLayers, TableKind::kDesigns};

/// As in the checksum file: relative to the dataset.
std::string relative_name(TableKind table, std::int64_t part) {
  return fmt::format("{}/part-{:06}.parquet", to_string(table), part);
}

std::string checksum_line(TableKind table, std::int64_t part, std::string_view bytes) {
  return fmt::format("{}  {}\n", sha256(bytes), relative_name(table, part));
}

/// The number in part-000012.parquet.
std::optional<std::int64_t> part_number(const std::string& name) {
  if (!name.starts_with("part-") || !name.ends_with(".parquet")) return std::nullopt;
  std::int64_t part = 0;
  const char* end = name.data() + name.size() - 8;
  return std::from_chars(name.data() + 5, end, part).ptr == end ? std::optional(part) : std::nullopt;
}

/// Looks at one Parquet file; fills in what is wrong with it.
PartState check_file(const fs::path& file, const std::string& sweep_sha256, std::string& what, std::int64_t& rows) {
  if (!is_there(file)) return PartState::kMissing;
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
    return PartState::kDone;
  } catch (const StorageError& problem) {
    what = problem.what();
    return PartState::kDamaged;
  }
}

/// Every byte of both tables against the checksums; fills in what is wrong.
PartState check_bytes(const fs::path& dataset, std::int64_t part, std::string& what) {
  try {
    for (const TableKind table : kTables)
      require_checksum({dataset, table, part}, file_bytes(part_path(dataset, table, part)));
    return PartState::kDone;
  } catch (const StorageError& problem) {
    what = problem.what();
    return PartState::kDamaged;
  }
}

}  // namespace

fs::path part_path(const fs::path& dataset, TableKind table, std::int64_t part) {
  return dataset / relative_name(table, part);
}

fs::path checksum_path(const fs::path& dataset, std::int64_t part) {
  return dataset / "checksums" / fmt::format("part-{:06}.sha256", part);
}

std::optional<PartPlace> place_of(const fs::path& file) {
  const auto part = part_number(file.filename().string());
  const fs::path folder = file.parent_path();
  for (const TableKind table : kTables)
    if (part && folder.filename() == to_string(table)) return PartPlace{folder.parent_path(), table, *part};
  return std::nullopt;
}

void require_checksum(const PartPlace& place, std::string_view bytes) {
  const fs::path checksums = checksum_path(place.dataset, place.part);
  if (!is_there(checksums)) return;
  if (file_bytes(checksums).find(checksum_line(place.table, place.part, bytes)) != std::string::npos) return;
  throw StorageError(fmt::format("{}: damaged: its SHA-256 is not the one in {}",
                                 part_path(place.dataset, place.table, place.part).string(), checksums.string()));
}

std::vector<fs::path> part_folders(const fs::path& dataset) {
  return {dataset / "layers", dataset / "designs", dataset / "checksums"};
}

void write_part(const fs::path& dataset, const Provenance& provenance, const LayerRows& layers,
                const std::vector<DesignRow>& designs) {
  std::string checksums;
  const auto write = [&](TableKind table, const std::string& bytes) {
    write_atomically(part_path(dataset, table, provenance.part), bytes);
    checksums += checksum_line(table, provenance.part, bytes);
  };
  write(TableKind::kLayers, layers.parquet(provenance));
  write(TableKind::kDesigns, parquet_bytes(*designs_table(provenance, designs)));
  write_atomically(checksum_path(dataset, provenance.part), checksums);
}

PartCheck check_part(const fs::path& dataset, std::int64_t part, const std::string& sweep_sha256, bool thorough) {
  PartCheck check;
  check.state = PartState::kDone;
  for (const TableKind table : kTables) {
    std::int64_t& rows = table == TableKind::kLayers ? check.layer_rows : check.design_rows;
    const PartState state = check_file(part_path(dataset, table, part), sweep_sha256, check.what, rows);
    if (state == PartState::kDone) continue;
    check.state = state;
    if (state != PartState::kMissing) break;
  }
  if (check.state != PartState::kDone) return check;
  if (!is_there(checksum_path(dataset, part)))
    check.state = PartState::kMissing;
  else if (thorough)
    check.state = check_bytes(dataset, part, check.what);
  return check;
}

std::vector<std::int64_t> list_parts(const fs::path& dataset) {
  std::set<std::int64_t> parts;
  for (const TableKind table : kTables)
    for (const StoredFile& file : files_in(dataset / std::string(to_string(table))))
      if (const auto part = part_number(file.path.filename().string())) parts.insert(*part);
  return {parts.begin(), parts.end()};
}

void remove_part(const fs::path& dataset, std::int64_t part) {
  for (const fs::path& file : {checksum_path(dataset, part), part_path(dataset, TableKind::kLayers, part),
                               part_path(dataset, TableKind::kDesigns, part)})
    remove_file(file);
}

}  // namespace pliant
