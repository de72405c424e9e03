// SPDX-License-Identifier: Apache-2.0
// Certificates of chosen rows of a dataset: each row's task is solved again and its proof written down for the auditor.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "dse/sweep/sweep.h"

namespace pliant {

/// One row of the layers table.
struct LayerRowName {
  std::int64_t design_id = 0;
  std::string workload;
  std::int64_t layer_index = 0;
  std::optional<double> value;  ///< of the objective, as the row says; nothing where it has no mapping
};

struct RowCertificateOptions {
  std::filesystem::path folder;  ///< one file for each row
  int threads = 1;
  std::stop_token stop;
  std::function<void(std::size_t done)> on_progress;
};

struct RowCertificates {
  std::vector<std::filesystem::path> files;
  std::vector<std::string> left_out;  ///< rows without a certificate, and why
};

/// The sweep's mapper must be `exact`: no other one proves part by part. StorageError when the disk refuses.
RowCertificates write_row_certificates(const Library& library, const Sweep& sweep,
                                       const std::vector<LayerRowName>& rows, const RowCertificateOptions& options);

}  // namespace pliant
