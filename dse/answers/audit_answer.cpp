// SPDX-License-Identifier: Apache-2.0
#include "dse/answers/answers.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <ostream>
#include <sstream>
#include <vector>

#include "core/input/diagnostics.h"
#include "dse/answers/answering.h"
#include "dse/answers/audit_design.h"
#include "dse/answers/json_schema.h"
#include "dse/answers/map_audit.h"
#include "dse/audit/network_audit.h"

namespace pliant {
namespace {

double sampled_share(const Arguments& arguments, const std::string& text) {
  std::istringstream in(text);
  double percent = 0;
  char sign = 0;
  std::string more;
  if (!(in >> percent >> sign) || sign != '%' || in >> more || !(percent > 0) || percent > 100)
    throw arguments.bad("--sample", fmt::format("`{}` is not a share", text), "more than 0% and at most 100%");
  return percent / 100;
}

audit::AuditOptions audit_options(const Arguments& arguments) {
  audit::AuditOptions audit;
  if (const auto share = arguments.text("sample")) {
    if (arguments.has("all")) throw arguments.bad("--sample", "beside --all", "one of them");
    audit.share = sampled_share(arguments, *share);
  }
  audit.seed = *arguments.whole("seed");
  audit.enumerate = *arguments.whole("limit");
  audit.seconds = arguments.seconds("budget").value_or(0);
  audit.threads = arguments.threads();
  return audit;
}

template <class Report>
std::string verdict(const Report& report, bool sampled) {
  if (!report.wrong.empty()) return "wrong";
  if (report.clean()) return "clean";
  return sampled && report.undecided.empty() ? "sample clean" : "undecided";
}

std::string means_text(const audit::PartAudit& part) {
  std::string text;
  for (std::size_t m = 0; m < part.by_means.size(); ++m)
    if (part.by_means[m] > 0)
      text += fmt::format("{}{} by {}", text.empty() ? "" : ", ", part.by_means[m],
                          to_string(static_cast<audit::Means>(m)));
  return text.empty() ? "none" : text;
}

void print_audit(const audit::Certificate& certificate, const audit::AuditReport& report, const std::string& verdict,
                 std::ostream& out) {
  const Task& task = certificate.task;
  out << fmt::format("layer {} on {}, {}, least {}: {:.10g}\n", task.layer.name, task.accelerator.name,
                     to_string(task.factorization), to_string(task.objective), certificate.value);
  out << fmt::format("{} unrollings x {} ways to keep = {} choices\n", report.unrollings, report.keeps, report.choices);
  for (std::size_t i = 0; i < report.parts.size(); ++i) {
    const audit::Part& part = certificate.parts[i];
    out << fmt::format("part {}: {} choices closed by {} at {:.10g}; checked: {}\n", i + 1, report.parts[i].choices,
                       to_string(part.closed_by), part.lower_bound, means_text(report.parts[i]));
  }
  if (report.mappings_enumerated > 0)
    out << fmt::format("all {} mappings priced, the best {:.10g}\n", report.mappings_enumerated, report.optimum);
  for (const std::string& what : report.wrong) out << "WRONG      " << what << "\n";
  for (const std::string& what : report.undecided) out << "UNDECIDED  " << what << "\n";
  out << fmt::format("{}: {} of {} choices checked in {:.3g} s\n", verdict, report.checked, report.choices,
                     report.seconds);
}

nlohmann::ordered_json report_json(const std::string& file, const audit::Certificate& certificate,
                                   const audit::AuditReport& report, const std::string& verdict) {
  nlohmann::ordered_json json{{"file", file},
                              {"layer", certificate.task.layer.name},
                              {"accelerator", certificate.task.accelerator.name},
                              {"objective", to_string(certificate.task.objective)},
                              {"value", certificate.value},
                              {"verdict", verdict},
                              {"unrollings", report.unrollings},
                              {"keeps", report.keeps},
                              {"choices", report.choices},
                              {"checked", report.checked},
                              {"mappings_enumerated", report.mappings_enumerated},
                              {"seconds", report.seconds},
                              {"wrong", report.wrong},
                              {"undecided", report.undecided}};
  json["parts"] = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < report.parts.size(); ++i) {
    const audit::PartAudit& part = report.parts[i];
    nlohmann::ordered_json means = nlohmann::ordered_json::object();
    for (std::size_t m = 0; m < part.by_means.size(); ++m)
      means[std::string(to_string(static_cast<audit::Means>(m)))] = part.by_means[m];
    json["parts"].push_back({{"closed_by", to_string(certificate.parts[i].closed_by)},
                             {"choices", part.choices},
                             {"checked", part.checked},
                             {"undecided", part.undecided},
                             {"means", std::move(means)}});
  }
  return json;
}

std::string network_text(const audit::NetworkCertificate& certificate, const audit::NetworkAuditReport& report,
                         const std::string& verdict) {
  const audit::NetworkTask& task = certificate.task;
  std::string text = fmt::format("network {} on {}, {}, {} {}: {:.10g}\n", task.workload.name, task.accelerator.name,
                                 to_string(task.factorization), certificate.certified ? "least" : "found",
                                 to_string(task.objective), certificate.value);
  text += fmt::format("{} steps, {} moves of {} variants of layers; {} lines leave a lower bound of {:.10g}\n",
                      report.steps, report.moves, report.variants, certificate.slopes.size(), report.lower_bound);
  if (task.tiles)
    text += fmt::format("{} groups of layers that pass tiles on, {} here; {} ways to cut them\n", report.groups,
                        certificate.groups.size(), report.stacks);
  for (const std::string& what : report.wrong) text += "WRONG      " + what + "\n";
  for (const std::string& what : report.undecided) text += "UNDECIDED  " + what + "\n";
  return text + fmt::format("{}: {} of {} proofs confirmed, {} of {} choices checked in {:.3g} s\n", verdict,
                            report.confirmed, report.proofs, report.checked, report.choices, report.seconds);
}

nlohmann::ordered_json network_report_json(const std::string& file, const audit::NetworkCertificate& certificate,
                                           const audit::NetworkAuditReport& report, const std::string& verdict) {
  const audit::NetworkTask& task = certificate.task;
  return {{"file", file},
          {"workload", task.workload.name},
          {"accelerator", task.accelerator.name},
          {"objective", to_string(task.objective)},
          {"value", certificate.value},
          {"certified", certificate.certified},
          {"lower_bound", report.lower_bound},
          {"verdict", verdict},
          {"steps", report.steps},
          {"variants", report.variants},
          {"moves", report.moves},
          {"groups", report.groups},
          {"stacks", report.stacks},
          {"proofs", report.proofs},
          {"confirmed", report.confirmed},
          {"choices", report.choices},
          {"checked", report.checked},
          {"seconds", report.seconds},
          {"wrong", report.wrong},
          {"undecided", report.undecided}};
}

constexpr const char* kExpectedCertificate = "what `pliant map --certificate` or `pliant sweep --certificates` wrote";

std::string read_text(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  if (!in) throw bad_option(file.string(), "", "cannot be read", kExpectedCertificate);
  return text.str();
}

class AuditAnswer : Answering {
 public:
  AuditAnswer(const Arguments& arguments, Face& face)
      : Answering(arguments, face), options_(audit_options(arguments)) {}

  int run() {
    if (!arguments_.word()) throw arguments_.bad("", "no file named", kExpectedCertificate);
    const Interrupt interrupt(face_);
    options_.stop = interrupt.token();
    std::error_code error;
    const std::filesystem::path word = *arguments_.word();
    if (!std::filesystem::is_directory(word, error)) return audit_file(word);
    return audit::is_design_certificate(word) ? audit_design_search(word) : audit_folder(word);
  }

 private:
  struct Audited {
    nlohmann::ordered_json json;
    std::string text, line;
    std::vector<std::string> wrong, undecided;
    std::string verdict;

    int exit_code() const { return !wrong.empty() ? 1 : verdict == "undecided" ? kAuditUndecided : 0; }
  };

  Audited audited(const std::filesystem::path& file) const {
    const std::string text = read_text(file);
    return audit::is_network_certificate(text) ? audited_network(file.string(), text)
                                               : audited_layer(file.string(), text);
  }

  Audited audited_layer(const std::string& file, const std::string& text) const {
    const audit::Certificate certificate = audit::read_certificate(library_, text, file);
    const audit::AuditReport report = audit::audit(certificate, options_);
    const std::string said = verdict(report, options_.share < 1);
    std::ostringstream all;
    print_audit(certificate, report, said, all);
    return {report_json(file, certificate, report, said),
            all.str(),
            fmt::format("{} of {} choices checked in {:.3g} s", report.checked, report.choices, report.seconds),
            report.wrong,
            report.undecided,
            said};
  }

  Audited audited_network(const std::string& file, const std::string& text) const {
    const audit::NetworkCertificate certificate = audit::read_network_certificate(library_, text, file);
    const audit::NetworkAuditReport report = audit::audit_network(certificate, options_);
    const std::string said = verdict(report, options_.share < 1);
    return {network_report_json(file, certificate, report, said),
            network_text(certificate, report, said),
            fmt::format("{} of {} proofs confirmed in {:.3g} s", report.confirmed, report.proofs, report.seconds),
            report.wrong,
            report.undecided,
            said};
  }

  int audit_file(const std::filesystem::path& file) const {
    const Audited one = audited(file);
    if (arguments_.has("json")) {
      nlohmann::ordered_json json{{"schema", kJsonSchema}};
      json.update(one.json);
      out_ << json.dump(2) << "\n";
    } else {
      out_ << one.text;
    }
    return one.exit_code();
  }

  int audit_design_search(const std::filesystem::path& folder) const {
    const audit::DesignAuditReport report = audit::audit_design(library_, folder, options_);
    const bool sampled = options_.share < 1;
    if (arguments_.has("json")) {
      nlohmann::ordered_json json{{"schema", kJsonSchema}, {"folder", folder.string()}};
      json.update(design_audit_json(report, sampled));
      out_ << json.dump(2) << "\n";
    } else {
      out_ << design_audit_text(report, sampled);
    }
    return design_audit_exit(report, sampled);
  }

  /// A line for each file; the exit code of the folder is the worst of them.
  int audit_folder(const std::filesystem::path& folder) const {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(folder))
      if (entry.path().extension() == ".json" && entry.path().filename().string().front() != '.')
        files.push_back(entry.path());
    if (files.empty()) throw bad_option(folder.string(), "", "holds no certificate", kExpectedCertificate);
    std::ranges::sort(files);
    std::size_t confirmed = 0;
    bool wrong = false;
    nlohmann::ordered_json all = nlohmann::ordered_json::array();
    for (const std::filesystem::path& file : files) {
      if (options_.stop.stop_requested()) break;
      const Audited one = audited(file);
      confirmed += one.exit_code() == 0 ? 1 : 0;
      wrong |= one.exit_code() == 1;
      if (arguments_.has("json")) {
        all.push_back(one.json);
        continue;
      }
      out_ << fmt::format("{}: {}, {}\n", file.filename().string(), one.verdict, one.line);
      for (const std::string& what : one.wrong) out_ << "WRONG      " << what << "\n";
      for (const std::string& what : one.undecided) out_ << "UNDECIDED  " << what << "\n";
    }
    if (arguments_.has("json"))
      out_ << nlohmann::ordered_json{{"schema", kJsonSchema},
                                     {"folder", folder.string()},
                                     {"certificates", files.size()},
                                     {"confirmed", confirmed},
                                     {"audits", std::move(all)}}
                  .dump(2)
           << "\n";
    else
      out_ << fmt::format("{} of {} certificates confirmed\n", confirmed, files.size());
    return wrong ? 1 : confirmed == files.size() ? 0 : kAuditUndecided;
  }

  audit::AuditOptions options_;
};

}  // namespace

int answer_audit(const Arguments& arguments, Face& face) { return AuditAnswer(arguments, face).run(); }

}  // namespace pliant
