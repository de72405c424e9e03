// SPDX-License-Identifier: Apache-2.0
#include "dse/design/box_bounds.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "core/arithmetic.h"
#include "core/legality.h"
#include "costmodel/report.h"

namespace pliant {

namespace {

/// Mappings kept for each layer, to be tried on other ideals.
constexpr std::size_t kKeptMappings = 6;

/// Searches asked at once: often a box is decided before all layers are asked.
std::size_t questions_at_once(std::size_t layers) { return std::max<std::size_t>(4, layers / 4); }

/// Energy and cycles of a mapping on an accelerator; nullopt when it is not legal there.
std::optional<Totals> run_there(const Layer& layer, const Accelerator& accelerator, Factorization rule,
                                const Mapping& mapping) {
  if (!check_legality(layer, accelerator, accelerator.flexibility_of(layer), rule, mapping).empty())
    return std::nullopt;
  return price(layer, accelerator, mapping).totals;
}

}  // namespace

BoxBounds::BoxBounds(const Sweep& sweep, const DistinctLayers& layers, const GoalBounds& goals, bool guide)
    : sweep_(sweep), layers_(layers), goals_(goals), guide_(guide) {
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
    for (const std::string& name : limit.names()) need(name);
  std::vector<std::size_t>& first = stages_.emplace_back();
  for (std::size_t k = 0; k < needed.size(); ++k)
    if (needed[k]) first.push_back(k);
  for (const std::size_t k : {std::size_t{1}, std::size_t{2}})
    if (needed[0] && !needed[k]) stages_.push_back({k});
  latest_.resize(sweep.factorizations.size());
  for (auto& of_rule : latest_) of_rule.resize(layers.layers.size());
}

void BoxBounds::begin(SearchNode& node) const {
  for (RuleBounds& rule : node.rules) {
    rule.settled.assign(layers_.layers.size(), {});
    rule.reached.reset();
    for (std::size_t i = 0; i < rule.bounds.size(); ++i)
      rule.bounds[i].raise(compute_bound(*layers_.layers[i], *node.ideal->accelerator));
  }
}

void BoxBounds::reach(SearchNode& node, std::size_t rule, std::size_t layer,
                      const std::shared_ptr<const TaskResult>& result) const {
  if (!result || result->status != TaskStatus::kSolved || layers_.networks[layer] != nullptr) return;
  const auto totals =
      run_there(*layers_.layers[layer], *node.ideal->accelerator, sweep_.factorizations[rule], result->mapping);
  if (!totals) return;
  ReachedBounds& all = *node.rules[rule].reached;
  if (totals->edp() < all.least[layer].edp)
    all.at_least_product[layer] = {totals->energy_pj, totals->cycles, totals->edp()};
  all.least[layer].lower({totals->energy_pj, totals->cycles, totals->edp()});
}

const ReachedBounds& BoxBounds::reached(SearchNode& node, std::size_t rule) const {
  auto& all = node.rules[rule].reached;
  if (all) return *all;
  const LayerBound nothing{kInfinity, kInfinity, kInfinity};
  all.emplace(ReachedBounds{LayerBounds(layers_.layers.size(), nothing), LayerBounds(layers_.layers.size())});
  for (std::size_t i = 0; i < layers_.layers.size(); ++i) {
    for (const auto& known : node.rules[rule].known[i]) reach(node, rule, i, known);
    for (const auto& known : latest_[rule][i]) reach(node, rule, i, known);
  }
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

/// A mapping that was best in a box around this one, and still is legal and costs the same here, is best here too.
bool BoxBounds::settle_without_search(SearchNode& node, const Asked& asked) const {
  const auto& known = node.rules[asked.rule].known[asked.layer][asked.objective];
  if (!known || !known->certified || known->status != TaskStatus::kSolved) return false;
  if (layers_.networks[asked.layer] != nullptr) return false;  // it has no single mapping
  const auto totals = run_there(*layers_.layers[asked.layer], *node.ideal->accelerator,
                                sweep_.factorizations[asked.rule], known->mapping);
  if (!totals) return false;
  const double value = objective_value(kBoundObjectives[asked.objective], *totals);
  return std::abs(value - known->value) <= 1e-12 * value;
}

/// Energy and cycles sharpen a product only where they do not make it already.
bool BoxBounds::worth_asking(const SearchNode& node, const Asked& asked) const {
  if (std::ranges::find(stages_.front(), asked.objective) != stages_.front().end()) return true;
  const LayerBound& bound = node.rules[asked.rule].bounds[asked.layer];
  return bound.energy_pj * bound.cycles < bound.edp * (1 - kDesignRounding);
}

std::vector<BoxBounds::Asked> BoxBounds::next(SearchNode& node, const FoundDesigns& found) {
  std::vector<Asked> asked;
  const bool closes = may_close(node, found);
  if (!closes && !guide_) return asked;
  const std::size_t most = questions_at_once(layers_.layers.size()) * node.rules.size();
  for (const auto& stage : stages_) {
    for (const std::size_t i : layers_.by_work) {
      for (std::size_t f = 0; f < node.rules.size(); ++f) {
        if (node.rules[f].nothing_fits) continue;
        for (const std::size_t objective : stage) {
          bool& settled = node.rules[f].settled[i][objective];
          const Asked one{f, i, objective};
          if (settled || !worth_asking(node, one)) continue;
          settled = true;
          if (!settle_without_search(node, one)) asked.push_back(one);
        }
      }
      if (asked.size() >= most) return asked;
    }
    // What only sharpens a bound is no guide.
    if (!asked.empty() || !closes) return asked;
  }
  return asked;
}

std::shared_ptr<const DesignPoint> BoxBounds::design(const SearchNode& node, const Asked& asked) const {
  auto point = std::make_shared<DesignPoint>();
  point->accelerator = node.ideal->accelerator;
  point->factorization = sweep_.factorizations[asked.rule];
  point->objective = kBoundObjectives[asked.objective];
  return point;
}

void BoxBounds::note(SearchNode& node, const Asked& asked, std::shared_ptr<const TaskResult> result) {
  RuleBounds& rule = node.rules[asked.rule];
  rule.nothing_fits |= result->status == TaskStatus::kNoLegalMapping;
  rule.bounds[asked.layer].raise(proven_bound(kBoundObjectives[asked.objective], *result));
  if (rule.reached) reach(node, asked.rule, asked.layer, result);
  remember(asked.rule, asked.layer, result);
  rule.known[asked.layer][asked.objective] = std::move(result);
}

void BoxBounds::remember(std::size_t rule, std::size_t layer, const std::shared_ptr<const TaskResult>& result) {
  if (result->status != TaskStatus::kSolved || layers_.networks[layer] != nullptr) return;
  auto& latest = latest_[rule][layer];
  const auto same = std::ranges::find_if(latest, [&](const auto& one) { return one->mapping == result->mapping; });
  if (same != latest.end()) latest.erase(same);
  latest.insert(latest.begin(), result);
  if (latest.size() > kKeptMappings) latest.pop_back();
}

}  // namespace pliant
