// SPDX-License-Identifier: Apache-2.0
#include "core/input/technology.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/input/cursor.h"
#include "core/input/library.h"
#include "core/input/source_text.h"
#include "core/input/units.h"

namespace pliant {
namespace {

/// log E is linear in log capacity between neighbouring points.
double interpolate(const std::vector<Technology::Point>& points, double bits, double Technology::Point::*energy) {
  std::size_t upper = 1;
  while (upper + 1 < points.size() && points[upper].bits < bits) ++upper;
  const Technology::Point& a = points[upper - 1];
  const Technology::Point& b = points[upper];
  const double exponent = std::log(b.*energy / a.*energy) / std::log(b.bits / a.bits);
  return a.*energy * std::pow(bits / a.bits, exponent);
}

double total_bits(Count words, int bits) { return static_cast<double>(words) * bits; }

}  // namespace

double Technology::read_pj(Count words, int bits) const {
  return interpolate(points, total_bits(words, bits), &Point::read_pj) * bits / word_bits;
}

double Technology::write_pj(Count words, int bits) const {
  return interpolate(points, total_bits(words, bits), &Point::write_pj) * bits / word_bits;
}

double Technology::area_um2(Count words, int bits) const {
  return overhead_um2 + um2_per_bit * total_bits(words, bits);
}

double Technology::leak_pj_per_cycle(Count words, int bits) const {
  return leak_pj_per_cycle_per_bit * total_bits(words, bits);
}

Technology parse_technology_text(std::string_view text, std::string_view file) {
  Diagnostics problems;
  const YamlNode tree = parse_yaml(text, file, problems);
  const Cursor root(tree, "", problems);
  Technology table;
  if (root.only_keys(keys::kTechnology, "a technology table")) {
    check_kind(root, "technology");
    if (const auto name = root.require("name", "the table's name")) table.name = name->text().value_or("");
    if (const auto description = root.find("description")) table.description = description->text().value_or("");
    if (const auto bits = root.require("word_bits", "bits of the words the energies are given for")) {
      table.word_bits = static_cast<int>(bits->count(1, 4096).value_or(16));
    }
    const auto energy = root.require("energy", "a list of {capacity, read_pj, write_pj}, capacity ascending");
    if (energy && energy->expect_list("a list of {capacity, read_pj, write_pj}")) {
      for (const Cursor& item : energy->items()) {
        if (!item.only_keys(keys::kTechnologyPoint, "{capacity, read_pj, write_pj}")) continue;
        Technology::Point point;
        const auto capacity = item.require("capacity", "a size such as 8KiB");
        const auto size = capacity ? capacity->text("a size such as 8KiB") : std::nullopt;
        if (size) {
          const Parsed<Count> bits = parse_words(*size, 1);
          if (const auto* error = std::get_if<UnitError>(&bits)) {
            capacity->problem(error->what, error->expected, error->did_you_mean);
          } else if (size->find_first_of("Bbt") == std::string::npos) {
            capacity->problem(capacity->node().describe() + " has no unit of bytes", "a size such as 8KiB");
          } else if (std::get<Count>(bits) < 1) {
            capacity->problem("the capacity is not positive", "a size such as 8KiB");
          } else {
            point.bits = static_cast<double>(std::get<Count>(bits));
            if (!table.points.empty() && point.bits <= table.points.back().bits) {
              capacity->problem("capacities must ascend", "more than the point before");
            }
          }
        }
        if (const auto read = item.require("read_pj", "pJ per access"))
          point.read_pj = read->positive_real().value_or(1);
        const auto write = item.find("write_pj");
        point.write_pj = write ? write->positive_real().value_or(1) : point.read_pj;
        table.points.push_back(point);
      }
      if (table.points.size() < 2) energy->problem("fewer than two points", "two or more, to know the slope");
    }
    if (const auto area = root.require("area", "{overhead_um2, um2_per_bit}");
        area && area->only_keys(keys::kTechnologyArea, "{overhead_um2, um2_per_bit}")) {
      if (const auto value = area->find("overhead_um2")) table.overhead_um2 = value->real().value_or(0);
      if (const auto value = area->require("um2_per_bit", "um2")) table.um2_per_bit = value->real().value_or(0);
    }
    if (const auto leak = root.find("leakage");
        leak && leak->only_keys(keys::kTechnologyLeakage, "{pj_per_cycle_per_bit}")) {
      if (const auto value = leak->find("pj_per_cycle_per_bit")) {
        table.leak_pj_per_cycle_per_bit = value->real().value_or(0);
      }
    }
  }
  problems.throw_if_any();
  return table;
}

Technology load_technology(const Library& library, std::string_view name) {
  const std::vector<std::string> known = library.technology_names();
  if (std::ranges::find(known, name) == known.end()) {
    throw InputError(Diagnostic{"", 0, 0, "", fmt::format("no technology table `{}`", shorten(name, 40)),
                                known.empty() ? "" : "one of " + join(known), nearest(name, known)});
  }
  const std::filesystem::path file = library.configs() / "technology" / (std::string(name) + ".yaml");
  return parse_technology_text(read_source(file), file.string());
}

const Technology& TechnologyTables::get(const std::string& name) {
  const auto found = read_.find(name);
  return found != read_.end() ? found->second : read_.emplace(name, load_technology(library_, name)).first->second;
}

}  // namespace pliant
