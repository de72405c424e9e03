// SPDX-License-Identifier: Apache-2.0
// The Ruby paper's array sweep (Figures 13, 14): perfect factors, padding and spatial remainders on arrays from 2x7 to
// 16x16, all proven optima, in area and EDP.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "costmodel/area.h"
#include "dse/studies/all_studies.h"
#include "dse/studies/array_optima.h"
#include "dse/studies/study_sweep.h"
#include "dse/studies/study_table.h"

namespace pliant {
namespace {

/// Leaves every n-th value of an axis, the first one included.
void thin_out(Sweep& sweep, std::size_t axis, std::size_t n) {
  std::size_t i = 0, j = 0;
  std::erase_if(sweep.axes[axis].values, [&](const auto&) { return i++ % n != 0; });
  std::erase_if(sweep.cells[axis], [&](const auto&) { return j++ % n != 0; });
}

/// A network on one array: EDP by strategy.
struct ArrayPoint {
  std::string rows, cols;
  double area_um2 = 0, perfect = 0, ruby = 0, padded = 0, always_padded = 0;
  bool certified = true;

  std::string array() const { return rows + "x" + cols; }
  double saved() const { return 1 - ruby / perfect; }
  double saved_beside_padding() const { return 1 - ruby / padded; }
  double saved_beside_always_padding() const { return 1 - ruby / always_padded; }
};

/// EDP of a whole network is its energy times its time.
double network_edp(const Workload& network, const std::vector<std::vector<ArrayOptima::OnArray>>& optima,
                   std::size_t array, ArrayOptima::Cost ArrayOptima::OnArray::*strategy, bool& certified) {
  double energy = 0, time = 0;
  for (std::size_t l = 0; l < network.layers.size(); ++l) {
    const ArrayOptima::Cost& cost = optima[l][array].*strategy;
    const auto count = static_cast<double>(network.layers[l].count);
    energy += count * cost.energy_pj;
    time += count * cost.cycles;
    certified = certified && cost.certified;
  }
  return energy * time;
}

std::vector<ArrayPoint> points_of(const StudyContext& context, const Sweep& sweep, const Workload& network) {
  std::vector<ArrayPoint> points;
  std::vector<Accelerator> arrays;
  for (const auto& rows : sweep.axes[0].values)
    for (const auto& cols : sweep.axes[1].values) {
      arrays.push_back(
          load_accelerator(context.library, sweep.accelerators[0], {{"rows", rows[0]}, {"cols", cols[0]}}));
      points.push_back({.rows = rows[0], .cols = cols[0], .area_um2 = area_um2(arrays.back()).total()});
    }
  std::vector<std::vector<ArrayOptima::OnArray>> optima(network.layers.size());
  for_each_task(context, network.name + " on arrays", optima.size(), [&](std::size_t l, const StudyContext& alone) {
    ArrayOptima layer(alone, network.layers[l].layer);
    optima[l].resize(arrays.size());
    for (std::size_t a = arrays.size(); a-- > 0;)  // ascending in the sweep: from the largest
      optima[l][a] = layer.on(arrays[a], std::stoll(points[a].rows), std::stoll(points[a].cols));
  });
  for (std::size_t a = 0; a < points.size(); ++a) {
    const auto edp = [&](ArrayOptima::Cost ArrayOptima::OnArray::*strategy) {
      return network_edp(network, optima, a, strategy, points[a].certified);
    };
    points[a].perfect = edp(&ArrayOptima::OnArray::perfect);
    points[a].ruby = edp(&ArrayOptima::OnArray::ruby_s);
    points[a].padded = edp(&ArrayOptima::OnArray::padded);
    points[a].always_padded = edp(&ArrayOptima::OnArray::always_padded);
  }
  return points;
}

/// The part of EDP that Ruby-S saves on the arrays that no other beats in area and EDP of Ruby-S.
std::vector<double> saved_on_frontier(const std::vector<ArrayPoint>& points) {
  std::vector<double> saved;
  for (const ArrayPoint& point : points) {
    const bool beaten = std::ranges::any_of(points, [&](const ArrayPoint& other) {
      const bool other_is_better = other.area_um2 < point.area_um2 || other.ruby < point.ruby;
      return other_is_better && other.area_um2 <= point.area_um2 && other.ruby <= point.ruby;
    });
    if (!beaten) saved.push_back(point.saved());
  }
  return saved;
}

void found_on_arrays(const std::vector<ArrayPoint>& points, const std::string& network, StudyResult& result) {
  const auto values = [&](double (ArrayPoint::*saved)() const) {
    std::vector<double> all;
    for (const ArrayPoint& point : points) all.push_back((point.*saved)());
    return all;
  };
  const auto mean = [](const std::vector<double>& all) {
    return 100 * std::accumulate(all.begin(), all.end(), 0.0) / static_cast<double>(all.size());
  };
  const auto worse = [](const std::vector<double>& all) {
    return static_cast<double>(std::ranges::count_if(all, [](double part) { return part < -1e-12; }));
  };
  const auto found = [&](const char* what, double value) { result.found(network + ": " + what, value); };
  const std::vector<double> saved = values(&ArrayPoint::saved), frontier = saved_on_frontier(points);
  const std::vector<double> padded = values(&ArrayPoint::saved_beside_padding);
  const std::vector<double> always = values(&ArrayPoint::saved_beside_always_padding);
  found("arrays of the sweep where Ruby-S is worse than PFM", worse(saved));
  found("arrays of the sweep where Ruby-S is worse than PFM with padding", worse(always));
  found("arrays of the sweep where Ruby-S is worse than the best of eight paddings", worse(padded));
  found("largest EDP added beside the best of eight paddings (%)", std::max(0.0, -100 * std::ranges::min(padded)));
  found("mean EDP saved over arrays (%)", mean(saved));
  found("most EDP saved on an array (%)", 100 * std::ranges::max(saved));
  found("mean EDP saved beside padding (%)", mean(always));
  found("mean EDP saved beside the best of eight paddings (%)", mean(padded));
  found("mean EDP saved on the frontier (%)", mean(frontier));
  found("least EDP saved on the frontier (%)", 100 * std::ranges::min(frontier));
  found("most EDP saved on the frontier (%)", 100 * std::ranges::max(frontier));
}

/// ResNet-50 searched as the paper searched, on a grid of 20 of the arrays: the gain, and how often Ruby-S seems to
/// lose; the optima of the same arrays beside it.
void found_at_random(const StudyContext& context, StudyResult& result, const std::vector<ArrayPoint>& optima) {
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
    const std::string array = designs.text(pfm[i], "set_rows") + "x" + designs.text(pfm[i], "set_cols");
    saved += 100 * part / static_cast<double>(pfm.size());
    proven += 100 * std::ranges::find(optima, array, &ArrayPoint::array)->saved() / static_cast<double>(pfm.size());
    worse += part < 0 ? 1 : 0;
  }
  result.found("resnet50: mean EDP saved over 20 arrays, random search (%)", saved);
  result.found("resnet50: mean EDP saved over the same 20 arrays, optima (%)", proven);
  result.found("resnet50: of 20 arrays, those where Ruby-S is worse than PFM, random search", worse);
}

Chart area_edp_chart(DataTable table) {
  Chart chart{"fig13_area_edp", "Area and EDP of arrays from 2x7 to 16x16", {}, std::move(table)};
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
  return chart;
}

}  // namespace

StudyResult run_ruby_arrays_study(const StudyContext& context) {
  StudyResult result;
  Sweep sweep = load_study_sweep(context, "study_ruby_arrays");
  std::size_t i = 0;
  std::erase_if(sweep.workloads[1].layers, [&](const Workload::Entry&) { return i++ % 4 != 0; });
  if (context.quick) {
    keep_every(sweep, 8);
    thin_out(sweep, 0, 15);
    thin_out(sweep, 1, 4);
  }
  bool certified = true;
  std::map<std::string, std::vector<ArrayPoint>> by_network;
  DataTable table = table_of({"workload", "array", "factorization", "area_um2", "edp_pj_cycles"});
  for (const Workload& network : sweep.workloads) {
    const std::vector<ArrayPoint>& points = by_network[network.name] = points_of(context, sweep, network);
    for (const ArrayPoint& point : points) {
      certified = certified && point.certified;
      for (const auto& [strategy, edp] : {std::pair{"pfm", point.perfect},
                                          {"ruby-s", point.ruby},
                                          {"padding", point.always_padded},
                                          {"best of eight paddings", point.padded}})
        add_row(table, network.name, point.array(), std::string(strategy), point.area_um2, edp);
    }
    if (!context.quick) found_on_arrays(points, network.name, result);
  }
  result.found("all optima proven", certified ? 1 : 0);
  if (context.wants_samples()) found_at_random(context, result, by_network.at("resnet50"));
  result.charts.push_back(area_edp_chart(table));
  result.tables.emplace_back("arrays", std::move(table));
  return result;
}

}  // namespace pliant
