// SPDX-License-Identifier: Apache-2.0
#include "dse/studies/future_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "dse/studies/flexibility_paper.h"
#include "dse/studies/inflexible_accelerator.h"

namespace pliant {
namespace {

bool contains(const std::string& more, const std::string& less) {
  for (std::size_t i = 0; i < less.size(); ++i)
    if (less[i] == '1' && more[i] != '1') return false;
  return true;
}

}  // namespace

double FutureTable::cycles(const std::string& flexibility, const FutureNetwork& network) const {
  return designs_.number({{"flexibility", flexibility}, {"workload", network.workload}}, "runtime_cycles");
}

double FutureTable::mean(const std::string& flexibility) const {
  return mean_cycles(flexibility) / mean_cycles(kInFlex);
}

double FutureTable::mean_cycles(const std::string& flexibility) const {
  std::vector<double> all;
  for (const FutureNetwork& network : kFutureNetworks) all.push_back(cycles(flexibility, network));
  return geometric_mean(all);
}

bool FutureTable::certified() const {
  for (std::size_t row = 0; row < designs_.size(); ++row)
    if (designs_.number(row, "certified") != 1) return false;
  return true;
}

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

FutureTable run_classes(const StudyContext& context, const InflexibleDesign& baseline, const std::string& bandwidth,
                        const std::string& mapper) {
  std::string name = fmt::format("alexnet_opt_{}", bandwidth);
  std::ranges::replace(name, '.', '_');
  const std::filesystem::path file = write_accelerator(context, baseline, name);
  const auto change = [&](Sweep& sweep) {
    sweep.accelerators = {file.string()};
    for (const char* key : kBandwidthKeys) sweep.settings.push_back({key, half_of(bandwidth)});
    sweep.mapper = mapper;
    if (mapper != "exact")
      sweep.flexibilities = {"FullFlex-1000", "FullFlex-0100", "FullFlex-0010", "FullFlex-0001", "FullFlex-1111"};
    if (context.quick)
      std::erase_if(sweep.workloads, [](const Workload& w) {
        return w.name != "flexpaper_alexnet" && w.name != "flexpaper_dlrm" && w.name != "flexpaper_ncf";
      });
  };
  return FutureTable(run_study_sweep(context, "study_future_proofing", change,
                                     fmt::format("study_future_proofing_{}_{}", bandwidth, mapper))
                         .designs);
}

}  // namespace pliant
