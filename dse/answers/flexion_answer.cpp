// SPDX-License-Identifier: Apache-2.0
#include "dse/answers/answers.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <ostream>

#include "core/input/load.h"
#include "dse/answers/answering.h"
#include "dse/answers/flexion_comparison.h"
#include "dse/answers/task_options.h"
#include "dse/answers/text_table.h"
#include "dse/import/open.h"
#include "dse/report/venn.h"

namespace pliant {

namespace {

/// "0.004167", "1", "5.6e-15".
std::string share(double value) { return fmt::format("{:.4g}", value); }

/// Exact up to seven digits, then rounded.
std::string size(const std::string& digits) {
  return digits.size() <= 7 ? digits : fmt::format("{:.3e}", std::stod(digits));
}

std::string share_with_interval(double value, const std::optional<Interval>& interval) {
  return interval ? fmt::format("{} ±{:.1g}", share(value), (interval->high - interval->low) / 2) : share(value);
}

using Design = FlexionComparison::Design;

class FlexionAnswer : Answering {
 public:
  FlexionAnswer(const Arguments& arguments, Face& face) : Answering(arguments, face) {}

  int run() {
    read();
    if (arguments_.has("svg")) draw();
    if (arguments_.has("json")) {
      out_ << comparison_.json().dump(2) << "\n";
    } else {
      print();
    }
    return 0;
  }

 private:
  const Library& library() const { return library_; }

  void read() {
    const auto name = arguments_.text("accelerator");
    if (!name) throw arguments_.missing("accelerator", "a shipped name or a file");
    const Accelerator accelerator = open_accelerator(library(), *name, arguments_.settings());
    Workload asked;
    if (const auto workload = arguments_.text("workload")) asked = open_workload(library(), *workload);
    if (arguments_.has("layer")) {
      asked.layers = {{read_layer(library(), arguments_), 1}};
      asked.graph.reset();
    }
    if (asked.layers.empty()) throw arguments_.bad("--workload", "neither a workload nor a layer", "one of them");
    comparison_ = compare_flexion(library(), accelerator, std::move(asked), arguments_.text("flexibility"),
                                  !arguments_.has("no-tuples"));
  }

  bool one_layer() const { return comparison_.workload.layers.size() == 1; }

  std::string subject() const {
    if (one_layer())
      return comparison_.workload.layers[0].layer.written_as.empty()
                 ? comparison_.workload.layers[0].layer.name
                 : comparison_.workload.layers[0].layer.name + " " + comparison_.workload.layers[0].layer.written_as;
    Count layers = 0;
    for (const Workload::Entry& entry : comparison_.workload.layers) layers += entry.count;
    return fmt::format("{}, mean over {} layers", comparison_.workload.name, layers);
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
    out_ << fmt::format("{} on {}\n", comparison_.designs[0].accelerator.name, subject());
    for (int m = 0; m < kMeasures; ++m) print_measure(static_cast<Measure>(m));
    print_fusion();
    if (!comparison_.compares) print_class(comparison_.designs[0]);
  }

  void print_fusion() {
    TextTable table({"design", "H-F", "W-F", "tensors", "|C|", "|A|", "|W|", "|A and W|"});
    bool any = false;
    for (const Design& design : comparison_.designs) {
      if (!comparison_.shows_fusion(design)) continue;
      any = true;
      const fusion::FusionFlexion& of = *design.fusion;
      table.add({design.name, share(of.h_f), share(of.w_f), std::to_string(of.tensors), std::to_string(of.c),
                 std::to_string(of.a), std::to_string(of.w), std::to_string(of.a_and_w)});
    }
    if (any) out_ << "\nF  stacks of loops around tensors between layers\n" << table.text("  ");
  }

  void print_measure(Measure measure) {
    std::vector<std::string> header{"design", "H-F", "W-F"};
    if (one_layer()) header = {"design", "H-F", "W-F", "|C|", "|A|", "|W|", "|A and W|"};
    if (arguments_.has("layers") && !one_layer()) header.insert(header.begin() + 1, "layer<");
    TextTable table(header);
    std::string level;
    bool any = false;
    for (const Design& design : comparison_.designs) {
      const auto& layers = design.flexion.layers;
      const bool has = std::ranges::any_of(layers[0].axes, [&](const AxisFlexion& a) { return a.measure == measure; });
      if (!has || !comparison_.shows(design, measure)) continue;
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
    const bool fused = design.its_class.fusion && design.fusion;
    const auto bits = std::ranges::count(flexible, true) + (fused ? 1 : 0);
    if (bits < 2) return;
    std::string axes;
    for (std::size_t a = 0; a < kAxisCount; ++a)
      if (flexible[a]) axes += (axes.empty() ? "" : " x ") + std::string(axis_letter(static_cast<Axis>(a)));
    if (fused) axes += " x F";
    const auto [h_f, w_f] = class_means(design);
    out_ << fmt::format("\nclass {}, {}: H-F {}, W-F {}\n", design.its_class.bits(), axes, share(h_f), share(w_f));
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
      for (const Design& design : comparison_.designs) {
        const auto mean = std::ranges::find(design.flexion.means, measure, &WorkloadFlexion::Mean::measure);
        if (mean == design.flexion.means.end() || !comparison_.shows(design, measure)) continue;
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

  FlexionComparison comparison_;
};

}  // namespace

int answer_flexion(const Arguments& arguments, Face& face) { return FlexionAnswer(arguments, face).run(); }

}  // namespace pliant
