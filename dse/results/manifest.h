// SPDX-License-Identifier: Apache-2.0
// manifest.json of a dataset: what it was made from and how far it is. Written when a sweep starts and when it ends.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dse/results/columns.h"
#include "dse/results/rows.h"

namespace pliant {

/// Among a manifest's options: what the latest audit of the dataset said.
inline constexpr const char* kAuditedOption = "audited";

struct Manifest {
  struct Input {
    std::string what;  ///< "sweep", "accelerator", "workload", "flexibility", "technology"
    std::string name;  ///< a shipped name or a file's name, without its folder
    std::string sha256;
    bool operator==(const Input&) const = default;
  };
  struct Library {
    std::string name, version;
    bool operator==(const Library&) const = default;
  };

  int schema = kTableSchema;  ///< of the tables
  std::string sweep_name;
  std::string sweep_sha256;
  std::vector<Input> inputs;
  std::vector<std::pair<std::string, std::string>> options;  ///< what decides the rows, as text
  std::uint64_t seed = 1;
  std::vector<AxisColumn> axes;
  /// By axis, of those that are numbers: the least and the largest value of the sweep.
  std::vector<std::optional<std::pair<double, double>>> axis_ends;
  std::int64_t designs = 0;          ///< that meet the constraints
  std::int64_t designs_raw = 0;      ///< in the full product of the axes
  std::int64_t designs_in_part = 0;  ///< of the full product
  std::int64_t parts = 0;
  std::int64_t layers = 0;  ///< of each design, all workloads
  std::string pliant_version, compiler;
  std::vector<Library> libraries;
  std::vector<std::string> hosts;  ///< that computed any of it
  std::string start, end;          ///< UTC, ISO 8601; end is empty until every part is there
  bool operator==(const Manifest&) const = default;
};

std::filesystem::path manifest_path(const std::filesystem::path& dataset);
void write_manifest(const std::filesystem::path& dataset, const Manifest& manifest);
/// nullopt when there is none; StorageError when there is one that cannot be understood. It may be of an earlier
/// schema, whose tables can be asked for columns by name.
std::optional<Manifest> read_manifest(const std::filesystem::path& dataset);

/// Of a dataset that must have every column of now: StorageError when it is of an earlier schema.
void require_newest(const std::filesystem::path& dataset, const Manifest& manifest);

/// What is different, for people: "workload first has changed; accelerator toy is new".
std::string changed_inputs(const Manifest& before, const Manifest& now);

std::string host_name();
/// "2026-01-31T12:00:00Z".
std::string utc_now();

}  // namespace pliant
