// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/genetic/genetic_mapper.h"

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

#include "core/arithmetic.h"
#include "dse/mappers/mapper_options.h"
#include "dse/mappers/space.h"
#include "flex/mapspace/random_draws.h"
#include "flex/mapspace/sampler.h"

namespace pliant {

namespace {

constexpr int kTileDraws = 3;          ///< GAMMA tries three tile mutations per child
constexpr int kRedraws = 16;           ///< draws of a gene until the child is legal again
constexpr int kDrawsPerMember = 5000;  ///< draws for one legal member of the first population

struct GeneticOptions {
  double population = 100, generations = 100;
  double crossover = 0.57, reorder = 0.47, tile = 0.53, parallel = 0.1, bypass = 0.1;
  double parents = 0.4, elite = 0.05;
};

struct Individual {
  std::array<Chain, kMaxDims> chain;
  std::array<std::array<std::uint8_t, kMaxDims>, kMaxLevels> order{};  ///< of all dims, whether they loop or not
  std::array<TensorSet, kMaxLevels> keeps{};
  double value = kInfinity;
  Totals totals;
};

class Evolution {
 public:
  Evolution(const Task& task, const SearchOptions& options, const GeneticOptions& genetic)
      : space_(task),
        sampler_(space_),
        pricer_(space_),
        options_(options),
        genetic_(genetic),
        random_(random_stream(options.seed, 0)),
        deadline_(options, 16) {}

  SearchResult run() {
    SearchResult result;
    result.ended_by = EndedBy::kGenerations;
    if (sampler_.empty()) {
      result.infeasible = true;
      result.ended_by = EndedBy::kProof;
      return result;
    }
    first_population();
    if (population_.empty()) grow_population();
    const auto size = static_cast<std::size_t>(genetic_.population);
    for (int g = 1; g < static_cast<int>(genetic_.generations) && !population_.empty(); ++g) {
      select();
      const std::size_t parents =
          std::max<std::size_t>(1, static_cast<std::size_t>(genetic_.parents * genetic_.population));
      const std::size_t elite =
          std::max<std::size_t>(1, static_cast<std::size_t>(genetic_.elite * genetic_.population));
      population_.resize(std::min(population_.size(), parents));
      const std::vector<Individual> pool = population_;
      population_.resize(std::min(population_.size(), elite));
      while (population_.size() < size && !deadline_.reached()) population_.push_back(child(pool));
      if (deadline_.look()) {
        result.ended_by = deadline_.stopped() ? EndedBy::kStopped : EndedBy::kBudget;
        break;
      }
      if (options_.budget.evaluations > 0 && evaluations_ >= options_.budget.evaluations) {
        result.ended_by = EndedBy::kEvaluations;
        break;
      }
    }
    result.evaluations = evaluations_;
    result.seconds = deadline_.seconds();
    if (population_.empty()) {  // the time may have ended before a first mapping was drawn
      result.ended_by = deadline_.stopped() ? EndedBy::kStopped
                        : deadline_.over()  ? EndedBy::kBudget
                                            : EndedBy::kNoValidMappingDrawn;
      return result;
    }
    const Individual& best = *std::min_element(population_.begin(), population_.end(), fitter);
    result.mapping = space_.mapping(candidate(best));
    result.totals = best.totals;
    result.value = best.value;
    return result;
  }

 private:
  static bool fitter(const Individual& a, const Individual& b) { return better(a.value, a.totals, b.value, b.totals); }
  std::size_t pick(std::size_t n) { return below(random_, n); }
  bool chance(double p) { return unit(random_) < p; }

  static Candidate candidate(const Individual& one) {
    Candidate candidate;
    for (int d = 0; d < kMaxDims; ++d) candidate.chain[d] = &one.chain[d];
    candidate.order = one.order;
    candidate.keeps = one.keeps;
    return candidate;
  }

  void evaluate(Individual& one) {
    pricer_.load(candidate(one));
    one.totals = pricer_.price();
    one.value = task_value(space_.task, one.totals);
    if (++evaluations_; one.value < best_value_) {
      best_value_ = one.value;
      if (options_.on_progress) options_.on_progress({best_value_, 0, evaluations_, deadline_.seconds()});
    }
  }

  void draw_order(Individual& one, int level) {
    const DimSet all = (DimSet{1} << space_.dims) - 1;
    draw_order(one, level, all);
  }
  void draw_order(Individual& one, int level, DimSet loops) {
    one.order[level] = space_.rules.memory(level).orders.choose(loops, [this](std::size_t n) { return pick(n); });
  }

  /// An order of all dims serves whichever of them loop, unless a rule cannot be kept by all of them at once: then it
  /// is drawn again for the loops that are there.
  bool orders_hold(Individual& one) {
    return std::all_of(space_.memories.begin(), space_.memories.end(), [&](int l) {
      for (int i = 0; i < kRedraws; ++i) {
        if (space_.order_allowed(l, candidate(one))) return true;
        draw_order(one, l, space_.loops_at(l, candidate(one)));
      }
      return false;
    });
  }

  void first_population() {
    const auto size = static_cast<std::size_t>(genetic_.population);
    for (int draws = kDrawsPerMember * static_cast<int>(genetic_.population);
         draws > 0 && population_.size() < size && !deadline_.reached(); --draws) {
      if (!sampler_.draw(random_)) continue;
      Individual one;
      for (int d = 0; d < space_.dims; ++d) one.chain[d] = *sampler_.candidate().chain[d];
      one.keeps = sampler_.candidate().keeps;
      for (const int l : space_.memories) draw_order(one, l);
      if (!orders_hold(one) || !space_.legal(candidate(one))) continue;
      evaluate(one);
      population_.push_back(one);
    }
  }

  /// Where whole draws break a joint limit nearly always (large dims, a small buffer): every member starts with all
  /// loops at the outermost place of each dim, and takes another chain for one dim after the other while the limits
  /// hold.
  void grow_population() {
    Individual plain;
    for (int d = 0; d < space_.dims; ++d) {
      std::vector<Count> bounds(space_.slots(d).size(), 1);
      if (!bounds.empty()) bounds.front() = space_.size(d);
      plain.chain[d] = space_.make_chain(d, bounds);
    }
    for (const int l : space_.memories) {
      plain.keeps[l] = space_.keep_sets(l).back();
      draw_order(plain, l);
    }
    if (!orders_hold(plain) || !space_.legal(candidate(plain))) return;
    const auto size = static_cast<std::size_t>(genetic_.population);
    while (population_.size() < size && !deadline_.reached()) {
      Individual one = plain;
      for (const int l : space_.memories) reorder(one, l);
      for (int i = 0; i < 2 * space_.dims; ++i) mutate_tile(one);
      evaluate(one);
      population_.push_back(one);
    }
  }

  /// Best first, each mapping once.
  void select() {
    std::stable_sort(population_.begin(), population_.end(), fitter);
    const auto same = [this](const Individual& a, const Individual& b) {
      if (a.value != b.value || a.keeps != b.keeps || a.order != b.order) return false;
      for (int d = 0; d < space_.dims; ++d)
        if (a.chain[d].bound != b.chain[d].bound || a.chain[d].rows != b.chain[d].rows) return false;
      return true;
    };
    population_.erase(std::unique(population_.begin(), population_.end(), same), population_.end());
  }

  Individual child(const std::vector<Individual>& pool) {
    Individual one = pool[pick(pool.size())];
    if (chance(genetic_.crossover)) crossover(one, pool[pick(pool.size())]);
    for (int i = 0; i < kTileDraws; ++i)
      if (chance(genetic_.tile)) mutate_tile(one);
    if (chance(genetic_.parallel)) mutate_parallel(one);
    if (chance(genetic_.reorder)) reorder(one);
    if (chance(genetic_.bypass)) mutate_bypass(one);
    evaluate(one);
    return one;
  }

  /// What several genes decide together. Orders may be drawn again for it.
  bool joint_limits_hold(Individual& one) {
    const Candidate now = candidate(one);
    if (!space_.fanouts_allowed(now, space_.dims)) return false;
    const bool fits = std::all_of(space_.memories.begin(), space_.memories.end(),
                                  [&](int l) { return space_.memory_allowed(l, now, one.keeps[l]); });
    if (!fits) return false;
    const auto orders = one.order;
    if (orders_hold(one)) return true;
    one.order = orders;
    return false;
  }

  /// One dim's loops at all levels come from the other parent.
  void crossover(Individual& one, const Individual& other) {
    const std::size_t d = pick(static_cast<std::size_t>(space_.dims));
    const Chain before = std::exchange(one.chain[d], other.chain[d]);
    if (!joint_limits_hold(one)) one.chain[d] = before;
  }

  /// Another chain for one dim.
  void mutate_tile(Individual& one) {
    const std::size_t d = pick(static_cast<std::size_t>(space_.dims));
    const Chain before = one.chain[d];
    for (int i = 0; i < kRedraws; ++i) {
      one.chain[d] = *sampler_.chains(static_cast<int>(d)).draw(random_);
      if (joint_limits_hold(one)) return;
    }
    one.chain[d] = before;
  }

  /// Two dims are drawn together until which of them run in parallel has changed.
  void mutate_parallel(Individual& one) {
    if (space_.fanouts.empty() || space_.dims < 2) return;
    const int l = space_.fanouts[pick(space_.fanouts.size())];
    const std::size_t a = pick(static_cast<std::size_t>(space_.dims)), b = pick(static_cast<std::size_t>(space_.dims));
    if (a == b) return;
    const Chain before_a = one.chain[a], before_b = one.chain[b];
    for (int i = 0; i < kRedraws; ++i) {
      one.chain[a] = *sampler_.chains(static_cast<int>(a)).draw(random_);
      one.chain[b] = *sampler_.chains(static_cast<int>(b)).draw(random_);
      const bool changed = (one.chain[a].bound[l] > 1) != (before_a.bound[l] > 1) ||
                           (one.chain[b].bound[l] > 1) != (before_b.bound[l] > 1);
      if (changed && joint_limits_hold(one)) return;
    }
    one.chain[a] = before_a;
    one.chain[b] = before_b;
  }

  /// Two loops of one memory change places; where only some orders are allowed, another of those.
  void reorder(Individual& one) { reorder(one, space_.memories[pick(space_.memories.size())]); }
  void reorder(Individual& one, int l) {
    if (!space_.any_order(l)) {
      const auto before = one.order[l];
      draw_order(one, l);
      if (!orders_hold(one)) one.order[l] = before;
      return;
    }
    const auto n = static_cast<std::size_t>(space_.dims);
    std::swap(one.order[l][pick(n)], one.order[l][pick(n)]);
  }

  void mutate_bypass(Individual& one) {
    const int l = space_.memories[pick(space_.memories.size())];
    const TensorSet before = one.keeps[l];
    one.keeps[l] = space_.keep_sets(l)[pick(space_.keep_sets(l).size())];
    if (!joint_limits_hold(one)) one.keeps[l] = before;
  }

  Space space_;
  Sampler sampler_;
  Pricer pricer_;
  const SearchOptions& options_;
  const GeneticOptions genetic_;
  std::mt19937_64 random_;
  Deadline deadline_;
  std::vector<Individual> population_;
  std::uint64_t evaluations_ = 0;
  double best_value_ = kInfinity;
};

class GeneticMapper final : public Mapper {
 public:
  std::string_view name() const override { return "genetic"; }
  SearchResult search(const Task& task, const SearchOptions& options) const override {
    GeneticOptions genetic;
    read_mapper_options(name(), options,
                        {{"population", &genetic.population, 2, 1e6},
                         {"generations", &genetic.generations, 1, 1e6},
                         {"crossover", &genetic.crossover, 0, 1},
                         {"reorder", &genetic.reorder, 0, 1},
                         {"tile", &genetic.tile, 0, 1},
                         {"parallel", &genetic.parallel, 0, 1},
                         {"bypass", &genetic.bypass, 0, 1},
                         {"parents", &genetic.parents, 0, 1},
                         {"elite", &genetic.elite, 0, 1}});
    return Evolution(task, options, genetic).run();
  }
};

}  // namespace

std::unique_ptr<Mapper> make_genetic_mapper() { return std::make_unique<GeneticMapper>(); }

}  // namespace pliant
