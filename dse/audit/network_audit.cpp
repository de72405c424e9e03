// SPDX-License-Identifier: Apache-2.0
#include "dse/audit/network_audit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "core/arithmetic.h"
#include "core/legality.h"
#include "costmodel/report.h"
#include "dse/audit/fused_groups.h"
#include "dse/audit/network_places.h"

namespace pliant::audit {

namespace {

/// States of places at one step; beyond this the shortest path is not looked for.
constexpr std::size_t kMostStates = 100'000;

bool is_less(double value, double claimed) { return value < claimed * (1 - kRounding); }
bool same_value(double a, double b) { return !is_less(a, b) && !is_less(b, a); }

double sum_value(Objective objective, double energy_pj, double cycles) {
  Totals sums;
  sums.energy_pj = energy_pj;
  sums.cycles = cycles;
  return objective_value(objective, sums);
}

class NetworkAudit {
 public:
  NetworkAudit(const NetworkCertificate& certificate, const AuditOptions& options)
      : certificate_(certificate),
        task_(certificate.task),
        options_(options),
        rows_(task_.rows()),
        places_(task_, rows_),
        proven_(places_, rows_, task_.tiles),
        groups_(places_, task_, rows_, proven_) {}

  NetworkAuditReport run() {
    report_.steps = places_.steps();
    check_claim();
    check_proofs();
    if (build()) check_bound();
    report_.variants = places_.variants().size();
    report_.stacks = groups_.candidates();
    report_.seconds = seconds();
    return std::move(report_);
  }

 private:
  struct Edge {
    int from = 0, to = 0;
    Move move;
  };
  /// Over several steps.
  struct GroupEdge {
    int from = 0, to = 0;
    std::size_t next = 0;  ///< the step after it
    MovingCost operators;
    FusedGroup* group = nullptr;
  };

  void wrong(std::string what) { report_.wrong.push_back(std::move(what)); }
  double seconds() const { return options_.clock->wall_seconds() - started_; }

  /// 1. The choices claimed fit, their mappings are legal, and the sums are those claimed.
  void check_claim() {
    if (certificate_.certified && !same_value(certificate_.lower_bound, certificate_.value))
      wrong("certified, but the lower bound is not the value");
    if (is_less(certificate_.value, certificate_.lower_bound)) wrong("the lower bound is above the value");
    NetworkPlaces::State state;
    double energy = 0, cycles = 0;
    auto group = certificate_.groups.begin();
    for (std::size_t s = 0; s < places_.steps(); ++s) {
      if (group != certificate_.groups.end() && !group->steps.empty() && group->steps.front() == s) {
        if (!add_group(*group, state, energy, cycles)) return;
        s = group->steps.back();
        ++group;
        continue;
      }
      const StepClaim& claim = certificate_.steps[s];
      const std::vector<NetworkPlaces::Choice> choices = places_.choices(s, state);
      const auto chosen = std::ranges::find(choices, claim.made, &NetworkPlaces::Choice::made);
      if (chosen == choices.end())
        return wrong(fmt::format("step {}: its output cannot live there, or not everything fits", s + 1));
      state = chosen->after;
      if (chosen->move.variant < 0) {
        energy += places_.count(s) * chosen->move.energy_pj;
        cycles += places_.count(s) * chosen->move.cycles;
      } else if (!add_layer(s, chosen->move.variant, energy, cycles)) {
        return;
      }
    }
    if (group != certificate_.groups.end()) return wrong("a group begins inside another, or nowhere");
    if (is_less(task_.most_cycles, cycles)) wrong(fmt::format("{:.12g} cycles are too many", cycles));
    if (!same_value(energy, certificate_.energy_pj) || !same_value(cycles, certificate_.cycles))
      wrong(fmt::format("the choices take {:.12g} pJ and {:.12g} cycles, not {:.12g} and {:.12g}", energy, cycles,
                        certificate_.energy_pj, certificate_.cycles));
    const double value = sum_value(task_.objective, energy, cycles);
    if (!same_value(value, certificate_.value))
      wrong(fmt::format("the choices' value is {:.12g}, not {:.12g}", value, certificate_.value));
  }

  /// Adds what so many layers with a mapping take; false when it is no mapping of them.
  bool add_mapping(const std::string& of, const Task& task, const Mapping& mapping, double times, double& energy,
                   double& cycles) {
    const auto violations = check_legality(task.layer, task.accelerator, task.flexibility, task.factorization, mapping);
    if (!violations.empty()) {
      wrong(fmt::format("{}: the mapping is illegal: {}", of, violations.front().message));
      return false;
    }
    const Totals totals = price(task.layer, task.accelerator, mapping).totals;
    if (totals.unfinished || times < 1) {
      wrong(fmt::format("{}: a mapping of {} layers, or one that brings partial sums where none are taken", of, times));
      return false;
    }
    energy += times * totals.energy_pj;
    cycles += times * totals.cycles;
    return true;
  }

  bool add_layer(std::size_t s, int number, double& energy, double& cycles) {
    const LayerVariant& variant = places_.variants()[static_cast<std::size_t>(number)];
    const Task task = line_task(rows_[static_cast<std::size_t>(places_.row(s))], variant, 0);
    const std::string of = fmt::format("step {}", s + 1);
    double layers = 0;
    for (const auto& [mapping, count] : certificate_.steps[s].parts) {
      if (!add_mapping(of, task, mapping, static_cast<double>(count), energy, cycles)) return false;
      layers += static_cast<double>(count);
    }
    if (layers != places_.count(s)) wrong(fmt::format("{}: {} layers, not {}", of, layers, places_.count(s)));
    return layers == places_.count(s);
  }

  /// A loop that is claimed, in terms of the auditor's own axes.
  static std::optional<GroupLoop> loop_of(const FusedChain& chain, const GroupClaim::LoopClaim& claim) {
    if (claim.dim < 0) {
      const int axis = claim.groups ? chain.group_axis : chain.head_axis >= 0 ? chain.head_axis : chain.group_axis;
      return axis < 0 ? std::nullopt : std::optional(GroupLoop{axis, claim.tile});
    }
    for (std::size_t a = 0; a < chain.axes.size(); ++a)
      if (!chain.counts(static_cast<int>(a)) && chain.axes[a].at[claim.layer].dim == claim.dim &&
          chain.axes[a].at[claim.layer].scale == 1 && !chain.axes[a].at[claim.layer].slides)
        return GroupLoop{static_cast<int>(a), claim.tile};
    return std::nullopt;
  }

  /// The group is one of those that there are, in this state, and its runs have legal mappings.
  bool add_group(const GroupClaim& claim, NetworkPlaces::State& state, double& energy, double& cycles) {
    const std::string of = fmt::format("the group of step {}", claim.steps.front() + 1);
    const auto refuse = [&](std::string_view what) {
      wrong(fmt::format("{}: {}", of, what));
      return false;
    };
    const std::vector<FusedGroups::Choice> choices = groups_.from(claim.steps.front(), state);
    const auto chosen = std::ranges::find_if(choices, [&](const FusedGroups::Choice& one) {
      return *one.layers == claim.steps && one.home == claim.home &&
             one.made == certificate_.steps[claim.steps.back()].made;
    });
    if (chosen == choices.end()) return refuse("there is none of these layers, in that memory or with that result");
    for (std::size_t s = claim.steps.front(); s <= claim.steps.back(); ++s) {
      const Place made = places_.step(s).makes >= 0 ? claim.home : kElsewhere;
      if (!certificate_.steps[s].parts.empty() || (s < claim.steps.back() && certificate_.steps[s].made != made))
        return refuse("its steps have mappings or places of their own");
    }
    std::vector<GroupLoops> stacks;
    for (const auto& loops : claim.stacks) {
      stacks.emplace_back();
      for (const GroupClaim::LoopClaim& one : loops) {
        const auto loop = loop_of(chosen->group->chain(), one);
        if (!loop) return refuse("a loop over nothing");
        stacks.back().push_back(*loop);
      }
    }
    std::vector<HeldTile> held;
    for (const GroupClaim::HeldClaim& one : claim.held) held.push_back({one.layer, one.tensor, one.loops});
    const std::optional<GroupWork> work = chosen->group->work(stacks, held);
    if (!work) return refuse("its stacks and held tiles are no choice, or do not fit");
    if (work->runs.size() != claim.runs.size()) return refuse("its runs are not those stated");
    for (const GroupWork::Runs& runs : work->runs) {
      const auto stated = std::ranges::find_if(claim.runs, [&](const GroupClaim::RunClaim& one) {
        return one.layer == runs.layer && one.sizes == runs.variant.sizes;
      });
      if (stated == claim.runs.end()) return refuse("a run without a mapping");
      const Task task = line_task(rows_[static_cast<std::size_t>(runs.variant.row)], runs.variant, 0);
      if (!add_mapping(of, task, stated->mapping, runs.times, energy, cycles)) return false;
    }
    energy += work->moving.energy_pj + chosen->operators.energy_pj;
    cycles += work->moving.cycles + chosen->operators.cycles;
    state = chosen->after;
    return true;
  }

  /// 2. Every proof of a variant holds.
  void check_proofs() {
    for (const VariantProof& of : certificate_.proofs) {
      const std::string name = rows_[static_cast<std::size_t>(of.variant.row)].layer.name;
      AuditOptions left = options_;
      if (options_.seconds > 0) left.seconds = std::max(1e-3, options_.seconds - seconds());
      const AuditReport report = audit(of.proof, left);
      ++report_.proofs;
      report_.confirmed += report.clean() ? 1 : 0;
      report_.choices += report.choices;
      report_.checked += report.checked;
      for (const std::string& what : report.wrong) wrong(fmt::format("{} at slope {:.6g}: {}", name, of.slope, what));
      for (const std::string& what : report.undecided)
        report_.undecided.push_back(fmt::format("{} at slope {:.6g}: {}", name, of.slope, what));
      proven_.add(of.variant, of.slope, of.proof);
    }
  }

  /// 3. All places of all tensors, step by step, and all groups.
  bool build() {
    std::vector<std::map<NetworkPlaces::State, int>> states(places_.steps() + 1);
    states[0][{}] = 0;
    const auto number = [&](std::size_t s, NetworkPlaces::State state) {
      return states[s].try_emplace(std::move(state), static_cast<int>(states[s].size())).first->second;
    };
    for (std::size_t s = 0; s < places_.steps(); ++s) {
      std::vector<Edge>& edges = edges_.emplace_back();
      std::vector<GroupEdge>& groups = group_edges_.emplace_back();
      if (states[s].size() > kMostStates) {
        report_.undecided.push_back(fmt::format("step {}: more than {} ways to place tensors", s, kMostStates));
        return false;
      }
      for (const auto& [state, from] : states[s]) {
        for (NetworkPlaces::Choice& choice : places_.choices(s, state))
          edges.push_back({from, number(s + 1, std::move(choice.after)), choice.move});
        for (FusedGroups::Choice& choice : groups_.from(s, state))
          groups.push_back(
              {from, number(choice.next(), std::move(choice.after)), choice.next(), choice.operators, choice.group});
      }
      report_.moves += edges.size();
      report_.groups += groups.size();
    }
    for (const auto& of_step : states) state_counts_.push_back(of_step.size());
    for (const LayerVariant& variant : places_.variants()) lines_of_.push_back(proven_.of(variant));
    return true;
  }

  /// The least energy + slope * cycles of the network: no less than the shortest path over what is known of each step
  /// and of each group.
  double least_sum(double slope) const {
    const auto at = [&](double energy, double cycles) { return std::isinf(slope) ? cycles : energy + slope * cycles; };
    std::vector<double> of_variant;
    for (const KnownLines& lines : lines_of_) of_variant.push_back(lines.at(slope));
    std::vector<std::vector<double>> least;
    for (const std::size_t count : state_counts_) least.emplace_back(count, kInfinity);
    least[0][0] = 0;
    const auto offer = [](double& there, double sum) { there = std::min(there, sum); };
    for (std::size_t s = 0; s < edges_.size(); ++s) {
      for (const Edge& edge : edges_[s]) {
        const double own = edge.move.variant >= 0 ? of_variant[static_cast<std::size_t>(edge.move.variant)]
                                                  : at(edge.move.energy_pj, edge.move.cycles);
        offer(least[s + 1][static_cast<std::size_t>(edge.to)],
              least[s][static_cast<std::size_t>(edge.from)] + places_.count(s) * own);
      }
      for (const GroupEdge& edge : group_edges_[s])
        offer(least[edge.next][static_cast<std::size_t>(edge.to)],
              least[s][static_cast<std::size_t>(edge.from)] + edge.group->least(slope) +
                  at(edge.operators.energy_pj, edge.operators.cycles));
    }
    return least.back().empty() ? kInfinity : *std::ranges::min_element(least.back());
  }

  /// 4. Energy and cycles of the network lie above all lines. Every objective rises and then falls along a line, or
  /// rises, so it is least where two lines meet, or where the fewest or the most cycles end the region.
  void check_bound() {
    double fewest = 0;
    std::map<double, double> lines;  // by slope
    for (const double slope : certificate_.slopes)
      if (std::isinf(slope))
        fewest = least_sum(slope);
      else
        lines[slope] = least_sum(slope);
    report_.lower_bound = bound_of(lines, fewest);
    if (!is_less(report_.lower_bound, certificate_.lower_bound)) return;
    for (const double slope : certificate_.slopes)
      if (const double value = attained(slope); is_less(value, certificate_.lower_bound))
        return wrong(fmt::format("a choice has the value {:.12g}, below {:.12g}", value, certificate_.lower_bound));
    // Nothing contradicts the claim: it does not follow from what is proven, and may be true.
    report_.undecided.push_back(fmt::format("the lines leave {:.12g}, less than the lower bound {:.12g}",
                                            report_.lower_bound, certificate_.lower_bound));
  }

  /// The value of a choice whose mappings stand in the certificate, of the best one for a slope; infinity: none is
  /// known, or it takes too long.
  double attained(double slope) const {
    constexpr MovingCost kNowhere{kInfinity, kInfinity};
    std::vector<std::vector<MovingCost>> best;
    for (const std::size_t count : state_counts_) best.emplace_back(count, kNowhere);
    best[0][0] = {};
    std::vector<MovingCost> of_variant;
    for (const LayerVariant& variant : places_.variants()) of_variant.push_back(proven_.attained(variant, slope));
    const auto offer = [&](MovingCost& there, const MovingCost& before, double times, const MovingCost& own) {
      const MovingCost sum{before.energy_pj + times * own.energy_pj, before.cycles + times * own.cycles};
      if (sum_at(slope, sum) < sum_at(slope, there)) there = sum;
    };
    for (std::size_t s = 0; s < edges_.size(); ++s) {
      for (const Edge& edge : edges_[s]) {
        const MovingCost own = edge.move.variant >= 0 ? of_variant[static_cast<std::size_t>(edge.move.variant)]
                                                      : MovingCost{edge.move.energy_pj, edge.move.cycles};
        offer(best[s + 1][static_cast<std::size_t>(edge.to)], best[s][static_cast<std::size_t>(edge.from)],
              places_.count(s), own);
      }
      for (const GroupEdge& edge : group_edges_[s]) {
        MovingCost own = edge.group->attained(slope);
        own.energy_pj += edge.operators.energy_pj;
        own.cycles += edge.operators.cycles;
        offer(best[edge.next][static_cast<std::size_t>(edge.to)], best[s][static_cast<std::size_t>(edge.from)], 1, own);
      }
    }
    double least = kInfinity;
    for (const MovingCost& one : best.back())
      if (std::isfinite(one.energy_pj) && !is_less(task_.most_cycles, one.cycles))
        least = std::min(least, sum_value(task_.objective, one.energy_pj, one.cycles));
    return least;
  }

  double bound_of(const std::map<double, double>& lines, double fewest) const {
    if (std::isinf(fewest) || std::ranges::any_of(lines, [](const auto& line) { return std::isinf(line.second); }))
      return kInfinity;                                        // some layer fits nowhere
    if (is_less(task_.most_cycles, fewest)) return kInfinity;  // too slow
    if (task_.objective == Objective::kRuntime) return fewest;
    const auto energy_at = [&](double cycles) {
      double energy = 0;
      for (const auto& [slope, least] : lines)
        energy = std::max(energy, slope == 0 ? least : least - slope * cycles);  // at the end of all cycles, too
      return energy;
    };
    if (task_.objective == Objective::kEnergy || task_.objective == Objective::kPerfPerWatt)
      return energy_at(task_.most_cycles);
    if (!lines.contains(0.0) && std::isinf(task_.most_cycles)) return 0;
    double lowest = kInfinity;
    const auto look_at = [&](double cycles) {
      if (!(cycles >= fewest) || !(cycles <= task_.most_cycles) || std::isinf(cycles)) return;
      lowest = std::min(lowest, sum_value(task_.objective, energy_at(cycles), cycles));
    };
    look_at(fewest);
    look_at(task_.most_cycles);
    for (auto a = lines.begin(); a != lines.end(); ++a)
      for (auto b = std::next(a); b != lines.end(); ++b) look_at((b->second - a->second) / (b->first - a->first));
    return lowest;
  }

  const NetworkCertificate& certificate_;
  const NetworkTask& task_;
  const AuditOptions& options_;
  const std::vector<Task> rows_;
  NetworkPlaces places_;
  ProvenLines proven_;
  FusedGroups groups_;
  std::vector<std::vector<Edge>> edges_;             ///< by step
  std::vector<std::vector<GroupEdge>> group_edges_;  ///< by first step
  std::vector<std::size_t> state_counts_;            ///< before each step, and at the end
  std::vector<KnownLines> lines_of_;                 ///< by variant of the run
  NetworkAuditReport report_;
  double started_ = options_.clock->wall_seconds();
};

}  // namespace

NetworkAuditReport audit_network(const NetworkCertificate& certificate, const AuditOptions& options) {
  return NetworkAudit(certificate, options).run();
}

}  // namespace pliant::audit
