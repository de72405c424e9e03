// SPDX-License-Identifier: Apache-2.0
#include "core/input/element_bits.h"

#include <fmt/format.h>

#include "core/input/keys.h"
#include "core/partial_sums.h"

namespace pliant {

namespace {

constexpr int kMostBits = 4096;

std::optional<int> width(const Cursor& c) {
  const auto bits = c.count(1, kMostBits);
  return bits ? std::optional<int>(static_cast<int>(*bits)) : std::nullopt;
}

constexpr std::string_view kNone = "none";

ElementBits read_bits(const Cursor& c, bool of_memory) {
  ElementBits bits;
  if (!c.node().is_map()) {
    bits.partial_sums = width(c);
    bits.of.fill(bits.partial_sums);
    return bits;
  }
  if (!c.only_keys(keys::kBits, "bits of an element, or a map of inputs, weights, outputs and partial_sums")) return {};
  for (std::size_t role = 0; role < kRoles; ++role)
    if (const auto value = c.find(kRoleNames[role])) bits.of[role] = width(*value);
  if (const auto value = c.find("partial_sums"); value && value->node().is_scalar() && value->node().text == kNone) {
    bits.partial_sums = kNoPartialSums;
    if (!of_memory) value->problem("none", "bits; which memories take none is said in their own `bits`");
  } else if (value) {
    bits.partial_sums = width(*value);
    const auto outputs = bits.of[static_cast<std::size_t>(Role::kOutput)];
    if (bits.partial_sums && outputs && *bits.partial_sums < *outputs)
      value->problem(fmt::format("partial sums of {} bits, outputs of {}", *bits.partial_sums, *outputs),
                     "partial sums at least as wide as the outputs they become");
  }
  return bits;
}

}  // namespace

ElementBits read_element_bits(const Cursor& c) { return read_bits(c, false); }
ElementBits read_memory_bits(const Cursor& c) { return read_bits(c, true); }

std::string write_element_bits(const ElementBits& bits) {
  std::string text;
  const auto add = [&](std::string_view key, const std::optional<int>& width) {
    if (!width) return;
    text += fmt::format("{}{}: {}", text.empty() ? "{" : ", ", key,
                        *width == kNoPartialSums ? std::string(kNone) : std::to_string(*width));
  };
  for (std::size_t role = 0; role < kRoles; ++role) add(kRoleNames[role], bits.of[role]);
  add("partial_sums", bits.partial_sums);
  return text.empty() ? text : text + "}";
}

}  // namespace pliant
