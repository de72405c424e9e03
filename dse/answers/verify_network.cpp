// SPDX-License-Identifier: Apache-2.0
#include "dse/answers/verify_network.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "costmodel/report.h"
#include "dse/import/open.h"
#include "dse/mappers/fusion/fusion.h"
#include "dse/mappers/residency/residency.h"

namespace pliant {
namespace {

using nlohmann::json;

/// Sums may be formed in another order.
constexpr double kSame = 1e-9;

class NetworkClaims {
 public:
  NetworkClaims(const Library& library, const std::string& file, const TaskWords& words,
                const std::vector<ReadTask>& tasks, const json& network, const ProofOptions& proof)
      : library_(library), file_(file), words_(words), tasks_(tasks), network_(network), proof_(proof) {
    goal_.objective = tasks.front().task.objective;
    if (network.contains("deadline_cycles")) goal_.most_cycles = number(network, "deadline_cycles");
  }

  std::vector<VerifiedClaim> run() {
    const bool steps = network_.contains("steps");
    const json items = network_.value(steps ? "steps" : "layers", json::array());
    if (items.empty()) throw wrong_form(steps ? "network.steps" : "network.layers", "missing or empty");
    std::vector<double> counts(tasks_.size(), 0);
    for (const json& item : items) steps ? check_step(item, counts) : check_layer(item, item, counts);
    check_sums(counts);
    for (const json& group : network_.value("groups", json::array())) check_tiles(group);
    const bool right = std::ranges::all_of(verdicts_, [](const VerifiedClaim& one) { return one.wrong.empty(); });
    if (right) prove();
    return std::move(verdicts_);
  }

 private:
  InputError wrong_form(const std::string& key, std::string what) const {
    return bad_option(file_, key, std::move(what), "what `pliant map --network --json` wrote");
  }
  double number(const json& from, const char* key) const {
    if (!from.contains(key) || !from[key].is_number())
      throw wrong_form(fmt::format("network.{}", key), "missing or no number");
    return from[key].get<double>();
  }
  static bool differ(double one, double other) {
    return !(std::abs(one - other) <= kSame * std::max(std::abs(one), std::abs(other)));
  }

  std::size_t row_of(const json& item) const {
    const std::string name = item.value("layer", "");
    for (std::size_t i = 0; i < tasks_.size(); ++i)
      if (tasks_[i].task.layer.name == name) return i;
    throw wrong_form("network", fmt::format("the workload has no layer `{}`", name));
  }

  /// A mapping of one layer on the accelerator that the task has; what it costs goes into the sums.
  Totals check_mapping(const Task& task, const json& mapping, const json& claims) {
    VerifiedClaim verdict{task.layer.name, {}, "priced again", 0};
    Claim claim;
    claim.mapping = parse_mapping_text(mapping.dump(), file_ + ": mapping", task.layer, task.accelerator).mapping;
    if (claims.contains("energy_pj")) claim.energy_pj = number(claims, "energy_pj");
    if (claims.contains("runtime_cycles")) claim.runtime_cycles = number(claims, "runtime_cycles");
    verdict.wrong = check_claim(task, claim);
    const Totals totals = verdict.wrong.empty() ? price(task.layer, task.accelerator, *claim.mapping).totals : Totals{};
    verdicts_.push_back(std::move(verdict));
    return totals;
  }

  void check_layer(const json& item, const json& claims, std::vector<double>& counts) {
    const std::size_t row = row_of(item);
    if (!item.contains("mapping")) throw wrong_form("network.layers.mapping", "missing");
    const double count = number(item, "count");
    counts[row] += count;
    const Totals totals = check_mapping(tasks_[row].task, item["mapping"], claims);
    energy_pj_ += count * totals.energy_pj;
    cycles_ += count * totals.cycles;
  }

  /// A step of a run: an operator's cost is what it says; a layer's is priced on the accelerator that its `set` makes.
  void check_step(const json& step, std::vector<double>& counts) {
    if (!step.contains("layer")) {
      energy_pj_ += number(step, "energy_pj");
      cycles_ += number(step, "runtime_cycles");
      return;
    }
    const std::size_t row = row_of(step);
    TaskWords words = words_;
    words.layer = step["layer"].get<std::string>();
    for (const json& setting : step.value("set", json::array())) words.settings.push_back(setting.get<std::string>());
    const Task task = read_tasks(library_, words).front().task;
    if (step.contains("runs")) return check_runs(step, task, counts[row]);
    double energy = 0, cycles = 0;
    for (const json& part : step.value("parts", json::array())) {
      if (!part.contains("mapping")) throw wrong_form("network.steps.parts.mapping", "missing");
      const double count = number(part, "count");
      counts[row] += count;
      const Totals totals = check_mapping(task, part["mapping"], part);
      energy += count * totals.energy_pj;
      cycles += count * totals.cycles;
    }
    // Weights that stay are loaded once; a step has its share of that.
    const double loading = inferences() > 1 ? number(step, "energy_pj") - energy : 0;
    const double waiting = inferences() > 1 ? number(step, "runtime_cycles") - cycles : 0;
    if (loading < -kSame * energy || waiting < -kSame * cycles || differ(number(step, "energy_pj"), energy + loading) ||
        differ(number(step, "runtime_cycles"), cycles + waiting))
      verdicts_.back().wrong.push_back(fmt::format(
          "step {} takes {:.10g} pJ and {:.10g} cycles, its mappings {:.10g} and {:.10g}", step.value("node", ""),
          number(step, "energy_pj"), number(step, "runtime_cycles"), energy, cycles));
    energy_pj_ += energy + loading;
    cycles_ += cycles + waiting;
  }

  /// A layer of a group: what it runs on tiles is priced again; what moves between runs costs what it says.
  void check_runs(const json& step, const Task& task, double& count) {
    const json moves = step.value("moves", json::object());
    double energy = number(moves, "energy_pj"), cycles = number(moves, "runtime_cycles"), macs = 0;
    for (const json& run : step["runs"]) {
      Task tile = task;
      tile.layer.written_as.clear();
      for (Dim& dim : tile.layer.dims)
        dim.size = static_cast<Count>(number(run.value("sizes", json::object()), dim.name.c_str()));
      if (!run.contains("mapping")) throw wrong_form("network.steps.runs.mapping", "missing");
      const double times = number(run, "times");
      const Totals totals = check_mapping(tile, run["mapping"], run);
      energy += times * totals.energy_pj;
      cycles += times * totals.cycles;
      macs += times * static_cast<double>(tile.layer.macs());
    }
    const double whole = number(step, "count") * static_cast<double>(task.layer.macs());
    if (differ(macs, whole))
      verdicts_.back().wrong.push_back(
          fmt::format("the runs of {} have {:.10g} MACs, the layer {:.10g}", step.value("node", ""), macs, whole));
    if (differ(number(step, "energy_pj"), energy) || differ(number(step, "runtime_cycles"), cycles))
      verdicts_.back().wrong.push_back(fmt::format(
          "step {} takes {:.10g} pJ and {:.10g} cycles, its runs and moves {:.10g} and {:.10g}", step.value("node", ""),
          number(step, "energy_pj"), number(step, "runtime_cycles"), energy, cycles));
    count += number(step, "count");
    energy_pj_ += energy;
    cycles_ += cycles;
  }

  /// Does the design let these layers pass such tiles on? Loops over layers that a node counts cut no dim.
  void check_tiles(const json& group) {
    const Accelerator& accelerator = tasks_.front().task.accelerator;
    const std::string home = group.value("lives_in", "");
    const int level = accelerator.find_level(home);
    if (level < 0) throw wrong_form("network.groups.lives_in", fmt::format("no memory `{}`", home));
    if (accelerator.fusion.empty()) return;
    const FusionRule& rule = accelerator.fusion[static_cast<std::size_t>(level)];
    const auto wrong = [&](std::string what) { verdicts_.back().wrong.push_back(home + " " + std::move(what)); };
    for (const json& tile : group.value("tiles", json::array())) {
      int depth = 0;
      for (const json& loop : tile.value("under", json::array())) {
        if (!loop.contains("cuts")) continue;
        ++depth;
        const std::string dim = loop["cuts"].get<std::string>();
        if (rule.dims && std::ranges::find(*rule.dims, dim) == rule.dims->end())
          wrong(fmt::format("may hold no tiles cut along {}", dim));
      }
      if (!rule.tiles) wrong("may hold no tiles between layers");
      if (rule.depth > 0 && depth > rule.depth)
        wrong(fmt::format("may hold tiles under {} loops, not {}", rule.depth, depth));
    }
  }

  double inferences() const { return network_.contains("inferences") ? number(network_, "inferences") : 1; }

  void check_sums(const std::vector<double>& counts) {
    VerifiedClaim verdict{"the network", {}, "", number(network_, "value")};
    const auto compare = [&](const char* what, double said, double is) {
      if (differ(said, is)) verdict.wrong.push_back(fmt::format("{} is {:.10g}, not {:.10g}", what, is, said));
    };
    for (std::size_t i = 0; i < tasks_.size(); ++i)
      compare(fmt::format("how often {} occurs", tasks_[i].task.layer.name).c_str(), counts[i],
              static_cast<double>(tasks_[i].count));
    compare("energy_pj", number(network_, "energy_pj"), energy_pj_);
    compare("runtime_cycles", number(network_, "runtime_cycles"), cycles_);
    compare("edp_pj_cycles", number(network_, "edp_pj_cycles"), energy_pj_ * cycles_);
    compare("value", number(network_, "value"), network_value(goal_.objective, energy_pj_, cycles_));
    if (cycles_ > goal_.most_cycles * (1 + kSame))
      verdict.wrong.push_back(fmt::format("{:.10g} cycles are more than the deadline", cycles_));
    verdicts_.push_back(std::move(verdict));
  }

  /// Whether tensors were allowed to stay on chip.
  bool stays() const {
    const auto on_chip = [](const json& one) { return one.value("lives_in", "outside") != "outside"; };
    return network_.contains("without_residency") || inferences() > 1 ||
           std::ranges::any_of(network_.value("tensors", json::array()), on_chip);
  }

  void prove() {
    VerifiedClaim& verdict = verdicts_.back();
    const double least = number(network_, "lower_bound"), value = number(network_, "value");
    if (least > value * (1 + kSame)) verdict.wrong.push_back("the lower bound is above the value");
    if (network_.value("certified", false) && differ(least, value))
      verdict.wrong.push_back("certified, but the lower bound is not the value");
    if (!verdict.wrong.empty()) return;
    if (least <= 0) {
      verdict.proof = "claims no lower bound";
      return;
    }
    SearchOptions options;
    options.budget.seconds = proof_.seconds;
    options.threads = proof_.threads;
    options.stop = proof_.stop;
    const std::unique_ptr<Mapper> exact = make_mapper("exact");
    bool certified = false;
    double optimum = 0, bound = 0;
    const Workload workload = open_workload(library_, *words_.workload);
    std::vector<Task> rows;
    for (const ReadTask& read : tasks_) rows.push_back(read.task);
    const auto take = [&](const auto& best) {
      certified = best.certified;
      optimum = best.value;
      bound = best.lower_bound;
    };
    if (network_.value("fusion", "") == "tiles")
      take(fusion::Search(*exact, workload, rows, options).run(goal_));
    else
      take(residency::Search(*exact, workload, rows, options, static_cast<Count>(inferences())).run(goal_, stays()));
    if (certified && value < optimum * (1 - kSame))
      verdict.wrong.push_back(fmt::format("the optimum is {:.10g}, and nothing takes {:.10g}", optimum, value));
    else if (certified && optimum < least * (1 - kSame))
      verdict.wrong.push_back(fmt::format("the optimum is {:.10g}, below the lower bound {:.10g}", optimum, least));
    else if (bound < least * (1 - kSame))
      verdict.proof = fmt::format("not proven again: another search ended with the lower bound {:.10g}", bound);
    else
      verdict.proof = "proven again by another search";
  }

  const Library& library_;
  const std::string& file_;
  const TaskWords& words_;
  const std::vector<ReadTask>& tasks_;
  const json& network_;
  const ProofOptions& proof_;
  NetworkGoal goal_;
  double energy_pj_ = 0, cycles_ = 0;
  std::vector<VerifiedClaim> verdicts_;
};

}  // namespace

std::vector<VerifiedClaim> verify_network(const Library& library, const std::string& file, const TaskWords& words,
                                          const std::vector<ReadTask>& tasks, const json& network,
                                          const ProofOptions& proof) {
  return NetworkClaims(library, file, words, tasks, network, proof).run();
}

}  // namespace pliant
