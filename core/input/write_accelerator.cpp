// SPDX-License-Identifier: Apache-2.0
#include "core/input/write_accelerator.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "core/flexibility_class.h"
#include "core/input/element_bits.h"
#include "core/input/keys.h"
#include "core/input/machine_parts.h"
#include "core/input/residents_block.h"
#include "core/input/yaml_text.h"

namespace pliant {
namespace {

std::string roles(const std::array<bool, kRoles>& set) {
  std::vector<std::string> names;
  for (std::size_t r = 0; r < kRoles; ++r) {
    if (set[r]) names.emplace_back(keys::kRoleNames[r]);
  }
  return yaml_list(names);
}

std::string conventions(const Conventions& conventions) {
  const std::string preset = conventions.name();
  if (preset != "custom") return preset;
  std::vector<std::string> items;
  const auto& options = convention_options();
  for (std::size_t i = 0; i < options.size(); ++i) {
    items.push_back(fmt::format("{}: {}", options[i].key, options[i].values[get_convention(conventions, i)]));
  }
  return yaml_map(items);
}

std::string memory(const std::string& name, const Memory& m) {
  std::string text = fmt::format("  - memory: {}\n", yaml_text(name));
  const auto line = [&](std::string_view key, const std::string& value) {
    text += fmt::format("    {}: {}\n", key, value);
  };
  line("capacity", m.capacity_words ? fmt::format("{} words", *m.capacity_words) : "unbounded");
  line("word_bits", fmt::format("{}", m.word_bits));
  if (const std::string bits = write_element_bits(m.bits); !bits.empty()) line("bits", bits);
  if (m.buffers != 1) line("buffers", fmt::format("{}", m.buffers));
  line("keeps", roles(m.may_keep));
  if (std::ranges::find(m.may_bypass, true) != m.may_bypass.end()) line("may_bypass", roles(m.may_bypass));
  if (std::ranges::find(m.resident, true) != m.resident.end()) line("resident", roles(m.resident));
  if (const std::string reserved = write_reserved(m); !reserved.empty()) line("reserved", reserved);
  if (!m.technology.empty()) line("technology", yaml_text(m.technology));
  line("read_pj", yaml_number(m.read_pj));
  line("write_pj", yaml_number(m.write_pj));
  line("update_pj", yaml_number(m.update_pj));
  const auto port = [&](const char* key, const std::optional<double>& all, std::optional<double> Bandwidth::*own) {
    if (all) line(key, yaml_number(*all));
    std::string map;
    for (std::size_t r = 0; r < kRoles; ++r)
      if (const auto& rate = m.bandwidth_of[r].*own)
        map += fmt::format("{}{}: {}", map.empty() ? "" : ", ", kRoleNames[r], yaml_number(*rate));
    if (!map.empty()) line(key, "{" + map + "}");
  };
  port("bandwidth", m.bus_words_per_cycle, &Bandwidth::bus);
  port("read_bandwidth", m.read_words_per_cycle, &Bandwidth::read);
  port("write_bandwidth", m.write_words_per_cycle, &Bandwidth::write);
  line("leak_pj_per_cycle", yaml_number(m.leak_pj_per_cycle));
  line("area_um2", yaml_number(m.area_um2));
  return text;
}

std::string fanout(const std::string& name, const Fanout& f) {
  std::string text = fmt::format(
      "  - fanout: {}\n    rows: {}\n    cols: {}\n    multicast: {}\n    reduction: {}\n    partial_multicast: {}\n",
      yaml_text(name), f.rows, f.cols, f.multicast, reduction_name(f), f.partial_multicast);
  if (f.pj_per_bit > 0) text += fmt::format("    pj_per_bit: {}\n", yaml_number(f.pj_per_bit));
  if (f.systolic) text += fmt::format("    systolic: {}\n", to_string(*f.systolic));
  return text + fmt::format("    area_um2: {}\n", yaml_number(f.area_um2));
}

std::string compute(const std::string& name, const Compute& c) {
  return fmt::format(
      "  - compute: {}\n    mac_pj: {}\n    cycles_per_mac: {}\n    leak_pj_per_cycle: {}\n    area_um2: {}\n",
      yaml_text(name), yaml_number(c.mac_pj), yaml_number(c.cycles_per_mac), yaml_number(c.leak_pj_per_cycle),
      yaml_number(c.area_um2));
}

std::string dim_list(const std::vector<std::string>& dims) {
  std::vector<std::string> items;
  for (const std::string& dim : dims) items.push_back(yaml_text(dim));
  return yaml_list(items);
}

std::string tile(const TileRule& rule) {
  if (rule == TileRule{}) return "soft";
  std::vector<std::string> rules, items;
  if (rule.partition) {
    for (std::size_t r = 0; r < kRoles; ++r) {
      if ((*rule.partition)[r] > 0)
        items.push_back(fmt::format("{}: {}", keys::kRoleNames[r], yaml_number((*rule.partition)[r])));
    }
    rules.push_back("partition: " + yaml_map(items));
  }
  if (!rule.fixed.empty()) {
    for (const TileRule::Tile& t : rule.fixed) items.push_back(fmt::format("{}: {}", yaml_text(t.dim), t.size));
    rules.push_back("fixed: " + yaml_map(items));
  }
  if (rule.burst > 1) rules.push_back(fmt::format("burst: {}", rule.burst));
  return yaml_map(rules);
}

std::string order(const OrderRule& rule) {
  if (rule.allowed.empty()) return "any";
  std::vector<std::string> items;
  for (const OrderPattern& pattern : rule.allowed) {
    constexpr std::array<std::string_view, 3> kWords{"input-stationary", "weight-stationary", "output-stationary"};
    items.push_back(pattern.stationary ? std::string(kWords[static_cast<std::size_t>(*pattern.stationary)])
                                       : dim_list(pattern.dims));
  }
  return yaml_list(items);
}

std::string loops(const LoopRule& rule) { return rule.dims ? dim_list(*rule.dims) : "any"; }

std::string parallel(const ParallelRule& rule) {
  std::vector<std::string> ways, items;
  for (const Assignment& one : rule.assignments) {
    ways.push_back(fmt::format("{{rows: {}, cols: {}}}", dim_list(one.rows), dim_list(one.cols)));
  }
  if (!ways.empty()) items.push_back("any_of: " + yaml_list(ways));
  if (rule.max_dims_per_side != 0) items.push_back(fmt::format("max_dims_per_side: {}", rule.max_dims_per_side));
  return items.empty() ? "any" : yaml_map(items);
}

std::string shape(const ShapeRule& rule) {
  switch (rule.kind) {
    case ShapeRule::Kind::kFixed: return "fixed";
    case ShapeRule::Kind::kBlocks: return fmt::format("{{block: [{}, {}]}}", rule.block_rows, rule.block_cols);
    case ShapeRule::Kind::kFree: return "free";
  }
  return "";
}

/// One axis: the levels whose rule is not the default. With `differs_from`, nothing unless some rule differs.
template <class Rule>
std::string axis(const Accelerator& accelerator, const Flexibility& flexibility, const Flexibility* differs_from,
                 std::string_view key, Rule LevelFlexibility::*rule, std::string (*write)(const Rule&),
                 std::string_view indent) {
  bool differs = differs_from == nullptr;
  std::string lines;
  for (std::size_t k = 0; k < flexibility.levels.size(); ++k) {
    const Rule& own = flexibility.levels[k].*rule;
    if (differs_from != nullptr && !(differs_from->levels[k].*rule == own)) differs = true;
    if (own == Rule{}) continue;
    lines += fmt::format("{}  {}: {}\n", indent, yaml_text(accelerator.levels[k].name), write(own));
  }
  if (!differs || (lines.empty() && differs_from == nullptr)) return "";
  return lines.empty() ? fmt::format("{}{}: {{}}\n", indent, key) : fmt::format("{}{}:\n{}", indent, key, lines);
}

std::string axes(const Accelerator& accelerator, const Flexibility& flexibility, const Flexibility* differs_from,
                 std::string_view indent) {
  using L = LevelFlexibility;
  return axis(accelerator, flexibility, differs_from, "tiles", &L::tile, tile, indent) +
         axis(accelerator, flexibility, differs_from, "orders", &L::order, order, indent) +
         axis(accelerator, flexibility, differs_from, "loops", &L::loops, loops, indent) +
         axis(accelerator, flexibility, differs_from, "parallel", &L::parallel, parallel, indent) +
         axis(accelerator, flexibility, differs_from, "shape", &L::shape, shape, indent);
}

std::string fusion(const FusionRule& rule) {
  if (!rule.tiles) return "none";
  std::vector<std::string> items;
  if (rule.dims) items.push_back("dims: " + dim_list(*rule.dims));
  if (rule.depth > 0) items.push_back(fmt::format("depth: {}", rule.depth));
  return items.empty() ? "any" : yaml_map(items);
}

/// F says something also where it allows everything, so every memory has its line, or one word speaks for all.
std::string fusion(const Accelerator& accelerator, const std::vector<FusionRule>& rules, std::string_view indent) {
  std::string lines;
  std::set<std::string> words;
  for (std::size_t k = 0; k < rules.size(); ++k) {
    if (!accelerator.levels[k].is_memory()) continue;
    words.insert(fusion(rules[k]));
    lines += fmt::format("{}  {}: {}\n", indent, yaml_text(accelerator.levels[k].name), fusion(rules[k]));
  }
  if (words.size() == 1 && (words.contains("any") || words.contains("none")))
    return fmt::format("{}fusion: {}\n", indent, *words.begin());
  return lines.empty() ? "" : fmt::format("{}fusion:\n{}", indent, lines);
}

/// Nothing where the class says it.
std::string fusion(const Accelerator& accelerator, std::string_view indent) {
  const auto named = parse_flexibility_class(accelerator.flexibility.name);
  if (named && fusion_of_class(accelerator, *named) == accelerator.fusion) return "";
  return fusion(accelerator, accelerator.fusion, indent);
}

bool is_class(std::string_view name) {
  return name.starts_with("FullFlex-") || name.starts_with("PartFlex-") || name.starts_with("InFlex-");
}

/// The block's lines, empty when everything is full.
std::string flexibility(const Accelerator& accelerator, const std::string& indent) {
  std::string text;
  if (is_class(accelerator.flexibility.name))
    text += fmt::format("{}class: {}\n", indent, accelerator.flexibility.name);
  text += axes(accelerator, accelerator.flexibility, nullptr, indent) + fusion(accelerator, indent);
  for (const auto& [operation, own] : accelerator.flexibility_for) {
    const Operation parent = parent_family(operation);
    const Flexibility& outside = parent == operation ? accelerator.flexibility : accelerator.flexibility_of(parent);
    const std::string lines = axes(accelerator, own, &outside, indent + "  ");
    text += fmt::format("{}{}:{}", indent, to_string(operation), lines.empty() ? " {}\n" : "\n" + lines);
  }
  return text;
}

/// The axes that settings give; a given axis without any rule is written as an empty map.
std::string settings(const Accelerator& accelerator, const AxisSettings& own, const AxisSettings* differs_from,
                     const std::string& indent) {
  using L = LevelFlexibility;
  const Flexibility none{"", std::vector<LevelFlexibility>(accelerator.levels.size())};
  const auto write = [&](std::size_t a, std::string_view key, auto rule, auto writer) -> std::string {
    if (!own.given[a]) return "";
    const bool inherited = differs_from != nullptr && differs_from->given[a];
    const std::string text =
        axis(accelerator, own.rules, inherited ? &differs_from->rules : &none, key, rule, writer, indent);
    return text.empty() && !inherited ? fmt::format("{}{}: {{}}\n", indent, key) : text;
  };
  return write(0, "tiles", &L::tile, tile) + write(1, "orders", &L::order, order) +
         write(2, "parallel", &L::parallel, parallel) + write(3, "shape", &L::shape, shape);
}

std::string class_settings(const Accelerator& accelerator, const ClassSettings& from, const std::string& indent) {
  std::string text = settings(accelerator, from.all, nullptr, indent);
  if (from.all.fusion) text += fusion(accelerator, *from.all.fusion, indent);
  for (const auto& [operation, own] : from.by_family) {
    const Operation parent = parent_family(operation);
    const std::string lines =
        settings(accelerator, own, parent == operation ? &from.all : &from.of(parent), indent + "  ");
    text += fmt::format("{}{}:{}", indent, to_string(operation), lines.empty() ? " {}\n" : "\n" + lines);
  }
  return text;
}

/// `baseline:` and `partial:`.
std::string classes(const Accelerator& accelerator) {
  std::string text;
  const std::string baseline = class_settings(accelerator, accelerator.baseline, "  ");
  if (!baseline.empty()) text += "baseline:\n" + baseline;
  if (accelerator.partial.empty()) return text;
  std::string partial, variants;
  for (const auto& [name, own] : accelerator.partial) {
    const std::string lines = class_settings(accelerator, own, name.empty() ? "  " : "      ");
    if (name.empty()) {
      partial = lines;
    } else {
      variants += fmt::format("    {}:{}", yaml_text(name), lines.empty() ? " {}\n" : "\n" + lines);
    }
  }
  if (!variants.empty()) partial += "  variants:\n" + variants;
  return text + "partial:" + (partial.empty() ? " {}\n" : "\n" + partial);
}

}  // namespace

std::string write_accelerator(const Accelerator& a) {
  std::string text = fmt::format("pliant: accelerator\nname: {}\n", yaml_text(a.name));
  if (!a.description.empty()) text += fmt::format("description: {}\n", yaml_text(a.description));
  text += fmt::format("conventions: {}\n", conventions(a.conventions));
  if (const std::string bits = write_element_bits(a.bits); !bits.empty()) text += fmt::format("bits: {}\n", bits);
  if (a.clock_hz) text += fmt::format("clock: {} Hz\n", yaml_number(*a.clock_hz));
  text += "levels:\n";
  for (const Level& level : a.levels) {
    if (level.is_memory()) text += memory(level.name, level.memory());
    if (level.is_fanout()) text += fanout(level.name, level.fanout());
    if (level.is_compute()) text += compute(level.name, level.compute());
  }
  std::vector<std::string> overheads;
  for (std::size_t i = 0; i < keys::kAxes.size(); ++i) {
    overheads.push_back(fmt::format("{}: {}", keys::kAxes[i], yaml_number(a.flexibility_area_um2[i])));
  }
  const std::string from =
      a.flexibility_area_from.empty() ? "" : fmt::format(", flexibility_from: {}", yaml_text(a.flexibility_area_from));
  text += fmt::format("area: {{base_um2: {}, flexibility_um2: {}{}}}\n", yaml_number(a.base_area_um2),
                      yaml_map(overheads), from);
  text += classes(a);
  const std::string rules = flexibility(a, "  ");
  if (!rules.empty()) text += "flexibility:\n" + rules;
  text += fmt::format("hints: {{min_utilization: {}}}\n", yaml_number(a.hints.min_utilization));
  if (a.vector) text += fmt::format("vector: {}\n", write_vector_unit(*a.vector));
  if (a.links) text += fmt::format("links: {}\n", write_links(*a.links));
  return text;
}

std::string write_fusion(const Accelerator& accelerator) { return fusion(accelerator, accelerator.fusion, ""); }

std::string write_flexibility(const Accelerator& accelerator) {
  std::string text = "pliant: flexibility\n";
  const std::string& name = accelerator.flexibility.name;
  if (!name.empty() && !is_class(name)) text += fmt::format("name: {}\n", yaml_text(name));
  return text + flexibility(accelerator, "");
}

}  // namespace pliant
