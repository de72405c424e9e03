// SPDX-License-Identifier: Apache-2.0
#include "dse/import/accelforge/component.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "core/input/source_text.h"
#include "dse/import/text_forms.h"

namespace pliant::accelforge {
namespace {

constexpr double kPjPerJoule = 1e12, kSquareMicronsPerSquareMetre = 1e12;
constexpr double kUnboundedFromBits = 1e15, kMostBits = 4096;

}  // namespace

ComponentContext::ComponentContext(const std::map<std::string, std::string>& variables, int word_bits, ImportLog& log)
    : values_(variables), word_bits_(word_bits), log_(&log) {
  Worth all;
  all.kind = Worth::Kind::kList;
  for (const char* tensor : {"input", "weight", "output"}) {
    values_.set(tensor, Worth::of_truth(true));
    values_.set(fmt::format("{}.bits_per_value", tensor), Worth::of_number(word_bits));
    all.list.push_back(Worth::of_text(tensor));
  }
  values_.set("All", all);
}

std::optional<double> ComponentContext::number(const Cursor& cursor) {
  const auto text = cursor.text("a number or an expression");
  if (!text) return std::nullopt;
  std::string why;
  try {
    const double value = values_.evaluate(*text).as_number();
    if (value >= 0) return value;
    why = "below 0";
  } catch (const ExpressionError& error) {
    why = error.what();
  }
  log_->unsupported(cursor.node().at, cursor.path(), fmt::format("`{}`: {}", shorten(*text, 60), why),
                    "a number or a plain expression");
  return std::nullopt;
}

bool ComponentContext::enabled(const Cursor& node) {
  const auto enabled = node.find("enabled");
  if (!enabled) return true;
  const auto value = number(*enabled);
  return !value || *value != 0;
}

RoleSet ComponentContext::tensors(const Cursor& cursor) {
  const std::string text = cursor.text("a set of tensors").value_or("");
  try {
    return read_tensor_set(text, kept_);
  } catch (const ExpressionError& error) {
    log_->unsupported(cursor.node().at, cursor.path(), error.what(),
                      "input, weight, output, All, Nothing, Intermediates or a memory, with ~ | & -");
    return 0;
  }
}

void ComponentContext::refuse_unknown_keys(const Cursor& node, std::initializer_list<std::string_view> known) {
  for (const YamlEntry& entry : node.node().entries) {
    if (std::ranges::find(known, entry.key) == known.end()) {
      log_->unsupported(entry.at, fmt::format("{}.{}", node.path(), shorten(entry.key, 40)),
                        "a key without a counterpart");
    }
  }
}

std::map<std::string, ComponentContext::Action> ComponentContext::actions(const Cursor& node) {
  std::map<std::string, Action> all;
  const auto list = node.find("actions");
  if (!list || list->node().is_null() || !list->expect_list("a list of actions")) return all;
  for (const Cursor& one : list->items()) {
    if (!one.expect_map("an action")) continue;
    refuse_unknown_keys(one, {"name", "energy", "throughput", "latency", "bits_per_action"});
    const auto name = one.require("name", "read, write or compute");
    Action& own = all[name ? name->text("a name").value_or("") : ""];
    if (const auto energy = one.find("energy")) own.joules = number(*energy);
    if (const auto rate = one.find("throughput")) own.per_second = number(*rate);
    if (const auto bits = one.find("bits_per_action")) own.bits = std::max(number(*bits).value_or(1), 1e-3);
  }
  return all;
}

std::optional<double> ComponentContext::seconds_per_action(const Cursor& node, bool& separate_ports) {
  const auto latency = node.find("total_latency");
  if (!latency) return std::nullopt;
  const std::string text = without_blanks(latency->text("an expression").value_or(""));
  separate_ports = text == "max(a.n_calls/a.throughputforainactions)";
  if (separate_ports || text == "sum(a.n_calls/a.throughputforainactions)") return std::nullopt;
  constexpr std::string_view kCalls = "sum(a.n_callsforainactions)";
  if (text.starts_with(kCalls)) {
    try {
      return values_.evaluate("1" + text.substr(kCalls.size())).as_number();
    } catch (const ExpressionError&) {
      // Said below.
    }
  }
  log_->unsupported(latency->node().at, latency->path(), fmt::format("the latency `{}`", shorten(text, 60)),
                    "sum(a.n_calls for a in actions) / NUMBER");
  return std::nullopt;
}

void ComponentContext::find_clock(const Cursor& nodes) {
  // Looks ahead: what is wrong is noted when the node itself is read.
  ImportLog ahead(true);
  ImportLog* const own = std::exchange(log_, &ahead);
  for (const Cursor& node : nodes.items()) {
    if (node.node().tag == "!Compute" && node.node().is_map() && enabled(node)) set_clock(node);
  }
  log_ = own;
}

void ComponentContext::set_clock(const Cursor& compute) {
  bool separate = false;
  const auto seconds = seconds_per_action(compute, separate);
  const auto all = actions(compute);
  const auto action = all.find("compute");
  const auto rate = seconds && *seconds > 0 ? std::optional(1 / *seconds)
                    : action != all.end()   ? action->second.per_second
                                            : std::nullopt;
  clock_ = rate && std::isfinite(*rate) && *rate > 0 ? *rate : 0;
}

void ComponentContext::set_bandwidth(const Cursor& node, const std::map<std::string, Action>& all, Memory& memory) {
  bool separate = false;
  const auto seconds = seconds_per_action(node, separate);
  bool limited = false;  // by something that a clock would turn into words per cycle
  const auto words_per_cycle = [&](const char* name) -> std::optional<double> {
    const auto found = all.find(name);
    const double bits = found == all.end() ? 1 : found->second.bits;
    const double rate = seconds && *seconds > 0 ? 1 / *seconds
                        : found == all.end()    ? HUGE_VAL
                                                : found->second.per_second.value_or(HUGE_VAL);
    if (!std::isfinite(rate) || rate <= 0) return std::nullopt;
    limited = true;
    return clock_ > 0 ? std::optional(rate * bits / memory.word_bits / clock_) : std::nullopt;
  };
  const auto read = words_per_cycle("read"), write = words_per_cycle("write");
  if (limited && clock_ == 0) {
    log_->unsupported(node.node().at, node.path(), "a throughput per second, but the compute says no clock",
                      "a throughput of the compute");
  }
  // The time of all actions adds up unless the file says otherwise: one bus, if reads and writes are equally fast.
  if (!separate && read && write && *read == *write) {
    memory.bus_words_per_cycle = read;
    return;
  }
  if (!separate && read && write) {
    log_->unsupported(node.node().at, node.path(), "reads and writes that take turns at different speeds");
  }
  memory.read_words_per_cycle = read;
  memory.write_words_per_cycle = write;
}

void ComponentContext::set_tensors(const Cursor& node, const std::string& name, Memory& memory) {
  RoleSet keep = kAllRoles, may_keep = 0;
  if (const auto sets = node.find("tensors"); sets && sets->expect_map("keep and may_keep")) {
    refuse_unknown_keys(*sets, {"keep", "may_keep"});
    const auto own = sets->find("keep"), may = sets->find("may_keep");
    keep = own ? tensors(*own) : 0;
    may_keep = may ? tensors(*may) : 0;
  }
  kept_[name] = keep;
  for (std::size_t r = 0; r < kRoles; ++r) {
    const bool must = (keep >> r & 1U) != 0, may = (may_keep >> r & 1U) != 0;
    memory.may_keep[r] = must || may;
    memory.may_bypass[r] = may && !must;
  }
}

void ComponentContext::set_word(const Cursor& node, Memory& memory) {
  memory.word_bits = word_bits_;
  const auto bits = node.find("bits_per_value");
  if (!bits || !bits->expect_map("tensor: bits")) return;
  const auto entries = bits->entries();
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const RoleSet roles = read_tensor_set(bits->entry(i).key, kept_);
    const auto value = number(entries[i]);
    if (!value || *value < 1 || *value > kMostBits || std::floor(*value) != *value) {
      log_->unsupported(entries[i].node().at, entries[i].path(), "a width that is no whole number of bits");
      continue;
    }
    for (std::size_t r = 0; r < kRoles; ++r) {
      if ((roles >> r & 1U) == 0 || !memory.may_keep[r]) continue;
      if (memory.bits.of[r] && *memory.bits.of[r] != static_cast<int>(*value))
        log_->unsupported(entries[i].node().at, entries[i].path(), "two widths for one tensor");
      memory.bits.of[r] = static_cast<int>(*value);
    }
  }
  // The word is a unit; where the memory keeps tensors of one width only, it is theirs.
  std::optional<int> word;
  for (std::size_t r = 0; r < kRoles; ++r) {
    if (!memory.may_keep[r]) continue;
    const int own = memory.bits.of[r].value_or(word_bits_);
    word = word.value_or(own) == own ? own : word_bits_;
  }
  memory.word_bits = word.value_or(word_bits_);
}

Memory ComponentContext::memory(const Cursor& node, const std::string& name, bool& stated) {
  refuse_unknown_keys(node, {"name", "size", "tensors", "actions", "leak_power", "area", "total_latency", "spatial",
                             "component_class", "bits_per_value", "enabled", "extra_attributes_for_component_model"});
  Memory memory;
  set_tensors(node, name, memory);
  try {
    set_word(node, memory);
  } catch (const ExpressionError& error) {
    log_->unsupported(node.node().at, node.path(), error.what());
  }
  const auto size = node.require("size", "bits");
  const double bits = size ? number(*size).value_or(1) : 1;
  if (std::isfinite(bits) && bits < kUnboundedFromBits) {
    memory.capacity_words = std::max<Count>(static_cast<Count>(bits) / memory.word_bits, 1);
  }
  const auto all = actions(node);
  set_bandwidth(node, all, memory);
  const auto type = node.find("component_class");
  const bool dummy = type && type->node().text == "Dummy";
  const auto joules = [&](const char* action) -> std::optional<double> {
    const auto found = all.find(action);
    if (found == all.end() || !found->second.joules) return dummy ? std::optional(0.0) : std::nullopt;
    return *found->second.joules * memory.word_bits / found->second.bits * kPjPerJoule;
  };
  const auto read = joules("read"), write = joules("write");
  stated = read && write;
  memory.read_pj = read.value_or(0);
  memory.write_pj = memory.update_pj = write.value_or(0);
  const auto leak = node.find("leak_power"), area = node.find("area");
  const double watts = leak ? number(*leak).value_or(0) : 0;
  if (watts > 0 && clock_ == 0)
    log_->unsupported(leak->node().at, leak->path(), "leakage, but the compute says no clock");
  if (watts > 0 && clock_ > 0) memory.leak_pj_per_cycle = watts / clock_ * kPjPerJoule;
  memory.area_um2 = area ? number(*area).value_or(0) * kSquareMicronsPerSquareMetre : 0;
  return memory;
}

Compute ComponentContext::compute(const Cursor& node, bool& stated) {
  refuse_unknown_keys(node, {"name", "actions", "leak_power", "area", "total_latency", "spatial", "component_class",
                             "enabled", "extra_attributes_for_component_model"});
  Compute compute;
  const auto all = actions(node);
  const auto own = all.find("compute");
  const auto type = node.find("component_class");
  const bool dummy = type && type->node().text == "Dummy";
  stated = dummy || (own != all.end() && own->second.joules);
  if (own != all.end() && own->second.joules) compute.mac_pj = *own->second.joules * kPjPerJoule;
  const auto leak = node.find("leak_power"), area = node.find("area");
  const double watts = leak ? number(*leak).value_or(0) : 0;
  if (watts > 0 && clock_ > 0) compute.leak_pj_per_cycle = watts / clock_ * kPjPerJoule;
  compute.area_um2 = area ? number(*area).value_or(0) * kSquareMicronsPerSquareMetre : 0;
  if (clock_ > 0) log_->choice(node.node().at, node.path(), fmt::format("one MAC a cycle: a clock of {} Hz", clock_));
  return compute;
}

}  // namespace pliant::accelforge
