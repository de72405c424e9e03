// SPDX-License-Identifier: Apache-2.0
#include "dse/design/point_designs.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/arithmetic.h"
#include "core/legality.h"
#include "costmodel/area.h"

namespace pliant {

namespace {

/// Layers asked at once while an answer may still raise a bound: often one is enough.
constexpr std::size_t kFewLayers = 3;

}  // namespace

PointDesigns::PointDesigns(const DistinctLayers& layers, const GoalBounds& goals, KnownMappings& mappings,
                           DesignSpace& space, const WholeNeeds& needs, double line_gap, ProvenBounds* proven)
    : layers_(layers),
      goals_(goals),
      mappings_(mappings),
      space_(space),
      needs_(needs),
      line_gap_(line_gap),
      proven_(proven),
      inner_(space.size() / space.hardware_points()),
      raised_(static_cast<std::size_t>(inner_)) {}

std::vector<PointDesign> PointDesigns::open(SearchNode& node) {
  const Sweep& sweep = space_.sweep();
  std::vector<std::int32_t> positions;
  for (const HardwareBox::Range& range : node.box.axes) positions.push_back(range.first);
  const std::int64_t first = hardware_number(sweep, positions) * inner_;
  std::vector<PointDesign>& designs = node.designs.emplace();
  std::vector<PointDesign> forbidden;
  for (std::int64_t id = first; id < first + inner_; ++id) {
    PointDesign one;
    one.design_id = id;
    if (!space_.allowed(id)) {
      forbidden.push_back(std::move(one));
      continue;
    }
    one.design = std::make_shared<const DesignPoint>(space_.design(id));
    const std::string& name = sweep.flexibilities[static_cast<std::size_t>(id % inner_ / space_.variants())];
    if (looks_like_class(name)) one.flexibility = parse_flexibility_class(name);
    one.rule = static_cast<std::size_t>(std::ranges::find(sweep.factorizations, one.design->factorization) -
                                        sweep.factorizations.begin());
    one.bounds = node.rules[one.rule].bounds;
    if (node.ideal) one.serving = node.ideal->serving;
    for (LayerBound& bound : one.bounds)
      for (LineBound& line : bound.lines) line.here = false;
    one.nothing_fits = node.rules[one.rule].nothing_fits;
    one.nothing_fits_by = node.rules[one.rule].nothing_fits_by;
    one.answers.resize(layers_.layers.size());
    one.above.resize(layers_.layers.size());
    one.runs.resize(layers_.layers.size());
    one.asked.resize(layers_.layers.size());
    if (one.design->accelerator) one.area_um2 = area_um2(*one.design->accelerator).total();
    designs.push_back(std::move(one));
  }
  std::ranges::stable_sort(designs, std::greater{}, [](const PointDesign& one) {
    return one.flexibility ? freedom_of(*one.flexibility) : 2 * kAxisCount + 1;
  });
  return forbidden;
}

HardwareFacts PointDesigns::facts(const PointDesign& one) {
  HardwareFacts facts;
  facts.least_area_um2 = one.area_um2;
  if (one.design->accelerator) facts.clock_hz = one.design->accelerator->clock_hz;
  facts.numbers = [this, id = one.design_id](const std::string& name) -> std::optional<Constraint::Interval> {
    const auto value = space_.value(id, name);
    return value ? std::optional(Constraint::Interval(*value, *value)) : std::nullopt;
  };
  facts.deadlines = &one.design->deadlines;
  facts.serving = &one.serving;
  return facts;
}

/// Then the product is known: the mapping was proven best where more is allowed, and costs the same here.
bool PointDesigns::runs(PointDesign& one, std::size_t layer) const {
  const auto& above = one.above[layer];
  if (!above || !above->certified || above->status != TaskStatus::kSolved || layers_.networks[layer] != nullptr)
    return false;
  std::optional<bool>& runs = one.runs[layer];
  if (runs) return *runs;
  const Accelerator& accelerator = *one.design->accelerator;
  const Layer& plain = *layers_.layers[layer];
  runs =
      check_legality(plain, accelerator, accelerator.flexibility_of(plain), one.design->factorization, above->mapping)
          .empty();
  return *runs;
}

void PointDesigns::choose_next(std::vector<PointDesign>& designs) const {
  auto next = designs.end();
  for (auto one = designs.begin(); one != designs.end(); ++one) {
    if (!one->design->accelerator || (next != designs.end() && one->area_um2 >= next->area_um2)) continue;
    bool all = true;
    for (std::size_t i = 0; i < layers_.layers.size() && all; ++i) all = runs(*one, i);
    if (all) next = one;
  }
  if (next != designs.end()) std::rotate(designs.begin(), next, next + 1);
}

const ReachedBounds& PointDesigns::reached(PointDesign& one) const {
  if (!one.reached)
    one.reached = mappings_.reached(*one.design->accelerator, one.rule, one.bounds, one.design->deadlines,
                                    [&](std::size_t layer) { return std::span(&one.above[layer], 1); });
  return *one.reached;
}

double& PointDesigns::raised(const PointDesign& one, std::size_t layer) {
  constexpr double kUnknown = 1.25;
  std::vector<double>& all = raised_[static_cast<std::size_t>(one.design_id % inner_)];
  if (all.empty()) all.resize(layers_.layers.size(), kUnknown);
  return all[layer];
}

void PointDesigns::plan(PointDesign& one, const FoundDesigns& found) {
  one.searches.clear();
  if (!one.design->accelerator || plan_lines(one, found)) return;
  const auto known = std::ranges::find(kBoundObjectives, one.design->objective);
  const bool all_reached =
      std::ranges::none_of(reached(one).least, [](const LayerBound& least) { return std::isinf(least.edp); });
  if (all_reached && known != kBoundObjectives.end()) {
    if (plan_bounds(one, static_cast<std::size_t>(known - kBoundObjectives.begin()), found)) return;
    if (will_be_opened(one, found)) {
      for (const std::size_t i : layers_.by_work)
        if (!one.answers[i].result) one.searches.push_back({i, std::nullopt});
      return;
    }
  }
  plan_few(one);
}

/// Lines below workloads that are asked as a whole, while they can close the design; false when there is none to ask.
bool PointDesigns::plan_lines(PointDesign& one, const FoundDesigns& found) {
  if (found.size() == 0 && one.design->deadlines.empty()) return false;  // nothing could close it
  const ReachedBounds& reached_here = reached(one);
  const LayerBounds rows = one.of_rows();
  LayerBounds sharp = rows;
  bool known = true;
  for (std::size_t i = 0; i < sharp.size(); ++i) {
    if (one.answers[i].result) continue;
    if (layers_.networks[i] == nullptr) return false;  // layers and networks together are mapped
    known = known && !std::isinf(reached_here.least[i].edp);
    sharp[i] = reached_here.least[i];
  }
  const HardwareFacts here = facts(one);
  if (known && !found.beating(goals_.least(here, sharp)) && !goals_.beyond_limits(here, sharp)) return false;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (one.answers[i].result || one.asked[i] == AskedFor::kBest) continue;
    const auto slope = next_slope(rows[i], needs_, layers_.deadline(i, one.design->deadlines));
    if (slope) one.searches.push_back({i, BoundSearch{line_gap_, nullptr, *slope}});
  }
  return !one.searches.empty();
}

/// False when the design would not be beaten even if the mappings that it is known to run were its best.
bool PointDesigns::plan_bounds(PointDesign& one, std::size_t measure, const FoundDesigns& found) {
  const auto of = kBoundMeasures[measure];
  const LayerBounds rows = one.of_rows();
  LayerBounds sharp = rows;
  for (std::size_t i = 0; i < sharp.size(); ++i)
    if (!one.answers[i].result) sharp[i].*of = std::max(sharp[i].*of, one.reached->least[i].*of);
  const double room = found.room(goals_.least(facts(one), sharp), goals_.fixed());
  if (room < 1) return false;
  const std::vector<double> gains = possible_gains(layers_, rows, sharp, measure);
  std::vector<std::size_t> order = layers_.by_work;
  std::ranges::stable_sort(order, std::greater{}, [&](std::size_t i) { return gains[i]; });
  const double gap = gap_within(room);
  for (const std::size_t i : order) {
    if (one.answers[i].result || one.searches.size() == kFewLayers || layers_.networks[i] != nullptr) continue;
    const bool first = one.asked[i] == AskedFor::kNothing;
    if (sharp_enough(rows[i].*of, sharp[i].*of, first ? gap : 0)) continue;
    if (first && gap > 0)
      one.searches.push_back({i, BoundSearch{gap, one.reached->by[i][measure]}});
    else
      one.searches.push_back({i, std::nullopt});
  }
  return !one.searches.empty();
}

bool PointDesigns::will_be_opened(PointDesign& one, const FoundDesigns& found) {
  LayerBounds least = one.of_rows(), products = least;
  for (std::size_t i = 0; i < least.size(); ++i) {
    if (one.answers[i].result) continue;
    least[i] = one.reached->least[i];
    products[i] = one.reached->at_least_product[i];
  }
  const HardwareFacts here = facts(one);
  return !found.beating(goals_.hoped(here, least, products)) && !goals_.beyond_limits(here, least);
}

void PointDesigns::plan_few(PointDesign& one) {
  std::vector<double> from, to;
  for (std::size_t i = 0; i < layers_.layers.size(); ++i) {
    from.push_back(std::sqrt(one.bounds[i].edp));
    to.push_back(from.back() * std::sqrt(raised(one, i)));
  }
  const std::vector<double> gains = layers_.gains(from, to);
  std::vector<std::size_t> order = layers_.by_work;
  std::ranges::stable_sort(order, std::greater{}, [&](std::size_t i) { return gains[i]; });
  for (const std::size_t i : order)
    if (!one.answers[i].result && one.searches.size() < kFewLayers && !runs(one, i))
      one.searches.push_back({i, std::nullopt});
  if (!one.searches.empty()) return;
  // The products are known; how a layer divides its own between energy and cycles is not.
  const std::size_t most = std::max<std::size_t>(4, layers_.layers.size() / 4);
  for (const std::size_t i : layers_.by_work)
    if (!one.answers[i].result && one.searches.size() < most) one.searches.push_back({i, std::nullopt});
}

void PointDesigns::note(PointDesign& one, const PointDesign::Search& search, const PoolAnswer& answer,
                        std::vector<PointDesign>& designs) {
  const std::size_t layer = search.layer;
  if (layers_.networks[layer] != nullptr) return note_whole(one, search, answer, designs);
  const TaskResult& result = *answer.result;
  const bool nothing_fits = result.status == TaskStatus::kNoLegalMapping;
  std::int32_t number = -1;
  if (proven_ != nullptr && (nothing_fits || result.status == TaskStatus::kSolved))
    number = proven_->add(
        {{}, one.design_id, one.rule, layer, one.design->objective, nothing_fits ? kInfinity : result.lower_bound});
  const LayerBound proven = proven_bound(one.design->objective, result, number);
  if (proven.edp > 0 && one.bounds[layer].edp > 0) raised(one, layer) = proven.edp / one.bounds[layer].edp;
  mappings_.remember(one.rule, layer, answer.result);
  for (PointDesign& other : designs) {
    const bool itself = &other == &one;
    if (!itself && (!one.flexibility || !other.flexibility || one.rule != other.rule ||
                    !contains(*one.flexibility, *other.flexibility)))
      continue;
    if (nothing_fits && !std::exchange(other.nothing_fits, true)) other.nothing_fits_by = number;
    other.bounds[layer].raise(proven);
    other.stale = true;
    if (other.reached) mappings_.reach(*other.reached, *other.design->accelerator, other.rule, layer, answer.result);
    if (itself || other.design->objective != one.design->objective || !result.certified) continue;
    other.above[layer] = answer.result;
    other.runs[layer].reset();
  }
  one.asked[layer] = search.bound ? AskedFor::kBound : AskedFor::kBest;
  if (!search.bound) one.answers[layer] = answer;
}

void PointDesigns::note_whole(PointDesign& one, const PointDesign::Search& search, const PoolAnswer& answer,
                              std::vector<PointDesign>& designs) {
  const std::size_t layer = search.layer;
  const TaskResult& result = *answer.result;
  const double deadline = layers_.deadline(layer, one.design->deadlines);
  for (PointDesign& other : designs) {
    const bool itself = &other == &one;
    if (!itself && (!one.flexibility || !other.flexibility || one.rule != other.rule ||
                    !contains(*one.flexibility, *other.flexibility)))
      continue;
    other.nothing_fits |= result.status == TaskStatus::kNoLegalMapping;
    other.stale = true;
    other.reached.reset();
    if (result.status != TaskStatus::kSolved) continue;
    if (search.bound)
      other.bounds[layer].raise(
          LineBound{search.bound->slope, result.lower_bound, result.energy_pj, result.runtime_cycles, itself});
    else if (layers_.deadline(layer, other.design->deadlines) <= deadline)
      other.bounds[layer].raise(proven_bound(one.design->objective, result));
  }
  const bool to_no_avail = result.status != TaskStatus::kSolved;
  one.asked[layer] = search.bound && !to_no_avail ? AskedFor::kBound : AskedFor::kBest;
  if (!search.bound) one.answers[layer] = answer;
}

}  // namespace pliant
