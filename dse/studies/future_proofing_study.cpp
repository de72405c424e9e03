// SPDX-License-Identifier: Apache-2.0
// Section 7 of the flexibility paper (Figure 13): the best inflexible design for AlexNet, and what each class of
// flexibility, had it been built in, would be worth on networks that came later. Every entry is a proven optimum, the
// design itself included, so the table is monotone: more flexibility is never slower. The table is without a limit of
// bandwidth; the inflexible designs are searched under five.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "dse/studies/all_studies.h"
#include "dse/studies/flexibility_paper.h"
#include "dse/studies/future_designs.h"
#include "dse/studies/inflexible_accelerator.h"
#include "dse/studies/study_sweep.h"
#include "dse/studies/study_table.h"

namespace pliant {
namespace {

constexpr std::array<const char*, 5> kBandwidths = {"6.4", "25.6", "102.4", kPaperBandwidth, kNoLimit};
constexpr const char* kInFlex = "InFlex-0000";
constexpr std::size_t kCnns = 4;  ///< the first networks are convolutional

bool contains(const std::string& more, const std::string& less) {
  for (std::size_t i = 0; i < less.size(); ++i)
    if (less[i] == '1' && more[i] != '1') return false;
  return true;
}

/// Figure 13: runtime of each class and network beside the inflexible design.
class FutureTable {
 public:
  explicit FutureTable(Rows designs) : designs_(std::move(designs)) {}

  double cycles(const std::string& flexibility, const FutureNetwork& network) const {
    return designs_.number({{"flexibility", flexibility}, {"workload", network.workload}}, "runtime_cycles");
  }
  double relative(const std::string& flexibility, const FutureNetwork& network) const {
    return cycles(flexibility, network) / cycles(kInFlex, network);
  }
  double mean(const std::string& flexibility) const {
    std::vector<double> all;
    for (const FutureNetwork& network : kFutureNetworks) all.push_back(relative(flexibility, network));
    return geometric_mean(all);
  }
  bool has(const FutureNetwork& network) const { return designs_.has({{"workload", network.workload}}); }
  std::vector<std::string> flexibilities() const { return designs_.values("flexibility"); }
  double area(const std::string& flexibility) const {
    return designs_.number(designs_.where({{"flexibility", flexibility}}).front(), "area_um2");
  }
  bool certified() const {
    for (std::size_t row = 0; row < designs_.size(); ++row)
      if (designs_.number(row, "certified") != 1) return false;
    return true;
  }
  /// Entries where a class is slower than one that it contains.
  int not_monotone() const;

 private:
  Rows designs_;
};

int FutureTable::not_monotone() const {
  const auto whole = [](const std::string& name) { return name == kInFlex || name.starts_with("FullFlex-"); };
  const auto bits = [](const std::string& name) { return name.substr(name.find('-') + 1); };
  int broken = 0;
  for (const FutureNetwork& network : kFutureNetworks)
    for (const std::string& less : flexibilities())
      for (const std::string& more : flexibilities()) {
        if (!has(network) || !whole(less) || !whole(more)) continue;
        if (contains(bits(more), bits(less)) && cycles(more, network) > cycles(less, network)) ++broken;
      }
  return broken;
}

/// All classes of the shipped AlexNet-optimal design on all networks.
FutureTable run_classes(const StudyContext& context) {
  return FutureTable(run_study_sweep(context, "study_future_proofing", [&](Sweep& sweep) {
                       if (!context.quick) return;
                       std::erase_if(sweep.workloads, [](const Workload& w) {
                         return w.name != "flexpaper_alexnet" && w.name != "flexpaper_dlrm" &&
                                w.name != "flexpaper_ncf";
                       });
                     }).designs);
}

/// The closed form behind the search of inflexible designs against the mapper: the largest relative difference.
double deviation_of_closed_form(const StudyContext& context, const FutureTable& table) {
  const InflexibleHardware hardware = hardware_under(context, kNoLimit);
  double deviation = 0;
  for (const FutureNetwork& network : kFutureNetworks) {
    if (!table.has(network)) continue;
    const double cycles =
        InflexibleNetwork(load_workload(context.library, network.workload)).cycles(shipped_alexnet_design(), hardware);
    deviation = std::max(deviation, std::abs(cycles / table.cycles(kInFlex, network) - 1));
  }
  return deviation;
}

/// X-Opt: the best inflexible design of each network, beside AlexNet's, by network.
std::map<std::string, double> own_designs(const StudyContext& context, const FutureTable& table, DataTable& designs) {
  std::map<std::string, double> relative;
  for (const FutureNetwork& network : kFutureNetworks) {
    if (context.on_progress) context.on_progress(fmt::format("inflexible design for {}", network.name));
    const InflexibleDesign best =
        best_design(context, InflexibleNetwork(load_workload(context.library, network.workload)), kNoLimit);
    relative[network.name] = best.cycles / table.cycles(kInFlex, network);
    add_row(designs, std::string("no limit"), std::string(network.name), describe(best), best.cycles);
  }
  return relative;
}

/// What the text of the paper says about Figure 13.
void takeaways(const FutureTable& table, const std::map<std::string, double>& x_opt, StudyResult& result) {
  const FutureNetwork &alexnet = kFutureNetworks[0], &mnasnet = kFutureNetworks[1];
  double cnns = 0;
  for (std::size_t n = 0; n < kCnns; ++n) cnns += table.relative("FullFlex-1000", kFutureNetworks[n]);
  result.found("FullFlex-1000 speedup on the four CNNs", kCnns / cnns);
  result.found("FullFlex-1000 speedup on MnasNet", 1 / table.relative("FullFlex-1000", mnasnet));
  result.found("FullFlex-1111 speedup on AlexNet", 1 / table.relative("FullFlex-1111", alexnet));
  const auto saved = [&](const char* flexibility) { return 100 * (1 - table.relative(flexibility, mnasnet)); };
  result.found("runtime saved on MnasNet by P and S together (%)", saved("FullFlex-0011"));
  result.found("runtime saved on MnasNet by P alone (%)", saved("FullFlex-0010"));
  result.found("runtime saved on MnasNet by S alone (%)", saved("FullFlex-0001"));
  result.found("FullFlex-0011 over the better of FullFlex-0010 and FullFlex-0001, geometric mean",
               table.mean("FullFlex-0011") / std::min(table.mean("FullFlex-0010"), table.mean("FullFlex-0001")));
  result.found("FullFlex-1100 over FullFlex-1010, geometric mean",
               table.mean("FullFlex-1100") / table.mean("FullFlex-1010"));
  result.found("FullFlex-1010 over FullFlex-1111, geometric mean",
               table.mean("FullFlex-1010") / table.mean("FullFlex-1111"));
  std::vector<double> share;
  double not_faster = 0;
  for (const FutureNetwork& network : kFutureNetworks) {
    const double full = table.relative("FullFlex-1111", network);
    share.push_back(100 * full / table.relative("PartFlex-1111", network));
    not_faster += full < x_opt.at(network.name) ? 0 : 1;
  }
  result.found("least share of the gain of FullFlex-1111 that PartFlex-1111 has (%)", std::ranges::min(share));
  result.found("largest share of the gain of FullFlex-1111 that PartFlex-1111 has (%)", std::ranges::max(share));
  result.found("networks on which FullFlex-1111 is not faster than X-Opt", not_faster);
  std::vector<double> slowdown;
  for (const char* network : {"BERT", "DLRM", "NCF"}) slowdown.push_back(1 / x_opt.at(network));
  result.found("least slowdown of AlexNet-Opt beside X-Opt on BERT, DLRM and NCF", std::ranges::min(slowdown));
  result.found("largest slowdown of AlexNet-Opt beside X-Opt on BERT, DLRM and NCF", std::ranges::max(slowdown));
}

/// Everything that the paper prints.
DataTable figure_13(const StudyContext& context, const FutureTable& future, DataTable& designs, StudyResult& result) {
  std::map<std::string, double> x_opt;
  if (!context.quick) x_opt = own_designs(context, future, designs);
  DataTable table = table_of({"network", "flexibility", "runtime", "area_um2"});
  for (const FutureNetwork& network : kFutureNetworks) {
    if (!future.has(network)) continue;
    for (const std::string& flexibility : future.flexibilities()) {
      const double relative = future.relative(flexibility, network);
      if (flexibility != kInFlex) result.found(fmt::format("{} {}", flexibility, network.name), relative);
      add_row(table, std::string(network.name), flexibility, relative, future.area(flexibility));
    }
    if (context.quick) continue;
    result.found(fmt::format("X-Opt {}", network.name), x_opt.at(network.name));
    add_row(table, std::string(network.name), std::string("X-Opt"), x_opt.at(network.name), 0.0);
  }
  const InflexibleNetwork alexnet(load_workload(context.library, kFutureNetworks[0].workload));
  const InflexibleHardware hardware = hardware_under(context, kNoLimit);
  const double optimum = best_design(context, alexnet, kNoLimit).cycles;
  result.found("AlexNet-Opt runs Y and K in parallel (1 = yes)",
               alexnet.cycles(shipped_alexnet_design(), hardware) == optimum ? 1 : 0);
  double macs = 0;
  for (const InflexibleNetwork::Shape& shape : alexnet.shapes()) macs += shape.count * shape.macs();
  result.found("AlexNet-Opt share of PEs at work (%)", 100 * macs / static_cast<double>(hardware.units) / optimum);
  if (!context.quick) takeaways(future, x_opt, result);
  return table;
}

/// What each class is worth, and what the choice and the search of the inflexible design contribute.
DataTable add_gains(const StudyContext& context, const FutureTable& future, StudyResult& result) {
  DataTable gains = table_of({"flexibility", "speedup", "area_percent"});
  for (const std::string& flexibility : future.flexibilities()) {
    if (flexibility == kInFlex) continue;
    const double speedup = 1 / future.mean(flexibility);
    result.found(fmt::format("{} speedup, geometric mean of seven networks", flexibility), speedup);
    add_row(gains, flexibility, speedup, 100 * (future.area(flexibility) / future.area(kInFlex) - 1));
  }
  std::map<std::string, double> full;
  for (const FutureNetwork& network : kFutureNetworks) full[network.name] = future.cycles("FullFlex-1111", network);
  gains_over_other_designs(context, full, result);
  return gains;
}

/// The best inflexible design for AlexNet under each bandwidth, as an accelerator file in the study's folder; how many
/// there are, how much they differ on later networks, and how near a genetic search comes.
void add_designs(const StudyContext& context, DataTable& designs, StudyResult& result) {
  for (const char* bandwidth : kBandwidths) {
    if (context.on_progress) context.on_progress(fmt::format("inflexible design under {} bytes/cycle", bandwidth));
    const InflexibleDesign best = alexnet_designs(context, bandwidth, result);
    std::string name = fmt::format("alexnet_opt_{}", bandwidth);
    std::ranges::replace(name, '.', '_');
    write_accelerator(context, best, name);
    add_row(designs, std::string(bandwidth), std::string("AlexNet"), describe(best), best.cycles);
  }
}

void add_charts(DataTable table, DataTable gains, StudyResult& result) {
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
  result.charts.push_back(std::move(heat));
  Chart curves{"gain_area", "Gain on seven networks and area of each class", {}, std::move(gains)};
  curves.spec = {{"mark", {{"type", "point"}, {"filled", true}, {"size", 60}}},
                 {"encoding",
                  {{"x", {{"field", "area_percent"}, {"type", "quantitative"}, {"title", "area of flexibility, %"}}},
                   {"y", {{"field", "speedup"}, {"type", "quantitative"}, {"title", "speedup, geometric mean"}}},
                   {"tooltip", {{{"field", "flexibility"}}, {{"field", "speedup"}}}}}}};
  result.charts.push_back(std::move(curves));
}

}  // namespace

StudyResult run_future_proofing_study(const StudyContext& context) {
  StudyResult result;
  DataTable designs = table_of({"bandwidth", "network", "design", "cycles"});
  const FutureTable future = run_classes(context);
  DataTable table = figure_13(context, future, designs, result);
  result.found("largest relative difference of the closed form from the mapper",
               deviation_of_closed_form(context, future));
  result.found("entries where a class is slower than one it contains", future.not_monotone());
  result.found("all entries proven", future.certified() ? 1 : 0);
  if (!context.quick) {
    DataTable gains = add_gains(context, future, result);
    add_designs(context, designs, result);
    add_charts(std::move(table), std::move(gains), result);
  }
  result.tables.emplace_back("inflexible_designs", std::move(designs));
  return result;
}

}  // namespace pliant
