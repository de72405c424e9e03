// SPDX-License-Identifier: Apache-2.0
// The Ruby paper's array sweep (Figures 13, 14): perfect factors, padding and spatial remainders on arrays from 2x7 to
// 16x16, all proven optima, in area and EDP.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "dse/studies/all_studies.h"
#include "dse/studies/study_sweep.h"
#include "dse/studies/study_table.h"
#include "dse/studies/study_task.h"

namespace pliant {
namespace {

/// The layer with one dim larger, everything else as it was written.
Layer enlarged(const Layer& layer, const std::string& dim, Count size) {
  std::string text = layer.written_as;
  const std::size_t at = text.find(dim + "=");
  const std::size_t end = text.find_first_not_of("0123456789", at + dim.size() + 1);
  text.replace(at, (end == std::string::npos ? text.size() : end) - at, fmt::format("{}={}", dim, size));
  Layer larger = parse_layer(text, "study");
  larger.name = layer.name;
  return larger;
}

/// Padding as a mapper without remainders would use it: each dim that runs over a side of the array is left as it is
/// or rounded up to the next multiple of that side, whichever set of them gives the least EDP. Padded work is paid for.
SearchResult best_padded(const StudyContext& context, const Accelerator& accelerator, const Layer& layer, Count rows,
                         Count cols) {
  const std::array<std::pair<const char*, Count>, 3> sides = {std::pair{"C", rows}, {"M", cols}, {"Q", cols}};
  std::optional<SearchResult> best;
  for (unsigned set = 0; set < 8; ++set) {
    Layer padded = layer;
    bool changed = set == 0;
    for (std::size_t i = 0; i < sides.size(); ++i) {
      const int d = padded.find_dim(sides[i].first);
      if ((set >> i & 1U) == 0 || d < 0) continue;
      const Count size = padded.dims[static_cast<std::size_t>(d)].size;
      const Count up = (size + sides[i].second - 1) / sides[i].second * sides[i].second;
      changed = changed || up != size;
      padded = enlarged(padded, sides[i].first, up);
    }
    if (!changed) continue;
    SearchResult found = solve(context, accelerator, {.layer = padded});
    if (!best || found.value < best->value) best = std::move(found);
  }
  return *best;
}

/// Leaves every n-th value of an axis, the first one included.
void thin_out(Sweep& sweep, std::size_t axis, std::size_t n) {
  std::size_t i = 0, j = 0;
  std::erase_if(sweep.axes[axis].values, [&](const auto&) { return i++ % n != 0; });
  std::erase_if(sweep.cells[axis], [&](const auto&) { return j++ % n != 0; });
}

/// ResNet-50 searched as the paper searched, on a grid of 20 of the arrays: the gain, and how often Ruby-S seems to
/// lose; the optima of the same arrays beside it.
void found_at_random(const StudyContext& context, StudyResult& result, const Rows& optima) {
  const Rows designs = run_study_sweep(
                           context, "study_ruby_arrays",
                           [&](Sweep& sweep) {
                             std::erase_if(sweep.workloads, [](const Workload& w) { return w.name != "resnet50"; });
                             thin_out(sweep, 0, 3);
                             thin_out(sweep, 1, 3);
                             search_at_random(sweep, 1);
                           },
                           "study_ruby_arrays_random")
                           .designs;
  double saved = 0, proven = 0, worse = 0;
  const std::vector<std::size_t> pfm = designs.where({{"factorization", "pfm"}}),
                                 ruby = designs.where({{"factorization", "ruby-s"}});
  for (std::size_t i = 0; i < pfm.size(); ++i) {
    const double part = 1 - designs.number(ruby[i], "edp_pj_cycles") / designs.number(pfm[i], "edp_pj_cycles");
    const auto optimum = [&](const char* rule) {
      return optima.number({{"workload", "resnet50"},
                            {"factorization", rule},
                            {"set_rows", designs.text(pfm[i], "set_rows")},
                            {"set_cols", designs.text(pfm[i], "set_cols")}},
                           "edp_pj_cycles");
    };
    saved += 100 * part / static_cast<double>(pfm.size());
    proven += 100 * (1 - optimum("ruby-s") / optimum("pfm")) / static_cast<double>(pfm.size());
    worse += part < 0 ? 1 : 0;
  }
  result.found("resnet50: mean EDP saved over 20 arrays, random search (%)", saved);
  result.found("resnet50: mean EDP saved over the same 20 arrays, optima (%)", proven);
  result.found("resnet50: of 20 arrays, those where Ruby-S is worse than PFM, random search", worse);
}

}  // namespace

StudyResult run_ruby_arrays_study(const StudyContext& context) {
  StudyResult result;
  const auto shorten = [&](Sweep& sweep) {
    auto& deepbench = sweep.workloads[1].layers;
    std::size_t i = 0;
    std::erase_if(deepbench, [&](const Workload::Entry&) { return i++ % 4 != 0; });
    if (!context.quick) return;
    keep_every(sweep, 8);
    thin_out(sweep, 0, 15);
    thin_out(sweep, 1, 4);
  };
  std::vector<Workload> networks;
  const SweepData data = run_study_sweep(context, "study_ruby_arrays", [&](Sweep& sweep) {
    shorten(sweep);
    networks = sweep.workloads;
  });
  const Rows& designs = data.designs;
  bool certified = true;
  int worse = 0;
  DataTable table = table_of({"workload", "array", "factorization", "area_um2", "edp_pj_cycles"});
  for (const char* workload : {"resnet50", "deepbench_conv"}) {
    std::vector<double> saved, on_frontier, padded_saved;
    std::vector<std::array<double, 2>> points;  // area, EDP of Ruby-S
    for (const std::size_t pfm : designs.where({{"workload", workload}, {"factorization", "pfm"}})) {
      const std::size_t ruby = designs.row({{"workload", workload},
                                            {"factorization", "ruby-s"},
                                            {"set_rows", designs.text(pfm, "set_rows")},
                                            {"set_cols", designs.text(pfm, "set_cols")}});
      for (const std::size_t row : {pfm, ruby}) {
        certified = certified && designs.number(row, "certified") == 1;
        add_row(table, std::string(workload), designs.text(row, "set_rows") + "x" + designs.text(row, "set_cols"),
                designs.text(row, "factorization"), designs.number(row, "area_um2"),
                designs.number(row, "edp_pj_cycles"));
      }
      const std::string rows = designs.text(pfm, "set_rows"), cols = designs.text(pfm, "set_cols");
      const Accelerator array = load_accelerator(context.library, "ruby_eyeriss", {{"rows", rows}, {"cols", cols}});
      const auto& layers = std::ranges::find(networks, workload, &Workload::name)->layers;
      std::vector<SearchResult> padded(layers.size());
      for_each_task(context, fmt::format("{}: padding on {}x{}", workload, rows, cols), layers.size(),
                    [&](std::size_t i, const StudyContext& alone) {
                      padded[i] = best_padded(alone, array, layers[i].layer, std::stoll(rows), std::stoll(cols));
                    });
      double energy = 0, time = 0;
      for (std::size_t i = 0; i < layers.size(); ++i) {
        certified = certified && padded[i].certified;
        energy += static_cast<double>(layers[i].count) * padded[i].totals.energy_pj;
        time += static_cast<double>(layers[i].count) * padded[i].totals.cycles;
      }
      add_row(table, std::string(workload), rows + "x" + cols, std::string("padding"), designs.number(pfm, "area_um2"),
              energy * time);
      padded_saved.push_back(1 - designs.number(ruby, "edp_pj_cycles") / (energy * time));
      const double ratio = designs.number(ruby, "edp_pj_cycles") / designs.number(pfm, "edp_pj_cycles");
      saved.push_back(1 - ratio);
      worse += ratio > 1 ? 1 : 0;
      points.push_back({designs.number(ruby, "area_um2"), designs.number(ruby, "edp_pj_cycles")});
    }
    for (std::size_t i = 0; i < points.size(); ++i) {
      const bool beaten = std::ranges::any_of(points, [&](const auto& other) {
        return other != points[i] && other[0] <= points[i][0] && other[1] <= points[i][1];
      });
      if (!beaten) on_frontier.push_back(saved[i]);
    }
    const auto mean = [](const std::vector<double>& values) {
      double sum = 0;
      for (const double value : values) sum += value;
      return 100 * sum / static_cast<double>(values.size());
    };
    if (!context.quick) {
      result.found(fmt::format("{}: arrays of the sweep where Ruby-S is worse than padding", workload),
                   static_cast<double>(std::ranges::count_if(padded_saved, [](double part) { return part < -1e-12; })));
      result.found(fmt::format("{}: mean EDP saved over arrays (%)", workload), mean(saved));
      result.found(fmt::format("{}: most EDP saved on an array (%)", workload), 100 * std::ranges::max(saved));
      result.found(fmt::format("{}: mean EDP saved beside padding (%)", workload), mean(padded_saved));
      result.found(fmt::format("{}: mean EDP saved on the frontier (%)", workload), mean(on_frontier));
    }
  }
  result.found("arrays of the sweep where Ruby-S is worse than PFM", worse);
  result.found("all optima proven", certified ? 1 : 0);
  if (!context.quick) found_at_random(context, result, designs);
  Chart chart{"fig13_area_edp", "Area and EDP of arrays from 2x7 to 16x16", {}, table};
  chart.spec = {
      {"mark", {{"type", "point"}, {"filled", true}, {"size", 60}}},
      {"encoding",
       {{"x", {{"field", "area_um2"}, {"type", "quantitative"}, {"scale", {{"zero", false}}}, {"title", "area, um2"}}},
        {"y",
         {{"field", "edp_pj_cycles"},
          {"type", "quantitative"},
          {"scale", {{"type", "log"}}},
          {"title", "EDP, pJ x cycles"}}},
        {"color", {{"field", "factorization"}, {"type", "nominal"}, {"title", nullptr}}},
        {"column", {{"field", "workload"}, {"title", nullptr}}},
        {"tooltip", {{{"field", "array"}}, {{"field", "edp_pj_cycles"}}}}}},
      {"resolve", {{"scale", {{"y", "independent"}}}}}};
  result.charts.push_back(std::move(chart));
  return result;
}

}  // namespace pliant
