// SPDX-License-Identifier: Apache-2.0
// `pliant sweep --audit SHARE`: a sweep checks its own claims as soon as it has made them.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <stop_token>
#include <string>

#include "dse/answers/arguments.h"
#include "dse/sweep/run_sweep.h"
#include "dse/sweep/verify_dataset.h"

namespace pliant {

struct SweepAudit {
  DatasetVerdict rows;
  double seconds = 0;

  /// "audited", "wrong" or "undecided". A network that was only solved again is not audited.
  std::string verdict() const;
  /// How many rows and networks, in words.
  std::string proven_again() const;
  std::string text() const;
  nlohmann::ordered_json json() const;
  int exit_code() const;
};

/// The share of rows that --audit asks for, nullopt without it. InputError where the question cannot be audited.
std::optional<double> audited_share(const Arguments& arguments, const Sweep& sweep, const Shard& shard);

/// Prices all rows of a complete dataset again, lets the auditor prove the share of them, evenly spread, and notes in
/// the manifest what came of it.
SweepAudit audit_sweep(const Library& library, const Sweep& sweep, const std::filesystem::path& dataset, double share,
                       int threads, const std::stop_token& stop);

}  // namespace pliant
