// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/exact_mapper.h"

#include <algorithm>
#include <chrono>
#include <map>

#include "dse/mappers/exact/search.h"

namespace pliant {

namespace {

using Clock = std::chrono::steady_clock;

class ExactMapper final : public Mapper {
 public:
  std::string_view name() const override { return "exact"; }

  SearchResult search(const Task& task, const SearchOptions& options) const override {
    exact::Incumbent incumbent;
    const Problem problem(task.layer, task.accelerator);
    if (task.factorization == Factorization::kPadding) return without_padding(task, options, problem);
    if (task.factorization == Factorization::kRuby || task.factorization == Factorization::kRubyT) {
      // The lattice finds good mappings with temporal remainders, but its tables are not proven to be bounds there.
      SearchResult result = prove(task, options, {});
      return only_found(std::move(result), task, problem, "lattice without proof");
    }
    if (!exact::Setting(task, problem).walks) return prove(task, options, std::move(incumbent));
    // Timeloop's window memory finds reuse that depends on more than the node. A good mapping comes from the run rule,
    // whose words are never fewer; the proof then goes as far as the budget allows.
    Task simpler = task;
    simpler.accelerator.conventions.halo = Conventions::Halo::kRun;
    const SearchResult first = prove(simpler, options, {});
    if (first.mapping) {
      Nest nest(problem);
      nest.load(flatten(problem, *first.mapping));
      incumbent = {first.mapping, nest.price(), 0};
      incumbent.value = objective_value(task.objective, incumbent.totals);
    }
    SearchOptions limited = options;
    if (limited.budget.seconds == 0) limited.budget.seconds = kDefaultProofSeconds;
    limited.budget.seconds = std::max(1e-3, limited.budget.seconds - first.seconds);
    SearchResult result = prove(task, limited, std::move(incumbent));
    result.seconds += first.seconds;
    result.evaluations += first.evaluations;
    return result;
  }

 private:
  static constexpr double kDefaultProofSeconds = 2;

  /// Padded sizes multiply the lattices; the best mapping that needs no padding is given, with the bound of the MACs.
  static SearchResult without_padding(const Task& task, const SearchOptions& options, const Problem& problem) {
    Task perfect = task;
    perfect.factorization = Factorization::kPerfect;
    return only_found(prove(perfect, options, {}), task, problem, "perfect factors only");
  }

  /// A result that claims nothing but the bound of the MACs: their energy, on all units.
  static SearchResult only_found(SearchResult result, const Task& task, const Problem& problem, std::string ended_by) {
    result.certified = result.infeasible = false;
    result.lower_bound = exact::objective_bound(problem, task.objective, problem.macs * problem.mac_pj,
                                                problem.macs * problem.cycles_per_mac / problem.built[problem.levels]);
    if (result.ended_by == "proof") result.ended_by = std::move(ended_by);
    return result;
  }

  struct Candidate {
    double bound;
    std::size_t spatial, keeps;
  };

  /// A bound for every choice: each tensor moved once between its keepers. Tensors are independent of each other here,
  /// so each pattern of keepers is looked at once per tensor, not once per combination.
  static std::vector<Candidate> bound_choices(const exact::Setting& setting, const std::vector<exact::Spatial>& spatial,
                                              const std::vector<exact::Keeps>& keeps) {
    const Problem& problem = setting.problem;
    // 1. The patterns of keepers of each tensor, with a choice that has it.
    std::vector<std::vector<std::size_t>> example(static_cast<std::size_t>(problem.tensors));
    std::vector<std::array<std::size_t, kMaxTensors>> pattern(keeps.size());
    for (int x = 0; x < problem.tensors; ++x) {
      std::map<std::uint32_t, std::size_t> seen;
      for (std::size_t j = 0; j < keeps.size(); ++j) {
        std::uint32_t bits = 0;
        for (int l = 0; l < problem.levels; ++l) bits |= (keeps[j][l] >> x & 1U) << l;
        const auto [entry, fresh] = seen.try_emplace(bits, seen.size());
        if (fresh) example[x].push_back(j);
        pattern[j][x] = entry->second;
      }
    }
    std::vector<Bound> ports;
    for (int l = 0; l < problem.levels; ++l)
      for (const bool write : {false, true})
        if (problem.is_memory[l] && (write ? problem.write_bandwidth[l] : problem.read_bandwidth[l]) < 1e300)
          ports.push_back({l, write});
    // 2. Their shares of energy and of every port, then the sums.
    std::vector<Candidate> candidates;
    candidates.reserve(spatial.size() * keeps.size());
    const std::size_t kinds = 1 + ports.size();
    std::vector<std::vector<double>> share(static_cast<std::size_t>(problem.tensors));
    std::vector<double> total(kinds);
    for (std::size_t i = 0; i < spatial.size(); ++i) {
      double steps = 0;
      for (int x = 0; x < problem.tensors; ++x) {
        share[x].clear();
        for (const std::size_t j : example[x]) {
          const exact::Lattice lattice(setting, spatial[i], keeps[j]);
          steps = lattice.steps();
          share[x].push_back(lattice.least_of(x, lattice.energy()));
          for (const Bound& port : ports) share[x].push_back(lattice.least_of(x, lattice.port(port.level, port.write)));
        }
      }
      for (std::size_t j = 0; j < keeps.size(); ++j) {
        std::fill(total.begin(), total.end(), 0.0);
        for (int x = 0; x < problem.tensors; ++x)
          for (std::size_t f = 0; f < kinds; ++f) total[f] += share[x][pattern[j][x] * kinds + f];
        double cycles = steps;
        for (std::size_t f = 1; f < kinds; ++f) cycles = std::max(cycles, total[f]);
        candidates.push_back(
            {exact::objective_bound(problem, setting.task.objective, problem.macs * problem.mac_pj + total[0], cycles),
             i, j});
      }
    }
    return candidates;
  }

  static SearchResult prove(const Task& task, const SearchOptions& options, exact::Incumbent incumbent) {
    const auto started = Clock::now();
    const Problem problem(task.layer, task.accelerator);
    const exact::Setting setting(task, problem);
    exact::Meter meter;
    meter.stop = options.stop;
    if (options.budget.seconds > 0)
      meter.deadline =
          started + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(options.budget.seconds));
    // 1. All spatial and keep choices, most promising first.
    std::vector<std::vector<exact::Unrolling>> by_level(static_cast<std::size_t>(problem.levels));
    for (int l = 0; l < problem.levels; ++l)
      if (!problem.is_memory[l]) by_level[l] = exact::unrollings(task, problem, l);
    const std::vector<exact::Spatial> spatial = exact::spatial_choices(task, problem, by_level);
    const std::vector<exact::Keeps> keeps = exact::keep_choices(problem);
    std::vector<Candidate> candidates = bound_choices(setting, spatial, keeps);
    std::stable_sort(candidates.begin(), candidates.end(),
                     [](const Candidate& a, const Candidate& b) { return a.bound < b.bound; });
    // 2. Tables of one choice after the other until the bound says the rest cannot be better.
    double lower = std::numeric_limits<double>::infinity();
    std::vector<Candidate> open;
    for (const Candidate& candidate : candidates) {
      if (candidate.bound >= incumbent.value || meter.expired) {
        lower = std::min(lower, candidate.bound);
        break;
      }
      exact::Lattice lattice(setting, spatial[candidate.spatial], keeps[candidate.keeps]);
      const double bound = exact::bound_choice(lattice, incumbent, meter);
      if (bound < incumbent.value) open.push_back({bound, candidate.spatial, candidate.keeps});
    }
    // 3. Search what the tables could not decide; by now the incumbent is good.
    std::stable_sort(open.begin(), open.end(),
                     [](const Candidate& a, const Candidate& b) { return a.bound < b.bound; });
    for (const Candidate& candidate : open) {
      if (candidate.bound >= incumbent.value * (1 - 1e-11) || meter.expired) {
        lower = std::min(lower, candidate.bound);
        break;
      }
      exact::Lattice lattice(setting, spatial[candidate.spatial], keeps[candidate.keeps]);
      lower = std::min(lower, exact::close_choice(lattice, incumbent, meter));
    }
    SearchResult result;
    result.evaluations = meter.priced;
    result.seconds = std::chrono::duration<double>(Clock::now() - started).count();
    result.mapping = incumbent.mapping;
    result.totals = incumbent.totals;
    result.value = incumbent.value;
    result.infeasible = !incumbent.mapping && !meter.expired;
    result.certified = incumbent.mapping && !meter.expired;
    result.lower_bound = result.certified ? incumbent.value : std::min(lower, incumbent.value);
    result.ended_by = meter.expired ? "budget" : "proof";
    return result;
  }
};

}  // namespace

std::unique_ptr<Mapper> make_exact_mapper() { return std::make_unique<ExactMapper>(); }

}  // namespace pliant
