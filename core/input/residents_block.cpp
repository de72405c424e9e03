// SPDX-License-Identifier: Apache-2.0
#include "core/input/residents_block.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "core/input/keys.h"
#include "core/input/units.h"
#include "core/input/yaml_text.h"

namespace pliant {

namespace {

constexpr std::string_view kSize = "a size such as 4KiB or 512 words";

Count words_of(const Cursor& size, int word_bits) {
  const auto text = size.text(kSize);
  if (!text) return 0;
  const Parsed<Count> words = parse_words(*text, word_bits);
  if (const auto* error = std::get_if<UnitError>(&words)) {
    size.problem(error->what, error->expected, error->did_you_mean);
    return 0;
  }
  if (std::get<Count>(words) >= kMaxCount / static_cast<Count>(kRoles)) {
    size.problem(size.node().describe() + " is too large", "fewer than 2^60 words");
    return 0;
  }
  return std::get<Count>(words);
}

Count sum(const std::array<Count, kRoles>& words) { return words[0] + words[1] + words[2]; }

}  // namespace

void read_residents(const Cursor& block, const std::array<bool, kRoles>& resident, Memory& memory) {
  const auto lives = block.find("resident"), reserved = block.find("reserved");
  memory.resident = resident;
  if (lives && !reserved)
    lives->problem("nothing says how much room it takes", "`reserved` beside it: the words of all that lives here");
  for (std::size_t r = 0; r < kRoles; ++r)
    if (lives && resident[r] && !memory.may_keep[r])
      lives->problem(fmt::format("{} are not kept here", kRoleNames[r]), "only what `keeps` lists");
  if (!reserved) return;
  if (!reserved->node().is_map()) {
    memory.reserved_words[0] = words_of(*reserved, memory.word_bits);
  } else if (reserved->only_keys(keys::kRoleNames, "a size, or a map from inputs, weights, outputs to sizes")) {
    for (std::size_t r = 0; r < kRoles; ++r)
      if (const auto size = reserved->find(kRoleNames[r])) memory.reserved_words[r] = words_of(*size, memory.word_bits);
  }
  if (memory.capacity_words && sum(memory.reserved_words) > *memory.capacity_words)
    reserved->problem(fmt::format("{} words of {}", sum(memory.reserved_words), *memory.capacity_words),
                      "no more than the capacity");
}

bool lives_on_chip(const std::vector<Level>& levels, std::size_t role) {
  return std::ranges::any_of(levels,
                             [&](const Level& level) { return level.is_memory() && level.memory().resident[role]; });
}

void check_residents(const std::vector<Cursor>& items, const std::vector<Level>& levels) {
  std::array<std::optional<std::size_t>, kRoles> outermost;  // that keeps such a tensor
  for (std::size_t l = 0; l < levels.size(); ++l) {
    if (!levels[l].is_memory()) continue;
    const Memory& memory = levels[l].memory();
    for (std::size_t r = 0; r < kRoles; ++r) {
      if (memory.may_keep[r] && !outermost[r]) outermost[r] = l;
      if (memory.resident[r] && outermost[r] && *outermost[r] < l)
        items[l]
            .find("resident")
            ->problem(fmt::format("{} keeps {} too", levels[*outermost[r]].name, kRoleNames[r]),
                      "no memory outside that keeps what lives here");
    }
    const auto keeps = items[l].find("keeps");
    if (!keeps || !keeps->node().is_sequence() || !keeps->node().items.empty()) continue;
    bool inside = true;
    for (std::size_t r = 0; r < kRoles; ++r) inside &= lives_on_chip(levels, r);
    if (!inside) keeps->problem("a memory that keeps nothing", "a list of inputs, weights, outputs");
  }
}

std::string write_reserved(const Memory& memory) {
  const std::array<Count, kRoles>& words = memory.reserved_words;
  const bool lives = std::ranges::find(memory.resident, true) != memory.resident.end();
  if (words[1] == 0 && words[2] == 0) return words[0] > 0 || lives ? fmt::format("{} words", words[0]) : "";
  std::vector<std::string> items;
  for (std::size_t r = 0; r < kRoles; ++r)
    if (words[r] > 0) items.push_back(fmt::format("{}: {} words", kRoleNames[r], words[r]));
  return yaml_map(items);
}

}  // namespace pliant
