// SPDX-License-Identifier: Apache-2.0
// `pliant map --audit`: the program checks its own claim after it has made it.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <stop_token>
#include <string>
#include <vector>

#include "dse/answers/render_search.h"
#include "dse/audit/network_audit.h"

namespace pliant {

/// Exit code of an audit that found nothing wrong and could not decide everything.
inline constexpr int kAuditUndecided = 4;

/// The proof of a layer: with what closed each part where that was recorded, else as one part.
audit::Certificate certificate_of(const SearchedLayer& searched);

struct MapAudit {
  std::uint64_t proofs = 0, choices = 0, checked = 0;
  std::vector<std::string> wrong, undecided;
  double seconds = 0;

  std::string verdict() const;  ///< "audited", "wrong" or "undecided"
  std::string text() const;
  nlohmann::ordered_json json() const;
  int exit_code() const { return !wrong.empty() ? 1 : undecided.empty() ? 0 : kAuditUndecided; }
};

MapAudit audit_layers(const std::vector<SearchedLayer>& layers, int threads, std::stop_token stop);
/// Of a network of which this lower bound was told.
MapAudit audit_claim(const audit::NetworkCertificate& certificate, double lower_bound, int threads,
                     std::stop_token stop);

}  // namespace pliant
