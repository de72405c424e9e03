// SPDX-License-Identifier: Apache-2.0
#include "core/input/machine_parts.h"

#include <fmt/format.h>

#include <vector>

#include "core/input/keys.h"
#include "core/input/yaml_text.h"

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

VectorUnit parse_vector_unit(std::string_view text, std::string_view option) {
  return parse_part<VectorUnit>(text, option, read_vector_unit);
}

Links parse_links(std::string_view text, std::string_view option) {
  return parse_part<Links>(text, option, read_links);
}

std::string write_vector_unit(const VectorUnit& unit) {
  std::vector<std::string> ops;
  for (std::size_t i = 0; i < kOperatorNames.size(); ++i)
    ops.push_back(fmt::format("{}: {}", kOperatorNames[i], yaml_number(unit.ops[i])));
  ops.push_back(fmt::format("rotary: {}", yaml_number(unit.rotary_ops)));
  ops.push_back(fmt::format("sampling: {}", yaml_number(unit.sampling_ops)));
  return fmt::format("{{lanes: {}, pj_per_op: {}, ops: {}}}", yaml_number(unit.lanes), yaml_number(unit.pj_per_op),
                     yaml_map(ops));
}

std::string write_links(const Links& links) {
  return fmt::format("{{topology: {}, gb_per_s: {}, us: {}, pj_per_bit: {}{}}}",
                     kTopologyNames[static_cast<std::size_t>(links.topology)], yaml_number(links.gb_per_s),
                     yaml_number(links.us), yaml_number(links.pj_per_bit), links.sums ? ", sums: true" : "");
}

}  // namespace pliant
