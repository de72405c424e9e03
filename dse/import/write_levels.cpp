// SPDX-License-Identifier: Apache-2.0
#include "dse/import/write_levels.h"

#include <fmt/format.h>

#include "core/input/element_bits.h"
#include "core/input/load.h"
#include "core/input/source_text.h"
#include "core/input/yaml_text.h"

namespace pliant {
namespace {

/// What stands in for energies that a file does not state: one public table, and rough figures of the same node.
constexpr std::string_view kTechnology = "cmos_45nm";
constexpr double kDramPjPerBit = 8;
constexpr double kMacPj = 0.2;

std::string memory_lines(const std::string& name, const Memory& m, bool stated) {
  std::string text = fmt::format("  - memory: {}\n    capacity: {}\n", yaml_text(name),
                                 m.capacity_words ? std::to_string(*m.capacity_words) : "unbounded");
  const auto line = [&](std::string_view key, const std::string& value) {
    text += fmt::format("    {}: {}\n", key, value);
  };
  line("word_bits", std::to_string(m.word_bits));
  if (const std::string bits = write_element_bits(m.bits); !bits.empty()) line("bits", bits);
  std::vector<std::string> keeps, may_bypass;
  for (std::size_t r = 0; r < kRoles; ++r) {
    if (m.may_keep[r]) keeps.emplace_back(to_string(static_cast<Role>(r)));
    if (m.may_keep[r] && m.may_bypass[r]) may_bypass.emplace_back(to_string(static_cast<Role>(r)));
  }
  line("keeps", yaml_list(keeps));
  if (!may_bypass.empty()) line("may_bypass", yaml_list(may_bypass));
  if (m.buffers != 1) line("buffers", std::to_string(m.buffers));
  if (stated) {
    line("read_pj", yaml_number(m.read_pj));
    line("write_pj", yaml_number(m.write_pj));
    line("update_pj", yaml_number(m.update_pj));
    line("leak_pj_per_cycle", yaml_number(m.leak_pj_per_cycle));
    line("area_um2", yaml_number(m.area_um2));
  } else if (!m.capacity_words) {
    line("read_pj", yaml_number(kDramPjPerBit * m.word_bits));
  }
  if (m.bus_words_per_cycle) line("bandwidth", yaml_number(*m.bus_words_per_cycle));
  if (m.read_words_per_cycle) line("read_bandwidth", yaml_number(*m.read_words_per_cycle));
  if (m.write_words_per_cycle) line("write_bandwidth", yaml_number(*m.write_words_per_cycle));
  return text;
}

std::string fanout_lines(const std::string& name, const Fanout& f) {
  std::string text = fmt::format("  - fanout: {}\n    rows: {}\n    cols: {}\n", yaml_text(name), f.rows, f.cols);
  if (!f.multicast) text += "    multicast: false\n";
  if (const auto word = reduction_name(f); word != "true") text += fmt::format("    reduction: {}\n", word);
  return text;
}

std::string compute_lines(const std::string& name, const Compute& c, bool stated) {
  std::string text =
      fmt::format("  - compute: {}\n    mac_pj: {}\n", yaml_text(name), yaml_number(stated ? c.mac_pj : kMacPj));
  if (c.cycles_per_mac != 1) text += fmt::format("    cycles_per_mac: {}\n", yaml_number(c.cycles_per_mac));
  if (stated) {
    text += fmt::format("    leak_pj_per_cycle: {}\n    area_um2: {}\n", yaml_number(c.leak_pj_per_cycle),
                        yaml_number(c.area_um2));
  }
  return text;
}

/// The rules of write_flexibility() as a block inside the accelerator.
std::string flexibility_lines(const Accelerator& accelerator) {
  std::string rules = write_flexibility(accelerator), text;
  std::string_view rest = rules;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (!line.starts_with("pliant:") && !line.starts_with("name:")) text += fmt::format("  {}\n", line);
  }
  return text.empty() ? "" : "flexibility:\n" + text;
}

}  // namespace

ImportedText write_imported_accelerator(const Accelerator& accelerator, const std::set<int>& unstated,
                                        const Position& at, ImportLog& log) {
  ImportedText imported{accelerator.name, ""};
  std::string& text = imported.yaml;
  text = fmt::format("pliant: accelerator\nname: {}\n", yaml_text(accelerator.name));
  if (!accelerator.description.empty()) text += fmt::format("description: {}\n", yaml_text(accelerator.description));
  text += fmt::format("conventions: {}\n", accelerator.conventions.name());
  if (!unstated.empty()) text += fmt::format("technology: {}\n", kTechnology);
  text += "levels:\n";
  std::vector<std::string> names;
  for (std::size_t k = 0; k < accelerator.levels.size(); ++k) {
    const Level& level = accelerator.levels[k];
    const bool stated = !unstated.contains(static_cast<int>(k));
    if (!stated) names.push_back(level.name);
    if (level.is_memory()) text += memory_lines(level.name, level.memory(), stated);
    if (level.is_fanout()) text += fanout_lines(level.name, level.fanout());
    if (level.is_compute()) text += compute_lines(level.name, level.compute(), stated);
  }
  text += flexibility_lines(accelerator);
  if (!names.empty()) {
    log.choice(
        at, "energy",
        fmt::format("not stated for {}: on-chip memories follow the table {}, off-chip words take {} pJ per bit, a "
                    "MAC {} pJ",
                    join(names), kTechnology, kDramPjPerBit, kMacPj));
  }
  return imported;
}

}  // namespace pliant
