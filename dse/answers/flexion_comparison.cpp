// SPDX-License-Identifier: Apache-2.0
#include "dse/answers/flexion_comparison.h"

#include "dse/answers/json_schema.h"

namespace pliant {

namespace {

using nlohmann::ordered_json;

/// The plain settings, and the variants that say something else about this axis.
std::vector<std::string> variants_of(const Accelerator& accelerator, std::size_t axis) {
  std::vector<std::string> variants{""};
  for (const auto& [name, settings] : accelerator.partial)
    if (!name.empty() && (axis < kAxisCount ? settings.all.given[axis] : settings.all.fusion.has_value()))
      variants.push_back(name);
  return variants;
}

void choose_designs(const Library& library, const Accelerator& accelerator,
                    const std::optional<std::string>& flexibility, FlexionComparison& comparison) {
  const auto add = [&](const Accelerator& made, FlexibilityClass its_class) {
    std::string name = made.flexibility.name.empty() ? its_class.name() : made.flexibility.name;
    comparison.designs.push_back({std::move(name), std::move(its_class), made, {}, {}});
  };
  if (flexibility) {
    const Accelerator made = choose_flexibility(library, *flexibility, accelerator);
    const auto named = parse_flexibility_class(*flexibility);
    return add(made, named ? *named : class_of(made, made.flexibility_of(comparison.workload.layers[0].layer)));
  }
  // T, O, P, S one by one, then F between layers.
  for (std::size_t a = 0; a < kAxisCount + (comparison.workload.graph ? 1 : 0); ++a) {
    FlexibilityClass one;
    (a < kAxisCount ? one.flexible[a] : one.fusion) = true;
    for (const auto degree : {FlexibilityClass::Degree::kInFlex, FlexibilityClass::Degree::kPartFlex,
                              FlexibilityClass::Degree::kFullFlex}) {
      one.degree = degree;
      std::vector<std::string> variants{""};
      if (degree == FlexibilityClass::Degree::kPartFlex) variants = variants_of(accelerator, a);
      for (const std::string& variant : variants) {
        one.variant = variant;
        if (!class_problem(accelerator, one)) add(apply_class(accelerator, one), one);
      }
      one.variant.clear();
    }
  }
  comparison.compares = comparison.designs.size() > kAxisCount;
  if (comparison.compares) return;
  comparison.designs.clear();
  add(accelerator, class_of(accelerator, accelerator.flexibility_of(comparison.workload.layers[0].layer)));
}

ordered_json axis_json(const AxisFlexion& axis) {
  ordered_json json;
  json["axis"] = axis_letter(axis_of(axis.measure));
  json["measure"] = to_string(axis.measure);
  json["level"] = axis.level;
  json["h_f"] = axis.h_f;
  json["w_f"] = axis.w_f;
  json["size_c"] = axis.c;
  json["size_a"] = axis.a;
  json["size_w"] = axis.w;
  json["size_a_and_w"] = axis.a_and_w;
  json["exact"] = !axis.h_f_interval && !axis.w_f_interval;
  if (axis.h_f_interval) json["h_f_95"] = {axis.h_f_interval->low, axis.h_f_interval->high};
  if (axis.w_f_interval) json["w_f_95"] = {axis.w_f_interval->low, axis.w_f_interval->high};
  return json;
}

}  // namespace

FlexionComparison compare_flexion(const Library& library, const Accelerator& accelerator, Workload workload,
                                  const std::optional<std::string>& flexibility, bool tile_tuples) {
  FlexionComparison comparison{std::move(workload), {}, false};
  choose_designs(library, accelerator, flexibility, comparison);
  for (FlexionComparison::Design& design : comparison.designs) {
    FlexionOptions settings;
    settings.tile_tuples = tile_tuples && (!comparison.compares || design.its_class.flexible[0]);
    design.flexion = workload_flexion(comparison.workload, design.accelerator, settings);
    if (!comparison.compares || design.its_class.fusion)
      design.fusion = fusion::fusion_flexion(comparison.workload, design.accelerator);
  }
  return comparison;
}

bool FlexionComparison::shows(const Design& design, Measure measure) const {
  return !compares || design.its_class.flexible[static_cast<std::size_t>(axis_of(measure))];
}

std::pair<double, double> class_means(const FlexionComparison::Design& design) {
  double h_f = 0, w_f = 0, layers = 0;
  for (const LayerFlexion& layer : design.flexion.layers) {
    const auto count = static_cast<double>(layer.count);
    h_f += count * layer.h_f(design.its_class.flexible);
    w_f += count * layer.w_f(design.its_class.flexible);
    layers += count;
  }
  if (design.its_class.fusion && design.fusion) {
    h_f *= design.fusion->h_f;
    w_f *= design.fusion->w_f;
  }
  return {h_f / layers, w_f / layers};
}

ordered_json FlexionComparison::json() const {
  ordered_json root;
  root["schema"] = kJsonSchema;
  root["accelerator"] = designs[0].accelerator.name;
  root["workload"] = workload.name;
  root["designs"] = ordered_json::array();
  for (const Design& design : designs) {
    ordered_json one;
    one["flexibility"] = design.name;
    one["class"] = design.its_class.bits();
    one["layers"] = ordered_json::array();
    for (const LayerFlexion& layer : design.flexion.layers) {
      ordered_json row;
      row["layer"] = layer.layer;
      row["count"] = layer.count;
      row["axes"] = ordered_json::array();
      for (const AxisFlexion& axis : layer.axes)
        if (shows(design, axis.measure)) row["axes"].push_back(axis_json(axis));
      row["class"] = {{"h_f", layer.h_f(design.its_class.flexible)}, {"w_f", layer.w_f(design.its_class.flexible)}};
      one["layers"].push_back(std::move(row));
    }
    one["mean"]["axes"] = ordered_json::array();
    for (const WorkloadFlexion::Mean& mean : design.flexion.means)
      if (shows(design, mean.measure))
        one["mean"]["axes"].push_back({{"axis", axis_letter(axis_of(mean.measure))},
                                       {"measure", to_string(mean.measure)},
                                       {"h_f", mean.h_f},
                                       {"w_f", mean.w_f}});
    if (shows_fusion(design))
      one["mean"]["axes"].push_back({{"axis", axis_letter(Axis::kFusion)},
                                     {"measure", "stacks"},
                                     {"h_f", design.fusion->h_f},
                                     {"w_f", design.fusion->w_f},
                                     {"tensors", design.fusion->tensors},
                                     {"size_c", std::to_string(design.fusion->c)},
                                     {"size_a", std::to_string(design.fusion->a)},
                                     {"size_w", std::to_string(design.fusion->w)},
                                     {"size_a_and_w", std::to_string(design.fusion->a_and_w)}});
    const auto [h_f, w_f] = class_means(design);
    one["mean"]["class"] = {{"h_f", h_f}, {"w_f", w_f}};
    root["designs"].push_back(std::move(one));
  }
  return root;
}

}  // namespace pliant
