// SPDX-License-Identifier: Apache-2.0
#include "dse/sweep/uncertain_figures.h"

#include <fmt/format.h>

#include "core/input/units.h"
#include "dse/sweep/name_pattern.h"

namespace pliant {
namespace {

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

/// "DRAM.read_pj 30%".
std::variant<UncertainFigures, std::string> parse_one(std::string_view text) {
  UncertainFigures figures;
  figures.text = std::string(text);
  const std::size_t space = text.rfind(' ');
  if (space == std::string_view::npos || !text.ends_with('%')) return fmt::format("`{}` has no percentage", text);
  const std::string_view name = trimmed(text.substr(0, space)), percent = trimmed(text.substr(space));
  const Parsed<double> share = parse_real(percent.substr(0, percent.size() - 1));
  if (!std::holds_alternative<double>(share)) return fmt::format("`{}` is not a percentage", percent);
  figures.share = std::get<double>(share) / 100;
  if (!(figures.share > 0) || figures.share >= 1) return fmt::format("{} is not between 0 % and 100 %", percent);
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos || dot == 0 || dot + 1 == name.size())
    return fmt::format("`{}` is not LEVEL.key", name);
  figures.level = std::string(name.substr(0, dot));
  figures.key = std::string(name.substr(dot + 1));
  return figures;
}

}  // namespace

std::variant<std::vector<UncertainFigures>, std::string> parse_uncertain(std::string_view text) {
  std::vector<UncertainFigures> all;
  while (true) {
    const std::size_t comma = text.find(',');
    auto one = parse_one(trimmed(text.substr(0, comma)));
    if (auto* what = std::get_if<std::string>(&one)) return std::move(*what);
    all.push_back(std::move(std::get<UncertainFigures>(one)));
    if (comma == std::string_view::npos) return all;
    text.remove_prefix(comma + 1);
  }
}

const std::vector<std::string>& uncertain_keys() {
  static const std::vector<std::string> keys{"read_pj",    "write_pj",          "update_pj", "mac_pj",
                                             "pj_per_bit", "leak_pj_per_cycle", "area_um2"};
  return keys;
}

int scale_figures(Accelerator& accelerator, const UncertainFigures& figures, double factor) {
  int found = 0;
  for (Level& level : accelerator.levels) {
    if (!matches_pattern(figures.level, level.name)) continue;
    const auto scale = [&](const char* key, double& figure) {
      if (!matches_pattern(figures.key, key)) return;
      ++found;
      figure *= factor;
    };
    if (level.is_memory()) {
      Memory& memory = level.memory();
      scale("read_pj", memory.read_pj);
      scale("write_pj", memory.write_pj);
      scale("update_pj", memory.update_pj);
      scale("leak_pj_per_cycle", memory.leak_pj_per_cycle);
      scale("area_um2", memory.area_um2);
    } else if (level.is_fanout()) {
      scale("pj_per_bit", level.fanout().pj_per_bit);
      scale("area_um2", level.fanout().area_um2);
    } else {
      scale("mac_pj", level.compute().mac_pj);
      scale("leak_pj_per_cycle", level.compute().leak_pj_per_cycle);
      scale("area_um2", level.compute().area_um2);
    }
  }
  return found;
}

}  // namespace pliant
