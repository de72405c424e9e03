// SPDX-License-Identifier: Apache-2.0
#include "dse/sweep/constraint_units.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <map>

namespace pliant {

std::optional<DecimalUnit> decimal_unit(std::string_view word) {
  using enum DecimalUnit::Measure;
  static const std::map<std::string_view, DecimalUnit> known{
      {"s", {kTime, 0}},          {"ms", {kTime, -3}},         {"us", {kTime, -6}},        {"ns", {kTime, -9}},
      {"kJ", {kEnergy, 3}},       {"J", {kEnergy, 0}},         {"mJ", {kEnergy, -3}},      {"uJ", {kEnergy, -6}},
      {"nJ", {kEnergy, -9}},      {"pJ", {kEnergy, -12}},      {"kW", {kPower, 3}},        {"W", {kPower, 0}},
      {"mW", {kPower, -3}},       {"uW", {kPower, -6}},        {"mm2", {kArea, -6}},       {"um2", {kArea, -12}},
      {"Hz", {kFrequency, 0}},    {"kHz", {kFrequency, 3}},    {"MHz", {kFrequency, 6}},   {"GHz", {kFrequency, 9}},
      {"GOPS", {kOperations, 9}}, {"TOPS", {kOperations, 12}}, {"POPS", {kOperations, 15}}};
  const auto found = known.find(word);
  return found == known.end() ? std::nullopt : std::optional(found->second);
}

std::optional<DecimalUnit> unit_of_column(std::string_view name) {
  if (name.find("_per_") != std::string_view::npos) return std::nullopt;
  static const std::map<std::string_view, std::string_view> units{
      {"s", "s"}, {"pj", "pJ"}, {"mj", "mJ"}, {"w", "W"}, {"um2", "um2"}, {"hz", "Hz"}, {"tops", "TOPS"}};
  const auto found = units.find(name.substr(name.rfind('_') + 1));
  if (found == units.end() || (name.size() == found->first.size() && name != "tops")) return std::nullopt;
  return decimal_unit(found->second);
}

double in_unit(const std::string& number, const DecimalUnit& from, const DecimalUnit& to) {
  const int by = from.exponent - to.exponent;
  if (number.find_first_not_of("0123456789.") != std::string::npos)
    return std::strtod(number.c_str(), nullptr) * std::pow(10, by);
  return std::strtod(fmt::format("{}e{}", number, by).c_str(), nullptr);
}

}  // namespace pliant
