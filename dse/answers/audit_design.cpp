// SPDX-License-Identifier: Apache-2.0
#include "dse/answers/audit_design.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "dse/answers/map_audit.h"

namespace pliant {

int design_audit_exit(const audit::DesignAuditReport& report, bool sampled) {
  const std::string verdict = audit::verdict_of(report, sampled);
  return verdict == "wrong" ? 1 : verdict == "undecided" ? kAuditUndecided : 0;
}

std::string design_audit_text(const audit::DesignAuditReport& report, bool sampled) {
  std::string text = fmt::format("{} designs in {} boxes, {} of them mapped; {} on the frontier{}\n", report.designs,
                                 report.boxes, report.opened, report.frontier,
                                 report.gap > 0 ? fmt::format(", claimed within {:.3g} %", 100 * report.gap) : "");
  for (const std::string& what : report.wrong) text += "WRONG      " + what + "\n";
  if (report.wrong_lines > report.wrong.size())
    text += fmt::format("WRONG      and {} more\n", report.wrong_lines - report.wrong.size());
  for (const std::string& what : report.undecided) text += "UNDECIDED  " + what + "\n";
  if (report.open_lines > report.undecided.size())
    text += fmt::format("UNDECIDED  and {} more\n", report.open_lines - report.undecided.size());
  return text + fmt::format("{}: {} of {} bounds and mappings of layers checked, {} hardware points read in {:.3g} s\n",
                            audit::verdict_of(report, sampled), report.checked, report.bounds + report.mapped,
                            report.points_read, report.seconds);
}

nlohmann::ordered_json design_audit_json(const audit::DesignAuditReport& report, bool sampled) {
  return {{"verdict", audit::verdict_of(report, sampled)},
          {"designs", report.designs},
          {"boxes", report.boxes},
          {"opened", report.opened},
          {"frontier", report.frontier},
          {"gap", report.gap},
          {"bounds", report.bounds},
          {"mapped", report.mapped},
          {"checked", report.checked},
          {"points_read", report.points_read},
          {"seconds", report.seconds},
          {"wrong", report.wrong},
          {"undecided", report.undecided}};
}

}  // namespace pliant
