// SPDX-License-Identifier: Apache-2.0
#include "dse/design/design_certificate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/input/diagnostics.h"
#include "core/input/write_mapping.h"
#include "dse/design/bounded_space.h"
#include "dse/results/atomic_file.h"

namespace pliant {

namespace {

audit::Box audit_box(const HardwareBox& box) {
  audit::Box out;
  for (const HardwareBox::Range& range : box.axes) out.push_back({range.first, range.last});
  return out;
}

std::optional<audit::Measure> audit_measure(DesignMeasure measure) {
  switch (measure) {
    case DesignMeasure::kArea: return audit::Measure::kArea;
    case DesignMeasure::kRuntime: return audit::Measure::kRuntime;
    case DesignMeasure::kEnergy: return audit::Measure::kEnergy;
    case DesignMeasure::kEdp: return audit::Measure::kEdp;
    case DesignMeasure::kLatency: return audit::Measure::kLatency;
    default: return std::nullopt;
  }
  return std::nullopt;
}

audit::Mix audit_mix(DesignGoals::Mix mix) {
  switch (mix) {
    case DesignGoals::Mix::kGeometricMean: return audit::Mix::kGeometricMean;
    case DesignGoals::Mix::kWorst: return audit::Mix::kWorst;
    case DesignGoals::Mix::kMean: break;
  }
  return audit::Mix::kMean;
}

/// Can a bound of this raise a goal?
bool of_use(const ProvenBound& bound, const DesignGoals& goals) {
  if (std::isinf(bound.least)) return true;
  return std::ranges::any_of(goals.minimize, [&](const DesignGoals::Goal& goal) {
    switch (goal.measure) {
      case DesignMeasure::kEdp: return true;
      case DesignMeasure::kRuntime:
      case DesignMeasure::kLatency: return bound.objective == Objective::kRuntime;
      case DesignMeasure::kEnergy:
        return bound.objective == Objective::kEnergy || bound.objective == Objective::kPerfPerWatt;
      default: break;
    }
    return false;
  });
}

/// Lines are numbered as they are first needed.
class Numbers {
 public:
  explicit Numbers(std::size_t size) : number_(size, -1) {}
  std::uint32_t of(std::int32_t proven) {
    std::int64_t& number = number_[static_cast<std::size_t>(proven)];
    if (number < 0) {
      number = static_cast<std::int64_t>(order_.size());
      order_.push_back(proven);
    }
    return static_cast<std::uint32_t>(number);
  }
  const std::vector<std::int32_t>& order() const { return order_; }

 private:
  std::vector<std::int64_t> number_;
  std::vector<std::int32_t> order_;
};

}  // namespace

audit::DesignTask design_task(const Library& library, const Sweep& sweep) {
  audit::DesignTask task;
  task.accelerator = sweep.accelerators.front();
  task.settings = sweep.settings;
  std::vector<Setting> first = sweep.settings;
  for (const SweepAxis& axis : sweep.axes) {
    task.axes.push_back({axis.keys, axis.values});
    for (std::size_t k = 0; k < axis.keys.size(); ++k) first.emplace_back(axis.keys[k], axis.values.front()[k]);
  }
  task.first = write_accelerator(AcceleratorTemplate(library, task.accelerator).with(first));
  task.flexibilities = sweep.flexibilities;
  task.factorizations = sweep.factorizations;
  task.objectives = sweep.objectives;
  const DistinctLayers distinct(sweep);
  for (const auto& layer : distinct.layers) task.layers.push_back(*layer);
  for (const auto& uses : distinct.workloads) {
    auto& own = task.workloads.emplace_back();
    for (const DistinctLayers::Use& use : uses) own.push_back({use.layer, use.count});
  }
  for (const DesignGoals::Goal& goal : sweep.goals->minimize)
    task.goals.push_back({*audit_measure(goal.measure), goal.workload});
  task.mix = audit_mix(sweep.goals->mix);
  task.weights = sweep.goals->weights;
  return task;
}

void check_certificate(const Library& library, const Sweep& sweep, const Shard& shard) {
  const auto refuse = [&](const std::string& what, const std::string& expected) {
    return InputError(Diagnostic{sweep.name, 0, 0, "--certificate", what, expected, ""});
  };
  if (!sweep.served.empty())
    throw refuse("no certificate can be written of a language model that is served", "workloads without `serve`");
  if (std::ranges::any_of(sweep.workloads, Sweep::asked_whole))
    throw refuse("no certificate can be written of workloads that are asked as a whole",
                 "--layers, and no limit on time");
  if (!sweep.constraints.empty() || !sweep.result_limits.empty())
    throw refuse("no certificate can be written of a search with constraints", "no `constraints:`");
  if (sweep.accelerators.size() > 1)
    throw refuse("no certificate can be written of a search over several accelerators", "one accelerator");
  if (std::ranges::any_of(sweep.goals->minimize,
                          [](const DesignGoals::Goal& goal) { return !audit_measure(goal.measure); }))
    throw refuse("no certificate can be written of power as a goal", "area, runtime, energy, EDP or latency");
  if (shard.count > 1) throw refuse("a shard proves nothing about the others", "the whole search");
  try {
    design_task(library, sweep);
  } catch (const InputError&) {
    throw refuse(
        "no certificate can be written of an accelerator that is not in our own format, or that contradicts "
        "itself where every axis has its first value",
        "a file that `pliant import` wrote");
  }
}

void write_design_certificate(const Library& library, const Sweep& sweep, double gap, const DesignFrontier& found,
                              const ProvenBounds& proven, const std::filesystem::path& folder) {
  audit::DesignCertificateWriter writer(folder);
  Numbers bounds(proven.bounds().size()), mapped(proven.mapped().size());
  for (const ClosedBox& box : found.boxes) {
    audit::ClaimedBox out;
    out.box = audit_box(box.box);
    out.design = box.design_id;
    out.closed_by = box.closed_by == ClosedBy::kOpened        ? audit::ClaimedBox::ClosedBy::kOpened
                    : box.closed_by == ClosedBy::kNothingFits ? audit::ClaimedBox::ClosedBy::kNothingFits
                                                              : audit::ClaimedBox::ClosedBy::kBeaten;
    const bool nothing = box.closed_by == ClosedBy::kNothingFits;
    if (!nothing) out.least = box.proof.least;
    for (const std::int32_t number : box.proof.bounds) {
      const ProvenBound& bound = proven.bounds()[static_cast<std::size_t>(number)];
      if (nothing ? std::isinf(bound.least) : of_use(bound, *sweep.goals)) out.bounds.push_back(bounds.of(number));
    }
    for (const std::int32_t number : box.proof.mapped) out.maps.push_back(mapped.of(number));
    std::ranges::sort(out.bounds);
    out.bounds.erase(std::unique(out.bounds.begin(), out.bounds.end()), out.bounds.end());
    writer.add(out);
  }
  for (const std::int32_t number : bounds.order()) {
    const ProvenBound& bound = proven.bounds()[static_cast<std::size_t>(number)];
    writer.add(audit::ClaimedBound{audit_box(bound.box), bound.design_id, bound.rule, bound.layer, bound.objective,
                                   bound.least});
  }
  audit::DesignClaim claim{design_task(library, sweep), gap, found.progress.designs, {}};
  for (const std::int32_t number : mapped.order()) {
    const MappedOnDesign& one = proven.mapped()[static_cast<std::size_t>(number)];
    writer.add(audit::ClaimedMapping{
        one.design_id, one.layer, one.result->value,
        write_mapping(claim.task.layers[one.layer], *one.accelerator, one.result->mapping, one.rule)});
  }
  for (const std::size_t k : found.frontier)
    claim.frontier.push_back({found.opened[k].design_id, found.opened[k].values});
  writer.finish(std::move(claim));
  if (!writer.good()) throw StorageError(fmt::format("{}: cannot be written", folder.string()));
}

}  // namespace pliant
