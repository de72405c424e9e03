// SPDX-License-Identifier: Apache-2.0
#include "dse/studies/isolation_power.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "dse/studies/flexibility_paper.h"
#include "dse/studies/solved_once.h"
#include "dse/studies/study_table.h"

namespace pliant {
namespace {

constexpr const char* kInFlex = "InFlex-0000";
/// Of InFlex's average power.
constexpr std::array kBudgets = {0.5, 1.0, 2.0};

Chart power_chart(DataTable table) {
  Chart chart{
      "equal_power", "MnasNet on one array: what an axis is worth under a budget of power", {}, std::move(table)};
  const nlohmann::ordered_json y = {
      {"field", "design"}, {"type", "nominal"}, {"sort", nullptr}, {"title", "flexible axes"}};
  const nlohmann::ordered_json budgets = {"half of InFlex's power", "InFlex's power", "no limit"};
  chart.spec = {{"title", {{"subtitle", "lines: between what is proven and what the fastest mappings reach"}}},
                {"width", 470},
                {"height", 220},
                {"layer",
                 {{{"mark", {{"type", "rule"}, {"color", "#888"}, {"strokeDash", {4, 3}}}},
                   {"encoding", {{"x", {{"datum", 1}}}}}},
                  {{"mark", {{"type", "rule"}, {"strokeWidth", 3}}},
                   {"encoding",
                    {{"y", y},
                     {"x", {{"field", "most"}, {"type", "quantitative"}, {"scale", {{"type", "log"}}}}},
                     {"x2", {{"field", "least"}}},
                     {"color", {{"field", "budget"}, {"type", "nominal"}, {"sort", budgets}, {"title", nullptr}}}}}},
                  {{"mark", {{"type", "point"}, {"filled", true}, {"size", 70}, {"opacity", 1}}},
                   {"encoding",
                    {{"y", y},
                     {"x",
                      {{"field", "least"},
                       {"type", "quantitative"},
                       {"scale", {{"type", "log"}}},
                       {"title", "times as fast as InFlex with its own power"}}},
                     {"color", {{"field", "budget"}, {"type", "nominal"}, {"sort", budgets}, {"title", nullptr}}}}}}}}};
  return chart;
}

}  // namespace

std::map<std::string, double> least_energies(const StudyContext& context, const SweepData& asked) {
  const Accelerator reference =
      load_accelerator(context.library, "flexref", {{kBandwidthKeys[0], kPaperHalf}, {kBandwidthKeys[1], kPaperHalf}});
  const Workload network = load_workload(context.library, "flexpaper_mnasnet");
  std::vector<std::string> classes = asked.designs.values("flexibility");
  std::ranges::reverse(classes);  // first what may do everything, whose optima the others may take over
  std::map<std::string, double> energies;
  const SolvedOnce solved;
  for (const std::string& flexibility : classes) {
    const Accelerator design = choose_flexibility(context.library, flexibility, reference);
    double& energy = energies[flexibility];
    for (const Workload::Entry& entry : network.layers) {
      const SearchResult best = solve(
          context, design,
          {.layer = entry.layer, .factorization = Factorization::kRubyS, .objective = Objective::kEnergy}, solved);
      if (!best.certified) throw StudyError(fmt::format("no proof of the least energy of {}", entry.layer.name));
      energy += best.totals.energy_pj * static_cast<double>(entry.count);
    }
  }
  return energies;
}

void at_equal_power(const IsolationCosts& costs, const std::map<std::string, double>& least, StudyResult& result) {
  const double cycles = costs.runtime(kInFlex, ""), energy = costs.energy(kInFlex, "");
  DataTable table = table_of({"design", "budget", "least", "most"});
  for (const auto& [flexibility, pj] : least) {
    const double fastest = costs.runtime(flexibility, "") / cycles, spent = costs.energy(flexibility, "") / energy;
    result.found(fmt::format("{}: average power over InFlex's, as fast as it can", flexibility), spent / fastest);
    for (const double budget : kBudgets) {
      const double most = std::max(fastest, spent / budget), fewest = std::max(fastest, pj / energy / budget);
      const std::string where = fmt::format("{} with {} of InFlex's power", flexibility, budget);
      result.found(where + ": times as fast as InFlex, at least", 1 / most);
      result.found(where + ": times as fast as InFlex, at most", 1 / fewest);
      if (budget <= 1)
        add_row(table, flexibility, std::string(budget < 1 ? "half of InFlex's power" : "InFlex's power"), 1 / most,
                1 / fewest);
    }
    add_row(table, flexibility, std::string("no limit"), 1 / fastest, 1 / fastest);
  }
  result.charts.push_back(power_chart(table));
  result.tables.emplace_back("equal_power", std::move(table));
}

}  // namespace pliant
