// SPDX-License-Identifier: Apache-2.0
#include "dse/design/box_bounds.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "core/arithmetic.h"
#include "dse/design/floor_bound.h"
#include "dse/sweep/deadline.h"

namespace pliant {

namespace {

/// Searches asked at once: often a box is decided, or shown to stay open, by the layers with the most to gain.
constexpr std::size_t kQuestionsAtOnce = 3;

/// Of the search's gap: what searches of layers may leave open below a line.
constexpr double kLinesShareOfGap = 0.25;

/// Layers that pass tiles on compute what they compute, in however many runs; no floor of a whole layer counts more for
/// certain.
LayerBound macs_of_all(const Workload& workload, const Accelerator& ideal) {
  LayerBound sum;
  for (const Workload::Entry& entry : workload.layers) {
    const LayerBound one = compute_bound(entry.layer, ideal);
    sum.energy_pj += static_cast<double>(entry.count) * one.energy_pj;
    sum.cycles += static_cast<double>(entry.count) * one.cycles;
  }
  sum.edp = sum.energy_pj * sum.cycles;
  return sum;
}

}  // namespace

BoxBounds::BoxBounds(const Sweep& sweep, const DistinctLayers& layers, const GoalBounds& goals, KnownMappings& mappings,
                     bool guide, double gap, ProvenBounds* proven)
    : sweep_(sweep),
      layers_(layers),
      goals_(goals),
      mappings_(mappings),
      guide_(guide),
      proven_(proven),
      line_gap_(gap * kLinesShareOfGap) {
  // What the goals and limits need; then, where a product is asked for, what else sharpens it.
  std::array<bool, kBoundObjectives.size()> needed{};
  const auto need = [&](std::string_view column) {
    if (column == "edp_pj_cycles") needed[0] = true;
    if (column == "energy_pj" || column == "energy_mj" || column == "tops_per_w") needed[1] = true;
    if (column == "runtime_cycles" || column == "latency_s" || column == "tops" || column == "inferences_per_s" ||
        column == "tokens_per_s")
      needed[2] = true;
  };
  for (const DesignGoals::Goal& goal : sweep.goals->minimize) need(column_of(goal.measure));
  for (const Constraint& limit : sweep.result_limits)
    if (!sweep.deadlines || !limits_time(limit))
      for (const std::string& name : limit.names()) need(name);
  needs_ = {needed[1], needed[2], needed[0]};
  for (const Constraint& limit : sweep.result_limits)
    for (const std::string& name : limit.names()) need(name);
  Stage& first = stages_.emplace_back();
  for (std::size_t k = 0; k < needed.size(); ++k)
    if (needed[k]) first.push_back(k);
  for (const std::size_t k : {std::size_t{1}, std::size_t{2}})
    if (needed[0] && !needed[k]) stages_.push_back({k});
}

void BoxBounds::begin(SearchNode& node) const {
  for (RuleBounds& rule : node.rules) {
    rule.asked.assign(layers_.layers.size(), {});
    rule.reached.reset();
    rule.at_floor = false;
    for (std::size_t i = 0; i < rule.bounds.size(); ++i) {
      rule.bounds[i].raise(compute_bound(*layers_.layers[i], *node.ideal->accelerator));
      for (LineBound& line : rule.bounds[i].lines) line.here = false;
    }
  }
}

bool BoxBounds::raise_to_floors(SearchNode& node) const {
  bool risen = false;
  for (std::size_t f = 0; f < node.rules.size(); ++f) {
    RuleBounds& rule = node.rules[f];
    if (std::exchange(rule.at_floor, true) || rule.nothing_fits) continue;
    for (std::size_t i = 0; i < layers_.layers.size(); ++i) {
      const LayerBound before = rule.bounds[i];
      const Accelerator& ideal = *node.ideal->accelerator;
      const Workload* const network = layers_.networks[i];
      LayerBound floor = network == nullptr ? floor_bound(*layers_.layers[i], ideal, sweep_.factorizations[f])
                         : sweep_.tiles     ? macs_of_all(*network, ideal)
                                        : whole_floor(*network, ideal, sweep_.factorizations[f], sweep_.inferences > 1);
      if (proven_ != nullptr) keep_floor(node, f, i, floor);
      rule.bounds[i].raise(floor);
      risen |= rule.bounds[i] != before;
    }
  }
  return risen;
}

/// Its product is that of its energy and its cycles, and rests on both.
void BoxBounds::keep_floor(const SearchNode& node, std::size_t rule, std::size_t layer, LayerBound& floor) const {
  const LayerBound& before = node.rules[rule].bounds[layer];
  if (floor.energy_pj > before.energy_pj)
    floor.rests_on[0] = proven_->add({node.box, -1, rule, layer, Objective::kEnergy, floor.energy_pj, true});
  if (floor.cycles > before.cycles)
    floor.rests_on[1] = proven_->add({node.box, -1, rule, layer, Objective::kRuntime, floor.cycles, true});
}

const ReachedBounds& BoxBounds::reached(SearchNode& node, std::size_t rule) const {
  auto& all = node.rules[rule].reached;
  if (!all)
    all = mappings_.reached(*node.ideal->accelerator, rule, node.rules[rule].bounds, node.ideal->deadlines,
                            [&](std::size_t layer) { return std::span(node.rules[rule].known[layer]); });
  return *all;
}

/// Would the box be closed if its bounds were as high as they can be?
bool BoxBounds::may_close(SearchNode& node, const FoundDesigns& found) const {
  if (found.size() == 0 && sweep_.result_limits.empty()) return false;
  const HardwareFacts facts = facts_of(*node.ideal);
  bool beaten = true, beyond = true;
  for (std::size_t f = 0; f < node.rules.size() && (beaten || beyond); ++f) {
    if (node.rules[f].nothing_fits) continue;
    const ReachedBounds& at_best = reached(node, f);
    if (std::ranges::any_of(at_best.least, [](const LayerBound& least) { return std::isinf(least.edp); })) continue;
    beaten = beaten && found.beating(goals_.hoped(facts, at_best.least, at_best.at_least_product));
    beyond = beyond && goals_.beyond_limits(facts, at_best.least);
  }
  return beaten || beyond;
}

/// Energy and cycles sharpen a product only where they do not make it already.
bool BoxBounds::worth_asking(const SearchNode& node, std::size_t rule, std::size_t layer, std::size_t objective) const {
  if (std::ranges::find(stages_.front(), objective) != stages_.front().end()) return true;
  const LayerBound& bound = node.rules[rule].bounds[layer];
  return bound.energy_pj * bound.cycles < bound.edp * (1 - kDesignRounding);
}

/// How far the bounds of this stage may stay below what is reached and still close the box.
double BoxBounds::gap_for(SearchNode& node, const FoundDesigns& found, const Stage& stage) const {
  const HardwareFacts facts = facts_of(*node.ideal);
  double room = kInfinity;
  for (std::size_t f = 0; f < node.rules.size(); ++f) {
    if (node.rules[f].nothing_fits) continue;
    const ReachedBounds& at_best = reached(node, f);
    LayerBounds sharp = node.rules[f].bounds;
    for (std::size_t i = 0; i < sharp.size(); ++i) {
      if (std::isinf(at_best.least[i].edp)) return 0;
      for (const std::size_t k : stage)
        sharp[i].*kBoundMeasures[k] = std::max(sharp[i].*kBoundMeasures[k], at_best.least[i].*kBoundMeasures[k]);
    }
    room = std::min(room, found.room(goals_.least(facts, sharp), goals_.fixed()));
  }
  return gap_within(room);
}

std::vector<BoxBounds::Asked> BoxBounds::of_stage(SearchNode& node, const Stage& stage, double gap) const {
  struct Ranked {
    double gain;
    Asked asked;
  };
  std::vector<Ranked> all;
  for (std::size_t f = 0; f < node.rules.size(); ++f) {
    if (node.rules[f].nothing_fits) continue;
    const ReachedBounds& at_best = reached(node, f);
    for (const std::size_t k : stage) {
      const std::vector<double> gains = possible_gains(layers_, node.rules[f].bounds, at_best.least, k);
      for (const std::size_t i : layers_.by_work) {
        const AskedFor before = node.rules[f].asked[i][k];
        if (layers_.networks[i] != nullptr) continue;
        if (before == AskedFor::kBest || !worth_asking(node, f, i, k)) continue;
        const double wanted = before == AskedFor::kNothing ? gap : 0;
        // Where a mapping reaches the bound there is nothing left to prove.
        if (sharp_enough(node.rules[f].bounds[i].*kBoundMeasures[k], at_best.least[i].*kBoundMeasures[k], wanted))
          continue;
        all.push_back({gains[i], {f, i, k, {wanted, at_best.by[i][k]}}});
      }
    }
  }
  std::ranges::stable_sort(all, std::greater{}, &Ranked::gain);
  const std::size_t most = kQuestionsAtOnce * node.rules.size();
  std::vector<Asked> asked;
  for (std::size_t n = 0; n < all.size() && n < most; ++n) {
    Asked& one = asked.emplace_back(std::move(all[n].asked));
    node.rules[one.rule].asked[one.layer][one.objective] = one.bound.gap > 0 ? AskedFor::kBound : AskedFor::kBest;
  }
  return asked;
}

/// The next line below every workload that is asked as a whole.
std::vector<BoxBounds::Asked> BoxBounds::of_wholes(SearchNode& node) const {
  std::vector<Asked> asked;
  for (std::size_t f = 0; f < node.rules.size(); ++f) {
    if (node.rules[f].nothing_fits) continue;
    for (std::size_t i = 0; i < layers_.layers.size(); ++i) {
      if (layers_.networks[i] == nullptr || node.rules[f].asked[i][0] == AskedFor::kBest) continue;
      const auto slope = next_slope(node.rules[f].bounds[i], needs_, layers_.deadline(i, node.ideal->deadlines));
      if (slope) asked.push_back({f, i, 0, {line_gap_, nullptr, *slope}});
    }
  }
  return asked;
}

std::vector<BoxBounds::Asked> BoxBounds::next(SearchNode& node, const FoundDesigns& found) const {
  // The designs of a point bound each other, and their answers are needed where one of them is opened.
  if (node.box.is_point() && !guide_) return {};
  const bool closes = may_close(node, found);
  if (closes || guide_)
    if (std::vector<Asked> lines = of_wholes(node); !lines.empty()) return lines;
  for (const Stage& stage : stages_) {
    // Without a box to close, the first stage may be a guide; what only sharpens a bound is none.
    if (!closes && (!guide_ || &stage != &stages_.front())) break;
    std::vector<Asked> asked = of_stage(node, stage, closes ? gap_for(node, found, stage) : 0);
    if (!asked.empty()) return asked;
  }
  return {};
}

std::shared_ptr<const DesignPoint> BoxBounds::design(const SearchNode& node, const Asked& asked) const {
  auto point = std::make_shared<DesignPoint>();
  point->accelerator = node.ideal->accelerator;
  point->factorization = sweep_.factorizations[asked.rule];
  point->objective = kBoundObjectives[asked.objective];
  return point;
}

void BoxBounds::note(SearchNode& node, const Asked& asked, std::shared_ptr<const TaskResult> result) const {
  RuleBounds& rule = node.rules[asked.rule];
  const bool nothing_fits = result->status == TaskStatus::kNoLegalMapping;
  std::int32_t number = -1;
  if (proven_ != nullptr && (nothing_fits || result->status == TaskStatus::kSolved))
    number = proven_->add({node.box, -1, asked.rule, asked.layer, kBoundObjectives[asked.objective],
                           nothing_fits ? kInfinity : result->lower_bound});
  if (nothing_fits && !std::exchange(rule.nothing_fits, true)) rule.nothing_fits_by = number;
  if (layers_.networks[asked.layer] != nullptr) {
    if (result->status != TaskStatus::kSolved)
      rule.asked[asked.layer][asked.objective] = AskedFor::kBest;  // to no avail
    else
      rule.bounds[asked.layer].raise(
          LineBound{asked.bound.slope, result->lower_bound, result->energy_pj, result->runtime_cycles, true});
    rule.reached.reset();
    return;
  }
  rule.bounds[asked.layer].raise(proven_bound(kBoundObjectives[asked.objective], *result, number));
  if (rule.reached) mappings_.reach(*rule.reached, *node.ideal->accelerator, asked.rule, asked.layer, result);
  mappings_.remember(asked.rule, asked.layer, result);
  rule.known[asked.layer][asked.objective] = std::move(result);
}

}  // namespace pliant
