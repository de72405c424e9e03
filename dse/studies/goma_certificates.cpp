// SPDX-License-Identifier: Apache-2.0
#include "dse/studies/goma_certificates.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <map>

#include "core/input/source_text.h"
#include "dse/audit/audit.h"
#include "dse/results/atomic_file.h"
#include "dse/studies/study_csv.h"
#include "dse/studies/study_table.h"
#include "dse/studies/study_task.h"

namespace pliant {
namespace {

/// Nothing else is asked of a mapping that uses all units: with perfect factors and no limit of bandwidth it takes MACs
/// / units cycles, and one that leaves units idle takes more.
double cycles_of_full_use(const Layer& layer, const Accelerator& accelerator) {
  return static_cast<double>(layer.macs()) / static_cast<double>(accelerator.macs_units());
}

std::string layer_text(const Layer& layer) {
  return fmt::format("{}x{}x{}", layer.dims[0].size, layer.dims[1].size, layer.dims[2].size);
}

/// GEMMs that are the same question.
using Question = std::pair<std::string, std::string>;
Question question_of(const GomaOptimumRow& row) { return {row.accelerator, layer_text(row.layer)}; }

std::string_view word(const GomaVerdict& verdict, double published) {
  if (!verdict.holds(published)) return "does not hold";
  return std::abs(verdict.goma / published - 1) <= 1e-11 ? "holds" : "not reproduced";
}

/// Each dot as many GEMMs as stand at that place. Logarithmic on both sides of 0: three are below by 0.002 % only.
Chart certificate_chart(DataTable table) {
  Chart chart{"goma_certificates",
              "192 published certificates: our audited optimum beside the published one",
              {},
              std::move(table)};
  const nlohmann::ordered_json x = {{"field", "difference_percent"},
                                    {"type", "quantitative"},
                                    {"scale", {{"type", "symlog"}, {"constant", 0.001}, {"domain", {-3, 0.003}}}},
                                    {"axis", {{"values", {-1, -0.1, -0.01, -0.001, 0}}, {"format", "~g"}}},
                                    {"title", "energy of our optimum beside the published one (%)"}};
  const nlohmann::ordered_json y = {{"field", "template"}, {"type", "nominal"}, {"sort", nullptr}, {"title", nullptr}};
  chart.spec = {
      {"width", 460},
      {"height", 210},
      {"transform",
       {{{"aggregate", {{{"op", "count"}, {"as", "gemms"}}}},
         {"groupby", {"template", "difference_percent", "verdict"}}}}},
      {"encoding", {{"x", x}, {"y", y}}},
      {"layer",
       {{{"mark", {{"type", "circle"}, {"opacity", 1}}},
         {"encoding",
          {{"size",
            {{"field", "gemms"}, {"type", "quantitative"}, {"scale", {{"range", {60, 700}}}}, {"legend", nullptr}}},
           {"color",
            {{"field", "verdict"},
             {"type", "nominal"},
             {"title", "the certificate"},
             {"scale", {{"domain", {"holds", "does not hold"}}, {"range", {"#4c78a8", "#e45756"}}}}}}}}},
        {{"mark", {{"type", "text"}, {"dy", -18}, {"fontSize", 11}}},
         {"transform", {{{"filter", "datum.verdict == 'holds'"}}}},
         {"encoding", {{"text", {{"field", "gemms"}, {"type", "quantitative"}}}}}},
        {{"mark", {{"type", "text"}, {"dy", 18}, {"fontSize", 11}, {"color", "#e45756"}}},
         {"transform", {{{"filter", "datum.verdict != 'holds'"}}}},
         {"encoding", {{"text", {{"field", "gemms"}, {"type", "quantitative"}}}}}}}}};
  return chart;
}

}  // namespace

std::vector<GomaOptimumRow> read_goma_optima(const Library& library) {
  const std::filesystem::path file = library.configs() / "studies" / "goma_optima.csv";
  std::vector<GomaOptimumRow> rows;
  for (const StudyCsvRow& row : read_study_csv(read_source(file), file.string(),
                                               {"template", "workload", "gemm", "M", "N", "K", "pj_per_mac"})) {
    GomaOptimumRow one{"goma_" + row.text(0), row.text(1), row.text(2), {}, 0};
    one.layer = parse_layer(fmt::format("gemm:M={},N={},K={}", row.text(3), row.text(4), row.text(5)), file.string());
    one.layer.name = row.text(2);
    one.published = std::strtod(row.text(6).c_str(), nullptr);
    if (!(one.published > 0)) row.fail(6, "not an energy", "pJ per MAC");
    rows.push_back(std::move(one));
  }
  return rows;
}

GomaVerdict check_goma_optimum(const StudyContext& context, const GomaOptimumRow& row, const std::string& file) {
  const Accelerator accelerator = load_accelerator(context.library, row.accelerator);
  const auto macs = static_cast<double>(row.layer.macs());
  GomaVerdict verdict;
  StudyTask task;
  task.layer = row.layer;
  task.objective = Objective::kEnergy;
  const SearchResult anything = solve(context, accelerator, task);
  verdict.any_use = anything.certified ? anything.value / macs : std::nan("");
  task.mapper = "goma";
  verdict.goma = solve(context, accelerator, task).totals.energy_pj / macs;

  const Task question{row.layer,
                      accelerator,
                      accelerator.flexibility_of(row.layer),
                      Factorization::kPerfect,
                      Objective::kEnergy,
                      cycles_of_full_use(row.layer, accelerator)};
  SearchOptions options;
  options.stop = context.stop;
  options.record_parts = true;
  const SearchResult proven = run_mapper(*make_mapper("exact"), question, options);
  if (context.stop.stop_requested()) throw StudyInterrupted();
  if (!proven.mapping || !proven.certified)
    throw StudyError(fmt::format("{} on {} is not proven", layer_text(row.layer), row.accelerator));
  verdict.exact = proven.value / macs;
  const audit::Certificate certificate{question, proven.mapping,    proven.value, proven.lower_bound,
                                       true,     proven.infeasible, proven.parts};
  verdict.audited = audit::audit(certificate, {}).clean();
  if (!file.empty()) std::ofstream(file, std::ios::binary) << audit::write_certificate(certificate);
  return verdict;
}

void goma_certificates(const StudyContext& context, StudyResult& result) {
  std::vector<GomaOptimumRow> rows = read_goma_optima(context.library);
  if (context.quick) std::erase_if(rows, [](const GomaOptimumRow& row) { return row.gemm != "attn_context"; });
  std::vector<const GomaOptimumRow*> distinct;
  std::map<Question, std::size_t> known;
  for (const GomaOptimumRow& row : rows)
    if (known.emplace(question_of(row), distinct.size()).second) distinct.push_back(&row);
  make_folder(context.folder / "certificates");
  std::vector<GomaVerdict> verdicts(distinct.size());
  for_each_task(context, "published certificates", distinct.size(), [&](std::size_t i, const StudyContext& alone) {
    const GomaOptimumRow& row = *distinct[i];
    const std::string name = fmt::format("{}_{}_{}.json", row.accelerator, row.workload, row.gemm);
    verdicts[i] = check_goma_optimum(alone, row, (context.folder / "certificates" / name).string());
  });
  DataTable table = table_of({"template", "workload", "gemm", "M", "N", "K", "published_pj_per_mac", "ours_pj_per_mac",
                              "difference_percent", "with_idle_units_pj_per_mac", "verdict", "proof"});
  std::map<std::string, double> total, hold, fall;
  double audited = 0, agree = 0, below = 0, idle = 0;
  for (const GomaOptimumRow& row : rows) {
    const GomaVerdict& verdict = verdicts[known.at(question_of(row))];
    const std::string_view said = word(verdict, row.published);
    const auto size = [&](std::size_t d) { return static_cast<std::int64_t>(row.layer.dims[d].size); };
    const double percent = said == "holds" ? 0 : 100 * (verdict.goma / row.published - 1);
    add_row(table, row.accelerator, row.workload, row.gemm, size(0), size(1), size(2), row.published, verdict.goma,
            percent, verdict.any_use, std::string(said), std::string(verdict.audited ? "audited" : "undecided"));
    ++total[row.accelerator];
    hold[row.accelerator] += said == "holds" ? 1 : 0;
    fall[row.accelerator] += said == "does not hold" ? 1 : 0;
    audited += verdict.audited ? 1 : 0;
    agree += std::abs(verdict.exact / verdict.goma - 1) <= 1e-11 ? 1 : 0;
    below = std::min(below, percent);
    idle = std::max(idle, 100 * (1 - verdict.any_use / verdict.goma));
  }
  const std::string of = context.quick ? " of the quick run" : "";
  const auto sum = [](const std::map<std::string, double>& counts) {
    double all = 0;
    for (const auto& [name, count] : counts) all += count;
    return all;
  };
  result.found("published certificates" + of, sum(total));
  result.found("published certificates that hold to twelve digits" + of, sum(hold));
  result.found("published certificates that do not hold: a mapping of the same map-space has less energy" + of,
               sum(fall));
  for (const auto& [name, count] : total) {
    result.found(fmt::format("published certificates of {} that hold{}", name, of), hold[name]);
    result.found(fmt::format("published certificates of {} that do not hold{}", name, of), fall[name]);
  }
  result.found("published certificates for which goma and exact agree to twelve digits" + of, agree);
  result.found("published certificates for which our proof is audited" + of, audited);
  result.found("most energy below a published optimum (%)" + of, -below);
  result.found("most energy saved by idle processing elements (%)" + of, idle);
  write_table(table, context.folder / "certificates.csv");
  result.charts.push_back(certificate_chart(table));
  result.tables.emplace_back("certificates", std::move(table));
}

}  // namespace pliant
