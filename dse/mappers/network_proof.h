// SPDX-License-Identifier: Apache-2.0
// The certificate of a network, made of what its searches proved.
#pragma once

#include <vector>

#include "dse/audit/network_audit.h"
#include "dse/audit/network_certificate.h"
#include "dse/mappers/fusion/fusion.h"
#include "dse/mappers/network.h"
#include "dse/mappers/residency/residency.h"

namespace pliant {

/// `rows` are the tasks of the workload's rows. What a deadline between two lines leaves open, the certificate leaves
/// open as well: it claims what its lines prove.
audit::NetworkCertificate network_certificate(const Workload& workload, const std::vector<Task>& rows,
                                              const NetworkGoal& goal, bool stay, const residency::Search& search,
                                              const residency::Optimum& best);
/// With layers that pass tiles on.
audit::NetworkCertificate network_certificate(const Workload& workload, const std::vector<Task>& rows,
                                              const NetworkGoal& goal, const fusion::Search& search,
                                              const fusion::Optimum& best);

/// Audits the certificate of a network of which this lower bound was told: undecided where the certificate proves less.
audit::NetworkAuditReport audit_told(const audit::NetworkCertificate& certificate, double lower_bound,
                                     const audit::AuditOptions& options);

}  // namespace pliant
