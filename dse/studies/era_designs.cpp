// SPDX-License-Identifier: Apache-2.0
#include "dse/studies/era_designs.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "dse/studies/flexible_cycles.h"
#include "dse/studies/future_designs.h"
#include "dse/studies/inflexible_accelerator.h"
#include "dse/studies/study_task.h"

namespace pliant {
namespace {

constexpr std::array kEras = {Era{"2016", {"flexpaper_alexnet", "flexpaper_vgg16", "flexpaper_resnet50"}},
                              Era{"2020", {"flexpaper_mnasnet", "flexpaper_mobilenet_v2", "flexpaper_bert"}}};

std::vector<Workload> load_era(const StudyContext& context, std::span<const char* const> names) {
  std::vector<Workload> all;
  for (const char* name : names) all.push_back(load_workload(context.library, name));
  return all;
}

EraDesign design_of(const StudyContext& context, const Era& era, const std::vector<Workload>& models,
                    const std::string& bandwidth) {
  const InflexibleHardware hardware = hardware_under(context, bandwidth);
  const InflexibleNetwork network(load_era(context, era.workloads));
  const InflexibleDesign best = best_design(context, network, bandwidth);
  std::vector<InflexibleNetwork> later;
  for (const Workload& model : models) later.emplace_back(model);
  std::vector<InflexibleDesign> all;
  std::vector<double> means;
  network.for_each_tie(hardware, best.cycles, [&](const InflexibleDesign& design) {
    std::vector<double> cycles;
    for (const InflexibleNetwork& model : later) cycles.push_back(model.cycles(design, hardware));
    all.push_back(design);
    means.push_back(geometric_mean(cycles));
  });
  return {middle_design(all, means), evenly_spaced(all, kTiesLookedAt), static_cast<double>(all.size()),
          std::ranges::max(means) / std::ranges::min(means)};
}

}  // namespace

const std::vector<EraUnder>& eras_under_bandwidths(const StudyContext& context, const std::vector<Workload>& models) {
  return context.memory->once<std::vector<EraUnder>>("designs of eras", [&] {
    std::vector<EraUnder> all;
    for (const Era& era : kEras)
      for (const char* bandwidth : kModelBandwidths) all.push_back({era, bandwidth, {}});
    if (context.quick) all = {{kEras[0], kPaperBandwidth, {}}};
    for_each_task(context, "inflexible designs", all.size(), [&](std::size_t i, const StudyContext& alone) {
      all[i].chosen = design_of(alone, all[i].era, models, all[i].bandwidth);
    });
    return all;
  });
}

ModelTable::ModelTable(const StudyContext& context, const EraUnder& one, const std::vector<std::string>& more)
    : designs_(DataTable{}) {
  std::string name = fmt::format("opt_{}_{}", one.era.name, one.bandwidth);
  std::ranges::replace(name, '.', '_');
  const std::filesystem::path file = write_accelerator(context, one.chosen.design, name);
  const auto change = [&](Sweep& sweep) {
    sweep.accelerators = {file.string()};
    sweep.flexibilities.insert(sweep.flexibilities.end(), more.begin(), more.end());
    for (const char* key : kBandwidthKeys) sweep.settings.push_back({key, half_of(one.bandwidth)});
    if (context.quick) sweep.workloads.resize(1);
  };
  designs_ =
      run_study_sweep(context, "study_llm_future", change, fmt::format("{}_{}", one.era.name, one.bandwidth)).designs;
}

double ModelTable::speedup(const std::string& flexibility, const ModelPhase& phase) const {
  std::vector<double> all;
  for (const std::string& workload : workloads())
    if (belongs(workload, phase)) all.push_back(speedup(flexibility, workload));
  return geometric_mean(all);
}

bool ModelTable::certified() const {
  for (std::size_t row = 0; row < designs_.size(); ++row)
    if (designs_.number(row, "certified") != 1) return false;
  return true;
}

}  // namespace pliant
