// SPDX-License-Identifier: Apache-2.0
// Checks a dataset against the sweep it was made from: every row is there, every mapping is legal and costs what the
// row says, the designs are the sums of their layers, and a sample of the claims is proven again.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/input/load.h"
#include "dse/mappers/claim.h"
#include "dse/sweep/sweep.h"

namespace pliant {

struct DatasetProofs {
  std::optional<std::int64_t> rows = 0;  ///< of `layers`, evenly spread; nullopt = all
  ProofOptions options;                  ///< its threads check parts, each proof has one; its stop ends the check early
  std::function<void(std::int64_t checked, std::int64_t rows)> on_progress;
};

struct DatasetVerdict {
  std::int64_t layer_rows = 0, design_rows = 0;  ///< checked
  std::int64_t expected_layer_rows = 0;
  std::int64_t proven = 0;           ///< rows of the sample
  std::int64_t not_proven = 0;       ///< rows and networks of the sample that the auditor did not decide
  std::int64_t networks_proven = 0;  ///< whole networks with a row in the sample
  std::int64_t networks_solved = 0;  ///< of such networks: only solved again, for they have no certificate
  std::vector<std::string> wrong;    ///< what differs, in the order of the rows, the first hundred
  std::int64_t wrong_count = 0;
  bool interrupted = false;
  bool good() const { return wrong_count == 0 && !interrupted && layer_rows == expected_layer_rows; }
};

/// Which designs a dataset holds when it is not all of them that meet the constraints.
struct DatasetScope {
  std::string sweep_sha256;
  std::vector<std::vector<std::int64_t>> designs_of_part;
};

/// InputError when the sweep is not the one the dataset was made from.
DatasetVerdict verify_dataset(const Library& library, const Sweep& sweep, const std::filesystem::path& dataset,
                              const DatasetProofs& proofs, const DatasetScope* scope = nullptr);

}  // namespace pliant
