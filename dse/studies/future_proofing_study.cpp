// SPDX-License-Identifier: Apache-2.0
// Section 7 of the flexibility paper (Figure 13): the best inflexible design for AlexNet, and what each class of
// flexibility, had it been built in, would be worth on networks that came later. Every entry is a proven optimum, the
// design itself included, so the table is monotone: more flexibility is never slower. What the paper prints is compared
// under one bandwidth; everything is done again under others, and by the paper's own search.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "dse/studies/all_studies.h"
#include "dse/studies/five_numbers.h"
#include "dse/studies/flexibility_paper.h"
#include "dse/studies/flexible_cycles.h"
#include "dse/studies/future_table.h"
#include "dse/studies/inflexible_accelerator.h"
#include "dse/studies/study_table.h"
#include "dse/studies/study_task.h"

namespace pliant {
namespace {

constexpr std::array<const char*, 4> kBandwidths = {"25.6", "102.4", kPaperBandwidth, kNoLimit};
constexpr std::size_t kCnns = 4;  ///< the first networks are convolutional

/// The closed form behind the search of inflexible designs against the mapper: the largest relative difference.
double deviation_of_closed_form(const StudyContext& context, const FutureTable& table, const InflexibleDesign& design,
                                const std::string& bandwidth) {
  const InflexibleHardware hardware = hardware_under(context, bandwidth);
  double deviation = 0;
  for (const FutureNetwork& network : kFutureNetworks) {
    if (!table.has(network)) continue;
    const double cycles = InflexibleNetwork(load_workload(context.library, network.workload)).cycles(design, hardware);
    deviation = std::max(deviation, std::abs(cycles / table.cycles(kInFlex, network) - 1));
  }
  return deviation;
}

/// X-Opt: the best inflexible design of each network, beside AlexNet's, by network.
using OwnDesigns = std::map<std::string, double>;
OwnDesigns own_designs(const StudyContext& context, const FutureTable& table, const std::string& bandwidth,
                       DataTable& designs) {
  OwnDesigns relative;
  std::vector<InflexibleDesign> best(kFutureNetworks.size());
  for_each_task(context, fmt::format("inflexible designs{}", under(bandwidth)), best.size(),
                [&](std::size_t n, const StudyContext& alone) {
                  const InflexibleNetwork network(load_workload(alone.library, kFutureNetworks[n].workload));
                  best[n] = best_design(alone, network, bandwidth);
                });
  for (std::size_t n = 0; n < best.size(); ++n) {
    relative[kFutureNetworks[n].name] = best[n].cycles / table.cycles(kInFlex, kFutureNetworks[n]);
    add_row(designs, bandwidth, std::string(kFutureNetworks[n].name), describe(best[n]), best[n].cycles);
  }
  return relative;
}

/// What the text of the paper says about Figure 13.
void takeaways(const FutureTable& table, const OwnDesigns& x_opt, const std::string& bandwidth, StudyResult& result) {
  const std::string where = bandwidth == kPaperBandwidth ? "" : under(bandwidth);
  const auto found = [&](const std::string& quantity, double value) { result.found(quantity + where, value); };
  const FutureNetwork &alexnet = kFutureNetworks[0], &mnasnet = kFutureNetworks[1];
  double cnns = 0;
  for (std::size_t n = 0; n < kCnns; ++n) cnns += table.relative("FullFlex-1000", kFutureNetworks[n]);
  found("FullFlex-1000 speedup on the four CNNs", kCnns / cnns);
  found("FullFlex-1000 speedup on MnasNet", 1 / table.relative("FullFlex-1000", mnasnet));
  found("FullFlex-1111 speedup on AlexNet", 1 / table.relative("FullFlex-1111", alexnet));
  const auto saved = [&](const char* flexibility) { return 100 * (1 - table.relative(flexibility, mnasnet)); };
  found("runtime saved on MnasNet by P and S together (%)", saved("FullFlex-0011"));
  found("runtime saved on MnasNet by P alone (%)", saved("FullFlex-0010"));
  found("runtime saved on MnasNet by S alone (%)", saved("FullFlex-0001"));
  found("FullFlex-0011 over the better of FullFlex-0010 and FullFlex-0001, geometric mean",
        table.mean("FullFlex-0011") / std::min(table.mean("FullFlex-0010"), table.mean("FullFlex-0001")));
  found("FullFlex-1100 over FullFlex-1010, geometric mean", table.mean("FullFlex-1100") / table.mean("FullFlex-1010"));
  found("FullFlex-1010 over FullFlex-1111, geometric mean", table.mean("FullFlex-1010") / table.mean("FullFlex-1111"));
  std::vector<double> share;
  double not_faster = 0;
  for (const FutureNetwork& network : kFutureNetworks) {
    const double full = table.relative("FullFlex-1111", network);
    share.push_back(100 * full / table.relative("PartFlex-1111", network));
    not_faster += full < x_opt.at(network.name) ? 0 : 1;
  }
  found("least share of the gain of FullFlex-1111 that PartFlex-1111 has (%)", std::ranges::min(share));
  found("largest share of the gain of FullFlex-1111 that PartFlex-1111 has (%)", std::ranges::max(share));
  found("networks on which FullFlex-1111 is not faster than X-Opt", not_faster);
  std::vector<double> slowdown;
  for (const char* network : {"BERT", "DLRM", "NCF"}) slowdown.push_back(1 / x_opt.at(network));
  found("least slowdown of AlexNet-Opt beside X-Opt on BERT, DLRM and NCF", std::ranges::min(slowdown));
  found("largest slowdown of AlexNet-Opt beside X-Opt on BERT, DLRM and NCF", std::ranges::max(slowdown));
}

/// Everything that Figure 13 prints.
DataTable figure_13(const FutureTable& future, const OwnDesigns& x_opt, StudyResult& result) {
  DataTable table = table_of({"network", "flexibility", "runtime", "area_um2"});
  for (const FutureNetwork& network : kFutureNetworks) {
    if (!future.has(network)) continue;
    for (const std::string& flexibility : future.flexibilities()) {
      const double relative = future.relative(flexibility, network);
      if (flexibility != kInFlex) result.found(fmt::format("{} {}", flexibility, network.name), relative);
      add_row(table, std::string(network.name), flexibility, relative, future.area(flexibility));
    }
    if (!x_opt.contains(network.name)) continue;
    result.found(fmt::format("X-Opt {}", network.name), x_opt.at(network.name));
    add_row(table, std::string(network.name), std::string("X-Opt"), x_opt.at(network.name), 0.0);
  }
  return table;
}

/// What is as good for AlexNet, and what the paper's search finds instead of an optimum.
void designs_of_alexnet(const StudyContext& context, const AlexnetOptima& optima, const FutureTable& table,
                        const std::string& bandwidth, StudyResult& result) {
  const auto found = [&](const std::string& quantity, double value) {
    result.found(quantity + under(bandwidth), value);
  };
  found("AlexNet on its best inflexible design (cycles)", optima.cycles);
  found("designs that are as good for AlexNet", optima.count);
  found("of these run Y and K in parallel", optima.y_and_k);
  found("seven networks on the worst of them over the best, geometric mean", optima.most_cycles / optima.least_cycles);
  const double flexible = table.mean_cycles("FullFlex-1111");
  found("FullFlex-1111 speedup over the AlexNet-optimal design that is best for the seven",
        optima.least_cycles / flexible);
  found("FullFlex-1111 speedup over the AlexNet-optimal design that is worst for the seven",
        optima.most_cycles / flexible);
  if (!context.sampled) return;
  const AlexnetSearched searched = alexnet_by_genetic_search(context, bandwidth, optima.cycles);
  found("AlexNet on a design of the genetic search over the optimum, worst of 20 seeds", searched.worst);
  const std::vector<double>& by_seed = searched.mean_cycles;
  const std::string over = "FullFlex-1111 speedup over designs of the genetic search, ";
  found(over + "least of 20 seeds", by_seed.front() / flexible);
  found(over + "median of 20 seeds", (by_seed[by_seed.size() / 2 - 1] + by_seed[by_seed.size() / 2]) / 2 / flexible);
  found(over + "largest of 20 seeds", by_seed.back() / flexible);
}

/// Which of the designs that are as good for AlexNet was built decides what flexibility is worth later: the speedup of
/// each class over each of them.
void gains_over_ties(const StudyContext& context, const AlexnetOptima& optima, const FutureTable& table,
                     const std::string& bandwidth, DataTable& ties, StudyResult& result) {
  const std::vector<InflexibleNetwork> networks = seven_networks(context);
  const std::vector<std::string> classes(kTieClasses.begin(), kTieClasses.end());
  const auto gains = gains_by_design(context, networks, bandwidth, optima.some, classes);
  for (std::size_t c = 0; c < classes.size(); ++c) {
    const std::string flexibility = "FullFlex-" + classes[c];
    const std::array<double, 5> five = five_numbers(gains[c]);
    for (std::size_t i = 0; i < five.size(); ++i)
      result.found(fmt::format("{} speedup over the designs that are as good for AlexNet, {}{}", flexibility,
                               kFiveNumbers[i], under(bandwidth)),
                   five[i]);
    const double area_percent = 100 * (table.area(flexibility) / table.area(kInFlex) - 1);
    add_row(ties, bandwidth_label(bandwidth), axes_label(flexibility, area_percent), five[0], five[1], five[2], five[3],
            five[4], area_percent);
  }
}

/// The same classes in closed form and by the mapper: the largest relative difference.
double deviation_of_classes(const StudyContext& context, const FutureTable& table, const InflexibleDesign& design,
                            const std::string& bandwidth) {
  double deviation = 0;
  for (const FutureNetwork& network : kFutureNetworks) {
    const InflexibleNetwork shapes(load_workload(context.library, network.workload));
    FlexibleCycles flexible(shapes, hardware_under(context, bandwidth));
    for (const char* bits : kTieClasses) {
      const double mapped = table.cycles(fmt::format("FullFlex-{}", bits), network);
      deviation = std::max(deviation, std::abs(flexible.cycles(design, free_axes(bits)) / mapped - 1));
    }
  }
  return deviation;
}

/// What each class is worth under a bandwidth, and what it costs in area.
void add_gains(const FutureTable& future, const std::string& bandwidth, DataTable& gains, StudyResult& result) {
  const std::string where = bandwidth == kPaperBandwidth ? "" : under(bandwidth);
  for (const std::string& flexibility : future.flexibilities()) {
    if (flexibility == kInFlex) continue;
    const double speedup = 1 / future.mean(flexibility);
    result.found(fmt::format("{} speedup, geometric mean of seven networks{}", flexibility, where), speedup);
    const double area_percent = 100 * (future.area(flexibility) / future.area(kInFlex) - 1);
    add_row(gains, bandwidth_label(bandwidth), flexibility, axes_label(flexibility, area_percent), speedup,
            area_percent);
  }
}

/// Flexible classes as the paper searches them, a genetic search of 10,000 samples a layer, beside their optima.
void flexible_classes_by_search(const StudyContext& context, const InflexibleDesign& baseline,
                                const FutureTable& optimal, StudyResult& result) {
  const FutureTable searched = run_classes(context, baseline, kPaperBandwidth, "genetic");
  double most = 0;
  for (const std::string& flexibility : searched.flexibilities()) {
    const double over = searched.mean_cycles(flexibility) / optimal.mean_cycles(flexibility);
    most = std::max(most, over);
    result.found(fmt::format("{} by the genetic search over its optimum, geometric mean", flexibility), over);
  }
  result.found("largest of these", most);
  result.found("entries where a class by the genetic search is slower than one it contains", searched.not_monotone());
  result.found("FullFlex-1111 by the genetic search, speedup over the AlexNet-optimal design",
               optimal.mean_cycles(kInFlex) / searched.mean_cycles("FullFlex-1111"));
}

Chart heat_map(DataTable table) {
  Chart heat{"fig13_future_proofing", "Runtime beside the AlexNet-optimal inflexible design", {}, std::move(table)};
  heat.spec = {
      {"width", 420},
      {"height", 380},
      {"encoding",
       {{"x", {{"field", "network"}, {"type", "nominal"}, {"sort", nullptr}, {"title", nullptr}}},
        {"y", {{"field", "flexibility"}, {"type", "nominal"}, {"sort", nullptr}, {"title", nullptr}}}}},
      {"layer",
       {{{"mark", "rect"},
         {"encoding", {{"color", {{"field", "runtime"}, {"type", "quantitative"}, {"title", "runtime"}}}}}},
        {{"mark", {{"type", "text"}, {"fontSize", 9}}},
         {"encoding",
          {{"text", {{"field", "runtime"}, {"format", ".2f"}}},
           {"color", {{"condition", {{"test", "datum.runtime < 0.5"}, {"value", "white"}}}, {"value", "black"}}}}}}}}};
  return heat;
}

/// Classes from the smallest area to the largest, what each gains under each bandwidth.
Chart gains_and_area(DataTable gains) {
  Chart chart{"gain_area", "What each class gains on seven networks, and the area it adds", {}, std::move(gains)};
  chart.spec = {
      {"width", 460},
      {"height", 340},
      {"encoding",
       {{"y",
         {{"field", "axes"},
          {"type", "nominal"},
          {"sort", {{"field", "area_percent"}, {"op", "min"}}},
          {"title", "flexible axes, area they add"}}}}},
      {"layer",
       {{{"mark", {{"type", "rule"}, {"color", "#ccc"}}},
         {"encoding",
          {{"x", {{"field", "speedup"}, {"aggregate", "min"}, {"type", "quantitative"}}},
           {"x2", {{"field", "speedup"}, {"aggregate", "max"}}}}}},
        {{"mark", {{"type", "point"}, {"filled", true}, {"size", 70}, {"opacity", 1}}},
         {"encoding",
          {{"x",
            {{"field", "speedup"},
             {"type", "quantitative"},
             {"scale", {{"zero", false}}},
             {"title", "times as fast as the inflexible design, geometric mean"}}},
           {"color",
            {{"field", "bandwidth"}, {"type", "nominal"}, {"sort", nullptr}, {"title", "DRAM, bytes/cycle"}}}}}}}}};
  return chart;
}

}  // namespace

StudyResult run_future_proofing_study(const StudyContext& context) {
  StudyResult result;
  DataTable designs = table_of({"bandwidth", "network", "design", "cycles"});
  DataTable gains = table_of({"bandwidth", "flexibility", "axes", "speedup", "area_percent"});
  DataTable ties =
      table_of({"bandwidth", "axes", "least", "lower quartile", "median", "upper quartile", "most", "area_percent"});
  double deviation = 0, deviation_of_ties = 0;
  std::vector<const char*> bandwidths(kBandwidths.begin(), kBandwidths.end());
  if (context.quick) bandwidths = {kPaperBandwidth};
  std::vector<AlexnetOptima> optima_under(bandwidths.size());
  for_each_task(context, "AlexNet's best designs", bandwidths.size(), [&](std::size_t i, const StudyContext& alone) {
    optima_under[i] = alexnet_optima(alone, bandwidths[i]);
  });
  for (std::size_t i = 0; i < bandwidths.size(); ++i) {
    const std::string bandwidth = bandwidths[i];
    const bool printed = bandwidth == kPaperBandwidth;
    const AlexnetOptima& optima = optima_under[i];
    const FutureTable future = run_classes(context, optima.design, bandwidth);
    deviation = std::max(deviation, deviation_of_closed_form(context, future, optima.design, bandwidth));
    const std::string where = printed ? "" : under(bandwidth);
    result.found("entries where a class is slower than one it contains" + where, future.not_monotone());
    result.found("all entries proven" + where, future.certified() ? 1 : 0);
    OwnDesigns x_opt;
    if (!context.quick) x_opt = own_designs(context, future, bandwidth, designs);
    if (printed) {
      DataTable table = figure_13(future, x_opt, result);
      result.charts.push_back(heat_map(std::move(table)));
      result.found("AlexNet-Opt runs Y and K in parallel (1 = yes)", optima.y_and_k > 0 ? 1 : 0);
      double macs = 0;
      const InflexibleNetwork alexnet(load_workload(context.library, kFutureNetworks[0].workload));
      for (const InflexibleNetwork::Shape& shape : alexnet.shapes()) macs += shape.count * shape.macs();
      result.found("AlexNet-Opt share of PEs at work (%)",
                   100 * macs / static_cast<double>(hardware_under(context, bandwidth).units) / optima.cycles);
    }
    if (context.quick) continue;
    takeaways(future, x_opt, bandwidth, result);
    designs_of_alexnet(context, optima, future, bandwidth, result);
    add_gains(future, bandwidth, gains, result);
    gains_over_ties(context, optima, future, bandwidth, ties, result);
    deviation_of_ties = std::max(deviation_of_ties, deviation_of_classes(context, future, optima.design, bandwidth));
    if (printed && context.sampled) flexible_classes_by_search(context, optima.design, future, result);
  }
  result.found(context.quick ? "largest relative difference of the closed form from the mapper of the quick run"
                             : "largest relative difference of the closed form from the mapper",
               deviation);
  if (!context.quick) {
    result.found("largest relative difference of the closed form of seven classes from the mapper", deviation_of_ties);
    result.charts.push_back(gains_and_area(std::move(gains)));
    result.charts.push_back(
        five_number_chart("ties", "What each class gains over designs that are equally good for AlexNet", ties));
    result.tables.emplace_back("ties", std::move(ties));
  }
  result.tables.emplace_back("inflexible_designs", std::move(designs));
  return result;
}

}  // namespace pliant
