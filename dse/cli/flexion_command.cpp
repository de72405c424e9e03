// SPDX-License-Identifier: Apache-2.0
#include "dse/cli/flexion_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>

#include "core/input/load.h"
#include "dse/cli/command_line.h"
#include "dse/cli/json_schema.h"
#include "dse/cli/shipped_configs.h"
#include "dse/cli/task_options.h"
#include "dse/cli/text_table.h"
#include "dse/import/open.h"
#include "dse/report/venn.h"
#include "flex/flexion/flexion.h"

namespace pliant {

namespace {

using nlohmann::ordered_json;

constexpr const char* kUsage =
    R"(usage: pliant flexion --accelerator NAME|FILE --workload NAME|FILE [--layer LAYER] [options]

How flexible an accelerator is, axis by axis: hardware flexion H-F = |A| / |C| and workload flexion W-F = |A and W| / |W|,
where C is what its resources allow, A what it can do, and W what the layer has. Of a workload: the mean over its layers.
Without --flexibility, an accelerator with a baseline is compared with itself: InFlex, PartFlex and FullFlex on each axis.

examples:
  pliant flexion --accelerator flexref --workload flexpaper_mnasnet
  pliant flexion --accelerator flexref --workload flexpaper_mnasnet --layer L16
  pliant flexion --accelerator flexref --flexibility PartFlex-1011 --layer gemm:M=512,N=512,K=512
  pliant flexion --accelerator eyeriss --workload resnet50 --layers
  pliant flexion --accelerator flexref --workload flexpaper_mnasnet --svg drawings

)";

/// "0.004167", "1", "5.6e-15".
std::string share(double value) { return fmt::format("{:.4g}", value); }

/// Exact up to seven digits, then rounded.
std::string size(const std::string& digits) {
  return digits.size() <= 7 ? digits : fmt::format("{:.3e}", std::stod(digits));
}

std::string share_with_interval(double value, const std::optional<Interval>& interval) {
  return interval ? fmt::format("{} ±{:.1g}", share(value), (interval->high - interval->low) / 2) : share(value);
}

/// What one row of the comparison is about.
struct Design {
  std::string name;
  FlexibilityClass its_class;
  Accelerator accelerator;
  WorkloadFlexion flexion;
};

class FlexionCommand {
 public:
  FlexionCommand(const Arguments& arguments, std::ostream& out) : arguments_(arguments), out_(out) {}

  int run() {
    read();
    for (Design& design : designs_) {
      FlexionOptions settings;
      settings.tile_tuples = !arguments_.has("no-tuples") && (!compares_ || design.its_class.flexible[0]);
      design.flexion = workload_flexion(workload_, design.accelerator, settings);
    }
    if (arguments_.has("svg")) draw();
    if (arguments_.has("json")) {
      out_ << json().dump(2) << "\n";
    } else {
      print();
    }
    return 0;
  }

 private:
  static Library library() { return Library(shipped_configs().value_or("configs")); }

  void read() {
    const auto name = arguments_.text("accelerator");
    if (!name) throw arguments_.missing("accelerator", "a shipped name or a file");
    const Accelerator accelerator = open_accelerator(library(), *name, arguments_.settings());
    if (const auto workload = arguments_.text("workload")) workload_ = open_workload(library(), *workload);
    if (arguments_.has("layer")) workload_.layers = {{read_layer(arguments_), 1}};
    if (workload_.layers.empty()) throw arguments_.bad("--workload", "neither a workload nor a layer", "one of them");
    choose_designs(accelerator);
  }

  void choose_designs(const Accelerator& accelerator) {
    const auto add = [&](const Accelerator& made, FlexibilityClass its_class) {
      std::string name = made.flexibility.name.empty() ? its_class.name() : made.flexibility.name;
      designs_.push_back({std::move(name), std::move(its_class), made, {}});
    };
    if (arguments_.has("flexibility")) {
      const std::string text = *arguments_.text("flexibility");
      const Accelerator made = choose_flexibility(library(), text, accelerator);
      const auto named = parse_flexibility_class(text);
      return add(made, named ? *named : class_of(made, made.flexibility_of(workload_.layers[0].layer)));
    }
    for (std::size_t a = 0; a < kAxisCount; ++a) {
      FlexibilityClass one;
      one.flexible[a] = true;
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
    compares_ = designs_.size() > kAxisCount;
    if (compares_) return;
    designs_.clear();
    add(accelerator, class_of(accelerator, accelerator.flexibility_of(workload_.layers[0].layer)));
  }

  /// The plain settings, and the variants that say something else about this axis.
  static std::vector<std::string> variants_of(const Accelerator& accelerator, std::size_t axis) {
    std::vector<std::string> variants{""};
    for (const auto& [name, settings] : accelerator.partial)
      if (!name.empty() && settings.all.given[axis]) variants.push_back(name);
    return variants;
  }

  bool shown(const Design& design, Measure measure) const {
    return !compares_ || design.its_class.flexible[static_cast<std::size_t>(axis_of(measure))];
  }

  bool one_layer() const { return workload_.layers.size() == 1; }

  std::string subject() const {
    if (one_layer())
      return workload_.layers[0].layer.written_as.empty()
                 ? workload_.layers[0].layer.name
                 : workload_.layers[0].layer.name + " " + workload_.layers[0].layer.written_as;
    Count layers = 0;
    for (const Workload::Entry& entry : workload_.layers) layers += entry.count;
    return fmt::format("{}, mean over {} layers", workload_.name, layers);
  }

  static std::string heading(Measure measure, const std::string& level) {
    const std::string where = level.empty() ? "" : " at " + level;
    switch (measure) {
      case Measure::kTileVolume: return "T  tile sizes" + where + ", volume of (inputs, weights, outputs) in words";
      case Measure::kTileTuples: return "T  tile sizes" + where + ", tuples of one size per dim";
      case Measure::kOrders: return "O  loop orders" + where;
      case Measure::kPairs: return "P  pairs of parallel dims" + where;
      case Measure::kShapes: return "S  array shapes" + where + ", by rows";
    }
    return "";
  }

  void print() {
    out_ << fmt::format("{} on {}\n", designs_[0].accelerator.name, subject());
    for (int m = 0; m < kMeasures; ++m) print_measure(static_cast<Measure>(m));
    if (!compares_) print_class(designs_[0]);
  }

  void print_measure(Measure measure) {
    std::vector<std::string> header{"design", "H-F", "W-F"};
    if (one_layer()) header = {"design", "H-F", "W-F", "|C|", "|A|", "|W|", "|A and W|"};
    if (arguments_.has("layers") && !one_layer()) header.insert(header.begin() + 1, "layer<");
    TextTable table(header);
    std::string level;
    bool any = false;
    for (const Design& design : designs_) {
      const auto& layers = design.flexion.layers;
      const bool has = std::ranges::any_of(layers[0].axes, [&](const AxisFlexion& a) { return a.measure == measure; });
      if (!has || !shown(design, measure)) continue;
      any = true;
      level = layers[0].of(measure).level;
      if (one_layer()) {
        const AxisFlexion& axis = layers[0].of(measure);
        table.add({design.name, share_with_interval(axis.h_f, axis.h_f_interval),
                   share_with_interval(axis.w_f, axis.w_f_interval), size(axis.c), size(axis.a), size(axis.w),
                   size(axis.a_and_w)});
        continue;
      }
      if (arguments_.has("layers"))
        for (const LayerFlexion& layer : layers)
          table.add({design.name, layer.layer, share(layer.of(measure).h_f), share(layer.of(measure).w_f)});
      std::vector<std::string> row{design.name, share(design.flexion.of(measure).h_f),
                                   share(design.flexion.of(measure).w_f)};
      if (arguments_.has("layers")) row.insert(row.begin() + 1, "mean");
      table.add(std::move(row));
    }
    if (any) out_ << "\n" << heading(measure, level) << "\n" << table.text("  ");
  }

  /// Several axes together, when the class has several.
  void print_class(const Design& design) {
    const auto& flexible = design.its_class.flexible;
    const auto bits = std::ranges::count(flexible, true);
    if (bits < 2) return;
    std::string axes;
    for (std::size_t a = 0; a < kAxisCount; ++a)
      if (flexible[a]) axes += (axes.empty() ? "" : " x ") + std::string(axis_letter(static_cast<Axis>(a)));
    const auto [h_f, w_f] = class_means(design);
    out_ << fmt::format("\nclass {}, {}: H-F {}, W-F {}\n", design.its_class.bits(), axes, share(h_f), share(w_f));
  }

  static std::pair<double, double> class_means(const Design& design) {
    double h_f = 0, w_f = 0, layers = 0;
    for (const LayerFlexion& layer : design.flexion.layers) {
      const auto count = static_cast<double>(layer.count);
      h_f += count * layer.h_f(design.its_class.flexible);
      w_f += count * layer.w_f(design.its_class.flexible);
      layers += count;
    }
    return {h_f / layers, w_f / layers};
  }

  ordered_json json() const {
    ordered_json root;
    root["schema"] = kJsonSchema;
    root["accelerator"] = designs_[0].accelerator.name;
    root["workload"] = workload_.name;
    root["designs"] = ordered_json::array();
    for (const Design& design : designs_) {
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
          if (shown(design, axis.measure)) row["axes"].push_back(axis_json(axis));
        row["class"] = {{"h_f", layer.h_f(design.its_class.flexible)}, {"w_f", layer.w_f(design.its_class.flexible)}};
        one["layers"].push_back(std::move(row));
      }
      one["mean"]["axes"] = ordered_json::array();
      for (const WorkloadFlexion::Mean& mean : design.flexion.means)
        if (shown(design, mean.measure))
          one["mean"]["axes"].push_back({{"axis", axis_letter(axis_of(mean.measure))},
                                         {"measure", to_string(mean.measure)},
                                         {"h_f", mean.h_f},
                                         {"w_f", mean.w_f}});
      const auto [h_f, w_f] = class_means(design);
      one["mean"]["class"] = {{"h_f", h_f}, {"w_f", w_f}};
      root["designs"].push_back(std::move(one));
    }
    return root;
  }

  static ordered_json axis_json(const AxisFlexion& axis) {
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

  void draw() const {
    const std::filesystem::path folder = *arguments_.text("svg");
    std::error_code failed;
    std::filesystem::create_directories(folder, failed);
    constexpr std::array<const char*, kMeasures> kUnits{"tiles (inputs, weights, outputs) in words", "tile tuples",
                                                        "loop orders", "ordered pairs of dims", "array shapes"};
    constexpr std::array<const char*, kMeasures> kFiles{"tile_volume", "tile_tuples", "order", "parallel", "shape"};
    for (std::size_t m = 0; m < kMeasures; ++m) {
      const auto measure = static_cast<Measure>(m);
      std::vector<VennPanel> panels;
      for (const Design& design : designs_) {
        const auto mean = std::ranges::find(design.flexion.means, measure, &WorkloadFlexion::Mean::measure);
        if (mean == design.flexion.means.end() || !shown(design, measure)) continue;
        panels.push_back({design.name, mean->c, mean->a, mean->w, mean->a_and_w, mean->c_and_w, mean->h_f, mean->w_f});
      }
      if (panels.empty()) continue;
      const std::string title =
          fmt::format("{} ({}): {}", axis_name(axis_of(measure)), axis_letter(axis_of(measure)), subject());
      const std::filesystem::path file = folder / (std::string(kFiles[m]) + ".svg");
      std::ofstream stream(file, std::ios::binary);
      stream << venn_svg(
          title, kUnits[m] + std::string(one_layer() ? "" : "; sizes and flexions are means over the layers"), panels);
      if (!stream) throw arguments_.bad("--svg", "cannot write " + file.string(), "a folder that can be written");
    }
  }

  const Arguments& arguments_;
  std::ostream& out_;
  Workload workload_;
  std::vector<Design> designs_;
  bool compares_ = false;  ///< In, Part and Full on every axis, each design about its own axis
};

}  // namespace

int flexion_command(const std::vector<std::string>& args, std::ostream& out, std::ostream& err) {
  const CommandLine line{"flexion", kUsage, 0};
  return run_command(line, args, out, err,
                     [&](const Arguments& arguments) { return FlexionCommand(arguments, out).run(); });
}

}  // namespace pliant
