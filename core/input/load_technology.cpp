// SPDX-License-Identifier: Apache-2.0
// Technology tables as YAML. Every figure may say where it comes from; what is not published has to be recognizable.
#include "core/input/load_technology.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/input/cursor.h"
#include "core/input/source_text.h"
#include "core/input/units.h"

namespace pliant {
namespace {

/// Where a figure comes from: printed in the source that the file names; between two such figures; moved from another
/// node by the ratio that the file names; or ours.
constexpr std::array<std::string_view, 5> kOrigins{"published", "recalled", "interpolated", "scaled", "estimated"};

void check_origin(const Cursor& block, std::string_view key, bool required) {
  const auto origin =
      required ? block.require(key, "published, recalled, interpolated, scaled or estimated") : block.find(key);
  if (origin) origin->choice(kOrigins);
}

double read_bits(const Cursor& capacity) {
  const auto size = capacity.text("a size such as 8KiB");
  if (!size) return 1;
  const Parsed<Count> bits = parse_words(*size, 1);
  if (const auto* error = std::get_if<UnitError>(&bits)) {
    capacity.problem(error->what, error->expected, error->did_you_mean);
  } else if (size->find_first_of("Bbt") == std::string::npos) {
    capacity.problem(capacity.node().describe() + " has no unit of bytes", "a size such as 8KiB");
  } else if (std::get<Count>(bits) < 1) {
    capacity.problem("the capacity is not positive", "a size such as 8KiB");
  } else {
    return static_cast<double>(std::get<Count>(bits));
  }
  return 1;
}

void read_energy(const Cursor& energy, Technology& table) {
  if (!energy.expect_list("a list of {capacity, read_pj, write_pj}")) return;
  for (const Cursor& item : energy.items()) {
    if (!item.only_keys(keys::kTechnologyPoint, "{capacity, read_pj, write_pj}")) continue;
    Technology::Point point;
    const std::size_t before = item.problems().size();
    if (const auto capacity = item.require("capacity", "a size such as 8KiB")) {
      point.bits = read_bits(*capacity);
      const bool good = item.problems().size() == before;
      if (good && !table.points.empty() && point.bits <= table.points.back().bits)
        capacity->problem("capacities must ascend", "more than the point before");
    }
    if (const auto read = item.require("read_pj", "pJ per access")) point.read_pj = read->positive_real().value_or(1);
    const auto write = item.find("write_pj");
    point.write_pj = write ? write->positive_real().value_or(1) : point.read_pj;
    check_origin(item, "from", false);
    table.points.push_back(point);
  }
  if (table.points.size() < 2) energy.problem("fewer than two points", "two or more, to know the slope");
}

void read_compute(const Cursor& compute, Technology& table) {
  constexpr std::string_view kExpected = "a list of {operation, mac_pj, mac_pj_from, area_um2, area_um2_from}";
  if (!compute.expect_list(kExpected)) return;
  for (const Cursor& item : compute.items()) {
    if (!item.only_keys(keys::kTechnologyCompute, kExpected)) continue;
    Technology::Mac mac;
    if (const auto name = item.require("operation", "a name such as INT8 or BF16")) {
      mac.operation = name->name().value_or("");
      if (table.find_mac(mac.operation) != nullptr)
        name->problem("a second operation " + mac.operation, "each operation once");
    }
    if (const auto c = item.require("mac_pj", "pJ")) mac.mac_pj = c->positive_real().value_or(1);
    if (const auto c = item.require("area_um2", "um2")) mac.area_um2 = c->positive_real().value_or(1);
    check_origin(item, "mac_pj_from", true);
    check_origin(item, "area_um2_from", true);
    table.macs.push_back(std::move(mac));
  }
}

void read_off_chip(const Cursor& root, const Cursor& block, Technology& table) {
  constexpr std::string_view kExpected = "{pj_per_bit, pj_per_bit_from, gb_per_s}";
  for (const std::string_view key : {"word_bits", "energy", "area", "leakage", "compute"}) {
    if (const auto other = root.find(key))
      other->problem("off_chip beside " + std::string(key), "only off_chip: a device has no other figures");
  }
  if (!block.only_keys(keys::kTechnologyOffChip, kExpected)) return;
  Technology::OffChip device;
  if (const auto c = block.require("pj_per_bit", "pJ")) device.pj_per_bit = c->positive_real().value_or(1);
  if (const auto c = block.require("gb_per_s", "GB/s of one device")) device.gb_per_s = c->positive_real().value_or(1);
  check_origin(block, "pj_per_bit_from", true);
  table.off_chip = device;
}

void read_on_chip(const Cursor& root, Technology& table) {
  if (const auto bits = root.require("word_bits", "bits of the words the energies are given for"))
    table.word_bits = static_cast<int>(bits->count(1, 4096).value_or(16));
  if (const auto energy = root.require("energy", "a list of {capacity, read_pj, write_pj}, capacity ascending"))
    read_energy(*energy, table);
  if (const auto area = root.require("area", "{overhead_um2, um2_per_bit}");
      area && area->only_keys(keys::kTechnologyArea, "{overhead_um2, um2_per_bit}")) {
    if (const auto value = area->find("overhead_um2")) table.overhead_um2 = value->real().value_or(0);
    if (const auto value = area->require("um2_per_bit", "um2")) table.um2_per_bit = value->real().value_or(0);
    check_origin(*area, "from", false);
  }
  if (const auto leak = root.find("leakage");
      leak && leak->only_keys(keys::kTechnologyLeakage, "{nw_per_um2} or {pj_per_cycle_per_bit}")) {
    if (const auto value = leak->find("pj_per_cycle_per_bit"))
      table.leak_pj_per_cycle_per_bit = value->real().value_or(0);
    if (const auto value = leak->find("nw_per_um2")) table.leak_nw_per_um2 = value->real().value_or(0);
    check_origin(*leak, "from", false);
  }
  if (const auto compute = root.find("compute")) read_compute(*compute, table);
}

}  // namespace

Technology parse_technology_text(std::string_view text, std::string_view file) {
  Diagnostics problems;
  const YamlNode tree = parse_yaml(text, file, problems);
  const Cursor root(tree, "", problems);
  Technology table;
  if (root.only_keys(keys::kTechnology, "a technology table")) {
    check_kind(root, "technology");
    if (const auto name = root.require("name", "the table's name")) table.name = name->text().value_or("");
    if (const auto description = root.find("description")) table.description = description->text().value_or("");
    if (const auto device = root.find("off_chip")) {
      read_off_chip(root, *device, table);
    } else {
      read_on_chip(root, table);
    }
  }
  problems.throw_if_any();
  return table;
}

Technology load_technology(const Library& library, std::string_view name) {
  const std::vector<std::string> known = library.technology_names();
  if (std::ranges::find(known, name) == known.end()) {
    throw InputError(Diagnostic{"", 0, 0, "", fmt::format("no technology table `{}`", shorten(name, 40)),
                                known.empty() ? "" : "one of " + join(known), nearest(name, known)});
  }
  const std::filesystem::path file = library.configs() / "technology" / (std::string(name) + ".yaml");
  return parse_technology_text(read_source(file), file.string());
}

const Technology& TechnologyTables::get(const std::string& name) {
  const auto found = read_.find(name);
  return found != read_.end() ? found->second : read_.emplace(name, load_technology(library_, name)).first->second;
}

}  // namespace pliant
