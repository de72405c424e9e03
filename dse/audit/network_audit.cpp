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

/// What is proven of one variant: points of its least energy + slope * cycles, and its fewest cycles. That sum is the
/// least of many linear functions of the slope, so it is concave, and it grows by the cycles at least.
struct KnownLines {
  std::map<double, double> least{{0.0, 0.0}};  ///< by slope
  double fewest = 0;
  bool nothing_fits = false;

  double at(double slope) const {
    if (nothing_fits) return kInfinity;
    if (std::isinf(slope)) return fewest;
    const auto above = least.lower_bound(slope);
    if (above != least.end() && above->first == slope) return above->second;
    const auto& [flatter, a] = *std::prev(above);
    double best = a + (slope - flatter) * fewest;
    if (above != least.end())
      best = std::max(best, a + (above->second - a) * (slope - flatter) / (above->first - flatter));
    return best;
  }
};

class NetworkAudit {
 public:
  NetworkAudit(const NetworkCertificate& certificate, const AuditOptions& options)
      : certificate_(certificate),
        task_(certificate.task),
        options_(options),
        rows_(task_.rows()),
        places_(task_, rows_) {}

  NetworkAuditReport run() {
    report_.steps = places_.steps();
    check_claim();
    check_proofs();
    if (build()) check_bound();
    report_.variants = places_.variants().size();
    report_.seconds = seconds();
    return std::move(report_);
  }

 private:
  struct Edge {
    int from = 0, to = 0;
    Move move;
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
    for (std::size_t s = 0; s < places_.steps(); ++s) {
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
    if (is_less(task_.most_cycles, cycles)) wrong(fmt::format("{:.12g} cycles are too many", cycles));
    if (!same_value(energy, certificate_.energy_pj) || !same_value(cycles, certificate_.cycles))
      wrong(fmt::format("the choices take {:.12g} pJ and {:.12g} cycles, not {:.12g} and {:.12g}", energy, cycles,
                        certificate_.energy_pj, certificate_.cycles));
    const double value = sum_value(task_.objective, energy, cycles);
    if (!same_value(value, certificate_.value))
      wrong(fmt::format("the choices' value is {:.12g}, not {:.12g}", value, certificate_.value));
  }

  bool add_layer(std::size_t s, int number, double& energy, double& cycles) {
    const LayerVariant& variant = places_.variants()[static_cast<std::size_t>(number)];
    const Task task = line_task(rows_[static_cast<std::size_t>(places_.row(s))], variant, 0);
    double layers = 0;
    for (const auto& [mapping, count] : certificate_.steps[s].parts) {
      const auto violations =
          check_legality(task.layer, task.accelerator, task.flexibility, task.factorization, mapping);
      if (!violations.empty()) {
        wrong(fmt::format("step {}: the mapping is illegal: {}", s + 1, violations.front().message));
        return false;
      }
      const Totals totals = price(task.layer, task.accelerator, mapping).totals;
      const auto times = static_cast<double>(count);
      if (totals.unfinished || count < 1) {
        wrong(fmt::format("step {}: a mapping of {} layers, or one that brings partial sums where none are taken",
                          s + 1, count));
        return false;
      }
      layers += times;
      energy += times * totals.energy_pj;
      cycles += times * totals.cycles;
    }
    if (layers != places_.count(s)) wrong(fmt::format("step {}: {} layers, not {}", s + 1, layers, places_.count(s)));
    return layers == places_.count(s);
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
      const double least = of.proof.lower_bound;
      const auto [at, is_new] = known_.try_emplace(of.variant);
      KnownLines& lines = at->second;
      lines.nothing_fits |= of.proof.infeasible;
      if (std::isinf(of.slope))
        lines.fewest = std::max(lines.fewest, std::isinf(least) ? 0 : least);
      else if (double& known = lines.least[of.slope]; !std::isinf(least))
        known = std::max(known, least);
    }
  }

  /// 3. All places of all tensors, step by step.
  bool build() {
    std::map<NetworkPlaces::State, int> states{{{}, 0}};
    for (std::size_t s = 0; s < places_.steps(); ++s) {
      std::map<NetworkPlaces::State, int> next;
      std::vector<Edge>& edges = edges_.emplace_back();
      for (const auto& [state, from] : states)
        for (NetworkPlaces::Choice& choice : places_.choices(s, state)) {
          const int to = next.try_emplace(std::move(choice.after), static_cast<int>(next.size())).first->second;
          edges.push_back({from, to, choice.move});
        }
      if (next.size() > kMostStates) {
        report_.undecided.push_back(fmt::format("step {}: more than {} ways to place tensors", s + 1, kMostStates));
        return false;
      }
      states = std::move(next);
      report_.moves += edges.size();
    }
    for (const LayerVariant& variant : places_.variants()) {
      std::vector<const KnownLines*>& lines = lines_of_.emplace_back();
      for (const auto& [proven, known] : known_)
        if (proven.places == variant.places && places_.same_shape(proven.row, variant.row) &&
            places_.leaves_room(variant.row, proven.taken, variant.taken))
          lines.push_back(&known);
    }
    return true;
  }

  /// The least energy + slope * cycles of the network: no less than the shortest path over what is known of each step.
  double least_sum(double slope) const {
    std::vector<double> of_variant;
    for (const auto& lines : lines_of_) {
      double least = 0;  // less room never helps: whatever holds with more of it holds here
      for (const KnownLines* known : lines) least = std::max(least, known->at(slope));
      of_variant.push_back(least);
    }
    std::vector<double> least{0};
    for (std::size_t s = 0; s < edges_.size(); ++s) {
      std::vector<double> next;
      for (const Edge& edge : edges_[s]) {
        const double own = edge.move.variant >= 0 ? of_variant[static_cast<std::size_t>(edge.move.variant)]
                           : std::isinf(slope)    ? edge.move.cycles
                                                  : edge.move.energy_pj + slope * edge.move.cycles;
        if (static_cast<std::size_t>(edge.to) >= next.size())
          next.resize(static_cast<std::size_t>(edge.to) + 1, kInfinity);
        double& there = next[static_cast<std::size_t>(edge.to)];
        there = std::min(there, least[static_cast<std::size_t>(edge.from)] + places_.count(s) * own);
      }
      least = std::move(next);
      if (least.empty()) return kInfinity;
    }
    return *std::ranges::min_element(least);
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
    if (is_less(report_.lower_bound, certificate_.lower_bound)) {
      const std::string what = fmt::format("the lines leave {:.12g}, less than the lower bound {:.12g}",
                                           report_.lower_bound, certificate_.lower_bound);
      if (certificate_.certified)
        wrong(what);
      else
        report_.undecided.push_back(what);
    }
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
  std::map<LayerVariant, KnownLines> known_;
  std::vector<std::vector<Edge>> edges_;                  ///< by step
  std::vector<std::vector<const KnownLines*>> lines_of_;  ///< by variant of the run
  NetworkAuditReport report_;
  double started_ = options_.clock->wall_seconds();
};

}  // namespace

NetworkAuditReport audit_network(const NetworkCertificate& certificate, const AuditOptions& options) {
  return NetworkAudit(certificate, options).run();
}

}  // namespace pliant::audit
