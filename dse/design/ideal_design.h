// SPDX-License-Identifier: Apache-2.0
// The ideal design of a box: it can run every mapping that any design of the box can run, and the mapping costs no more
// there. It takes the better end of every effect by itself (most units, capacity and bandwidth, least energy of an
// access, least leakage), so it need not be a design of the box. docs/design-search.md has the proof.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/accelerator.h"
#include "core/flexibility_class.h"
#include "dse/design/hardware_box.h"
#include "dse/design/serving_bound.h"
#include "dse/design/size_tables.h"
#include "dse/design/wired_choices.h"

namespace pliant {

struct IdealDesign {
  std::shared_ptr<const Accelerator> accelerator;
  double least_area_um2 = 0;  ///< of any design of the box, whatever its flexibility
  bool contradicts = false;   ///< every design of the box does: what is wired in fits no memory
  /// What constraints may name, from and to. A name that is missing may have any value.
  std::map<std::string, std::pair<double, double>, std::less<>> numbers;
  std::vector<double> deadlines{};  ///< by workload: the most cycles with which a design may keep the limits on time
  ServingBounds serving{};
};

/// Not for several threads at once.
class IdealDesigns {
 public:
  IdealDesigns(const Library& library, std::shared_ptr<const Sweep> sweep);

  /// An axis that changes more than sizes (another accelerator, other words, other rules) has no ranges: the box must
  /// be split into its single values. nullopt when there is none left with several.
  std::optional<std::size_t> must_split(const HardwareBox& box) const;
  /// Nothing must be split. nullopt when the designs of the box contradict themselves.
  std::optional<IdealDesign> of(const HardwareBox& box);
  /// The parts of a box of several points: by what must be split; by parallel dims that are wired in; then by the size
  /// whose ends differ most, in the middle of their logarithms; then by wired-in tiles, those of the array first, and
  /// by orders.
  std::vector<HardwareBox> parts(const HardwareBox& box);
  /// Is there an axis of wired-in choices?
  bool has_choices() const;

  /// A class that contains every flexibility of the sweep; nullopt when only lifting all rules does.
  const std::optional<FlexibilityClass>& bounding_class() const { return bounding_class_; }

 private:
  /// What an axis changes: sizes, or what inflexible classes have wired in, or something that has no ranges.
  enum class AxisKind : std::uint8_t { kSizes, kChoices, kSingle };
  AxisKind kind_of(std::size_t axis);
  std::vector<Setting> settings_at(const std::vector<std::int32_t>& positions, std::size_t& accelerator) const;
  std::vector<std::int32_t> single_positions(const HardwareBox& box) const;
  std::vector<std::size_t> axes_of(AxisKind kind) const;
  const SizeTables& tables_for(const HardwareBox& box);
  WiredChoices& choices_for(const HardwareBox& box);
  bool contradicts(const Accelerator& best, const ClassSettings& smallest) const;
  std::optional<std::size_t> next_choice(const HardwareBox& box, bool parallel);
  double end_of(std::size_t axis, std::int32_t position) const;
  std::vector<HardwareBox> halves(const HardwareBox& box, std::size_t axis) const;
  Accelerator read(const std::vector<std::int32_t>& positions);
  Accelerator freed(const Accelerator& accelerator) const;
  void note_numbers(IdealDesign& ideal, const HardwareBox& box, const std::vector<LevelRange>& ranges) const;

  const Library& library_;
  std::shared_ptr<const Sweep> sweep_;
  std::vector<std::unique_ptr<AcceleratorTemplate>> templates_;  ///< by accelerator
  std::vector<std::int32_t> sizes_;                              ///< by axis
  std::vector<AxisKind> kinds_;                                  ///< by axis
  std::optional<FlexibilityClass> bounding_class_;
  std::map<std::vector<std::int32_t>, std::unique_ptr<SizeTables>> tables_;  ///< by the positions of the other axes
  std::map<std::vector<std::int32_t>, std::unique_ptr<WiredChoices>> choices_;
};

}  // namespace pliant
