// SPDX-License-Identifier: Apache-2.0
#include "dse/sweep/best_designs.h"

#include <algorithm>
#include <cmath>

#include "dse/results/data_table.h"
#include "dse/sweep/result_limits.h"

namespace pliant {

BestDesigns::BestDesigns(const Sweep& sweep) : objective_(sweep.objectives.front()) {
  for (const Workload& workload : sweep.workloads) workloads_.push_back(workload.name);
  by_workload_.resize(workloads_.size());
}

std::string_view BestDesigns::column() const {
  switch (objective_) {
    case Objective::kRuntime: return "runtime_cycles";
    case Objective::kEnergy:
    case Objective::kPerfPerWatt: return "energy_pj";
    default: return "edp_pj_cycles";
  }
}

void BestDesigns::keep(std::optional<Found>& best, const Found& found) {
  // Of equals the first, whatever the order of parts.
  if (!best || found.value < best->value || (found.value == best->value && found.design_id < best->design_id))
    best = found;
}

void BestDesigns::add(std::int64_t design_id, std::string_view objective, std::string_view workload,
                      std::optional<double> value) {
  if (objective != to_string(objective_)) return;
  if (design_ != design_id) {
    design_ = design_id;
    rows_ = 0;
    logarithms_ = 0;
  }
  const auto named = std::ranges::find(workloads_, workload);
  if (!value || named == workloads_.end()) return;
  keep(by_workload_[static_cast<std::size_t>(named - workloads_.begin())], {design_id, *value});
  logarithms_ += std::log(*value);
  if (++rows_ == workloads_.size())
    keep(on_all_, {design_id, std::exp(logarithms_ / static_cast<double>(workloads_.size()))});
}

void BestDesigns::add(const DesignRow& row) {
  std::optional<double> value;
  if (row.cost && row.status != kOverLimit)
    value = column() == "runtime_cycles" ? row.cost->runtime_cycles
            : column() == "energy_pj"    ? row.cost->energy_pj
                                         : row.cost->edp_pj_cycles;
  add(row.design->design_id, row.design->objective, row.workload, value);
}

bool BestDesigns::add_file(const std::filesystem::path& file) {
  const std::string name(column());
  std::vector<std::string> damaged;
  const DataTable rows =
      read_table(file, TableKind::kDesigns, damaged, {{"design_id", "objective", "workload", "status", name}, {}});
  const DataColumn *ids = rows.find("design_id"), *objectives = rows.find("objective"),
                   *workloads = rows.find("workload"), *statuses = rows.find("status"), *values = rows.find(name);
  if (!damaged.empty() || ids == nullptr || objectives == nullptr || workloads == nullptr || statuses == nullptr ||
      values == nullptr)
    return false;
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    const auto* id = std::get_if<std::int64_t>(&ids->cells[i]);
    const auto* value = std::get_if<double>(&values->cells[i]);
    if (id != nullptr)
      add(*id, to_text(objectives->cells[i]), to_text(workloads->cells[i]),
          value != nullptr && to_text(statuses->cells[i]) != kOverLimit ? std::optional(*value) : std::nullopt);
  }
  return true;
}

void BestDesigns::merge(const BestDesigns& other) {
  for (std::size_t w = 0; w < by_workload_.size(); ++w)
    if (other.by_workload_[w]) keep(by_workload_[w], *other.by_workload_[w]);
  if (other.on_all_) keep(on_all_, *other.on_all_);
}

}  // namespace pliant
