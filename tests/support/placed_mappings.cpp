// SPDX-License-Identifier: Apache-2.0
#include "support/placed_mappings.h"

#include <algorithm>

#include "core/legality.h"
#include "costmodel/report.h"
#include "flex/mapspace/enumerate.h"

namespace pliant::tests {

/// Bits of an element: the memory says, or the layer, or the machine; else it is a word.
int PlacedMappings::width(int l, Role role, const Layer* of) const {
  const auto r = static_cast<std::size_t>(role);
  if (memory_at(l).bits.of[r]) return *memory_at(l).bits.of[r];
  if (of != nullptr && of->bits.of[r]) return *of->bits.of[r];
  return machine_.bits.of[r].value_or(memory_at(l).word_bits);
}
int PlacedMappings::sum_width(int l, const Layer& of) const {
  const int result = width(l, Role::kOutput, &of);
  const auto said = memory_at(l).bits.partial_sums ? memory_at(l).bits.partial_sums
                    : of.bits.partial_sums         ? of.bits.partial_sums
                                                   : machine_.bits.partial_sums;
  return std::max(result, said.value_or(result));
}

/// Every mapping on a machine without limits of capacity, judged by what the tensors leave.
const Pairs& PlacedMappings::all(int row, const Living& now) {
  const auto key = std::tuple(row, now.homes, now.words);
  const auto known = priced_.find(key);
  if (known != priced_.end()) return known->second;
  const Task& task = rows_[static_cast<std::size_t>(row)];
  Accelerator wide = task.accelerator;
  Flexibility rules = task.flexibility;
  for (std::size_t l = 0; l < wide.levels.size(); ++l) {
    if (!wide.levels[l].is_memory()) continue;
    wide.levels[l].memory().capacity_words.reset();
    rules.levels[l].tile.partition.reset();
    for (std::size_t role = 0; role < kRoles; ++role)
      if (now.homes[role] > static_cast<int>(l)) wide.levels[l].memory().may_keep[role] = false;
  }
  Pairs all;
  for_each_mapping(task.layer, wide, rules, task.factorization, [&](const Mapping& mapping) {
    if (!holds(task, now, mapping)) return true;
    if (!check_legality(task.layer, wide, rules, task.factorization, mapping).empty()) return true;
    const Totals totals = price(task.layer, wide, mapping).totals;
    all.emplace_back(totals.energy_pj, totals.cycles);
    return true;
  });
  return priced_.emplace(key, without_beaten(std::move(all))).first->second;
}

/// Tiles of what does not live there, beside what lives there. Dims are M, N, K; tiles are products of bounds.
bool PlacedMappings::holds(const Task& task, const Living& now, const Mapping& mapping) const {
  std::array<Count, 3> tile{1, 1, 1};
  for (std::size_t l = mapping.levels.size(); l-- > 0;) {
    for (const Loop& loop : mapping.levels[l].temporal) tile[static_cast<std::size_t>(loop.dim)] *= loop.bound;
    for (const SpatialLoop& loop : mapping.levels[l].spatial) tile[static_cast<std::size_t>(loop.dim)] *= loop.bound;
    const Level& level = machine_.levels[l];
    if (!level.is_memory() || !level.memory().capacity_words) continue;
    const std::array<Count, 3> words{tile[0] * tile[2], tile[2] * tile[1], tile[0] * tile[1]};
    const auto lives = now.words.find(static_cast<int>(l));
    const std::array<Count, kRoles> taken = lives == now.words.end() ? std::array<Count, kRoles>{} : lives->second;
    std::array<Count, kRoles> held{};  // bits
    for (std::size_t role = 0; role < kRoles; ++role)
      if ((mapping.levels[l].keeps >> role & 1) != 0 && now.homes[role] != static_cast<int>(l))
        held[role] = words[role] * (role == 2 ? sum_width(static_cast<int>(l), task.layer)
                                              : width(static_cast<int>(l), static_cast<Role>(role), &task.layer));
    const Count buffers = level.memory().buffers, capacity = *level.memory().capacity_words;
    const Count word = level.memory().word_bits;
    if (held[0] + held[1] + held[2] > (capacity - taken[0] - taken[1] - taken[2]) / buffers * word) return false;
    const auto& partition = task.flexibility.levels[l].tile.partition;
    if (!partition) continue;
    const double shares = (*partition)[0] + (*partition)[1] + (*partition)[2];
    for (std::size_t role = 0; role < kRoles; ++role) {
      const double room = (*partition)[role] / shares * static_cast<double>(capacity / buffers) -
                          static_cast<double>(taken[role]) / static_cast<double>(buffers);
      if (static_cast<double>(held[role]) > room * static_cast<double>(word) + 1e-9) return false;
    }
  }
  return true;
}

}  // namespace pliant::tests
