// SPDX-License-Identifier: Apache-2.0
// Checks a certificate, trusting nothing in it but the task: that the mapping is legal and has the value claimed, that
// the parts cover the map-space, and that no mapping of a part is below the part's lower bound.
#pragma once

#include <array>
#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

#include "core/clock.h"
#include "dse/audit/certificate.h"
#include "dse/audit/choices.h"
#include "dse/audit/lower_bound.h"

namespace pliant::audit {

struct AuditOptions {
  double share = 1;        ///< of the choices of every part; a random sample when below 1
  std::uint64_t seed = 1;  ///< of the sample
  double seconds = 0;      ///< choices not begun by then are left unchecked; 0 = no limit
  int threads = 1;
  /// So many mappings are priced of choices that bounds leave open; all of tiny map-spaces in any case.
  std::uint64_t enumerate = 200'000;
  double nodes = 4e6;                        ///< lattices with more are left undecided
  std::size_t unrollings = kMostUnrollings;  ///< map-spaces with more are not covered
  std::stop_token stop;
  const Clock* clock = &real_clock();  ///< that `seconds` are measured by
};

/// What became of the choices of one part.
struct PartAudit {
  std::uint64_t choices = 0;  ///< counted again
  std::uint64_t checked = 0, undecided = 0;
  double least = 0;  ///< lower bound found for those checked; at least the part's where all are decided
  std::array<std::uint64_t, 5> by_means{};  ///< by Means
};

struct AuditReport {
  std::vector<std::string> wrong;      ///< what is not as the certificate says
  std::vector<std::string> undecided;  ///< what could not be checked, and why
  std::vector<PartAudit> parts;        ///< parallel to those of the certificate
  std::uint64_t unrollings = 0, keeps = 0;
  std::uint64_t choices = 0, checked = 0;  ///< all together
  std::uint64_t mappings_enumerated = 0;   ///< 0: the map-space is not tiny
  /// The least value where everything was enumerated; infinity when nothing is legal or it was not.
  double optimum = 0;
  double seconds = 0;

  bool complete() const { return undecided.empty() && checked == choices; }
  bool clean() const { return wrong.empty() && complete(); }
};

AuditReport audit(const Certificate& certificate, const AuditOptions& options);

}  // namespace pliant::audit
