// SPDX-License-Identifier: Apache-2.0
#include "core/input/logic_scaling.h"

#include <fmt/format.h>

#include <cmath>
#include <numeric>

#include "core/input/source_text.h"

namespace pliant {
namespace {

/// The reference design of the flexibility paper: Table 3's areas of full flexibility (15 nm), and what each grows with
/// in that design (flexibility_growth of configs/accelerators/flexref.yaml: 17 + 2 address bits, 2 memories, 1024 PEs).
constexpr const char* kReferenceTable = "cmos_15nm";
constexpr std::array<double, 4> kReferenceOverhead_um2{31, 1615, 877, 212};
constexpr std::array<double, 4> kReferenceGrowth{19, 2, 10240, 1024};

}  // namespace

const Technology* LogicScaling::table_then(const Cursor& value, const std::string& technology) {
  const auto stage = static_cast<std::size_t>(value.node().stage);
  if (technology.empty() || stage + 1 >= tree_.stages.size()) return nullptr;
  const YamlNode* named = tree_.stages[stage].find("technology");
  if (named == nullptr || named->text == technology) return nullptr;
  return tables_.get(value, named->text);
}

double LogicScaling::area_since(const Cursor& value, const std::string& technology) {
  const Technology* then = table_then(value, technology);
  const Technology* now = then == nullptr ? nullptr : tables_.get(value, technology);
  return now == nullptr ? 1 : logic_area_ratio(*now, *then);
}

double LogicScaling::mac_energy_since(const Cursor& value, const std::string& technology,
                                      const std::string& operation) {
  const Technology* then = table_then(value, technology);
  const Technology* now = then == nullptr ? nullptr : tables_.get(value, technology);
  if (now == nullptr) return 1;
  const Technology::Mac *before = then->find_mac(operation), *after = now->find_mac(operation);
  return before == nullptr || after == nullptr ? 1 : after->mac_pj / before->mac_pj;
}

Compute LogicScaling::read_compute(const Cursor& c, const std::string& technology, int word_bits,
                                   std::optional<double> clock_hz) {
  c.only_keys(keys::kCompute);
  Compute unit;
  if (const auto value = c.find("cycles_per_mac")) unit.cycles_per_mac = value->positive_real().value_or(1);
  const auto energy = c.find("mac_pj"), operation = c.find("operation");
  const std::string name = operation ? operation->text("an operation of the technology table").value_or("")
                                     : fmt::format("INT{}", word_bits);
  const std::string table_name = [&] {
    const auto own = c.find("technology");
    return own ? own->text("a technology table's name").value_or("") : technology;
  }();
  // 1. The unit of the table, for a level that names one or does not state its energy.
  const Technology* table = nullptr;
  const Technology::Mac* mac = nullptr;
  if (!table_name.empty() && (!energy || operation)) {
    table = tables_.get(c.find("technology").value_or(energy.value_or(operation.value_or(c))), table_name);
    mac = table == nullptr ? nullptr : table->find_mac(name);
    if (table != nullptr && mac == nullptr) {
      const std::vector<std::string> known = table->operations();
      operation.value_or(c).problem(fmt::format("{} has no operation `{}`", table_name, shorten(name, 40)),
                                    known.empty() ? "mac_pj, for the table has no multiply-accumulate units"
                                                  : "mac_pj, or operation: one of " + join(known),
                                    nearest(name, known));
      return unit;
    }
    if (mac != nullptr) {
      unit.mac_pj = mac->mac_pj;
      unit.area_um2 = mac->area_um2;
    }
  }
  // 2. What the file states.
  if (!energy && table_name.empty())
    c.require("mac_pj", "pJ per multiply-accumulate, or `technology:` on the accelerator and `operation: INT8`");
  if (energy) unit.mac_pj = energy->real().value_or(0) * mac_energy_since(*energy, table_name, name);
  if (const auto value = c.find("area_um2")) unit.area_um2 = value->real().value_or(0) * area_since(*value, table_name);
  if (table != nullptr) unit.leak_pj_per_cycle = table->logic_leak_pj_per_cycle(unit.area_um2, clock_hz);
  if (const auto value = c.find("leak_pj_per_cycle"))
    unit.leak_pj_per_cycle = value->real().value_or(0) * area_since(*value, table_name);
  return unit;
}

std::array<double, 4> LogicScaling::default_flexibility_area(const Cursor& root, const Accelerator& accelerator,
                                                             const std::string& technology, std::string& from) {
  std::array<double, 4> overhead{};
  double node = 1;
  from = "Table 3 of the flexibility paper (15 nm), scaled by units and buffers";
  const Technology* now = technology.empty() ? nullptr : tables_.get(root, technology);
  const Technology* reference = now == nullptr ? nullptr : tables_.get(root, kReferenceTable);
  if (reference != nullptr && now->find_mac("INT8") != nullptr) {
    node = logic_area_ratio(*now, *reference);
    from = fmt::format("Table 3 of the flexibility paper, scaled to {} and by units and buffers", technology);
  }
  const std::array<double, 4> growth = flexibility_growth(accelerator);
  for (std::size_t axis = 0; axis < overhead.size(); ++axis)
    overhead[axis] = kReferenceOverhead_um2[axis] * growth[axis] / kReferenceGrowth[axis] * node;
  return overhead;
}

}  // namespace pliant
