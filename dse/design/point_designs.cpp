// SPDX-License-Identifier: Apache-2.0
#include "dse/design/point_designs.h"

#include <algorithm>

#include "costmodel/area.h"

namespace pliant {

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

std::vector<std::size_t> PointDesigns::next_layers(const PointDesign& one) const {
  std::vector<std::size_t> next;
  if (!one.design->accelerator) return next;
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
  }
  one.nothing_fits |= nothing_fits;
  one.bounds[layer].raise(proven);
  one.answers[layer] = answer;
}

}  // namespace pliant
