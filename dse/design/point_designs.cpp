// SPDX-License-Identifier: Apache-2.0
#include "dse/design/point_designs.h"

#include <algorithm>

#include "core/legality.h"
#include "costmodel/area.h"

namespace pliant {

namespace {

/// Layers asked at once while an answer may still raise a bound: often one is enough.
constexpr std::size_t kFewLayers = 3;

}  // namespace

PointDesigns::PointDesigns(const DistinctLayers& layers, DesignSpace& space)
    : layers_(layers), space_(space), inner_(space.size() / space.hardware_points()) {}

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
    one.nothing_fits = node.rules[one.rule].nothing_fits;
    one.answers.resize(layers_.layers.size());
    one.above.resize(layers_.layers.size());
    one.reached.resize(layers_.layers.size());
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
  return facts;
}

/// Then the product is known: the mapping was proven best where more is allowed, and costs the same here.
bool PointDesigns::reaches(PointDesign& one, std::size_t layer) const {
  const auto& above = one.above[layer];
  if (!above || !above->certified || above->status != TaskStatus::kSolved || layers_.networks[layer] != nullptr)
    return false;
  std::optional<bool>& reached = one.reached[layer];
  if (reached) return *reached;
  const Accelerator& accelerator = *one.design->accelerator;
  const Layer& plain = *layers_.layers[layer];
  reached =
      check_legality(plain, accelerator, accelerator.flexibility_of(plain), one.design->factorization, above->mapping)
          .empty();
  return *reached;
}

void PointDesigns::choose_next(std::vector<PointDesign>& designs) const {
  auto next = designs.end();
  for (auto one = designs.begin(); one != designs.end(); ++one) {
    if (!one->design->accelerator || (next != designs.end() && one->area_um2 >= next->area_um2)) continue;
    bool all = true;
    for (std::size_t i = 0; i < layers_.layers.size() && all; ++i) all = reaches(*one, i);
    if (all) next = one;
  }
  if (next != designs.end()) std::rotate(designs.begin(), next, next + 1);
}

std::vector<std::size_t> PointDesigns::next_layers(PointDesign& one) const {
  std::vector<std::size_t> next;
  if (!one.design->accelerator) return next;
  for (const std::size_t i : layers_.by_work)
    if (!one.answers[i].result && next.size() < kFewLayers && !reaches(one, i)) next.push_back(i);
  if (!next.empty()) return next;
  // The products are known; how a layer divides its own between energy and cycles is not.
  const std::size_t most = std::max<std::size_t>(4, layers_.layers.size() / 4);
  for (const std::size_t i : layers_.by_work)
    if (!one.answers[i].result && next.size() < most) next.push_back(i);
  return next;
}

void PointDesigns::note(PointDesign& one, std::size_t layer, const Answer& answer, std::vector<PointDesign>& designs) {
  const TaskResult& result = *answer.result;
  const LayerBound proven = proven_bound(one.design->objective, result);
  const bool nothing_fits = result.status == TaskStatus::kNoLegalMapping;
  for (PointDesign& other : designs) {
    if (&other == &one || !one.flexibility || !other.flexibility || one.rule != other.rule) continue;
    if (!contains(*one.flexibility, *other.flexibility)) continue;
    other.nothing_fits |= nothing_fits;
    other.bounds[layer].raise(proven);
    other.stale = true;
    if (other.design->objective != one.design->objective) continue;
    other.above[layer] = answer.result;
    other.reached[layer].reset();
  }
  one.stale = true;
  one.nothing_fits |= nothing_fits;
  one.bounds[layer].raise(proven);
  one.answers[layer] = answer;
}

}  // namespace pliant
