// SPDX-License-Identifier: Apache-2.0
#include "dse/results/checked_file.h"

#include <arrow/array.h>
#include <arrow/util/key_value_metadata.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>

#include "dse/results/arrow_rows.h"
#include "dse/results/arrow_status.h"
#include "dse/results/columns.h"
#include "dse/results/layer_schema.h"
#include "dse/results/manifest.h"
#include "dse/results/parquet_file.h"
#include "dse/results/part_file.h"

namespace pliant {

namespace fs = std::filesystem;

namespace {

/// What names a row; no part has a row without them.
constexpr std::array<std::string_view, 7> kNames = {"design_id",   "workload", "status",  "objective",
                                                    "layer_index", "layer",    "task_key"};

[[noreturn]] void refuse(const fs::path& file, const std::string& what) {
  throw StorageError(fmt::format("{}: {}", file.string(), what));
}

std::string metadata_of(const arrow::KeyValueMetadata* metadata, const char* key) {
  return metadata == nullptr ? std::string() : metadata->Get(key).ValueOr(std::string());
}

/// Every column that the table can have, without those of the axes.
const arrow::Schema& known_schema(TableKind table) {
  static const auto layers = layers_schema({});
  static const auto designs = designs_table({}, {})->schema();
  return table == TableKind::kLayers ? *layers : *designs;
}

/// Lists and structures of an earlier schema may have fewer parts: nothing but `query` reads them, part by part.
void check_columns(const fs::path& file, TableKind table, const arrow::Schema& schema, bool newest) {
  const arrow::Schema& known = known_schema(table);
  for (const std::string_view name : kNames)
    if (known.GetFieldIndex(std::string(name)) >= 0 && schema.GetFieldIndex(std::string(name)) < 0)
      refuse(file, fmt::format("has no column {}, or two", name));
  for (const auto& field : schema.fields()) {
    if (field->name().starts_with("set_")) continue;
    const auto expected = known.GetFieldByName(field->name());
    if (expected == nullptr)
      refuse(file, fmt::format("no table of {} has a column `{}`; it is damaged, or of another version of Pliant",
                               to_string(table), field->name()));
    const bool same_kind = newest || field->type()->num_fields() == 0 ? field->type()->Equals(*expected->type())
                                                                      : field->type()->id() == expected->type()->id();
    if (!same_kind || metadata_of(field->metadata().get(), "unit") != metadata_of(expected->metadata().get(), "unit"))
      refuse(file, fmt::format("column {} is of another kind than in a table of {}; it is damaged, or of another "
                               "version of Pliant",
                               field->name(), to_string(table)));
  }
}

void check_values(const fs::path& file, const arrow::Table& table) {
  for (int c = 0; c < table.num_columns(); ++c) {
    const std::string& name = table.field(c)->name();
    const auto column = table.column(c);
    if (column->null_count() > 0 && std::ranges::find(kNames, name) != kNames.end())
      refuse(file, fmt::format("column {} is empty in {} rows", name, column->null_count()));
    if (column->type()->id() != arrow::Type::DOUBLE) continue;
    for (const auto& chunk : column->chunks()) {
      const auto& reals = static_cast<const arrow::DoubleArray&>(*chunk);
      for (std::int64_t i = 0; i < reals.length(); ++i)
        if (!reals.IsNull(i) && std::isnan(reals.Value(i)))
          refuse(file, fmt::format("column {} holds something that is no number", name));
    }
  }
}

/// What the file says of itself, against where it stands.
void check_place(const fs::path& file, const PartPlace& place, const arrow::Schema& schema) {
  const auto says = [&](const char* key) { return metadata_of(schema.metadata().get(), key); };
  const std::string table(to_string(place.table));
  if (says("pliant.table") != table)
    refuse(file, fmt::format("is no part of {}: it says that it is one of `{}`", table, says("pliant.table")));
  const std::string schema_text = says("pliant.schema");
  int schema_number = 0;
  const auto [end, error] = std::from_chars(schema_text.data(), schema_text.data() + schema_text.size(), schema_number);
  if (error != std::errc() || end != schema_text.data() + schema_text.size() || !schema_is_read(schema_number))
    refuse(file, fmt::format("is of schema `{}`, written by another version of Pliant; expected {} to {}", schema_text,
                             kOldestReadSchema, kTableSchema));
  if (says("pliant.part") != std::to_string(place.part))
    refuse(file,
           fmt::format("is in the place of part {}; it says that it is part `{}`", place.part, says("pliant.part")));
  const auto manifest = read_manifest(place.dataset);
  if (manifest && says("pliant.sweep_sha256") != manifest->sweep_sha256)
    refuse(file, "was written by another sweep, or by this one with other inputs");
  check_columns(file, place.table, schema, schema_number == kTableSchema);
}

}  // namespace

CheckedFile::CheckedFile(const fs::path& file) : file_(file) {
  const auto place = place_of(file);
  part_ = place.has_value();
  std::string bytes = file_bytes(file);
  if (place) require_checksum(*place, bytes);
  reader_ = open_parquet(std::move(bytes), file);
  require_ok(reader_->GetSchema(&schema_), file.string());
  if (place) check_place(file, *place, *schema_);
}

std::shared_ptr<arrow::Table> CheckedFile::read(const std::vector<std::string>& columns) const {
  if (part_)
    for (const std::string& name : columns)
      if (schema_->GetFieldByName(name) == nullptr)
        refuse(file_, fmt::format("has no column {}, or two; it is of another version of Pliant", name));
  auto table = read_parquet(*reader_, columns, file_);
  require_ok(table->ValidateFull(), fmt::format("{}: damaged", file_.string()));
  if (part_) check_values(file_, *table);
  return table;
}

}  // namespace pliant
