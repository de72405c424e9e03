// SPDX-License-Identifier: Apache-2.0
// Where the flexibility paper's largest speedups come from. A ladder for single layers with full flexibility: what the
// paper prints, what the public tools behind it report, their own mappings counted again, their best with the holes
// closed, and the proven optimum, all over MACs / 1024. Then the reading in which T is a tile of a PE (the paper's
// Figure 1 has it outside S), by compute alone, beside every printed row that it speaks to.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/arithmetic.h"
#include "dse/studies/all_studies.h"
#include "dse/studies/inflexible_design.h"
#include "dse/studies/pe_tiles.h"
#include "dse/studies/study_table.h"
#include "dse/studies/study_task.h"

namespace pliant {
namespace {

constexpr double kPes = 1024;

/// What Figure 11 prints for FullFlex-1111 beside InFlex-0001, whose folds on 32 x 32 PEs it reproduces exactly.
struct PrintedLayer {
  const char* layer;
  double relative, folds;  ///< of C over rows and K over columns
};
constexpr std::array kPrintedLayers = {PrintedLayer{"MnasNet L15", 0.04, 6}, PrintedLayer{"MnasNet L16", 0.04, 8},
                                       PrintedLayer{"MnasNet L25", 0.80, 45}};

Layer conv_of(const std::array<Count, 6>& size, bool depthwise) {
  return make_conv("layer", {.M = depthwise ? size[1] : size[0],
                             .C = size[1],
                             .P = size[2],
                             .Q = size[3],
                             .R = size[4],
                             .S = size[5],
                             .groups = depthwise ? size[1] : 1});
}

Chart ladder_chart(DataTable rungs) {
  Chart chart{"ladder", "Full flexibility on single layers: cycles over MACs / 1024", {}, std::move(rungs)};
  const nlohmann::ordered_json order = {"printed", "public tools, as reported", "their mappings, counted again",
                                        "their best, holes closed", "proven optimum"};
  // Of equal domains, so that the legends of both are one.
  const nlohmann::ordered_json rung = {
      {"field", "rung"}, {"type", "nominal"}, {"scale", {{"domain", order}}}, {"title", nullptr}};
  chart.spec = {{"title", {{"subtitle", "left of the dashed line: fewer cycles than the multiplications can take"}}},
                {"width", 470},
                {"height", 300},
                {"layer",
                 {{{"mark", {{"type", "rule"}, {"color", "#888"}, {"strokeDash", {4, 3}}}},
                   {"encoding", {{"x", {{"datum", 1}}}}}},
                  {{"mark", {{"type", "point"}, {"filled", true}, {"size", 90}, {"opacity", 0.9}}},
                   {"encoding",
                    {{"y", {{"field", "layer"}, {"type", "nominal"}, {"sort", nullptr}, {"title", nullptr}}},
                     {"x",
                      {{"field", "over_bound"},
                       {"type", "quantitative"},
                       {"scale", {{"type", "log"}}},
                       {"title", "cycles over what 1024 PEs need at least (dashed)"}}},
                     {"shape", rung},
                     {"color", rung}}}}}}};
  return chart;
}

void ladder(const StudyContext& context, StudyResult& result) {
  const Accelerator flexref = load_accelerator(context.library, "flexref");
  std::vector<GammaRun> runs = read_gamma_runs(context.library);
  if (context.quick) runs.resize(2);
  DataTable rungs = table_of({"layer", "rung", "cycles", "over_bound"});
  const auto add = [&](const GammaRun& run, const char* rung, double cycles, double bound) {
    result.found(fmt::format("{}: {}, cycles over MACs / 1024", run.layer, rung), cycles / bound);
    add_row(rungs, run.layer, std::string(rung), cycles, cycles / bound);
  };
  for (const GammaRun& run : runs) {
    const double as_given = macs_of(run.outputs) / kPes, as_listed = macs_of(run.inputs) / kPes;
    for (const PrintedLayer& printed : kPrintedLayers)
      if (run.layer == printed.layer)
        add(run, "printed",
            printed.relative * printed.folds * macs_of(run.inputs) / static_cast<double>(run.inputs[0] * run.inputs[1]),
            as_listed);
    add(run, "public tools, as reported", run.reported, as_given);
    add(run, "their mappings, counted again", cycles_of(run.outputs, run.mapping, run.depthwise), as_given);
    if (run.closed > 0) add(run, "their best, holes closed", run.closed, as_listed);
    StudyTask task;
    task.layer = conv_of(run.inputs, run.depthwise);
    task.factorization = Factorization::kRubyS;
    task.objective = Objective::kRuntime;
    const SearchResult best = solve(context, flexref, task);
    if (!best.certified) throw StudyError(run.layer + " is not proven");
    add(run, "proven optimum", best.value, as_listed);
  }
  result.charts.push_back(ladder_chart(rungs));
  result.tables.emplace_back("ladder", std::move(rungs));
}

/// Compute alone, T a tile of a PE: K over 16 and C over 64 PEs with tiles K 64, C 16, as the paper's Table 2 has them.
class TilePerPe {
 public:
  explicit TilePerPe(const Workload& workload) : network_(workload) {}

  struct Free {
    bool tile = false, any_pair = false, two_pairs = false, shape = false;
  };
  double layer(const InflexibleNetwork::Shape& shape, const Free& free) const {
    std::array<Count, 6> size = shape.size;
    if (shape.depthwise) size[0] = 1;
    double least = kInfinity;
    const auto look = [&](std::size_t a, std::size_t b) {
      for (Count rows = free.shape ? 1 : 16; rows <= (free.shape ? 1024 : 16); ++rows)
        least = std::min(least, steps(size, a, b, rows, 1024 / rows, free.tile, shape.depthwise));
    };
    if (free.any_pair) {
      for (std::size_t a = 0; a < 6; ++a)
        for (std::size_t b = 0; b < 6; ++b)
          if (a != b) look(a, b);
    } else {
      look(0, 1);
      if (free.two_pairs) look(2, 3);
    }
    return least;
  }
  double network(const Free& free) const {
    double sum = 0;
    for (const InflexibleNetwork::Shape& shape : network_.shapes()) sum += shape.count * layer(shape, free);
    return sum;
  }

 private:
  static double steps(const std::array<Count, 6>& size, std::size_t a, std::size_t b, Count rows, Count cols, bool free,
                      bool depthwise) {
    constexpr std::array<Count, 6> kTile = {64, 16, 3, 3, 3, 3};
    if (depthwise && a == 0) a = 1;
    if (depthwise && b == 0) b = 1;
    double product = 1;
    for (std::size_t d = 0; d < size.size(); ++d) {
      const Count units = (d == a ? rows : 1) * (d == b ? cols : 1);
      product *= static_cast<double>(units == 1 ? size[d]
                                     : free     ? ceil_div(size[d], units)
                                                : fullest_unit(size[d], kTile[d], units));
    }
    return product;
  }
  InflexibleNetwork network_;
};

void tile_per_pe(const StudyContext& context, StudyResult& result) {
  const Workload mnasnet = load_workload(context.library, "flexpaper_mnasnet");
  const TilePerPe all(mnasnet);
  using Free = TilePerPe::Free;
  const Free everything{true, true, false, true};
  const auto found = [&](const std::string& what, double value) { result.found("T a tile of a PE: " + what, value); };
  const auto faster = [&](const Free& free) { return all.network({}) / all.network(free); };
  for (const char* name : {"L01", "L15", "L16", "L21", "L25", "L29"}) {
    Workload alone = mnasnet;
    std::erase_if(alone.layers, [&](const Workload::Entry& entry) { return entry.layer.name != name; });
    const TilePerPe one(alone);
    if (std::string_view(name) == "L01")
      found("L01 runtime saved by tiles (%)", 100 * (1 - one.network({.tile = true}) / one.network({})));
    else
      found(fmt::format("{} FullFlex-1111 over InFlex", name), one.network(everything) / one.network({}));
  }
  found("model speedup of T", faster({.tile = true}));
  found("model speedup of P", faster({.any_pair = true}));
  found("model speedup of P over two pairs", all.network({.two_pairs = true}) / all.network({.any_pair = true}));
  found("model speedup of S", faster({.shape = true}));
  found("model FullFlex-1111 over InFlex", 1 / faster(everything));
}

}  // namespace

StudyResult run_ladder_study(const StudyContext& context) {
  StudyResult result;
  ladder(context, result);
  tile_per_pe(context, result);
  return result;
}

}  // namespace pliant
