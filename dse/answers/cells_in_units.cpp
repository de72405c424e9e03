// SPDX-License-Identifier: Apache-2.0
#include "dse/answers/cells_in_units.h"

#include <fmt/format.h>

#include <optional>

#include "dse/answers/dataset_options.h"
#include "dse/answers/render_physical.h"
#include "dse/answers/text_table.h"
#include "dse/results/aggregate.h"

namespace pliant {
namespace {

std::optional<std::string> in_unit(double value, const std::string& unit) {
  if (unit == "pJ") return readable_energy(value);
  if (unit == "pJ*cycles") return readable_edp(value);
  if (unit == "um2") return readable_area(value);
  if (unit == "s") return readable_latency(value);
  if (unit == "Hz") return readable_clock(value);
  if (unit == "B") return readable_bytes(value);
  if (unit == "bit") return readable_bytes(value / 8);
  if (unit == "cycles") return readable_count(value);
  if (unit == "1/s") return readable_count(value) + "/s";
  if (unit == "W" || unit == "mJ" || unit == "TOPS" || unit == "TOPS/W") return fmt::format("{:.4g} {}", value, unit);
  return std::nullopt;
}

}  // namespace

std::string readable_in_unit(double value, const std::string& unit) {
  return in_unit(value, unit).value_or(fmt::format("{:.6g}", value));
}

CellsInUnits::CellsInUnits(const Arguments& arguments, const std::vector<ColumnKind>& columns) {
  if (arguments.has("plain")) return;
  for (const ColumnKind& column : columns) units_.emplace(column.name, column.unit);
}

std::string CellsInUnits::text(const std::string& column, const Cell& cell) const {
  const auto* real = std::get_if<double>(&cell);
  const auto* whole = std::get_if<std::int64_t>(&cell);
  if (real == nullptr && whole == nullptr) return shown(cell);
  auto unit = units_.find(column);
  if (const auto aggregate = Aggregate::parse(column); unit == units_.end() && aggregate)
    unit = units_.find(aggregate->column);
  if (unit == units_.end()) return shown(cell);
  return in_unit(real != nullptr ? *real : static_cast<double>(*whole), unit->second).value_or(shown(cell));
}

}  // namespace pliant
