// SPDX-License-Identifier: Apache-2.0
#include "core/input/memory_scaling.h"

#include <fmt/format.h>

#include <cmath>

#include "core/input/units.h"

namespace pliant {
namespace {

constexpr std::string_view kDefaultTable = "generic";

}  // namespace

std::optional<Count> read_capacity(const Cursor& capacity, int word_bits) {
  const auto text = capacity.text("a size such as 128KiB or 64Ki words, or unbounded");
  if (!text || *text == "unbounded") return std::nullopt;
  const Parsed<Count> words = parse_words(*text, word_bits);
  if (const auto* error = std::get_if<UnitError>(&words)) {
    capacity.problem(error->what, error->expected + ", or unbounded", error->did_you_mean);
    return std::nullopt;
  }
  const Count value = std::get<Count>(words);
  if (value < 1) {
    capacity.problem(capacity.node().describe() + " is too small", "at least one word, or unbounded");
    return std::nullopt;
  }
  if (value >= kMaxCount) {
    capacity.problem(capacity.node().describe() + " is too large", "fewer than 2^62 words, or unbounded");
    return std::nullopt;
  }
  return value;
}

const Technology* MemoryScaling::own_table(const Cursor& block, const Memory& memory) {
  if (memory.technology.empty()) return nullptr;
  const YamlNode* shared = tree_.stages.back().find("technology");
  const auto named = block.find("technology");
  return tables_.get(
      named || shared == nullptr ? named.value_or(block) : Cursor(*shared, "technology", block.problems()),
      memory.technology);
}

void MemoryScaling::read_costs(const Cursor& block, const std::string& level, std::optional<double> clock_hz,
                               Memory& memory) {
  const auto read = cost(block, "read_pj", Cost::kRead, level, memory);
  const auto write = cost(block, "write_pj", Cost::kWrite, level, memory);
  const auto update = cost(block, "update_pj", Cost::kWrite, level, memory);
  const auto leak = cost(block, "leak_pj_per_cycle", Cost::kLeak, level, memory);
  const auto area = cost(block, "area_um2", Cost::kArea, level, memory);

  const bool given = block.find("read_pj").has_value();
  const Technology* own = own_table(block, memory);
  memory.off_chip = own != nullptr && own->off_chip.has_value();
  if (memory.technology.empty()) {
    block.require("read_pj", "pJ per word, or `technology:` with a table's name");
  } else if (own != nullptr && !memory.off_chip && !memory.capacity_words && !given && block.find("capacity") &&
             block.find("capacity")->node().text == "unbounded") {
    block.require("read_pj", "pJ per word: only the table of an off-chip memory prices an unbounded one");
  }
  if (own != nullptr && (memory.capacity_words || memory.off_chip)) {
    const Count words = memory.capacity_words.value_or(0);
    const int bits = memory.word_bits;
    memory.read_pj = read.value_or(own->read_pj(words, bits));
    memory.write_pj = write.value_or(given ? memory.read_pj : own->write_pj(words, bits));
    memory.leak_pj_per_cycle = leak.value_or(own->leak_pj_per_cycle(words, bits, clock_hz));
    memory.area_um2 = area.value_or(own->area_um2(words, bits));
  } else {
    memory.read_pj = read.value_or(0);
    memory.write_pj = write.value_or(memory.read_pj);
    memory.leak_pj_per_cycle = leak.value_or(0);
    memory.area_um2 = area.value_or(0);
  }
  memory.update_pj = update.value_or(memory.write_pj);
  for (const double value :
       {memory.read_pj, memory.write_pj, memory.update_pj, memory.leak_pj_per_cycle, memory.area_um2}) {
    if (!std::isfinite(value)) return block.problem("energy or area out of range at this capacity", "finite values");
  }
}

std::optional<double> MemoryScaling::cost(const Cursor& block, std::string_view key, Cost kind,
                                          const std::string& level, const Memory& memory) {
  const auto value = block.find(key);
  if (!value) return std::nullopt;
  const auto stated = value->real();
  if (!stated || *stated == 0) return stated;
  const Geometry now{memory.capacity_words, memory.word_bits, memory.technology};
  auto then = geometry_at(static_cast<std::size_t>(value->node().stage), level);
  if (!then) return stated;
  // A figure that was stated for no node in particular is worth the same in every one.
  if (then->technology.empty() || now.technology.empty()) then->technology = now.technology;
  if (*then == now) return stated;
  const auto capacity = block.find("capacity");
  if (!now.words && (!capacity || capacity->node().text != "unbounded")) return stated;  // already noted as wrong
  if (!then->words && !now.words && then->word_bits == now.word_bits) return stated;     // no table prices it
  if (!then->words || !now.words) {
    value->problem("the capacity was changed from or to unbounded, which no table can scale",
                   fmt::format("a value of its own, as in --set {}.{}=...", level, key));
    return std::nullopt;
  }
  const std::string generic(kDefaultTable);
  const Technology* before_table = tables_.get(*value, then->technology.empty() ? generic : then->technology);
  const Technology* after_table = tables_.get(*value, now.technology.empty() ? generic : now.technology);
  if (before_table == nullptr || after_table == nullptr) return std::nullopt;
  if (before_table->off_chip || after_table->off_chip) return stated;  // a device's energy has no node and no size
  const double before = at(*before_table, kind, *then->words, then->word_bits);
  const double after = at(*after_table, kind, *now.words, now.word_bits);
  if (before > 0) return *stated * (after / before);
  // A table without leakage still knows that twice the bits leak twice as much, and what the area of a bit is.
  const double bits_ratio =
      static_cast<double>(*now.words) * now.word_bits / (static_cast<double>(*then->words) * then->word_bits);
  const double density = before_table == after_table || before_table->um2_per_bit == 0
                             ? 1
                             : after_table->um2_per_bit / before_table->um2_per_bit;
  return *stated * bits_ratio * density;
}

std::optional<MemoryScaling::Geometry> MemoryScaling::geometry_at(std::size_t stage, const std::string& level) const {
  for (; stage + 1 < tree_.stages.size(); ++stage) {
    Diagnostics ignored;
    const YamlNode& root = tree_.stages[stage];
    const YamlNode* levels = root.find("levels");
    if (levels == nullptr) continue;
    for (const YamlNode& node : levels->items) {
      const YamlNode* name = node.find("memory");
      if (name == nullptr || name->text != level) continue;
      const Cursor block(node, "", ignored);
      Geometry geometry;
      if (const YamlNode* bits = root.find("word_bits")) {
        geometry.word_bits = static_cast<int>(Cursor(*bits, "", ignored).count(1, 4096).value_or(16));
      }
      if (const YamlNode* table = root.find("technology")) geometry.technology = table->text;
      if (const auto table = block.find("technology")) geometry.technology = table->node().text;
      if (const auto bits = block.find("word_bits")) {
        geometry.word_bits = static_cast<int>(bits->count(1, 4096).value_or(16));
      }
      const auto capacity = block.find("capacity");
      if (!capacity) continue;
      geometry.words = read_capacity(*capacity, geometry.word_bits);
      if (ignored.empty()) return geometry;
    }
  }
  return std::nullopt;  // written by the last stage: it is about the present capacity
}

double MemoryScaling::at(const Technology& table, Cost kind, Count words, int bits) {
  switch (kind) {
    case Cost::kRead: return table.read_pj(words, bits);
    case Cost::kWrite: return table.write_pj(words, bits);
    case Cost::kLeak: return table.leak_pj_per_cycle(words, bits);
    case Cost::kArea: return table.area_um2(words, bits);
  }
  return 0;
}

}  // namespace pliant
