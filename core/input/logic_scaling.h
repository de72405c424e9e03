// SPDX-License-Identifier: Apache-2.0
// What logic costs at its node: multiply-accumulate units, networks, and the area that flexibility adds. Figures of the
// file hold for the node of the stage that states them; figures it does not give come from the technology table.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "core/accelerator.h"
#include "core/input/accelerator_tree.h"
#include "core/input/named_tables.h"

namespace pliant {

class LogicScaling {
 public:
  LogicScaling(NamedTables& tables, const AcceleratorTree& tree) : tables_(tables), tree_(tree) {}

  /// Everything of the compute level but its name. `technology` and `word_bits` are the accelerator's.
  Compute read_compute(const Cursor& block, const std::string& technology, int word_bits,
                       std::optional<double> clock_hz);

  /// How much larger the same logic is now than at the node of the stage that wrote the value.
  double area_since(const Cursor& value, const std::string& technology);

  /// Area of full flexibility on each axis T, O, P, S for an accelerator whose file says nothing about it: Table 3 of
  /// the flexibility paper, scaled to this design (docs/model.md, "Area"). Fills `from` with what was used.
  std::array<double, 4> default_flexibility_area(const Cursor& root, const Accelerator& accelerator,
                                                 const std::string& technology, std::string& from);

 private:
  /// The table of the accelerator at the stage that wrote the value; nullptr when it is the same as now, or none.
  const Technology* table_then(const Cursor& value, const std::string& technology);
  double mac_energy_since(const Cursor& value, const std::string& technology, const std::string& operation);

  NamedTables& tables_;
  const AcceleratorTree& tree_;
};

}  // namespace pliant
