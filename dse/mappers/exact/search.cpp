// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/exact/search.h"

#include <algorithm>
#include <cmath>

namespace pliant::exact {

namespace {

/// Bounds and prices are sums of the same products in different orders; below this they are the same number.
constexpr double kRounding = 1e-11;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// A label of the search, from the outermost memory inwards: what was decided outside.
struct Suffix {
  std::vector<double> cost;                        // by functional, constants included
  std::vector<std::array<Count, kMaxDims>> bound;  // by memory from the outside
  std::vector<std::vector<int>> order;             // innermost first
};

class Closing {
 public:
  Closing(Lattice& lattice, Incumbent& incumbent, Meter& meter)
      : lattice_(lattice), p_(lattice.setting().problem), incumbent_(incumbent), meter_(meter), nest_(p_) {}

  double run() {
    functionals_.push_back(lattice_.energy());
    // 1. Each tensor moved once: no lattice needed.
    double cycles = lattice_.steps();
    for (int l = 0; l < p_.levels; ++l) {
      if (!p_.is_memory[l]) continue;
      for (const bool write : {false, true}) {
        if ((write ? p_.write_bandwidth[l] : p_.read_bandwidth[l]) == kInfinity) continue;
        ports_.push_back(lattice_.port(l, write));
        cycles = std::max(cycles, lattice_.least(ports_.back()));
      }
    }
    double bound = value(lattice_.least(functionals_[0]), cycles);
    if (hopeless(bound)) return bound;
    // 2. The least energy over the lattice.
    if (!lattice_.build()) return kInfinity;
    floor_cycles_ = cycles;
    tables_.push_back(lattice_.solve(functionals_[0], energy_limit(0, cycles)));
    if (tables_[0].best == kInfinity) return incumbent_.mapping ? std::max(bound, incumbent_.value) : kInfinity;
    bound = value(tables_[0].best, cycles);
    if (hopeless(bound)) return bound;
    // 3. The mapping of least energy; where no port binds it is the optimum.
    const double before = incumbent_.value;
    floor_cycles_ = cycles;
    greedy();
    if (hopeless(bound) || meter_.out_of_time()) return bound;
    // 4. Otherwise bound the ports too, and search.
    for (const Functional& port : ports_) {
      functionals_.push_back(port);
      tables_.push_back(lattice_.solve(port, kInfinity));
      cycles = std::max(cycles, tables_.back().best);
    }
    floor_cycles_ = cycles;
    bound = value(tables_[0].best, cycles);
    (void)before;
    if (hopeless(bound)) return bound;
    explore();
    return meter_.expired ? bound : std::max(bound, incumbent_.value);
  }

 private:
  double value(double energy, double cycles) const {
    return objective_bound(p_, lattice_.setting().task.objective, energy, cycles);
  }
  bool hopeless(double bound) const { return bound >= incumbent_.value * (1 - kRounding); }

  /// Follow the energy table inwards; every step is the best one.
  void greedy() {
    const int k = lattice_.stages() - 1;
    Suffix suffix = empty_suffix(1);
    const double target = tables_[0].best - functionals_[0].constant;
    descend_greedily(k, target, suffix);
  }

  Suffix empty_suffix(std::size_t functionals) const {
    Suffix suffix;
    for (std::size_t f = 0; f < functionals; ++f) suffix.cost.push_back(functionals_[f].constant);
    return suffix;
  }

  /// Statuses that the outermost memory can end with.
  std::vector<Status> ends() const {
    std::vector<Status> found{lattice_.initial_status()};
    std::vector<Status> all;
    // Any combination of pending transfers is tried; those that cannot occur have no steps.
    Status status{};
    const auto extend = [&](auto&& self, int x) -> void {
      if (x == p_.tensors) {
        all.push_back(status);
        return;
      }
      int count = 0;
      for (const Pair& pair : lattice_.pairs()) count += pair.tensor == x ? 1 : 0;
      for (int j = 0; j <= count; ++j) {
        status[x] = static_cast<std::int8_t>(j);
        self(self, x + 1);
      }
      // Staying operands end at their keeper, or (custom conventions) may last to the end.
      if (!lattice_.setting().within)
        for (std::size_t r = 0; r < lattice_.repetition_kinds(x); ++r) {
          status[x] = static_cast<std::int8_t>(kStaying + static_cast<int>(r));
          self(self, x + 1);
        }
      status[x] = 0;
    };
    extend(extend, 0);
    return all;
  }

  void descend_greedily(int k, double target, Suffix& suffix) {
    std::vector<const Functional*> functional{&functionals_[0]};
    std::vector<Lattice::Step> steps;
    Lattice::Step best;
    best.value = kInfinity;
    const double slack = std::abs(target) * 1e-12 + 1e-9;
    for (const Status& end : ends()) {
      const double pending = lattice_.pending_at_end(end, functionals_[0]);
      steps.clear();
      lattice_.steps_into(k, lattice_.final_node(), end, functional, tables_[0], target - pending + slack, steps);
      for (Lattice::Step& step : steps) {
        step.value += pending;
        if (step.value < best.value) best = std::move(step);
      }
    }
    if (best.value == kInfinity) return;
    int end = lattice_.final_node();
    while (true) {
      suffix.bound.emplace_back();
      lattice_.bounds(k, best.node, end, suffix.bound.back());
      suffix.order.push_back(best.order);
      if (k == 0) break;
      const double left = table_value(k, best.before, best.node);
      std::vector<int> under;
      lattice_.nodes_under(k, best.node, under);
      Lattice::Step next;
      next.value = kInfinity;
      int next_end = 0;
      for (const int node : under) {
        steps.clear();
        lattice_.steps_into(k - 1, node, best.before, functional, tables_[0], left + std::abs(left) * 1e-12 + 1e-9,
                            steps);
        for (Lattice::Step& step : steps)
          if (step.value < next.value) {
            next = std::move(step);
            next_end = node;
          }
      }
      if (next.value == kInfinity) return;
      best = std::move(next);
      end = next_end;
      --k;
    }
    price(suffix);
  }

  double table_value(int k, const Status& status, int node, std::size_t f = 0) const {
    const auto entry = tables_[f].before[k].find(status);
    return entry == tables_[f].before[k].end() ? kInfinity : entry->second[static_cast<std::size_t>(node)];
  }

  double suffix_bound(const Suffix& suffix, const std::vector<double>& inside) const {
    double cycles = floor_cycles_;
    for (std::size_t f = 1; f < functionals_.size(); ++f) cycles = std::max(cycles, suffix.cost[f] + inside[f]);
    return value(suffix.cost[0] + inside[0], cycles);
  }

  void explore() {
    Suffix suffix = empty_suffix(functionals_.size());
    for (const Status& end : ends()) {
      Suffix start = suffix;
      for (std::size_t f = 0; f < functionals_.size(); ++f)
        start.cost[f] += lattice_.pending_at_end(end, functionals_[f]);
      expand(lattice_.stages() - 1, lattice_.final_node(), end, start);
      if (meter_.expired) return;
    }
  }

  /// Depth first, best bound first: everything inside memory k, given what was decided outside.
  void expand(int k, int end, const Status& after, Suffix& suffix) {
    if (meter_.out_of_time()) return;
    ++meter_.expanded;
    std::vector<const Functional*> all;
    for (const Functional& functional : functionals_) all.push_back(&functional);
    std::vector<Lattice::Step> steps;
    lattice_.steps_into(k, end, after, all, tables_[0], energy_limit(suffix), steps);
    struct Candidate {
      double bound;
      std::size_t step;
    };
    std::vector<Candidate> candidates;
    std::vector<double> inside(functionals_.size());
    for (std::size_t i = 0; i < steps.size(); ++i) {
      for (std::size_t f = 0; f < functionals_.size(); ++f)
        inside[f] = steps[i].charges[f] + table_value(k, steps[i].before, steps[i].node, f);
      const double bound = suffix_bound(suffix, inside);
      if (!hopeless(bound)) candidates.push_back({bound, i});
    }
    std::sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) {
      return a.bound != b.bound ? a.bound < b.bound : a.step < b.step;
    });
    std::vector<int> under;
    for (const Candidate& candidate : candidates) {
      if (hopeless(candidate.bound)) break;
      const Lattice::Step& step = steps[candidate.step];
      suffix.bound.emplace_back();
      lattice_.bounds(k, step.node, end, suffix.bound.back());
      suffix.order.push_back(step.order);
      for (std::size_t f = 0; f < functionals_.size(); ++f) suffix.cost[f] += step.charges[f];
      if (k == 0) {
        price(suffix);
      } else {
        std::vector<int> nodes;
        lattice_.nodes_under(k, step.node, nodes);
        for (const int node : nodes) expand(k - 1, node, step.before, suffix);
      }
      for (std::size_t f = 0; f < functionals_.size(); ++f) suffix.cost[f] -= step.charges[f];
      suffix.order.pop_back();
      suffix.bound.pop_back();
      if (meter_.expired) return;
    }
  }

  /// Largest energy inside that could still improve on the incumbent.
  double energy_limit(const Suffix& suffix) const {
    double cycles = floor_cycles_;
    for (std::size_t f = 1; f < functionals_.size(); ++f) cycles = std::max(cycles, suffix.cost[f]);
    return energy_limit(suffix.cost[0], cycles);
  }
  double energy_limit(double spent, double cycles) const {
    if (incumbent_.value == kInfinity) return kInfinity;
    double low = 0, high = 1;
    while (value(high, cycles) < incumbent_.value && high < 1e300) high *= 2;
    for (int i = 0; i < 60 && low < high; ++i) {
      const double middle = (low + high) / 2;
      (value(middle, cycles) < incumbent_.value ? low : high) = middle;
    }
    return high - spent;
  }

  void price(const Suffix& suffix) {
    ++meter_.priced;
    const Setting& setting = lattice_.setting();
    Mapping mapping;
    mapping.levels.resize(p_.accelerator.levels.size());
    for (int l = 0; l < p_.levels; ++l) {
      mapping.levels[l].keeps = lattice_.keeps()[l];
      if (!p_.is_memory[l]) mapping.levels[l].spatial = lattice_.spatial().unrolling[l]->loops;
    }
    for (std::size_t i = 0; i < suffix.bound.size(); ++i) {
      const int k = lattice_.stages() - 1 - static_cast<int>(i);
      auto& loops = mapping.levels[setting.memories[k]].temporal;
      for (auto d = suffix.order[i].rbegin(); d != suffix.order[i].rend(); ++d)
        loops.push_back({*d, suffix.bound[i][*d]});
    }
    nest_.load(flatten(p_, mapping));
    const Totals totals = nest_.price();
    const double found = objective_value(setting.task.objective, totals);
    if (found < incumbent_.value) {
      incumbent_.value = found;
      incumbent_.totals = totals;
      incumbent_.mapping = std::move(mapping);
    }
  }

  Lattice& lattice_;
  const Problem& p_;
  Incumbent& incumbent_;
  Meter& meter_;
  Nest nest_;
  std::vector<Functional> functionals_, ports_;
  std::vector<Lattice::Tables> tables_;
  double floor_cycles_ = 0;
};

}  // namespace

bool Meter::out_of_time() {
  if (expired) return true;
  expired = stop.stop_requested() || (deadline && std::chrono::steady_clock::now() >= *deadline);
  return expired;
}

double objective_bound(const Problem& problem, Objective objective, double dynamic_energy, double cycles) {
  Totals totals;
  totals.cycles = std::ceil(cycles * (1 - 1e-12));
  totals.energy_pj = dynamic_energy + problem.leak_pj_per_cycle_total * totals.cycles;
  totals.utilization = problem.macs * problem.cycles_per_mac / (problem.built[problem.levels] * totals.cycles);
  return objective_value(objective, totals);
}

double close_choice(Lattice& lattice, Incumbent& incumbent, Meter& meter) {
  return Closing(lattice, incumbent, meter).run();
}

}  // namespace pliant::exact
