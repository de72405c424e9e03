// SPDX-License-Identifier: Apache-2.0
#include "support/campaign.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include <fmt/format.h>

#include "core/input/diagnostics.h"
#include "dse/mappers/frontier.h"
#include "dse/mappers/predicted.h"
#include "support/campaign_cases.h"
#include "support/draw.h"
#include "support/network_agreement.h"
#include "support/shrink.h"

namespace pliant::tests {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Sums of the same products in different orders differ by less.
constexpr double kSame = 1e-9;

/// Legal mappings of a case at most: then a case takes about a millisecond.
constexpr const char* kMostMappings = "1500";

/// The proven optimum, infinity where nothing is legal, nothing where the proof is open.
std::optional<double> optimum(const Task& task) {
  const SearchResult result = run_mapper(*make_mapper("exact"), task, {});
  if (result.infeasible) return kInfinity;
  return result.certified ? std::optional(result.value) : std::nullopt;
}

bool same(double a, double b) { return a == b || std::abs(a - b) <= kSame * std::max(std::abs(a), std::abs(b)); }

/// One rule less.
bool free_a_rule(Task& task, Draw& draw) {
  LevelFlexibility& rules =
      task.flexibility
          .levels[static_cast<std::size_t>(draw.from(0, static_cast<Count>(task.flexibility.levels.size()) - 1))];
  const LevelFlexibility before = rules;
  switch (draw.from(0, 4)) {
    case 0: rules.tile.fixed.clear(); break;
    case 1: rules.tile.partition.reset(); break;
    case 2: rules.order.allowed.clear(); break;
    case 3: rules.loops.dims.reset(); break;
    default: rules.parallel = {};
  }
  return rules != before;
}

bool add_capacity(Task& task, Draw& draw) {
  bool changed = false;
  for (Level& level : task.accelerator.levels) {
    if (!level.is_memory() || !level.memory().capacity_words || draw.chance(0.3)) continue;
    level.memory().capacity_words = *level.memory().capacity_words + draw.from(1, 8) * level.memory().buffers;
    changed = true;
  }
  return changed;
}

/// More units do not change what a mapping costs, except that idle ones leak and count as unused, and that a systolic
/// array takes longer to fill.
bool add_units(Task& task, Draw& draw) {
  if (task.objective == Objective::kEdpOverUtilization) return false;
  bool changed = false;
  for (std::size_t l = 0; l < task.accelerator.levels.size(); ++l) {
    Level& level = task.accelerator.levels[l];
    if (level.is_memory() && level.memory().leak_pj_per_cycle != 0) return false;
    if (level.is_compute() && level.compute().leak_pj_per_cycle != 0) return false;
    if (level.is_fanout() && level.fanout().systolic) return false;
    if (!level.is_fanout() || task.flexibility.levels[l].shape.kind == ShapeRule::Kind::kBlocks) continue;
    level.fanout().cols += draw.from(1, 2);
    changed = true;
  }
  return changed;
}

/// Remainders are allowed, not asked for. Fixed tiles of memories with remainders are read otherwise.
bool allow_remainders(Task& task) {
  if (task.factorization != Factorization::kPerfect) return false;
  task.factorization = Factorization::kRubyS;
  return true;
}

/// Other names, in another order.
bool rename_and_reorder(Task& task, Draw& draw) {
  Layer& layer = task.layer;
  layer.operation = Operation::kEinsum;
  layer.written_as.clear();
  std::vector<int> place(layer.dims.size());
  for (std::size_t d = 0; d < place.size(); ++d) place[d] = static_cast<int>(d);
  draw.shuffle(place);
  std::vector<Dim> dims(layer.dims.size());
  const auto renamed = [&](std::string& name) {
    if (layer.find_dim(name) >= 0) name = "new_" + name;
  };
  for (LevelFlexibility& rules : task.flexibility.levels) {
    for (TileRule::Tile& tile : rules.tile.fixed) renamed(tile.dim);
    for (OrderPattern& pattern : rules.order.allowed)
      for (std::string& name : pattern.dims) renamed(name);
    if (rules.loops.dims)
      for (std::string& name : *rules.loops.dims) renamed(name);
    for (Assignment& assignment : rules.parallel.assignments)
      for (auto* side : {&assignment.rows, &assignment.cols})
        for (std::string& name : *side) renamed(name);
  }
  for (std::size_t d = 0; d < place.size(); ++d)
    dims[static_cast<std::size_t>(place[d])] = {"new_" + layer.dims[d].name, layer.dims[d].size};
  layer.dims = std::move(dims);
  for (Tensor& tensor : layer.tensors) {
    tensor.name = "new_" + tensor.name;
    for (Rank& rank : tensor.ranks)
      for (Term& term : rank.terms) term.dim = place[static_cast<std::size_t>(term.dim)];
  }
  draw.shuffle(layer.tensors);
  for (Level& level : task.accelerator.levels) level.name = "new_" + level.name;
  return true;
}

void double_energies(Task& task) {
  for (Level& level : task.accelerator.levels) {
    if (level.is_memory())
      for (double Memory::*energy :
           {&Memory::read_pj, &Memory::write_pj, &Memory::update_pj, &Memory::leak_pj_per_cycle})
        level.memory().*energy *= 2;
    if (level.is_fanout()) level.fanout().pj_per_bit *= 2;
    if (level.is_compute()) level.compute().mac_pj *= 2, level.compute().leak_pj_per_cycle *= 2;
  }
}

/// A search within a gap says nothing that the optimum contradicts, on one thread or three.
std::optional<std::string> broken_gap(const Task& task, double gap) {
  const std::optional<double> best = optimum(task);
  if (!best) return std::nullopt;
  SearchOptions options;
  options.gap = gap;
  const SearchResult close = run_mapper(*make_mapper("exact"), task, options);
  options.threads = 3;
  const SearchResult again = run_mapper(*make_mapper("exact"), task, options);
  const double value = close.mapping ? close.value : kInfinity;
  const bool holds = close.mapping
                         ? value * (1 - gap) <= *best * (1 + kSame) && close.lower_bound <= *best * (1 + kSame)
                         : *best == kInfinity;
  if (holds && proven(close) && again.mapping == close.mapping && again.lower_bound == close.lower_bound)
    return std::nullopt;
  return fmt::format("gap {}: {} (bound {}, {}), with three threads bound {}; the optimum is {}", gap, value,
                     close.lower_bound, to_string(close.ended_by), again.lower_bound, *best);
}

}  // namespace

bool mixes_conventions(const Task& task) { return !Conventions::preset(task.accelerator.conventions.name()); }

Judgement compare_with_enumeration(const Task& task) {
  SearchOptions options;
  options.extra = {{"limit", kMostMappings}};
  SearchResult truth;
  try {
    truth = make_mapper("exhaustive")->search(task, options);
  } catch (const InputError&) {
    return {Outcome::kTooLarge, ""};
  }
  SearchResult exact;
  try {
    exact = run_mapper(*make_mapper("exact"), task, {});
  } catch (const std::logic_error& wrong) {
    return {Outcome::kDiffers, wrong.what()};
  }
  const auto differs = [&](const std::string& what) {
    return Judgement{
        Outcome::kDiffers,
        fmt::format("{}: exact {} (bound {}, {}), enumeration {}", what, exact.mapping ? exact.value : kInfinity,
                    exact.lower_bound, to_string(exact.ended_by), truth.mapping ? truth.value : kInfinity)};
  };
  if (!truth.mapping) return exact.mapping ? differs("a mapping where none is legal") : Judgement{};
  if (mixes_conventions(task))
    return exact.certified || exact.infeasible || exact.lower_bound > 0 ? differs("a claim under mixed conventions")
                                                                        : Judgement{};
  if (exact.infeasible) return differs("proven infeasible");
  if (exact.lower_bound > truth.value * (1 + kSame)) return differs("a lower bound above the optimum");
  if (!exact.certified) return {Outcome::kOpen, ""};
  return same(exact.value, truth.value) ? Judgement{} : differs("a wrong certificate");
}

Task with_deadline(Task task, std::uint64_t seed) {
  Draw draw(seed * 0x9E3779B97F4A7C15ULL + 17);
  const SearchResult best = make_mapper("exact")->search(task, {});
  Task race = task;
  race.objective = Objective::kRuntime;
  const SearchResult fast = make_mapper("exact")->search(race, {});
  if (!best.mapping || !fast.mapping) return task;
  const double fewest = fast.totals.cycles, wanted = best.totals.cycles;
  // What nothing meets, what only the fastest do, what some do, what the best one just misses and just meets.
  const std::vector<double> drawn{0.97 * fewest, fewest, fewest + 0.3 * (wanted - fewest), 0.999 * wanted, wanted};
  task.most_cycles = draw.of(drawn);
  return task;
}

Judgement compare_prediction(const Task& task, std::uint64_t seed) {
  if (task.objective == Objective::kEdpOverUtilization) return {Outcome::kTooLarge, ""};
  Draw draw(seed * 0x9E3779B97F4A7C15ULL + 23);
  Task asked = task;
  asked.most_cycles = kInfinity;
  asked.accelerator.clock_hz = 1e9;
  const SearchResult some = make_mapper("exact")->search(asked, {});
  if (!some.mapping || some.totals.energy_pj <= 0) return {Outcome::kTooLarge, ""};
  // Around what one mapping takes: a limit that never binds, one that binds some, one that binds all.
  const double seconds = some.totals.cycles * 1e-9, watts = some.totals.energy_pj * 1e-12 / seconds;
  PredictionFigures prediction;
  const std::vector<double> parts{0, 0.1, 1, 3}, limits{0.3, 0.9, 1.0, 1.1, 4}, shares{1, 1, 0.5, 0.8};
  prediction.overhead_s = draw.of(parts) * seconds;
  prediction.idle_w = draw.of(parts) * watts;
  if (draw.chance(0.8)) {
    const double standing = standing_w(asked.accelerator, prediction);
    prediction.power_limit_w = standing + draw.of(limits) * watts;
  }
  for (std::size_t l = 0; l < asked.accelerator.levels.size(); ++l) prediction.achievable.push_back(draw.of(shares));
  Task real = asked;
  real.accelerator = achievable_accelerator(asked.accelerator, prediction);
  SearchOptions all;
  all.extra = {{"limit", kMostMappings}};
  Frontier frontier;
  try {
    frontier = search_frontier(*make_mapper("exhaustive"), real, all);
  } catch (const InputError&) {
    return {Outcome::kTooLarge, ""};
  }
  const Predictor predictor(asked.accelerator, prediction);
  double least = kInfinity;
  for (const SearchResult& point : frontier.points)
    least = std::min(least, predictor.value(task.objective, point.totals.energy_pj, point.totals.cycles));
  const PredictedOptimum found = search_predicted(*make_mapper("exact"), asked, prediction, {});
  const SearchResult& result = found.result;
  const auto differs = [&](const char* what) {
    return Judgement{Outcome::kDiffers, fmt::format("{}: {} (bound {}) after {} searches, enumeration {}", what,
                                                    result.value, result.lower_bound, found.searches, least)};
  };
  if (!result.mapping) return least == kInfinity ? Judgement{} : differs("no mapping");
  if (result.lower_bound > least * (1 + kSame)) return differs("a lower bound above the optimum");
  if (result.value < least * (1 - kSame)) return differs("a value below the optimum");
  if (!result.certified) return {Outcome::kOpen, ""};
  return same(result.value, least) ? Judgement{} : differs("a wrong certificate");
}

std::optional<std::string> broken_relation(const Task& task, int relation, std::uint64_t seed) {
  Draw draw(seed * 0x9E3779B97F4A7C15ULL + 11);
  Task changed = task;
  bool equal = false;
  double factor = 1;
  const char* name = "";
  switch (relation) {
    case 0:
      name = "one rule less";
      if (!free_a_rule(changed, draw)) return std::nullopt;
      break;
    case 1:
      name = "more capacity";
      if (!add_capacity(changed, draw)) return std::nullopt;
      break;
    case 2:
      name = "more units";
      if (!add_units(changed, draw)) return std::nullopt;
      break;
    case 3:
      name = "remainders at fanouts";
      if (!allow_remainders(changed)) return std::nullopt;
      break;
    case 4:
      name = "free shapes";
      for (LevelFlexibility& rules : changed.flexibility.levels) rules.shape = {ShapeRule::Kind::kFree, 1, 1};
      break;
    case 5:
      name = "other names and orders";
      equal = true;
      // Demands are quotients that are summed tensor by tensor and rounded up, as in the model it follows: 13 words at
      // half a word a cycle over 6 steps take 26 or 27 cycles, by the order of the tensors.
      if (task.accelerator.conventions.stall_rounding == Conventions::StallRounding::kDemandRatio) return std::nullopt;
      rename_and_reorder(changed, draw);
      break;
    case 6: return broken_gap(task, 0.01 * static_cast<double>(draw.from(1, 60)));
    default:
      name = "doubled energies";
      equal = true;
      factor = task.objective == Objective::kRuntime ? 1 : 2;
      double_energies(changed);
  }
  const std::optional<double> before = optimum(task), after = optimum(changed);
  if (!before || !after) return std::nullopt;
  const double expected = factor * *before;
  if (same(*after, expected) || (!equal && *after < expected)) return std::nullopt;
  return fmt::format("{}: {} becomes {}, expected {}{}", name, *before, *after, equal ? "" : "at most ", expected);
}

namespace {

/// The task against the enumeration. False: there is nothing more to ask of it.
bool judge_task(const Task& task, const std::string& name, CampaignReport& report) {
  ++report.drawn;
  const Judgement judgement = compare_with_enumeration(task);
  if (judgement.outcome == Outcome::kTooLarge) return false;
  ++report.compared;
  report.open += judgement.outcome == Outcome::kOpen ? 1 : 0;
  if (judgement.outcome != Outcome::kDiffers) return true;
  ++report.differing;
  const Task small =
      shrink(task, [](const Task& t) { return compare_with_enumeration(t).outcome == Outcome::kDiffers; });
  report.first = fmt::format("{}: {}\nshrunk: {}\n{}", name, judgement.what, compare_with_enumeration(small).what,
                             as_commands(small));
  return false;
}

void judge_relation(const Task& task, int relation, std::uint64_t seed, CampaignReport& report) {
  ++report.relations;
  const std::optional<std::string> broken = broken_relation(task, relation, seed);
  if (!broken) return;
  ++report.differing;
  const Task small = shrink(task, [&](const Task& t) { return broken_relation(t, relation, seed).has_value(); });
  report.first = fmt::format("seed {}, relation {}: {}\nshrunk: {}\n{}", seed, relation, *broken,
                             broken_relation(small, relation, seed).value_or(""), as_commands(small));
}

void judge_network(std::uint64_t seed, CampaignReport& report) {
  ++report.drawn;
  const Judgement judgement = compare_network_with_combinations(seed);
  if (judgement.outcome == Outcome::kTooLarge) return;
  ++report.networks;
  report.open_networks += judgement.outcome == Outcome::kOpen ? 1 : 0;
  if (judgement.outcome != Outcome::kDiffers) return;
  ++report.differing;
  report.first = fmt::format("seed {}, network: {}", seed, judgement.what);
}

void judge_prediction(const Task& task, std::uint64_t seed, CampaignReport& report) {
  ++report.drawn;
  const Judgement judgement = compare_prediction(task, seed);
  if (judgement.outcome == Outcome::kTooLarge) return;
  ++report.predictions;
  report.open_predictions += judgement.outcome == Outcome::kOpen ? 1 : 0;
  if (judgement.outcome != Outcome::kDiffers) return;
  ++report.differing;
  report.first = fmt::format("seed {}, prediction: {}\n{}", seed, judgement.what, as_commands(task));
}

/// The task of a seed. One that mixes conventions, of which exact claims nothing, is asked under a preset.
Task asked(std::uint64_t seed) {
  Task task = campaign_task(seed);
  if (mixes_conventions(task))
    task.accelerator.conventions = *Conventions::preset(Conventions::preset_names()[seed % 3]);
  return task;
}

/// One task; of four one with a relation and one with a deadline as well, of eight one with a prediction, and
/// of sixteen one with a network.
void judge_seed(std::uint64_t seed, CampaignReport& report) {
  const Task task = asked(seed);
  if (judge_task(task, fmt::format("seed {}", seed), report)) {
    if (const auto relation = static_cast<int>(seed % (4 * kRelations)); relation < kRelations)
      judge_relation(task, relation, seed, report);
    if (seed % 4 == 3) {
      ++report.deadlines;
      judge_task(with_deadline(task, seed), fmt::format("seed {} with a deadline", seed), report);
    }
    if (seed % 8 == 5 && report.differing == 0) judge_prediction(task, seed, report);
  }
  if (seed % 16 == 10 && report.differing == 0) judge_network(seed, report);
}

}  // namespace

CampaignReport run_campaign(std::uint64_t seed, std::uint64_t cases) {
  CampaignReport report;
  for (; report.compared < cases && report.differing == 0; ++seed) judge_seed(seed, report);
  return report;
}

CampaignReport run_seeds(std::uint64_t first, std::uint64_t count) {
  CampaignReport report;
  for (std::uint64_t seed = first; seed < first + count && report.differing == 0; ++seed) judge_seed(seed, report);
  return report;
}

}  // namespace pliant::tests
