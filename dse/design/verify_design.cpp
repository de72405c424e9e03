// SPDX-License-Identifier: Apache-2.0
#include "dse/design/verify_design.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <set>

#include "core/input/diagnostics.h"
#include "dse/design/found_designs.h"
#include "dse/design/run_design.h"
#include "dse/results/atomic_file.h"
#include "dse/results/part_file.h"
#include "dse/sweep/serving_task.h"

namespace pliant {

namespace {

class DesignVerification {
 public:
  DesignVerification(const Library& library, const Sweep& sweep, const std::filesystem::path& dataset,
                     const DatasetProofs& proofs)
      : library_(library),
        sweep_(std::make_shared<const Sweep>(sweep)),
        dataset_(dataset),
        proofs_(proofs),
        space_(library, sweep_),
        layers_(sweep),
        goals_(*sweep_, layers_),
        rows_(*sweep_, layers_, goals_),
        pool_(*sweep_, nullptr, std::max(1, proofs.options.threads), proofs.options.stop) {}

  DesignVerdict run(std::int64_t samples) {
    const auto manifest = read_manifest(dataset_);
    const double gap = manifest ? design_gap(*manifest).value_or(0) : 0;
    const Manifest expected = design_manifest(library_, *sweep_, gap);
    if (!manifest || manifest->sweep_sha256 != expected.sweep_sha256)
      throw InputError(Diagnostic{manifest_path(dataset_).string(), 0, 0, "", "the dataset was not made from this file",
                                  "the file, the --set options and the version of Pliant that it was made with", ""});
    DatasetScope scope;
    scope.sweep_sha256 = manifest->sweep_sha256;
    for (std::int64_t part = 0; part < manifest->parts; ++part) scope.designs_of_part.push_back(designs_in(part));
    verdict_.rows = verify_dataset(library_, *sweep_, dataset_, proofs_, &scope);
    std::vector<ClosedBox> boxes;
    try {
      boxes = read_boxes(*sweep_, dataset_);
    } catch (const StorageError& error) {
      tell(error.what());
      return verdict_;
    }
    check_cover(boxes, scope);
    found_.emplace(gap);
    for (const ClosedBox& box : boxes)
      if (box.closed_by == ClosedBy::kOpened && !box.least.empty() && keeps_limits(box))
        found_->add(box.design_id, box.least);
    open_samples(boxes, samples);
    return std::move(verdict_);
  }

 private:
  void tell(std::string what) {
    if (verdict_.wrong.size() < 100) verdict_.wrong.push_back(std::move(what));
  }

  std::vector<std::int64_t> designs_in(std::int64_t part) {
    std::vector<std::string> damaged;
    const DataTable table =
        read_table(part_path(dataset_, TableKind::kDesigns, part), TableKind::kDesigns, damaged, {{"design_id"}, {}});
    std::vector<std::int64_t> ids;
    if (const DataColumn* column = table.find("design_id"))
      for (const Cell& cell : column->cells)
        if (const auto* id = std::get_if<std::int64_t>(&cell); id != nullptr && (ids.empty() || ids.back() != *id))
          ids.push_back(*id);
    return ids;
  }

  /// An opened design within the limits: its own row said so. Limits are on columns, so the rows are asked.
  bool keeps_limits(const ClosedBox& box) {
    if (sweep_->result_limits.empty()) return true;
    const OpenedDesign opened = open(box.design_id);
    return opened.within_limits;
  }

  /// The boxes hold as many designs as there are, each says how many, and the opened ones have rows.
  void check_cover(const std::vector<ClosedBox>& boxes, const DatasetScope& scope) {
    verdict_.boxes = static_cast<std::int64_t>(boxes.size());
    const std::int64_t inner = space_.size() / space_.hardware_points();
    std::set<std::int64_t> opened;
    for (const ClosedBox& box : boxes) {
      const std::int64_t designs = box.design_id >= 0 ? 1 : box.box.points() * inner;
      if (designs != box.designs) tell(fmt::format("a box says it holds {} designs, not {}", box.designs, designs));
      verdict_.designs += designs;
      if (box.closed_by == ClosedBy::kOpened) opened.insert(box.design_id);
    }
    if (verdict_.designs != space_.size())
      tell(fmt::format("the boxes hold {} designs, the space {}", verdict_.designs, space_.size()));
    std::set<std::int64_t> rows;
    for (const auto& part : scope.designs_of_part) rows.insert(part.begin(), part.end());
    if (rows != opened) tell("the designs that have rows are not those that boxes call opened");
  }

  OpenedDesign open(std::int64_t id) {
    const auto design = std::make_shared<const DesignPoint>(space_.design(id));
    const std::vector<PoolAnswer> answers = pool_.answer(design, layers_);
    return rows_.make(
        design, answers, solve_all_serving(*sweep_, *design, proofs_.options.stop),
        [&](const std::string& name) { return space_.value(id, name); }, pool_);
  }

  void open_samples(const std::vector<ClosedBox>& boxes, std::int64_t samples) {
    std::vector<const ClosedBox*> closed;
    for (const ClosedBox& box : boxes)
      if (box.closed_by != ClosedBy::kOpened) closed.push_back(&box);
    if (closed.empty()) return;
    const std::int64_t inner = space_.size() / space_.hardware_points();
    std::mt19937_64 random(1);
    for (std::int64_t k = 0; k < samples && !proofs_.options.stop.stop_requested(); ++k) {
      const ClosedBox& box = *closed[random() % closed.size()];
      std::vector<std::int32_t> positions;
      for (const HardwareBox::Range& range : box.box.axes)
        positions.push_back(range.first +
                            static_cast<std::int32_t>(random() % static_cast<std::uint64_t>(range.size())));
      const std::int64_t any = hardware_number(*sweep_, positions) * inner +
                               static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(inner));
      const std::int64_t id = box.design_id >= 0 ? box.design_id : any;
      const auto holders = std::ranges::count_if(boxes, [&](const ClosedBox& other) {
        return other.design_id >= 0 ? other.design_id == id : other.box.contains(positions);
      });
      if (holders != 1) tell(fmt::format("design {} is in {} boxes", id, holders));
      check_sample(box, id);
      ++verdict_.opened_again;
    }
  }

  void check_sample(const ClosedBox& box, std::int64_t id) {
    const bool allowed = space_.allowed(id);
    if (box.closed_by == ClosedBy::kConstraints) {
      if (allowed && space_.design(id).accelerator)
        tell(fmt::format("design {} meets the constraints, but its box is closed by them", id));
      return;
    }
    if (!allowed) return;
    const OpenedDesign opened = open(id);
    if (proofs_.options.stop.stop_requested() || opened.values.empty()) return;  // it has no value that could be better
    if (box.closed_by == ClosedBy::kNothingFits)
      return tell(fmt::format("design {} fits, but its box says nothing does", id));
    // Bounds are of designs that keep the limits on time: of the others the fastest mappings have rows.
    const bool bounded = opened.within_limits || !sweep_->deadlines;
    for (std::size_t g = 0; bounded && g < opened.values.size(); ++g)
      if (opened.values[g] < box.least[g] * (1 - kDesignRounding))
        tell(fmt::format("design {}: {} is {:.12g}, better than the bound {:.12g} of its box", id,
                         goal_name(*sweep_, sweep_->goals->minimize[g]),
                         column_value(sweep_->goals->minimize[g].measure, opened.values[g]),
                         column_value(sweep_->goals->minimize[g].measure, box.least[g])));
    if (box.closed_by == ClosedBy::kLimits && opened.within_limits)
      tell(fmt::format("design {} keeps the limits, but its box is closed by them", id));
    if (box.closed_by == ClosedBy::kBeaten && opened.within_limits && !found_->beating(opened.values))
      tell(fmt::format("design {} beats the frontier", id));
  }

  const Library& library_;
  std::shared_ptr<const Sweep> sweep_;
  std::filesystem::path dataset_;
  const DatasetProofs& proofs_;
  DesignSpace space_;
  DistinctLayers layers_;
  GoalBounds goals_;
  DesignRows rows_;
  TaskPool pool_;
  std::optional<FoundDesigns> found_;
  DesignVerdict verdict_;
};

}  // namespace

DesignVerdict verify_design(const Library& library, const Sweep& sweep, const std::filesystem::path& dataset,
                            const DatasetProofs& proofs, std::int64_t samples) {
  check_design_sweep(sweep);
  return DesignVerification(library, sweep, dataset, proofs).run(samples);
}

}  // namespace pliant
