// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "dse/audit/task_reader.h"
#include "dse/audit/yaml_block.h"

namespace pliant::audit {

namespace {

// ---- Accelerators ----

std::array<bool, kRoles> roles_in(const YAML::Node& list) {
  std::array<bool, kRoles> named{};
  for (const auto& name : list) {
    const auto role = std::ranges::find(kRoleWords, name.as<std::string>());
    if (role == kRoleWords.end()) throw std::runtime_error("an unknown role");
    named[static_cast<std::size_t>(role - kRoleWords.begin())] = true;
  }
  return named;
}

/// "384 words".
Count words_in(const YAML::Node& node) {
  const std::string text = node.as<std::string>();
  std::size_t digits = 0;
  const Count words = std::stoll(text, &digits);
  if (text.substr(digits) != " words") throw std::runtime_error(fmt::format("`{}` is no number of words", text));
  return words;
}

Memory memory_in(Block& block) {
  Memory memory;
  const YAML::Node capacity = block.at("capacity");
  if (capacity.as<std::string>() != "unbounded") memory.capacity_words = words_in(capacity);
  memory.word_bits = block.at("word_bits").as<int>();
  memory.bits = bits_of(block.find("bits"));
  memory.buffers = block.or_else("buffers", 1);
  memory.may_keep = roles_in(block.at("keeps"));
  if (const YAML::Node list = block.find("may_bypass")) memory.may_bypass = roles_in(list);
  if (const YAML::Node list = block.find("resident")) memory.resident = roles_in(list);
  if (const YAML::Node reserved = block.find("reserved")) {
    if (reserved.IsMap())
      for (std::size_t r = 0; r < kRoles; ++r) {
        if (reserved[kRoleWords[r]]) memory.reserved_words[r] = words_in(reserved[kRoleWords[r]]);
      }
    else
      memory.reserved_words[0] = words_in(reserved);
  }
  memory.read_pj = block.at("read_pj").as<double>();
  memory.write_pj = block.at("write_pj").as<double>();
  memory.update_pj = block.at("update_pj").as<double>();
  memory.leak_pj_per_cycle = block.at("leak_pj_per_cycle").as<double>();
  for (const char* key : {"technology", "area_um2"}) block.find(key);
  return memory;
}

Fanout fanout_in(Block& block) {
  Fanout fanout;
  fanout.rows = block.at("rows").as<Count>();
  fanout.cols = block.at("cols").as<Count>();
  fanout.multicast = block.at("multicast").as<bool>();
  const std::string sums = block.at("reduction").as<std::string>();
  fanout.reduction = sums != "false";
  fanout.wired_sums = {sums == "always" || sums == "rows", sums == "always" || sums == "cols"};
  fanout.partial_multicast = block.at("partial_multicast").as<bool>();
  fanout.pj_per_bit = block.or_else("pj_per_bit", 0.0);
  if (const YAML::Node stays = block.find("systolic")) {
    const auto role = std::ranges::find(kRoleWords, stays.as<std::string>());
    if (role == kRoleWords.end()) throw std::runtime_error("systolic: an unknown role");
    fanout.systolic = static_cast<Role>(role - kRoleWords.begin());
  }
  block.find("area_um2");
  return fanout;
}

Compute compute_in(Block& block) {
  Compute compute;
  compute.mac_pj = block.at("mac_pj").as<double>();
  compute.cycles_per_mac = block.at("cycles_per_mac").as<double>();
  compute.leak_pj_per_cycle = block.at("leak_pj_per_cycle").as<double>();
  block.find("area_um2");
  return compute;
}

/// A bandwidth stands as a number for all words, as a map for those of single roles; both may stand there, one after
/// the other, so entries are looked at one by one.
void read_bandwidths(const YAML::Node& level, Memory& memory) {
  for (const auto& entry : level) {
    const std::string key = entry.first.as<std::string>();
    const bool reads = key == "read_bandwidth", writes = key == "write_bandwidth";
    if (!reads && !writes && key != "bandwidth") continue;
    if (!entry.second.IsMap()) {
      (reads    ? memory.read_words_per_cycle
       : writes ? memory.write_words_per_cycle
                : memory.bus_words_per_cycle) = entry.second.as<double>();
      continue;
    }
    for (std::size_t r = 0; r < kRoles; ++r)
      if (const YAML::Node rate = entry.second[kRoleWords[r]]) {
        Bandwidth& own = memory.bandwidth_of[r];
        (reads ? own.read : writes ? own.write : own.bus) = rate.as<double>();
      }
  }
}

Conventions conventions_in(const YAML::Node& node) {
  using C = Conventions;
  C read;
  if (node.IsScalar()) {
    const std::string name = node.as<std::string>();
    if (name == "physical") return read;
    const bool timeloop = name == "timeloop";
    if (!timeloop && name != "quickflow") throw std::runtime_error("conventions: an unknown name");
    read.footprint = timeloop ? C::Footprint::kBoundingBox : C::Footprint::kDistinct;
    read.drain = timeloop ? C::Drain::kFree : C::Drain::kParentWrites;
    read.stationarity = timeloop ? C::Stationarity::kAcrossLevels : C::Stationarity::kWithinLevel;
    read.halo = timeloop ? C::Halo::kDisplacement : C::Halo::kOneLoop;
    read.equal_windows = timeloop ? C::EqualWindows::kShared : C::EqualWindows::kSeparate;
    read.compute_reuse = timeloop ? C::ComputeReuse::kNone : C::ComputeReuse::kOutsideInnermostMemory;
    read.first_time = timeloop ? C::FirstTime::kDistinctElements : C::FirstTime::kPerSweep;
    read.stall_rounding = timeloop ? C::StallRounding::kDemandRatio : C::StallRounding::kExact;
    return read;
  }
  Block block(node, "conventions");
  const auto choose = [&]<class Field>(const char* key, Field& field, const std::vector<std::string>& words) {
    const auto word = std::ranges::find(words, block.at(key).as<std::string>());
    if (word == words.end()) throw std::runtime_error(fmt::format("conventions: {} is not known", key));
    field = static_cast<Field>(word - words.begin());
  };
  choose("footprint", read.footprint, {"distinct", "bounding-box"});
  choose("drain", read.drain, {"counted", "free", "parent-writes"});
  choose("stationarity", read.stationarity, {"across-levels", "within-level"});
  choose("halo", read.halo, {"run", "displacement", "one-loop", "two-iterations"});
  choose("equal-windows", read.equal_windows, {"shared", "separate"});
  choose("compute-reuse", read.compute_reuse, {"none", "outside-innermost-memory"});
  choose("first-time", read.first_time, {"distinct-elements", "per-sweep"});
  choose("stall-rounding", read.stall_rounding, {"exact", "demand-ratio"});
  block.end();
  return read;
}

// ---- Rules ----

std::vector<std::string> names_in(const YAML::Node& list) {
  std::vector<std::string> names;
  for (const auto& name : list) names.push_back(name.as<std::string>());
  return names;
}

TileRule tile_rule(const YAML::Node& node) {
  TileRule rule;
  if (node.IsScalar()) return rule;
  Block block(node, "tiles");
  if (const YAML::Node shares = block.find("partition")) {
    rule.partition.emplace();
    for (std::size_t r = 0; r < kRoles; ++r)
      if (shares[kRoleWords[r]]) (*rule.partition)[r] = shares[kRoleWords[r]].as<double>();
  }
  if (const YAML::Node fixed = block.find("fixed"))
    for (const auto& tile : fixed) rule.fixed.push_back({tile.first.as<std::string>(), tile.second.as<Count>()});
  rule.burst = block.or_else<Count>("burst", 1);
  block.end();
  return rule;
}

OrderRule order_rule(const YAML::Node& node) {
  OrderRule rule;
  if (node.IsScalar()) return rule;
  for (const auto& one : node) {
    OrderPattern& pattern = rule.allowed.emplace_back();
    if (one.IsSequence()) {
      pattern.dims = names_in(one);
      continue;
    }
    const std::string word = one.as<std::string>();
    pattern.stationary = word == "input-stationary"    ? Role::kInput
                         : word == "weight-stationary" ? Role::kWeight
                                                       : Role::kOutput;
    if (pattern.stationary == Role::kOutput && word != "output-stationary")
      throw std::runtime_error(fmt::format("orders: `{}` is not known", word));
  }
  return rule;
}

ParallelRule parallel_rule(const YAML::Node& node) {
  ParallelRule rule;
  if (node.IsScalar()) return rule;
  Block block(node, "parallel");
  for (const auto& way : block.find("any_of"))
    rule.assignments.push_back({names_in(way["rows"]), names_in(way["cols"])});
  rule.max_dims_per_side = block.or_else("max_dims_per_side", 0);
  block.end();
  return rule;
}

ShapeRule shape_rule(const YAML::Node& node) {
  ShapeRule rule;
  if (node.IsMap()) {
    rule.kind = ShapeRule::Kind::kBlocks;
    rule.block_rows = node["block"][0].as<Count>();
    rule.block_cols = node["block"][1].as<Count>();
  } else if (const std::string word = node.as<std::string>(); word == "free") {
    rule.kind = ShapeRule::Kind::kFree;
  } else if (word != "fixed") {
    throw std::runtime_error(fmt::format("shape: `{}` is not known", word));
  }
  return rule;
}

/// An axis that is given replaces what was said of it for all levels.
void read_rules(Block& block, const std::vector<Level>& levels, Flexibility& rules) {
  const auto axis = [&](const char* key, auto member, auto read) {
    const YAML::Node given = block.find(key);
    if (!given) return;
    for (LevelFlexibility& level : rules.levels) level.*member = {};
    for (const auto& entry : given) {
      const auto level = std::ranges::find(levels, entry.first.as<std::string>(), &Level::name);
      if (level == levels.end()) throw std::runtime_error(fmt::format("{}: an unknown level", key));
      rules.levels[static_cast<std::size_t>(level - levels.begin())].*member = read(entry.second);
    }
  };
  axis("tiles", &LevelFlexibility::tile, tile_rule);
  axis("orders", &LevelFlexibility::order, order_rule);
  axis("loops", &LevelFlexibility::loops,
       [](const YAML::Node& node) { return node.IsSequence() ? LoopRule{names_in(node)} : LoopRule{}; });
  axis("parallel", &LevelFlexibility::parallel, parallel_rule);
  axis("shape", &LevelFlexibility::shape, shape_rule);
}

}  // namespace

Accelerator own_accelerator(const std::string& text) {
  Block block(YAML::Load(text), "the accelerator");
  if (block.at("pliant").as<std::string>() != "accelerator") throw std::runtime_error("it is no accelerator");
  Accelerator read;
  read.name = block.at("name").as<std::string>();
  read.conventions = conventions_in(block.at("conventions"));
  read.bits = bits_of(block.find("bits"));
  for (const auto& entry : block.at("levels")) {
    Level& level = read.levels.emplace_back();
    Block of(entry, "a level");
    if (const YAML::Node memory = of.find("memory")) {
      level.name = memory.as<std::string>();
      for (const char* key : {"bandwidth", "read_bandwidth", "write_bandwidth"}) of.find(key);
      Memory own = memory_in(of);
      read_bandwidths(entry, own);
      level.part = own;
    } else if (const YAML::Node fanout = of.find("fanout")) {
      level.name = fanout.as<std::string>();
      level.part = fanout_in(of);
    } else {
      level.name = of.at("compute").as<std::string>();
      level.part = compute_in(of);
    }
    of.end();
  }
  read.flexibility.levels.resize(read.levels.size());
  if (const YAML::Node rules = block.find("flexibility")) {
    Block of(rules, "flexibility");
    read_rules(of, read.levels, read.flexibility);
    of.end();
  }
  // Of no concern to mappings of a layer: what people read, areas, hints of searches, work without MACs, other chips.
  for (const char* key : {"description", "clock", "area", "hints", "vector", "links"}) block.find(key);
  block.end();
  return read;
}

std::string difference(const Accelerator& own, const Accelerator& other) {
  if (own.levels.size() != other.levels.size()) return "how many levels it has";
  if (own.conventions != other.conventions) return "its conventions";
  if (own.bits != other.bits) return "its bits";
  for (std::size_t l = 0; l < own.levels.size(); ++l) {
    Level beside = other.levels[l];
    if (beside.is_memory()) {
      beside.memory().technology.clear();
      beside.memory().area_um2 = 0;
      beside.memory().off_chip = false;
    }
    if (beside.is_fanout()) beside.fanout().area_um2 = 0;
    if (beside.is_compute()) beside.compute().area_um2 = 0;
    if (own.levels[l] != beside) return "level " + other.levels[l].name;
    const LevelFlexibility free;
    const auto& rules = other.flexibility.levels;
    if (own.flexibility.levels[l] != (l < rules.size() ? rules[l] : free))
      return "the rules of " + other.levels[l].name;
  }
  return "";
}

}  // namespace pliant::audit
