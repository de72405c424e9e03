// SPDX-License-Identifier: Apache-2.0
#include "dse/answers/variant_settings.h"

#include <fmt/format.h>

#include "core/input/element_bits.h"
#include "core/input/source_text.h"

namespace pliant {

namespace {

std::string listed_roles(const std::array<bool, kRoles>& set) {
  std::vector<std::string> names;
  for (std::size_t r = 0; r < kRoles; ++r)
    if (set[r]) names.emplace_back(kRoleNames[r]);
  return "[" + join(names, ",") + "]";
}

}  // namespace

std::vector<std::string> variant_settings(const Accelerator& plain, const Accelerator& variant) {
  std::vector<std::string> all;
  for (std::size_t l = 0; l < plain.levels.size(); ++l) {
    if (!plain.levels[l].is_memory()) continue;
    const Memory &before = plain.levels[l].memory(), &now = variant.levels[l].memory();
    const std::string& name = plain.levels[l].name;
    if (now.may_keep != before.may_keep) all.push_back(fmt::format("{}.keeps={}", name, listed_roles(now.may_keep)));
    if (now.may_bypass != before.may_bypass)
      all.push_back(fmt::format("{}.may_bypass={}", name, listed_roles(now.may_bypass)));
    if (now.bits != before.bits) all.push_back(fmt::format("{}.bits={}", name, write_element_bits(now.bits)));
    if (now.resident != before.resident) all.push_back(fmt::format("{}.resident={}", name, listed_roles(now.resident)));
    if (now.reserved_words != before.reserved_words || now.resident != before.resident)
      all.push_back(fmt::format("{}.reserved={{inputs: {} words, weights: {} words, outputs: {} words}}", name,
                                now.reserved_words[0], now.reserved_words[1], now.reserved_words[2]));
  }
  return all;
}

}  // namespace pliant
