// SPDX-License-Identifier: Apache-2.0
// What an audit of a design search has found, for people and for programs.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "dse/audit/design_audit.h"

namespace pliant {

std::string design_audit_text(const audit::DesignAuditReport& report, bool sampled);
nlohmann::ordered_json design_audit_json(const audit::DesignAuditReport& report, bool sampled);
/// 0, 1 (wrong) or 4 (undecided).
int design_audit_exit(const audit::DesignAuditReport& report, bool sampled);

}  // namespace pliant
