// SPDX-License-Identifier: Apache-2.0
// Checks the certificate of a design search, line by line: the mappings and bounds of layers, that the boxes hold every
// design once, and that each box is closed by what it rests on. Nothing is trusted but the task.
#pragma once

#include <filesystem>

#include "dse/audit/audit.h"
#include "dse/audit/design_certificate.h"

namespace pliant::audit {

struct DesignAuditReport {
  std::vector<std::string> wrong, undecided;  ///< no more than kMostSaid of each
  static constexpr std::size_t kMostSaid = 20;
  std::int64_t designs = 0, points_read = 0;  ///< of the space; hardware points compared with the tables
  std::uint64_t boxes = 0, opened = 0;        ///< lines of boxes; designs mapped among them
  std::uint64_t bounds = 0, mapped = 0;       ///< of layers
  std::uint64_t checked = 0;                  ///< of both
  std::uint64_t wrong_lines = 0, open_lines = 0;
  std::size_t frontier = 0;
  double gap = 0;
  double seconds = 0;
  bool clean() const { return wrong.empty() && undecided.empty() && checked == bounds + mapped; }
};

/// "clean", "wrong", "undecided", or "sample clean" where only a sample was asked for.
std::string verdict_of(const DesignAuditReport& report, bool sampled);

/// `share` and `seed` choose lines of bounds and mappings; all boxes are checked always.
DesignAuditReport audit_design(const Library& library, const std::filesystem::path& folder,
                               const AuditOptions& options);

}  // namespace pliant::audit
