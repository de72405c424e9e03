// SPDX-License-Identifier: Apache-2.0
// `vary:` of a sweep file: the axes, every value tried once, and the column that holds each of them.
#include <fmt/format.h>

#include <algorithm>

#include "core/input/source_text.h"
#include "core/input/units.h"
#include "dse/sweep/axis_values.h"
#include "dse/sweep/sweep_reading.h"

namespace pliant {
namespace {

/// So many values of an axis are tried at least; of a longer one they are evenly spread.
constexpr std::size_t kTried = 200;

template <class Number>
std::optional<Number> number(Parsed<Number> parsed) {
  return std::holds_alternative<Number>(parsed) ? std::optional(std::get<Number>(parsed)) : std::nullopt;
}

/// Tries every value once, the other keys as in the file. Only what is wrong with the setting itself is a problem of
/// the sweep; a value that some designs cannot have makes rows that say so.
bool check_values(SweepReading& reading, const Cursor& at, const SweepAxis& axis) {
  const std::size_t stride = std::max<std::size_t>(1, axis.values.size() / kTried);
  for (SweepReading::Base& base : reading.bases) {
    for (std::size_t v = 0; v < axis.values.size(); v += stride) {
      std::vector<Setting> all = reading.sweep.settings;
      for (std::size_t k = 0; k < axis.keys.size(); ++k) all.emplace_back(axis.keys[k], axis.values[v][k]);
      try {
        base.reader->with(all);
      } catch (const InputError& error) {
        for (const Diagnostic& d : error.diagnostics()) {
          if (d.setting.empty()) continue;
          const auto setting = std::ranges::find(all.rbegin(), all.rend(), d.setting, &Setting::first);
          at.problem(fmt::format("{}={}: {}", shorten(d.setting, 60),
                                 setting == all.rend() ? "" : shorten(setting->second, 60), d.what),
                     d.expected, d.did_you_mean);
          return false;
        }
      }
    }
  }
  return true;
}

/// Bits of a word when the key is a memory's capacity, the same in all accelerators; else 0.
int capacity_word_bits(const SweepReading& reading, const std::string& key) {
  constexpr std::string_view kCapacity = ".capacity";
  if (!key.ends_with(kCapacity)) return 0;
  std::set<int> widths;
  for (const SweepReading::Base& base : reading.bases) {
    const int level = base.accelerator.find_level(key.substr(0, key.size() - kCapacity.size()));
    const bool memory = level >= 0 && base.accelerator.levels[static_cast<std::size_t>(level)].is_memory();
    widths.insert(memory ? base.accelerator.levels[static_cast<std::size_t>(level)].memory().word_bits : 0);
  }
  return widths.size() == 1 ? *widths.begin() : 0;
}

/// The column of key k, and its cells: whole numbers, bytes, real numbers or texts, whatever fits all values.
AxisColumn fill_column(const SweepAxis& axis, std::size_t k, int word_bits,
                       std::vector<std::vector<AxisValue>>& cells) {
  AxisColumn column{axis.keys[k], "set_" + axis.keys[k], AxisColumn::Kind::kText, ""};
  std::ranges::replace_if(
      column.column, [](char c) { return c == '.' || c == '-'; }, '_');
  const auto fill = [&](AxisColumn::Kind kind, auto parse) {
    for (std::size_t v = 0; v < axis.values.size(); ++v) {
      const auto value = parse(axis.values[v][k]);
      if (!value) return false;
      cells[v][k] = *value;
    }
    column.kind = kind;
    return true;
  };
  using Kind = AxisColumn::Kind;
  if (word_bits > 0 && fill(Kind::kInteger, [&](const std::string& t) { return number(parse_words(t, word_bits)); })) {
    column.column += "_words";
    return column;
  }
  if (fill(Kind::kInteger, [](const std::string& t) { return number(parse_count(t)); })) return column;
  if (fill(Kind::kInteger, [](const std::string& t) { return number(parse_bytes(t)); })) {
    column.unit = "B";
    return column;
  }
  if (fill(Kind::kReal, [](const std::string& t) { return number(parse_real(t)); })) return column;
  fill(Kind::kText, [](const std::string& t) { return std::optional(t); });
  return column;
}

void read_axis_map(SweepReading& reading, const Cursor& map) {
  const std::vector<Cursor> entries = map.entries();
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (map.entry(i).key == "accelerator") {
      entries[i].problem("accelerators do not vary here", "accelerator: [NAME, NAME] at the top of the file");
      continue;
    }
    const auto axis = read_axis(entries[i], map.entry(i).key);
    if (!axis) continue;
    bool good = true;
    for (const std::string& key : axis->keys) {
      if (reading.varied.insert(key).second) continue;
      entries[i].problem(fmt::format("`{}` varies twice", shorten(key, 40)), "each key once");
      good = false;
    }
    if (good && check_values(reading, entries[i], *axis)) add_axis(reading, *axis);
  }
}

}  // namespace

void add_axis(SweepReading& reading, const SweepAxis& axis) {
  std::vector<std::vector<AxisValue>> cells(axis.values.size(), std::vector<AxisValue>(axis.keys.size()));
  for (std::size_t k = 0; k < axis.keys.size(); ++k)
    reading.sweep.columns.push_back(fill_column(axis, k, capacity_word_bits(reading, axis.keys[k]), cells));
  reading.sweep.axes.push_back(axis);
  reading.sweep.cells.push_back(std::move(cells));
}

void read_axes(SweepReading& reading, const Cursor& vary) {
  if (vary.node().is_map()) return read_axis_map(reading, vary);
  if (!vary.expect_list("a map of keys with values, or a list of such maps")) return;
  for (const Cursor& item : vary.items())
    if (item.expect_map("a map of keys with values")) read_axis_map(reading, item);
}

}  // namespace pliant
