// SPDX-License-Identifier: Apache-2.0
#include "dse/answers/map_audit.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "core/arithmetic.h"
#include "dse/audit/choices.h"
#include "dse/mappers/network_proof.h"

namespace pliant {

namespace {

audit::AuditOptions options_of_map(int threads, std::stop_token stop) {
  audit::AuditOptions options;
  options.threads = threads;
  options.stop = std::move(stop);
  return options;
}

}  // namespace

audit::Certificate certificate_of(const SearchedLayer& searched) {
  const SearchResult& result = searched.result;
  audit::Certificate certificate{*searched.task,     result.mapping,   result.mapping ? result.value : kInfinity,
                                 result.lower_bound, result.certified, result.infeasible,
                                 result.parts};
  if (certificate.parts.empty()) {
    const double least = certificate.infeasible ? kInfinity : certificate.lower_bound;
    certificate.parts.push_back({audit::ClosedBy::kSearch, least, audit::Part::Scope::kRest, 0, {}, {}});
    audit::state_sizes(*searched.task, certificate.parts);
  }
  return certificate;
}

std::string MapAudit::verdict() const { return !wrong.empty() ? "wrong" : undecided.empty() ? "audited" : "undecided"; }

std::string MapAudit::text() const {
  std::string text;
  for (const std::string& what : wrong) text += "WRONG      " + what + "\n";
  for (const std::string& what : undecided) text += "UNDECIDED  " + what + "\n";
  const std::string of = proofs == 1 ? "" : fmt::format("{} proofs, ", proofs);
  return text + fmt::format("{}: {}{} of {} choices checked in {:.3g} s\n", verdict(), of, checked, choices, seconds);
}

nlohmann::ordered_json MapAudit::json() const {
  return {{"verdict", verdict()}, {"proofs", proofs}, {"choices", choices},    {"checked", checked},
          {"seconds", seconds},   {"wrong", wrong},   {"undecided", undecided}};
}

MapAudit audit_layers(const std::vector<SearchedLayer>& layers, int threads, std::stop_token stop) {
  MapAudit all;
  for (const SearchedLayer& searched : layers) {
    const audit::Certificate certificate = certificate_of(searched);
    const audit::AuditReport report = audit::audit(certificate, options_of_map(threads, stop));
    const std::string of = layers.size() == 1 ? "" : searched.task->layer.name + ": ";
    ++all.proofs;
    all.choices += report.choices;
    all.checked += report.checked;
    all.seconds += report.seconds;
    for (const std::string& what : report.wrong) all.wrong.push_back(of + what);
    for (const std::string& what : report.undecided) all.undecided.push_back(of + what);
    if (stop.stop_requested()) break;
  }
  return all;
}

MapAudit audit_claim(const audit::NetworkCertificate& certificate, double lower_bound, int threads,
                     std::stop_token stop) {
  audit::NetworkAuditReport report = audit_told(certificate, lower_bound, options_of_map(threads, std::move(stop)));
  return {report.proofs, report.choices, report.checked, std::move(report.wrong), std::move(report.undecided),
          report.seconds};
}

}  // namespace pliant
