// SPDX-License-Identifier: Apache-2.0
#include "dse/design/known_mappings.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/arithmetic.h"
#include "core/legality.h"
#include "costmodel/nest.h"
#include "costmodel/report.h"
#include "dse/design/task_pool.h"
#include "dse/design/whole_lines.h"

namespace pliant {

namespace {

/// Mappings kept for each layer.
constexpr std::size_t kKeptMappings = 6;

/// Of the room that there is: a better mapping found on the way leaves less.
constexpr double kShareOfRoom = 0.9;

/// A wider gap saves no more time.
constexpr double kWidestGap = 0.5;

}  // namespace

std::vector<double> possible_gains(const DistinctLayers& layers, const LayerBounds& bounds, const LayerBounds& reached,
                                   std::size_t measure) {
  const bool product = kBoundObjectives[measure] == Objective::kEdp;  // sums of roots bound it
  std::vector<double> from, to;
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    const double low = bounds[i].*kBoundMeasures[measure];
    const double high = std::isinf(reached[i].*kBoundMeasures[measure]) ? low : reached[i].*kBoundMeasures[measure];
    from.push_back(product ? std::sqrt(low) : low);
    to.push_back(product ? std::sqrt(high) : high);
  }
  std::vector<double> gains = layers.gains(from, to);
  for (std::size_t i = 0; i < gains.size(); ++i)
    if (std::isinf(reached[i].*kBoundMeasures[measure])) gains[i] = kInfinity;
  return gains;
}

bool sharp_enough(double bound, double reached, double gap) {
  return !std::isinf(reached) && bound >= reached * (1 - gap) * (1 - 1e-12);
}

double gap_within(double room) {
  if (!(room > 1)) return 0;
  constexpr double kSteps = 4096;  // equal questions have equal gaps
  return std::floor(std::min(kWidestGap, kShareOfRoom * (1 - 1 / room)) * kSteps) / kSteps;
}

ReachedBounds::ReachedBounds(std::size_t layers)
    : least(layers, LayerBound{kInfinity, kInfinity, kInfinity}), at_least_product(layers), by(layers) {}

KnownMappings::KnownMappings(const Sweep& sweep, const DistinctLayers& layers, const TaskPool& pool)
    : sweep_(sweep), layers_(layers), pool_(pool) {
  latest_.resize(sweep.factorizations.size());
  for (auto& of_rule : latest_) of_rule.resize(layers.layers.size());
}

void KnownMappings::remember(std::size_t rule, std::size_t layer, const std::shared_ptr<const TaskResult>& result) {
  if (result->status != TaskStatus::kSolved || layers_.networks[layer] != nullptr) return;
  auto& latest = latest_[rule][layer];
  const auto same = std::ranges::find_if(latest, [&](const auto& one) { return one->mapping == result->mapping; });
  if (same != latest.end()) latest.erase(same);
  latest.insert(latest.begin(), result);
  if (latest.size() > kKeptMappings) latest.pop_back();
}

/// Mappings of one layer on one accelerator, tried one after the other.
class KnownMappings::Trial {
 public:
  Trial(ReachedBounds& reached, const Layer& layer, std::size_t number, const Accelerator& accelerator,
        Factorization rule)
      : reached_(reached), layer_(layer), number_(number), accelerator_(accelerator), rule_(rule) {}

  void add(const std::shared_ptr<const TaskResult>& result) {
    if (!result || result->status != TaskStatus::kSolved) return;
    const Mapping& mapping = result->mapping;
    if (!problem_) problem_.emplace(layer_, accelerator_);
    // What costs no less need not be judged, which takes longer. Only what has the accelerator's shape has a price.
    if (has_the_shape(mapping)) {
      if (!nest_) nest_.emplace(*problem_);
      nest_->load(flatten(*problem_, mapping));
      if (!is_less(nest_->price())) return;
    }
    if (!check_legality(layer_, accelerator_, accelerator_.flexibility_of(layer_), rule_, mapping).empty()) return;
    const Totals totals = pliant::price(layer_, accelerator_, mapping).totals;
    const LayerBound here{totals.energy_pj, totals.cycles, totals.edp()};
    LayerBound& least = reached_.least[number_];
    for (std::size_t k = 0; k < kBoundMeasures.size(); ++k) {
      if (here.*kBoundMeasures[k] >= least.*kBoundMeasures[k]) continue;
      if (kBoundObjectives[k] == Objective::kEdp) reached_.at_least_product[number_] = here;
      reached_.by[number_][k] = result;
    }
    least.lower(here);
  }

 private:
  bool has_the_shape(const Mapping& mapping) const {
    if (!mapping.padded.empty() || mapping.levels.size() != accelerator_.levels.size()) return false;
    TensorSet homeless = (TensorSet{1} << problem_->tensors) - 1;
    for (int l = 0; l < problem_->levels; ++l) {
      const TensorSet keeps = mapping.levels[static_cast<std::size_t>(l)].keeps, may = problem_->may_keep[l];
      if ((keeps & ~may) != 0 || (homeless & may & ~keeps) != 0) return false;
      homeless &= ~may;
    }
    return homeless == 0;
  }

  bool is_less(const Totals& totals) const {
    const LayerBound& least = reached_.least[number_];
    return totals.energy_pj < least.energy_pj || totals.cycles < least.cycles || totals.edp() < least.edp;
  }

  ReachedBounds& reached_;
  const Layer& layer_;
  std::size_t number_;
  const Accelerator& accelerator_;
  Factorization rule_;
  std::optional<Problem> problem_;
  std::optional<Nest> nest_;  ///< of the problem
};

KnownMappings::Trial KnownMappings::trial(ReachedBounds& reached, const Accelerator& accelerator, std::size_t rule,
                                          std::size_t layer) const {
  return {reached, *layers_.layers[layer], layer, accelerator, sweep_.factorizations[rule]};
}

ReachedBounds KnownMappings::reached(const Accelerator& accelerator, std::size_t rule, const LayerBounds& bounds,
                                     const std::vector<double>& deadlines, const KnownOfLayer& first_of) const {
  ReachedBounds reached(layers_.layers.size());
  const auto same = [](const std::shared_ptr<const TaskResult>& one) {
    return [&one](const std::shared_ptr<const TaskResult>& other) {
      return one == other || (one && other && one->mapping == other->mapping);
    };
  };
  pool_.for_each(layers_.layers.size(), [&](std::size_t layer) {
    if (layers_.networks[layer] != nullptr) {
      const WholeReached whole = reached_by(bounds[layer], layers_.deadline(layer, deadlines));
      reached.least[layer] = whole.least;
      reached.at_least_product[layer] = whole.at_least_product;
      return;
    }
    Trial here = trial(reached, accelerator, rule, layer);
    const auto first = first_of(layer);
    for (std::size_t k = 0; k < first.size(); ++k)
      if (std::ranges::none_of(first.first(k), same(first[k]))) here.add(first[k]);
    for (const auto& result : latest_[rule][layer])
      if (std::ranges::none_of(first, same(result))) here.add(result);
  });
  return reached;
}

void KnownMappings::reach(ReachedBounds& reached, const Accelerator& accelerator, std::size_t rule, std::size_t layer,
                          const std::shared_ptr<const TaskResult>& result) const {
  // A whole network has no single mapping.
  if (layers_.networks[layer] == nullptr) trial(reached, accelerator, rule, layer).add(result);
}

}  // namespace pliant
