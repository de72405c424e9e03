// SPDX-License-Identifier: Apache-2.0
#include "core/input/technology.h"

#include <cmath>

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

/// The unit whose area stands for that of all logic.
constexpr std::string_view kLogicUnit = "INT8";

/// nW are 1e-9 J in a second, so 1e-9 / clock J in a cycle.
constexpr double kPicojoulesPerNanowattSecond = 1e3;

}  // namespace

double Technology::read_pj(Count words, int bits) const {
  if (off_chip) return off_chip->pj_per_bit * bits;
  return interpolate(points, total_bits(words, bits), &Point::read_pj) * bits / word_bits;
}

double Technology::write_pj(Count words, int bits) const {
  if (off_chip) return off_chip->pj_per_bit * bits;
  return interpolate(points, total_bits(words, bits), &Point::write_pj) * bits / word_bits;
}

double Technology::area_um2(Count words, int bits) const {
  return overhead_um2 + um2_per_bit * total_bits(words, bits);
}

double Technology::leak_pj_per_cycle(Count words, int bits, std::optional<double> clock_hz) const {
  return leak_pj_per_cycle_per_bit * total_bits(words, bits) + logic_leak_pj_per_cycle(area_um2(words, bits), clock_hz);
}

double Technology::logic_leak_pj_per_cycle(double area, std::optional<double> clock_hz) const {
  return clock_hz ? leak_nw_per_um2 * area * kPicojoulesPerNanowattSecond / *clock_hz : 0;
}

const Technology::Mac* Technology::find_mac(std::string_view operation) const {
  for (const Mac& mac : macs)
    if (mac.operation == operation) return &mac;
  return nullptr;
}

std::vector<std::string> Technology::operations() const {
  std::vector<std::string> names;
  for (const Mac& mac : macs) names.push_back(mac.operation);
  return names;
}

double logic_area_ratio(const Technology& now, const Technology& then) {
  const Technology::Mac *after = now.find_mac(kLogicUnit), *before = then.find_mac(kLogicUnit);
  return after == nullptr || before == nullptr ? 1 : after->area_um2 / before->area_um2;
}

}  // namespace pliant
