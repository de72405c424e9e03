// SPDX-License-Identifier: Apache-2.0
#include "dse/sweep/axis_values.h"

#include <fmt/format.h>

#include "core/input/source_text.h"
#include "core/input/units.h"
#include "core/input/yaml_text.h"
#include "dse/sweep/sweep_keys.h"

namespace pliant {
namespace {

constexpr std::size_t kMostValues = 100'000;

constexpr std::string_view kExpected = "a value, a list of values, or a range {from, to, step} or {from, to, times}";

/// A whole number, or a size with a unit of bytes.
struct Amount {
  Count number = 0;
  bool bytes = false;
  /// As --set takes it.
  std::string text() const { return fmt::format("{}{}", number, bytes ? "B" : ""); }
};

std::optional<Amount> read_amount(const Cursor& c, Count least = 1) {
  if (c.node().is_scalar()) {
    const auto bytes = parse_bytes(c.node().text);
    if (std::holds_alternative<Count>(bytes) && std::get<Count>(bytes) >= least)
      return Amount{std::get<Count>(bytes), true};
  }
  const auto number = c.count(least);
  return number ? std::optional(Amount{*number, false}) : std::nullopt;
}

std::vector<std::string> read_range(const Cursor& range) {
  if (!range.only_keys(keys::kRange, kExpected)) return {};
  const auto from_c = range.require("from", "the first value"), to_c = range.require("to", "the last value");
  const auto step_c = range.find("step"), times_c = range.find("times");
  if (step_c && times_c) return times_c->problem("both step and times", "one of them"), std::vector<std::string>{};
  if (!from_c || !to_c) return {};
  const auto from = read_amount(*from_c), to = read_amount(*to_c);
  const auto step = step_c ? read_amount(*step_c) : std::optional(Amount{1, from && from->bytes});
  const auto times = times_c ? times_c->count(2) : std::optional<Count>();
  if (!from || !to || !step || (times_c && !times)) return {};
  if (to->bytes != from->bytes || step->bytes != from->bytes)
    return range.problem("sizes with a unit beside plain numbers", "a unit for all of from, to and step, or for none"),
           std::vector<std::string>{};
  if (from->bytes && !step_c && !times_c)
    return range.problem("neither step nor times", "step: 64KiB, say, or times: 2"), std::vector<std::string>{};
  if (to->number < from->number)
    return to_c->problem(fmt::format("{} is less than `from`", to->text()), "a value from there on"),
           std::vector<std::string>{};
  std::vector<std::string> values;
  for (Amount value = *from; value.number <= to->number;) {
    values.push_back(value.text());
    if (values.size() > kMostValues)
      return range.problem("too many values", "at most 100000"), std::vector<std::string>{};
    const auto next = times ? checked_multiply(value.number, *times) : checked_add(value.number, step->number);
    if (!next) break;
    value.number = *next;
  }
  return values;
}

std::optional<SweepAxis> read_zip(const Cursor& zip) {
  if (!zip.expect_map("a map of keys, each with a list of values of the same length")) return std::nullopt;
  SweepAxis axis;
  std::size_t length = 0;
  const std::vector<Cursor> entries = zip.entries();
  if (entries.empty()) return zip.problem("nothing to zip", "keys with lists of values"), std::nullopt;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const std::vector<std::string> values = read_axis_values(entries[i]);
    if (values.empty()) return std::nullopt;
    if (i == 0) {
      length = values.size();
      axis.values.resize(length);
    } else if (values.size() != length) {
      entries[i].problem(fmt::format("{} values", values.size()), fmt::format("{}, as the keys before it", length));
      return std::nullopt;
    }
    axis.keys.push_back(zip.entry(i).key);
    for (std::size_t v = 0; v < length; ++v) axis.values[v].push_back(values[v]);
  }
  return axis;
}

std::optional<SweepAxis> read_pairs(const Cursor& pairs) {
  if (!pairs.only_keys(keys::kPairs, "{keys: [a, b], values: [[1, 2], [3, 4]]}")) return std::nullopt;
  const auto keys = pairs.require("keys", "a list of keys"), values = pairs.require("values", "a list of lists");
  if (!keys || !values || !keys->expect_list("a list of keys") || !values->expect_list("a list of lists"))
    return std::nullopt;
  SweepAxis axis;
  for (const Cursor& key : keys->items()) {
    const auto text = key.text("a key");
    if (!text) return std::nullopt;
    axis.keys.push_back(*text);
  }
  if (axis.keys.empty()) return keys->problem("no keys", "at least one"), std::nullopt;
  for (const Cursor& item : values->items()) {
    if (!item.expect_list("one value for each key")) return std::nullopt;
    std::vector<std::string> row;
    for (const Cursor& value : item.items()) row.push_back(flow_text(value.node()));
    if (row.size() != axis.keys.size()) {
      item.problem(fmt::format("{} values", row.size()), fmt::format("{}, one for each key", axis.keys.size()));
      return std::nullopt;
    }
    axis.values.push_back(std::move(row));
  }
  if (axis.values.empty()) return values->problem("no values", "at least one"), std::nullopt;
  return axis;
}

std::optional<SweepAxis> read_shapes(const Cursor& shapes) {
  if (!shapes.only_keys(keys::kShapes, "{units: 256, rows: KEY, cols: KEY}")) return std::nullopt;
  const auto units_c = shapes.require("units", "how many units every shape has");
  if (!units_c) return std::nullopt;
  const auto units = units_c->count(1, Count{1} << 40);
  const auto key = [&](const char* side) {
    const auto c = shapes.find(side);
    return c ? c->text("a key as in --set") : std::optional<std::string>(side);
  };
  const auto rows = key("rows"), cols = key("cols");
  const auto least_c = shapes.find("min_side");
  const auto least = least_c ? least_c->count() : std::optional<Count>(1);
  if (!units || !rows || !cols || !least) return std::nullopt;
  SweepAxis axis;
  axis.keys = {*rows, *cols};
  std::vector<Count> divisors;
  for (Count d = 1; d * d <= *units; ++d) {
    if (*units % d != 0) continue;
    divisors.push_back(d);
  }
  const std::size_t small = divisors.size();
  for (std::size_t i = small; i-- > 0;)
    if (divisors[i] * divisors[i] != *units) divisors.push_back(*units / divisors[i]);
  for (const Count d : divisors) {
    if (d < *least || *units / d < *least) continue;
    axis.values.push_back({fmt::format("{}", d), fmt::format("{}", *units / d)});
  }
  if (axis.values.empty()) return shapes.problem("no shape is left", "a smaller min_side"), std::nullopt;
  return axis;
}

}  // namespace

std::string flow_text(const YamlNode& node) {
  switch (node.kind) {
    case YamlNode::Kind::kNull: return "null";
    case YamlNode::Kind::kScalar: return node.quoted ? yaml_text(node.text) : node.text;
    case YamlNode::Kind::kSequence: {
      std::vector<std::string> items;
      for (const YamlNode& item : node.items) items.push_back(flow_text(item));
      return yaml_list(items);
    }
    case YamlNode::Kind::kMap: {
      std::vector<std::string> items;
      for (const YamlEntry& entry : node.entries)
        items.push_back(fmt::format("{}: {}", yaml_text(entry.key), flow_text(entry.value)));
      return yaml_map(items);
    }
  }
  return "";
}

std::vector<std::string> read_axis_values(const Cursor& cursor) {
  const YamlNode& node = cursor.node();
  if (node.is_null()) return cursor.problem("no value", std::string(kExpected)), std::vector<std::string>{};
  if (node.is_scalar()) return {flow_text(node)};
  if (node.is_map()) {
    if (node.find("from") != nullptr || node.find("to") != nullptr) return read_range(cursor);
    return {flow_text(node)};  // a rule, as for PEs.parallel
  }
  std::vector<std::string> values;
  for (const Cursor& item : cursor.items()) {
    if (item.node().is_null()) return item.problem("no value", "a value as in --set"), std::vector<std::string>{};
    values.push_back(flow_text(item.node()));
  }
  if (values.empty()) cursor.problem("no values", "at least one");
  if (values.size() > kMostValues)
    return cursor.problem("too many values", "at most 100000"), std::vector<std::string>{};
  return values;
}

std::optional<SweepAxis> read_axis(const Cursor& entry, const std::string& key) {
  if (key == "zip") return read_zip(entry);
  if (key == "pairs") return read_pairs(entry);
  if (key == "shapes") return read_shapes(entry);
  SweepAxis axis;
  axis.keys = {key};
  for (std::string& value : read_axis_values(entry)) axis.values.push_back({std::move(value)});
  if (axis.values.empty()) return std::nullopt;
  return axis;
}

}  // namespace pliant
