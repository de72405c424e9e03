// SPDX-License-Identifier: Apache-2.0
// Checks the certificate of a network: the mappings and places claimed are legal and have the value claimed; every
// proof of a layer's variant holds; and the lines that follow, along the shortest paths over all places of all tensors,
// leave nothing below the lower bound claimed.
#pragma once

#include <string>
#include <vector>

#include "dse/audit/audit.h"
#include "dse/audit/network_certificate.h"

namespace pliant::audit {

struct NetworkAuditReport {
  std::vector<std::string> wrong, undecided;
  std::uint64_t proofs = 0, confirmed = 0;  ///< of variants
  std::uint64_t choices = 0, checked = 0;   ///< of all proofs
  std::uint64_t steps = 0, variants = 0, moves = 0;
  std::uint64_t groups = 0, stacks = 0;  ///< of layers that pass tiles on: places in the run, and ways to cut them
  double lower_bound = 0;                ///< that follows
  double seconds = 0;
  bool clean() const { return wrong.empty() && undecided.empty() && checked == choices; }
};

/// The options are those of the audit of each proof.
NetworkAuditReport audit_network(const NetworkCertificate& certificate, const AuditOptions& options);

}  // namespace pliant::audit
