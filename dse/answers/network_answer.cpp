// SPDX-License-Identifier: Apache-2.0
#include "dse/answers/network_answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "dse/answers/render_cost.h"
#include "dse/answers/render_physical.h"
#include "dse/answers/render_search.h"
#include "dse/answers/text_table.h"
#include "dse/mappers/network_proof.h"
#include "dse/mappers/shared_budget.h"

namespace pliant {
namespace {

/// Of the budget of a network.
constexpr double kShareOfNetwork = 0.85;

using nlohmann::ordered_json;

/// What a layer would have by itself, beside what it has in the network.
struct GivenUp {
  double own = 0;     ///< the layer's own least value
  double in_sum = 0;  ///< its value in the network, of one repetition
  double share() const { return own == 0 ? 0 : in_sum / own - 1; }
};

class NetworkTelling {
 public:
  NetworkTelling(const std::vector<ReadTask>& tasks, const NetworkGoal& goal, const residency::Search& search,
                 const residency::Optimum& optimum, const NetworkTotals& totals, std::vector<SearchResult> alone)
      : tasks_(tasks), goal_(goal), search_(search), optimum_(optimum), totals_(totals), alone_(std::move(alone)) {}

  std::string text(std::string_view mapper, bool ascii) const {
    TextTable table({"layer", "times", "energy uJ", "cycles", "EDP", "alone", "gave up"});
    for_each_part([&](std::size_t row, const residency::StepPart& part) {
      const GivenUp given = given_up(row, part);
      table.add({tasks_[row].task.layer.name, std::to_string(part.count),
                 fmt::format("{:.4g}", part.totals.energy_pj * 1e-6), fmt::format("{:.0f}", part.totals.cycles),
                 fmt::format("{:.4g}", part.totals.edp()), fmt::format("{:.4g}", given.own),
                 given.share() < 5e-7 ? "-" : fmt::format("{:.2g} %", 100 * given.share())});
    });
    std::string text = table.text("") + "\n";
    text += verdict().text("the network");
    const auto [energy, cycles] = sums_of_optima();
    const double apart = network_value(goal_.objective, energy, cycles);
    text += fmt::format("every layer at its own optimum: {} {:.7g}, {:.0f} cycles", to_string(goal_.objective), apart,
                        cycles);
    if (cycles <= goal_.most_cycles)
      text += fmt::format(", {:.3g} % above", 100 * (apart / optimum_.value - 1));
    else
      text += ", too slow";
    text += fmt::format("; mapper {}, {} searches\n", mapper, search_.searches());
    return text + "\n" + parts_text(totals_) +
           "  not in them: operators without MACs; the workload does not say which layers read what\n\n" +
           shares_text(tasks_.front().task.accelerator, totals_, ascii);
  }

  ordered_json json(std::string_view mapper) const {
    ordered_json json = verdict().json(mapper);
    const auto [energy, cycles] = sums_of_optima();
    json["layers_alone"] = {{"energy_pj", energy}, {"runtime_cycles", cycles}, {"edp_pj_cycles", energy * cycles}};
    json["layers"] = ordered_json::array();
    for_each_part([&](std::size_t row, const residency::StepPart& part) {
      const Task& task = tasks_[row].task;
      const GivenUp given = given_up(row, part);
      ordered_json item{{"count", part.count}, {"value_alone", given.own}, {"gave_up", given.share()}};
      const CostReport report = price(task.layer, task.accelerator, part.mapping);
      item.update(cost_json({task.layer, task.accelerator, part.mapping, task.factorization, report}));
      json["layers"].push_back(std::move(item));
    });
    return json;
  }

 private:
  NetworkVerdict verdict() const {
    return {tasks_,         goal_,
            optimum_.value, optimum_.lower_bound,
            optimum_.gap(), optimum_.certified,
            totals_,        search_.searches()};
  }
  template <class Visit>
  void for_each_part(const Visit& visit) const {
    for (std::size_t s = 0; s < optimum_.steps.size(); ++s)
      for (const residency::StepPart& part : optimum_.steps[s].parts)
        visit(static_cast<std::size_t>(search_.live().steps[s].row), part);
  }
  GivenUp given_up(std::size_t row, const residency::StepPart& part) const {
    return {alone_[row].value, objective_value(goal_.objective, part.totals)};
  }
  std::pair<double, double> sums_of_optima() const {
    double energy = 0, cycles = 0;
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      const auto count = static_cast<double>(tasks_[i].count);
      energy += count * alone_[i].totals.energy_pj;
      cycles += count * alone_[i].totals.cycles;
    }
    return {energy, cycles};
  }

  const std::vector<ReadTask>& tasks_;
  const NetworkGoal& goal_;
  const residency::Search& search_;
  const residency::Optimum& optimum_;
  const NetworkTotals& totals_;
  std::vector<SearchResult> alone_;  ///< by layer: the optimum of the same objective
};

}  // namespace

std::string NetworkVerdict::text(std::string_view of) const {
  const std::string best = fmt::format("{} {:.7g}", to_string(goal.objective), value);
  const std::string within = std::isinf(goal.most_cycles) ? "" : fmt::format(" within {:.0f} cycles", goal.most_cycles);
  std::string text = certified ? fmt::format("certified optimum of {}: {}{}\n", of, best, within)
                               : fmt::format("best found for {}: {}{}, proven lower bound {:.7g}, gap {:.3g} %\n", of,
                                             best, within, lower_bound, 100 * gap);
  if (!ended_by.empty()) text += fmt::format("ended by {}\n", ended_by);
  text += fmt::format("energy {:.6g} uJ, {:.0f} cycles, EDP {:.7g} pJ x cycles\n", totals.energy_pj() * 1e-6,
                      totals.cycles(), totals.energy_pj() * totals.cycles());
  const Accelerator& accelerator = tasks.front().task.accelerator;
  if (const auto figures = totals_in_time(accelerator, totals))
    text += physical_text(accelerator, figures, &tasks.front().pass) + "\n";
  return text;
}

ordered_json NetworkVerdict::json(std::string_view mapper) const {
  ordered_json json{{"mapper", mapper},
                    {"objective", to_string(goal.objective)},
                    {"value", value},
                    {"lower_bound", lower_bound},
                    {"gap", gap},
                    {"certified", certified},
                    {"energy_pj", totals.energy_pj()},
                    {"runtime_cycles", totals.cycles()},
                    {"edp_pj_cycles", totals.energy_pj() * totals.cycles()},
                    {"searches", searches}};
  const Accelerator& accelerator = tasks.front().task.accelerator;
  json.update(physical_json(accelerator, totals_in_time(accelerator, totals), &tasks.front().pass));
  if (!std::isinf(goal.most_cycles)) json["deadline_cycles"] = goal.most_cycles;
  if (!ended_by.empty()) json["ended_by"] = ended_by;
  return json;
}

NetworkAnswer no_network(const Task* without_mapping, const NetworkGoal& goal, double fastest_cycles) {
  if (without_mapping == nullptr)
    return {false,
            fmt::format("no mappings of the network take at most {:.0f} cycles; the fastest take {:.0f}\n",
                        goal.most_cycles, fastest_cycles),
            {},
            {}};
  const auto why = why_nothing_fits(*without_mapping);
  return {false,
          why ? infeasible_text(*without_mapping, *why)
              : fmt::format("no mapping of layer {} was found\n", without_mapping->layer.name),
          {},
          {}};
}

NetworkAnswer network_answer(const Mapper& mapper, const Workload& workload, const std::vector<ReadTask>& tasks,
                             const NetworkGoal& goal, const SearchOptions& options, bool ascii) {
  std::vector<Task> rows;
  for (const ReadTask& read : tasks) rows.push_back(read.task);
  // Most of the budget is the network's; what its layers have for themselves is for comparison.
  SearchOptions most = options;
  most.budget.seconds *= kShareOfNetwork;
  const double started = options.clock->wall_seconds();
  const SharedBudget shared(mapper, most, kSearchesOfALayer * rows.size());
  residency::Search search(shared, workload, rows, shared.options());
  const residency::Optimum optimum = search.run(goal, false);
  if (options.stop.stop_requested()) return {};
  if (!optimum.found())
    return no_network(optimum.without_mapping ? &rows[static_cast<std::size_t>(*optimum.without_mapping)] : nullptr,
                      goal, optimum.fastest_cycles);
  std::optional<audit::NetworkCertificate> certificate;
  if (options.record_parts) certificate = network_certificate(workload, rows, goal, false, search, optimum);
  SearchOptions rest = options;
  rest.record_parts = false;
  if (rest.budget.seconds > 0)
    rest.budget.seconds = std::max(1e-3, started + rest.budget.seconds - options.clock->wall_seconds());
  const SharedBudget left(mapper, rest, tasks.size());
  std::vector<SearchResult> alone;
  for (const ReadTask& read : tasks) alone.push_back(run_mapper(left, read.task, left.options()));
  if (options.stop.stop_requested()) return {};
  const NetworkTotals totals = network_totals(search, rows, optimum);
  const NetworkTelling telling(tasks, goal, search, optimum, totals, std::move(alone));
  return {true, telling.text(mapper.name(), ascii), telling.json(mapper.name()),
          totals_json(rows.front().accelerator, totals, tasks.front().pass), std::move(certificate)};
}

}  // namespace pliant
