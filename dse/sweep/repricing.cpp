// SPDX-License-Identifier: Apache-2.0
#include "dse/sweep/repricing.h"

#include <fmt/format.h>
#include <tbb/parallel_for.h>

#include <cmath>
#include <memory>

#include "core/input/source_text.h"
#include "costmodel/area.h"
#include "costmodel/report.h"
#include "dse/results/part_file.h"
#include "dse/results/stored_layers.h"
#include "dse/sweep/design_space.h"
#include "dse/sweep/network_task.h"
#include "dse/sweep/sweep_task.h"

namespace pliant {
namespace {

/// More groups than this have too many corners to look at all of them.
constexpr std::size_t kMostFullGroups = 6;

/// The accelerator with each group at its end of the corner.
Accelerator at_corner(const Accelerator& accelerator, const std::vector<UncertainFigures>& figures,
                      const Corner& corner) {
  Accelerator moved = accelerator;
  for (std::size_t g = 0; g < figures.size(); ++g) {
    if (corner[g] != 0) scale_figures(moved, figures[g], 1 + corner[g] * figures[g].share);
  }
  return moved;
}

InputError other_sweep(const std::filesystem::path& dataset) {
  return InputError(Diagnostic{dataset.string(), 0, 0, "", "the dataset was not made from this sweep",
                               "--sweep FILE and --set as they were when it was made", ""});
}

void add_layer(FigureCosts& sum, double count, double energy_pj, double cycles) {
  sum.energy_pj += count * energy_pj;
  sum.runtime_cycles += count * cycles;
  sum.sum_layer_edp_pj_cycles += count * energy_pj * cycles;
}

}  // namespace

std::vector<Corner> corners_of(std::size_t groups) {
  std::vector<Corner> all;
  if (groups <= kMostFullGroups) {
    for (std::size_t bits = 0; bits < std::size_t{1} << groups; ++bits) {
      Corner& corner = all.emplace_back(groups, -1);
      for (std::size_t g = 0; g < groups; ++g)
        if ((bits >> g & 1U) != 0) corner[g] = 1;
    }
    return all;
  }
  for (const int sign : {-1, 1}) {
    all.emplace_back(groups, sign);
    for (std::size_t g = 0; g < groups; ++g) all.emplace_back(groups, 0)[g] = sign;
  }
  return all;
}

Repricing::Repricing(const Library& library, const Sweep& sweep, const std::filesystem::path& dataset,
                     const std::vector<UncertainFigures>& figures)
    : library_(library), sweep_(std::make_shared<const Sweep>(sweep)), figures_(figures) {
  if (sweep.tiles)
    throw InputError(Diagnostic{"--uncertain", 0, 0, "", "of a sweep whose layers pass tiles on",
                                "a sweep with `fusion: whole`", ""});
  DesignSpace space(library, sweep_);
  std::vector<int> matched(figures.size(), 0);
  const std::size_t groups = figures.size();
  std::int64_t current = -1;
  DesignPoint design;
  std::vector<Accelerator> moved;  // by group, of the current design
  for (const std::int64_t part : list_parts(dataset)) {
    for (const StoredLayer& stored : read_stored_layers(part_path(dataset, TableKind::kLayers, part))) {
      if (stored.design_id != current) {
        current = stored.design_id;
        if (current >= space.size()) throw other_sweep(dataset);
        design = space.design(current);
        moved.clear();
        for (std::size_t g = 0; design.accelerator && g < groups; ++g) {
          moved.push_back(*design.accelerator);
          matched[g] += scale_figures(moved.back(), figures[g], 1 + figures[g].share);
        }
      }
      const Workload* of = workload(stored.workload);
      if (of != nullptr && design.accelerator && Sweep::asked_whole(*of)) {
        if (!rows_.contains({current, stored.workload})) price_network(design, *of, moved);
        continue;
      }
      if (of == nullptr || !design.accelerator || stored.layer_index >= static_cast<std::int64_t>(of->layers.size()))
        continue;
      const Layer& layer = of->layers[static_cast<std::size_t>(stored.layer_index)].layer;
      const auto mapping = stored.energy_pj ? stored.mapping_of(layer, *design.accelerator) : std::nullopt;
      if (!mapping) continue;
      const auto count = static_cast<double>(stored.count);
      Priced& row = rows_[{current, stored.workload}];
      if (row.change.empty()) row = with_areas(design, moved);
      const double cycles = *stored.runtime_cycles, energy = *stored.energy_pj;
      if (std::abs(price(layer, *design.accelerator, *mapping).totals.energy_pj - energy) > 1e-9 * energy)
        throw other_sweep(dataset);
      add_layer(row.base, count, energy, cycles);
      for (std::size_t g = 0; g < groups; ++g)
        add_layer(row.change[g], count, price(layer, moved[g], *mapping).totals.energy_pj - energy, cycles);
    }
  }
  for (std::size_t g = 0; g < groups; ++g) {
    if (matched[g] > 0) continue;
    throw InputError(Diagnostic{"--uncertain", 0, 0, "", fmt::format("`{}` matches no figure", figures[g].text),
                                "LEVEL.key, where key is * or one of " + join(uncertain_keys()), ""});
  }
}

Repricing::Priced Repricing::with_areas(const DesignPoint& design, const std::vector<Accelerator>& moved) {
  Priced row;
  row.base.area_um2 = area_um2(*design.accelerator).total();
  for (const Accelerator& one : moved) row.change.emplace_back().area_um2 = area_um2(one).total() - row.base.area_um2;
  return row;
}

/// The mappings of a network are not in the dataset: it is solved again, and its choice priced for each group.
void Repricing::price_network(const DesignPoint& design, const Workload& workload,
                              const std::vector<Accelerator>& moved) {
  const std::unique_ptr<Mapper> mapper = make_mapper(sweep_->mapper);
  const NetworkPrices found = price_network_choice(*mapper, *sweep_, design, workload, moved);
  if (!found.base) return;
  Priced row = with_areas(design, moved);
  const auto take = [](FigureCosts& costs, const NetworkPrices::Price& price) {
    costs.energy_pj = price.energy_pj;
    costs.runtime_cycles = price.cycles;
    costs.sum_layer_edp_pj_cycles = price.sum_layer_edp_pj_cycles;
  };
  take(row.base, *found.base);
  for (std::size_t g = 0; g < moved.size(); ++g) {
    take(row.change[g], found.others[g]);
    row.change[g].energy_pj -= row.base.energy_pj;
    row.change[g].runtime_cycles -= row.base.runtime_cycles;
    row.change[g].sum_layer_edp_pj_cycles -= row.base.sum_layer_edp_pj_cycles;
  }
  rows_.emplace(Row{design.key->design_id, workload.name}, std::move(row));
}

const Workload* Repricing::workload(const std::string& name) const {
  for (const Workload& one : sweep_->workloads)
    if (one.name == name) return &one;
  return nullptr;
}

FigureCosts Repricing::at(const Row& row, const Corner& corner) const {
  const Priced& priced = rows_.at(row);
  FigureCosts costs = priced.base;
  for (std::size_t g = 0; g < corner.size(); ++g) {
    costs.energy_pj += corner[g] * priced.change[g].energy_pj;
    costs.sum_layer_edp_pj_cycles += corner[g] * priced.change[g].sum_layer_edp_pj_cycles;
    costs.area_um2 += corner[g] * priced.change[g].area_um2;
  }
  return costs;
}

std::vector<FigureCosts> Repricing::search(const std::vector<std::pair<Row, Corner>>& questions) const {
  std::vector<FigureCosts> answers(questions.size());
  tbb::parallel_for(std::size_t{0}, questions.size(),
                    [&](std::size_t q) { answers[q] = searched_at(questions[q].first, questions[q].second); });
  return answers;
}

FigureCosts Repricing::searched_at(const Row& row, const Corner& corner) const {
  FigureCosts costs;
  costs.area_um2 = at(row, corner).area_um2;
  DesignSpace space(library_, sweep_);
  DesignPoint design = space.design(row.first);
  design.accelerator = std::make_shared<const Accelerator>(at_corner(*design.accelerator, figures_, corner));
  const std::unique_ptr<Mapper> mapper = make_mapper(sweep_->mapper);
  if (const Workload& network = *workload(row.second); Sweep::asked_whole(network)) {
    const NetworkPrices found = price_network_choice(*mapper, *sweep_, design, network, {});
    if (!found.base) return at(row, corner);
    costs.energy_pj = found.base->energy_pj;
    costs.runtime_cycles = found.base->cycles;
    costs.sum_layer_edp_pj_cycles = found.base->sum_layer_edp_pj_cycles;
    return costs;
  }
  for (const Workload::Entry& entry : workload(row.second)->layers) {
    const TaskResult found = solve_task(*mapper, *sweep_, design, entry.layer, kThreadsOfCaller, {});
    if (found.status != TaskStatus::kSolved) return at(row, corner);
    add_layer(costs, static_cast<double>(entry.count), found.energy_pj, found.runtime_cycles);
  }
  return costs;
}

}  // namespace pliant
