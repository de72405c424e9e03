// SPDX-License-Identifier: Apache-2.0
// One part of a dataset: the rows of a fixed range of designs, as two Parquet files that are put in place in one step
// each, and the SHA-256 of both, as `sha256sum --check` reads it in DIR. A part is done when all three are there; they
// are written in this order.
//
//     DIR/layers/part-000012.parquet    DIR/designs/part-000012.parquet    DIR/checksums/part-000012.sha256
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dse/results/columns.h"
#include "dse/results/layer_rows.h"
#include "dse/results/rows.h"

namespace pliant {

std::filesystem::path part_path(const std::filesystem::path& dataset, TableKind table, std::int64_t part);
std::filesystem::path checksum_path(const std::filesystem::path& dataset, std::int64_t part);
/// Where a file stands when it is a part: DATASET/TABLE/part-NUMBER.parquet.
struct PartPlace {
  std::filesystem::path dataset;
  TableKind table = TableKind::kDesigns;
  std::int64_t part = 0;
};
std::optional<PartPlace> place_of(const std::filesystem::path& file);
/// StorageError when the part has a checksum and these are not its bytes.
void require_checksum(const PartPlace& place, std::string_view bytes);

/// layers, designs and checksums.
std::vector<std::filesystem::path> part_folders(const std::filesystem::path& dataset);

/// StorageError when the disk refuses; nothing is left behind then.
void write_part(const std::filesystem::path& dataset, const Provenance& provenance, const LayerRows& layers,
                const std::vector<DesignRow>& designs);

enum class PartState {
  kMissing,
  kDone,
  kForeign,  ///< readable, of another sweep (or of the same with other inputs)
  kDamaged,
};
struct PartCheck {
  PartState state = PartState::kMissing;
  std::string what;  ///< what is wrong with it
  std::int64_t layer_rows = 0, design_rows = 0;
};
/// The files of a part. `thorough` compares every byte with the checksums, else only the footers are looked at.
PartCheck check_part(const std::filesystem::path& dataset, std::int64_t part, const std::string& sweep_sha256,
                     bool thorough);

/// The numbers of the part files there are of either table, ascending.
std::vector<std::int64_t> list_parts(const std::filesystem::path& dataset);
void remove_part(const std::filesystem::path& dataset, std::int64_t part);

}  // namespace pliant
