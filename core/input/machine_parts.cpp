// SPDX-License-Identifier: Apache-2.0
#include "core/input/machine_parts.h"

#include <string>

#include "core/input/accelerator_tree.h"
#include "core/input/keys.h"
#include "core/input/source_text.h"

namespace pliant {
namespace {

/// A block that an option spells, read as a file's would be.
template <class Part>
Part parse_part(std::string_view text, std::string_view option, std::optional<Part> (*read)(const Cursor&)) {
  Diagnostics problems;
  const YamlNode tree = parse_yaml(std::string(text), std::string(option), problems);
  std::optional<Part> part;
  if (problems.empty()) part = read(Cursor(tree, "", problems));
  problems.throw_if_any();
  return part.value_or(Part{});
}

}  // namespace

std::optional<VectorUnit> read_vector_unit(const Cursor& block) {
  if (!block.only_keys(keys::kVector, "a map with lanes, and ops where they differ from the usual")) return {};
  VectorUnit unit;
  if (const auto value = block.require("lanes", "how many elements it works on at once"))
    unit.lanes = value->positive_real().value_or(1);
  if (const auto value = block.find("pj_per_op")) unit.pj_per_op = value->real().value_or(0);
  const auto ops = block.find("ops");
  if (!ops || !ops->only_keys(keys::kVectorOps, "operations for each element, by operator")) return unit;
  for (std::size_t i = 0; i < kOperatorNames.size(); ++i)
    if (const auto value = ops->find(kOperatorNames[i])) unit.ops[i] = value->real().value_or(0);
  if (const auto value = ops->find("rotary")) unit.rotary_ops = value->real().value_or(0);
  if (const auto value = ops->find("sampling")) unit.sampling_ops = value->real().value_or(0);
  return unit;
}

std::optional<Links> read_links(const Cursor& block) {
  if (!block.only_keys(keys::kLinks, "a map with topology, gb_per_s, us and pj_per_bit")) return {};
  Links links;
  if (const auto value = block.find("topology"))
    if (const auto chosen = value->choice(kTopologyNames)) links.topology = static_cast<Links::Topology>(*chosen);
  if (const auto value = block.require("gb_per_s", "what a chip sends at once in one direction, in GB/s"))
    links.gb_per_s = value->positive_real().value_or(1);
  if (const auto value = block.find("us")) links.us = value->real().value_or(0);
  if (const auto value = block.find("pj_per_bit")) links.pj_per_bit = value->real().value_or(0);
  if (const auto value = block.find("sums")) {
    links.sums = value->flag().value_or(false);
    if (links.sums && links.topology != Links::Topology::kSwitch)
      value->problem("sums without a switch", "topology: switch");
  }
  return links;
}

MachineParts read_machine_parts(const Cursor& root) {
  MachineParts parts;
  if (const auto block = root.find("vector")) parts.vector = read_vector_unit(*block);
  if (const auto block = root.find("links")) parts.links = read_links(*block);
  return parts;
}

MachineParts load_machine_parts(const Library& library, std::string_view name_or_path,
                                const std::vector<Setting>& settings) {
  const std::filesystem::path file = library.find_accelerator(name_or_path);
  Diagnostics problems;
  const AcceleratorTree files =
      read_accelerator_files(library, read_source(file), file.string(), file.parent_path(), problems);
  if (!problems.empty() || files.stages.back().find("levels") == nullptr) return {};
  const AcceleratorTree tree = complete_accelerator_tree(files, file.string(), settings, problems);
  return problems.empty() ? read_machine_parts(Cursor(tree.stages.back(), "", problems)) : MachineParts{};
}

std::optional<MachineParts> fixed_machine_parts(const Library& library, std::string_view name_or_path,
                                                const std::vector<Setting>& settings) {
  const std::filesystem::path file = library.find_accelerator(name_or_path);
  Diagnostics problems;
  const AcceleratorTree files =
      read_accelerator_files(library, read_source(file), file.string(), file.parent_path(), problems);
  if (!problems.empty()) return std::nullopt;
  const MachineParts written = read_machine_parts(Cursor(files.stages.back(), "", problems));
  if (!problems.empty() || written != load_machine_parts(library, name_or_path, settings)) return std::nullopt;
  return written;
}

VectorUnit parse_vector_unit(std::string_view text, std::string_view option) {
  return parse_part<VectorUnit>(text, option, read_vector_unit);
}

Links parse_links(std::string_view text, std::string_view option) {
  return parse_part<Links>(text, option, read_links);
}

}  // namespace pliant
