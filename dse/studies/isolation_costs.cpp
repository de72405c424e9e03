// SPDX-License-Identifier: Apache-2.0
#include "dse/studies/isolation_costs.h"

#include <fmt/format.h>

#include "dse/studies/flexibility_paper.h"
#include "dse/studies/study_table.h"

namespace pliant {
namespace {

/// The sweep thinned out to one bandwidth, as `asked`; its data in a folder of its own.
SweepData run_at_paper_bandwidth(const StudyContext& context, const std::string& name,
                                 const std::function<void(Sweep&)>& change, Sweep& asked) {
  return run_study_sweep(
      context, name,
      [&](Sweep& sweep) {
        keep_values(sweep, kBandwidthKeys[0], {kPaperHalf});
        change(sweep);
        asked = sweep;
      },
      name + "_one_bandwidth");
}

}  // namespace

IsolationCosts::IsolationCosts(const StudyContext& context, const std::string& name,
                               const std::function<void(Sweep&)>& change)
    : data_{Rows({}), Rows({})} {
  Sweep asked;
  data_ = run_at_paper_bandwidth(context, name, change, asked);
  std::vector<Setting> settings = asked.settings;
  for (const char* key : kBandwidthKeys) settings.push_back({key, kPaperHalf});
  const Accelerator reference = load_accelerator(context.library, asked.accelerators.front(), settings);
  const Rows& rows = data_.layers;
  const auto entry_of = [&](std::size_t row) -> const Workload::Entry& {
    return asked.workloads[0].layers[static_cast<std::size_t>(rows.number(row, "layer_index"))];
  };
  // Layers that are equal in all but name are one question.
  std::map<std::string, double> least;
  std::vector<std::size_t> questions;
  for (std::size_t row = 0; row < rows.size(); ++row)
    if (least.try_emplace(rows.text(row, "task_key"), 0).second) questions.push_back(row);
  for_each_task(context, name + ": least energy", questions.size(), [&](std::size_t i, const StudyContext& alone) {
    const std::size_t row = questions[i];
    const Layer& layer = entry_of(row).layer;
    const SearchResult found =
        solve(alone, choose_flexibility(context.library, rows.text(row, "flexibility"), reference),
              {.layer = layer,
               .factorization = asked.factorizations[0],
               .objective = Objective::kEnergy,
               .most_cycles = rows.number(row, "runtime_cycles")});
    if (!found.certified) throw StudyError(fmt::format("{}: no proof of the least energy of {}", name, layer.name));
    least.at(rows.text(row, "task_key")) = found.totals.energy_pj;
  });
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const Workload::Entry& entry = entry_of(row);
    const double energy = least.at(rows.text(row, "task_key"));
    energy_pj_[{rows.text(row, "flexibility"), entry.layer.name}] = energy;
    energy_pj_[{rows.text(row, "flexibility"), ""}] += energy * static_cast<double>(entry.count);
  }
}

double IsolationCosts::runtime(const std::string& flexibility, const std::string& layer) const {
  if (layer.empty()) return data_.designs.number({{"flexibility", flexibility}}, "runtime_cycles");
  return data_.layers.number({{"flexibility", flexibility}, {"layer", layer}}, "runtime_cycles");
}

double IsolationCosts::energy(const std::string& flexibility, const std::string& layer) const {
  return energy_pj_.at({flexibility, layer});
}

void IsolationCosts::add_relative(std::span<const IsolationDesign> designs, const std::string& layer,
                                  StudyResult& result, DataTable& table) const {
  const std::string what = layer.empty() ? "model" : layer;
  for (const IsolationDesign& design : designs) {
    const double time = runtime(design.flexibility, layer) / runtime(designs[0].flexibility, layer);
    const double work = energy(design.flexibility, layer) / energy(designs[0].flexibility, layer);
    if (&design != &designs[0]) {
      result.found(fmt::format("{} {} runtime", design.name, what), time);
      result.found(fmt::format("{} {} energy", design.name, what), work);
      result.found(fmt::format("{} {} EDP", design.name, what), time * work);
    }
    add_row(table, std::string(design.name), what, time, work, time * work, std::string(design.flexibility));
  }
}

DataTable IsolationCosts::table() { return table_of({"design", "layer", "runtime", "energy", "edp", "flexibility"}); }

Chart runtime_bars(std::string name, std::string title, DataTable table) {
  Chart chart{std::move(name), std::move(title), {}, std::move(table)};
  chart.spec = {{"mark", "bar"},
                {"encoding",
                 {{"x", {{"field", "layer"}, {"type", "nominal"}, {"sort", nullptr}, {"title", nullptr}}},
                  {"xOffset", {{"field", "design"}, {"sort", nullptr}}},
                  {"y", {{"field", "runtime"}, {"type", "quantitative"}, {"title", "runtime, InFlex = 1"}}},
                  {"color", {{"field", "design"}, {"type", "nominal"}, {"sort", nullptr}, {"title", nullptr}}}}}};
  return chart;
}

}  // namespace pliant
