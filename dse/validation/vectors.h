// SPDX-License-Identifier: Apache-2.0
// Reference vectors of other models: read, price with our model under their conventions, compare every number.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace pliant {

struct Mismatch {
  std::string vector;    ///< id of the vector
  std::string quantity;  ///< "GLB.Inputs.reads"
  double expected = 0, ours = 0;
  std::string excuse;  ///< why the reference is not the truth here; empty = a real mismatch
};

struct ValidationResult {
  int vectors = 0;
  int mismatched_vectors = 0;  ///< with at least one mismatch that is not excused
  int excused_vectors = 0;     ///< with excused differences only
  long compared = 0;           ///< numbers compared
  std::vector<Mismatch> mismatches;
  std::vector<Mismatch> excused;
};

/// Reads the Timeloop vectors (JSON lines) or the FactorFlow/QuickFlow vectors (one JSON object), told apart by
/// content. `configs` is needed by the latter, which name accelerators. Throws InputError for unreadable files.
ValidationResult validate_vectors(const std::filesystem::path& file, const std::filesystem::path& configs);

}  // namespace pliant
