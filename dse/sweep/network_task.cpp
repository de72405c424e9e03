// SPDX-License-Identifier: Apache-2.0
#include "dse/sweep/network_task.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <utility>

#include "core/input/diagnostics.h"
#include "core/workload_graph.h"
#include "costmodel/report.h"
#include "dse/combinations/combinations.h"
#include "dse/mappers/fusion/fusion.h"
#include "dse/mappers/fusion/loop_names.h"
#include "dse/mappers/network_proof.h"
#include "dse/mappers/residency/residency.h"
#include "dse/mappers/shared_budget.h"
#include "dse/sweep/sweep_task.h"

namespace pliant {

namespace {

using residency::Optimum;

/// Of a search with or without tiles.
template <class Best>
void note_steps(const residency::LiveTensors& live, const Best& best, const Optimum& outside,
                TaskResult::Network& network) {
  for (std::size_t s = 0; s < best.steps.size(); ++s) {
    TaskResult::Network::Step& step = network.steps.emplace_back();
    step.energy_pj = best.steps[s].energy_pj;
    step.runtime_cycles = best.steps[s].cycles;
    if (outside.found()) {
      step.outside_energy_pj = outside.steps[s].energy_pj;
      step.outside_runtime_cycles = outside.steps[s].cycles;
    }
    for (std::size_t l = 0; l < best.steps[s].taken.size(); ++l)
      if (best.steps[s].taken[l] > 0) step.taken.push_back({static_cast<int>(l), best.steps[s].taken[l]});
  }
  for (std::size_t t = 0; t < live.tensors.size(); ++t) {
    const residency::LiveTensor& tensor = live.tensors[t];
    network.tensors.push_back({best.homes[t], tensor.made_by, tensor.last_read, tensor.elements});
  }
  if (!outside.found()) return;
  network.outside_energy_pj = outside.energy_pj;
  network.outside_runtime_cycles = outside.cycles;
}

void note_weights(const residency::LiveTensors& live, const Optimum& best, TaskResult::Network& network) {
  for (std::size_t w = 0; w < best.weights.size(); ++w)
    if (best.weights[w] != residency::kOutside) network.weights.push_back({best.weights[w], live.weights[w].step});
  network.loads_energy_pj = best.parts.loads.energy_pj;
  network.loads_runtime_cycles = best.parts.loads.cycles;
}

/// What passes in tiles, under which loops, and what the network takes without.
void note_tiles(const fusion::Search& search, const fusion::Optimum& best, const Optimum& whole,
                const Workload& workload, TaskResult::Network& network) {
  for (std::size_t t = 0; t < network.tensors.size(); ++t) network.tensors[t].tiles = best.tiles[t];
  for (const fusion::GroupChoice& group : best.groups) {
    std::vector<std::string> names;
    for (const int s : group.steps)
      names.push_back(
          workload.graph->nodes[static_cast<std::size_t>(search.live().steps[static_cast<std::size_t>(s)].node)].name);
    const std::vector<fusion::Stack> nests = fusion::nests_of(group.plan.stacks);
    for (std::size_t l = 0; l < nests.size(); ++l)
      network.steps[static_cast<std::size_t>(group.steps[l])].under =
          fusion::loops_text(*group.setting.chain, nests[l], names);
  }
  if (!whole.found()) return;
  network.whole_energy_pj = whole.energy_pj;
  network.whole_runtime_cycles = whole.cycles;
}

struct StepHomes {
  std::vector<residency::Home> reads;
  residency::Home made = residency::kOutside;
};
template <class Best>
StepHomes homes_of(const residency::Step& step, const Best& best) {
  StepHomes homes;
  for (const residency::Read& read : step.reads)
    homes.reads.push_back(best.homes[static_cast<std::size_t>(read.tensor)]);
  if (step.makes >= 0) homes.made = best.homes[static_cast<std::size_t>(step.makes)];
  return homes;
}

/// Adds what the choice takes at every level, and says what bounds each step.
class LevelNotes {
 public:
  explicit LevelNotes(const Accelerator& accelerator)
      : accelerator_(accelerator), energy_(accelerator.levels.size(), 0.0) {}

  /// What bounds the step: that of the mapping which takes longest.
  std::string add_layers(const Task& task, const std::vector<residency::StepPart>& parts) {
    std::string bound_by;
    double longest = 0;
    for (const residency::StepPart& part : parts) {
      const CostReport report = price(task.layer, task.accelerator, part.mapping);
      const auto times = static_cast<double>(part.count);
      for (std::size_t l = 0; l < report.levels.size(); ++l)
        energy_[l] += times * (report.levels[l].energy_pj + report.levels[l].leakage_pj);
      energy_.back() += times * (report.mac_energy_pj + report.compute_leakage_pj);
      if (times * report.totals.cycles <= longest) continue;
      longest = times * report.totals.cycles;
      bound_by = report.bound_by;
    }
    return bound_by;
  }

  /// One `share` of words that move without a layer.
  void add_moves(const residency::WordsByLevel& words, double cycles, double share) {
    for (const auto& [level, moved] : words) {
      const Memory& memory = accelerator_.levels[static_cast<std::size_t>(level)].memory();
      energy_[static_cast<std::size_t>(level)] +=
          share * (moved.read * memory.read_pj + moved.written * memory.write_pj);
    }
    for (std::size_t l = 0; l < energy_.size(); ++l) {
      const Level& level = accelerator_.levels[l];
      const auto instances = static_cast<double>(accelerator_.instances(static_cast<int>(l)));
      if (level.is_memory()) energy_[l] += share * cycles * instances * level.memory().leak_pj_per_cycle;
      if (level.is_compute()) energy_[l] += share * cycles * instances * level.compute().leak_pj_per_cycle;
    }
  }

  /// Of a vector unit: they stand beside the MACs, at the compute level.
  void add_operations(double operations) {
    if (accelerator_.vector) energy_.back() += operations * accelerator_.vector->pj_per_op;
  }

  std::vector<TaskResult::LevelEnergy> all() const {
    std::vector<TaskResult::LevelEnergy> levels;
    for (std::size_t l = 0; l < energy_.size(); ++l)
      if (!accelerator_.levels[l].is_fanout() || energy_[l] > 0)
        levels.push_back({accelerator_.levels[l].name, energy_[l]});
    return levels;
  }

 private:
  const Accelerator& accelerator_;
  std::vector<double> energy_;  ///< by level
};

/// Layers by themselves, and operators.
template <class Search, class Best>
void add_steps(const Search& search, const Best& best, const std::vector<Task>& rows, LevelNotes& notes,
               TaskResult::Network& network) {
  const residency::LiveTensors& live = search.live();
  for (std::size_t s = 0; s < best.steps.size(); ++s) {
    const residency::Step& step = live.steps[s];
    if (step.row >= 0) {
      if (best.steps[s].variant >= 0)
        network.steps[s].bound_by = notes.add_layers(search.task(best.steps[s].variant), best.steps[s].parts);
      continue;
    }
    const auto [reads, made] = homes_of(step, best);
    notes.add_moves(residency::operator_words(rows, step, live, reads, made),
                    residency::operator_cost(rows, step, live, reads, made).cycles, 1);
    notes.add_operations(step.vector_ops);
  }
}

void add_loads(const residency::Search& search, const Optimum& best, const std::vector<Task>& rows, LevelNotes& notes) {
  const residency::LiveTensors& live = search.live();
  for (std::size_t w = 0; w < best.weights.size(); ++w)
    if (best.weights[w] != residency::kOutside)
      notes.add_moves(residency::loading_words(rows, live, live.weights[w], best.weights[w]),
                      residency::loading_cost(rows, live, live.weights[w], best.weights[w]).cycles,
                      1 / static_cast<double>(search.inferences()));
}

void add_groups(const fusion::Optimum& best, LevelNotes& notes, TaskResult::Network& network) {
  for (const fusion::GroupChoice& group : best.groups) {
    std::vector<double> longest(group.steps.size(), 0);
    for (const fusion::RunChoice& run : group.runs) {
      const auto l = static_cast<std::size_t>(run.layer);
      const std::string bound_by =
          notes.add_layers(run.task, {{static_cast<Count>(run.times), run.mapping, run.totals}});
      if (run.times * run.totals.cycles <= longest[l]) continue;
      longest[l] = run.times * run.totals.cycles;
      network.steps[static_cast<std::size_t>(group.steps[l])].bound_by = bound_by;
    }
    for (const fusion::LayerChoice* layer : group.plan.layers)
      for (const fusion::LayerChoice::Move& move : layer->moves) notes.add_moves(move.words, move.cost.cycles, 1);
  }
}

std::vector<Task> rows_of(const DesignPoint& design, const Accelerator& accelerator, const Workload& workload) {
  std::vector<Task> rows;
  for (const Workload::Entry& entry : workload.layers)
    rows.push_back(
        {entry.layer, accelerator, accelerator.flexibility_of(entry.layer), design.factorization, design.objective});
  return rows;
}

/// What a choice of mappings and places takes on an accelerator.
NetworkPrices::Price price_of(const residency::Search& search, const Optimum& best, const std::vector<Task>& rows) {
  NetworkPrices::Price all;
  const residency::LiveTensors& live = search.live();
  for (std::size_t s = 0; s < best.steps.size(); ++s) {
    const residency::Step& step = live.steps[s];
    double energy = 0, cycles = 0;
    if (step.row < 0) {
      const auto [reads, made] = homes_of(step, best);
      const residency::OperatorCost cost = residency::operator_cost(rows, step, live, reads, made);
      energy = cost.energy_pj;
      cycles = cost.cycles;
    } else {
      const Task task =
          residency::variant_task(rows[static_cast<std::size_t>(step.row)], search.variant(best.steps[s].variant));
      for (const residency::StepPart& part : best.steps[s].parts) {
        const Totals totals = price(task.layer, task.accelerator, part.mapping).totals;
        energy += static_cast<double>(part.count) * totals.energy_pj;
        cycles += static_cast<double>(part.count) * totals.cycles;
      }
    }
    for (std::size_t w = 0; w < best.weights.size(); ++w) {
      if (best.weights[w] == residency::kOutside || live.weights[w].step != static_cast<int>(s)) continue;
      const residency::OperatorCost load = residency::loading_cost(rows, live, live.weights[w], best.weights[w]);
      energy += load.energy_pj / static_cast<double>(search.inferences());
      cycles += load.cycles / static_cast<double>(search.inferences());
    }
    all.energy_pj += energy;
    all.cycles += cycles;
    all.sum_layer_edp_pj_cycles += energy * cycles / static_cast<double>(step.count);
  }
  return all;
}

}  // namespace

NetworkPrices price_network_choice(const Mapper& mapper, const Sweep& sweep, const DesignPoint& design,
                                   const Workload& workload, const std::vector<Accelerator>& others) {
  const std::vector<Task> rows = rows_of(design, *design.accelerator, workload);
  const SearchOptions options = search_options(sweep, kThreadsOfCaller, {});
  residency::Search search(mapper, workload, rows, options, sweep.inferences);
  const Optimum best = search.run({design.objective, design.deadline_of(sweep, workload)}, true);
  NetworkPrices prices;
  if (!best.found()) return prices;
  prices.base = price_of(search, best, rows);
  for (const Accelerator& other : others)
    prices.others.push_back(price_of(search, best, rows_of(design, other, workload)));
  return prices;
}

namespace {

template <class Best>
void take_best(const Best& best, bool late, double gap, TaskResult& result) {
  result.status = TaskStatus::kSolved;
  result.energy_pj = best.energy_pj;
  result.runtime_cycles = best.cycles;
  result.value = best.value;
  result.lower_bound = late ? 0 : best.lower_bound;
  result.gap = best.gap();
  result.certified = best.certified;
  result.ended_by = best.certified                 ? EndedBy::kProof
                    : gap > 0 && best.gap() <= gap ? EndedBy::kProofWithinGap
                                                   : EndedBy::kNothing;
}

template <class Best>
void say_nothing_fits(const Best& best, const Workload& workload, TaskResult& result) {
  result.status = best.infeasible ? TaskStatus::kNoLegalMapping : TaskStatus::kNothingFound;
  result.reason = best.without_mapping
                      ? fmt::format("{}: no mapping was found wherever its tensors live",
                                    workload.layers[static_cast<std::size_t>(*best.without_mapping)].layer.name)
                      : std::string("no mappings were found wherever the tensors live");
}

/// The best for the goal. Where no mappings keep the deadline the row says how fast they could be, and which limit that
/// breaks. That bounds nothing that was asked for.
template <class Run>
auto within_deadline(const Run& run, NetworkGoal& goal, const SearchOptions& options, bool& late) {
  auto best = run(goal);
  late = !best.found() && best.fastest_cycles > 0 && !options.stop.stop_requested();
  if (late) {
    const bool proven = best.infeasible;
    goal = {Objective::kRuntime};
    best = run(goal);
    best.certified = best.certified && proven;
  }
  return best;
}

/// The same with layers that pass tiles on.
void solve_tiles(const Mapper& mapper, const Sweep& sweep, NetworkGoal goal, const Workload& workload,
                 const std::vector<Task>& rows, const SearchOptions& options, ProvenNetwork& answer) {
  TaskResult& result = answer.result;
  fusion::Search search(mapper, workload, rows, options);
  bool late = false;
  const fusion::Optimum best =
      within_deadline([&](const NetworkGoal& asked) { return search.run(asked); }, goal, options, late);
  if (!best.found()) return say_nothing_fits(best, workload, result);
  if (options.record_parts) answer.certificate = network_certificate(workload, rows, goal, search, best);
  residency::Search before(mapper, workload, rows, options);
  const Optimum whole = before.run(goal, true), outside = before.run(goal, false);
  take_best(best, late, sweep.gap, result);
  result.evaluations = search.searches();
  note_steps(search.live(), best, outside, result.network);
  note_tiles(search, best, whole, workload, result.network);
  LevelNotes notes(rows.front().accelerator);
  add_steps(search, best, rows, notes, result.network);
  add_groups(best, notes, result.network);
  result.energy_by_level = notes.all();
}

void solve_whole(const Mapper& mapper, const Sweep& sweep, NetworkGoal goal, const Workload& workload,
                 const std::vector<Task>& rows, const SearchOptions& options, ProvenNetwork& answer) {
  TaskResult& result = answer.result;
  residency::Search search(mapper, workload, rows, options, sweep.inferences);
  bool late = false;
  const Optimum best =
      within_deadline([&](const NetworkGoal& asked) { return search.run(asked, true); }, goal, options, late);
  if (!best.found()) return say_nothing_fits(best, workload, result);
  if (options.record_parts) answer.certificate = network_certificate(workload, rows, goal, true, search, best);
  const Optimum outside = search.run(goal, false);
  take_best(best, late, sweep.gap, result);
  result.evaluations = search.searches();
  note_steps(search.live(), best, outside, result.network);
  note_weights(search.live(), best, result.network);
  LevelNotes notes(rows.front().accelerator);
  add_steps(search, best, rows, notes, result.network);
  add_loads(search, best, rows, notes);
  result.energy_by_level = notes.all();
}

/// What a search of a whole workload tells of a line below it.
template <class Search>
void note_line(Search search, double slope, TaskResult& result) {
  const auto line = search.line(slope);
  result.status = line                ? TaskStatus::kSolved
                  : search.complete() ? TaskStatus::kNoLegalMapping
                                      : TaskStatus::kNothingFound;
  if (line) {
    result.energy_pj = line->energy_pj;
    result.runtime_cycles = line->cycles;
    result.value = std::isinf(slope) ? line->cycles : line->energy_pj + slope * line->cycles;
    result.lower_bound = line->least;
    result.ended_by = EndedBy::kProof;
  }
  result.evaluations = search.searches();
}

ProvenNetwork solve(const Mapper& mapper, const Sweep& sweep, const DesignPoint& design, const Workload& workload,
                    const SearchOptions& options) {
  const double started = options.clock->wall_seconds();
  ProvenNetwork answer;
  try {
    const std::vector<Task> rows = rows_of(design, *design.accelerator, workload);
    SearchOptions all = options;
    all.budget.seconds *= static_cast<double>(rows.size());  // the sweep's budget is for a layer
    const SharedBudget shared(mapper, all, kSearchesOfALayer * rows.size());
    const NetworkGoal goal{design.objective, design.deadline_of(sweep, workload)};
    (sweep.tiles ? solve_tiles : solve_whole)(shared, sweep, goal, workload, rows, shared.options(), answer);
  } catch (const InputError&) {
    throw;  // a mapper's option: the same for every task
  } catch (const std::exception& error) {
    answer = {};
    answer.result.status = TaskStatus::kFailed;
    answer.result.reason = error.what();
  }
  answer.result.solve_seconds = options.clock->wall_seconds() - started;
  return answer;
}

}  // namespace

TaskResult solve_network(const Mapper& mapper, const Sweep& sweep, const DesignPoint& design, const Workload& workload,
                         int threads, const std::stop_token& stop, const Clock& clock) {
  return solve(mapper, sweep, design, workload, search_options(sweep, threads, stop, clock)).result;
}

ProvenNetwork prove_network(const Mapper& mapper, const Sweep& sweep, const DesignPoint& design,
                            const Workload& workload, const std::stop_token& stop) {
  Traits question = Traits{Trait::kNetwork, Trait::kCertificate}.add(TraitGroup::kMappers, sweep.mapper);
  question.add_if(sweep.inferences > 1, Trait::kInferences);
  question.add_if(design.accelerator->hints.min_utilization > 0, Trait::kHints);
  SearchOptions options = search_options(sweep, 1, stop);
  options.record_parts = !refused(question);
  return solve(mapper, sweep, design, workload, options);
}

TaskResult solve_line(const Mapper& mapper, const Sweep& sweep, const DesignPoint& design, const Workload& workload,
                      double slope, double gap, int threads, const std::stop_token& stop) {
  const double started = real_clock().wall_seconds();
  TaskResult result;
  const std::vector<Task> rows = rows_of(design, *design.accelerator, workload);
  SearchOptions options = search_options(sweep, threads, stop);
  options.gap = std::max(options.gap, gap);
  if (sweep.tiles)
    note_line<fusion::Search>({mapper, workload, rows, options}, slope, result);
  else
    note_line<residency::Search>({mapper, workload, rows, options, sweep.inferences}, slope, result);
  result.solve_seconds = real_clock().wall_seconds() - started;
  return result;
}

}  // namespace pliant
