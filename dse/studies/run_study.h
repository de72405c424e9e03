// SPDX-License-Identifier: Apache-2.0
// Runs a study and puts everything it gives where people look for it.
#pragma once

#include <filesystem>
#include <vector>

#include "dse/studies/comparison.h"

namespace pliant {

struct StudyRun {
  std::vector<Comparison> rows;
  std::vector<std::filesystem::path> figures;
  double seconds = 0;
  double cpu_seconds = 0;  ///< of this process, and of what drew the pictures
};

struct StudyOptions {
  std::filesystem::path output;  ///< folder of all studies
  bool quick = false;
  bool sampled = false;  ///< with what random searches find
  bool png = false;      ///< pictures beside the specifications of the charts
  int threads = 0;
  std::stop_token stop;
  std::function<void(const std::string&)> on_progress;
  std::shared_ptr<StudyMemory> memory = std::make_shared<StudyMemory>();  ///< the same for all studies of a run
};

/// Writes OUTPUT/NAME.csv (the comparison) and below OUTPUT/NAME the datasets of its sweeps, comparison.parquet, its
/// tables and its figures. StorageError, InputError and StudyInterrupted as they come.
StudyRun run_study(const Library& library, const Study& study, const StudyOptions& options);

}  // namespace pliant
