// SPDX-License-Identifier: Apache-2.0
// What an access to a memory costs at its present capacity and node: from the file, scaled when a later stage (an
// including file, `--set`) changed one of them, or from a technology table when the file gives none.
#pragma once

#include <optional>
#include <string>

#include "core/accelerator.h"
#include "core/input/accelerator_tree.h"
#include "core/input/cursor.h"
#include "core/input/named_tables.h"

namespace pliant {

/// The words of a `capacity:` value; nothing for `unbounded` and after a problem.
std::optional<Count> read_capacity(const Cursor& capacity, int word_bits);

class MemoryScaling {
 public:
  MemoryScaling(NamedTables& tables, const AcceleratorTree& tree) : tables_(tables), tree_(tree) {}

  /// Fills energies, leakage and area of a memory whose capacity, word_bits and technology are known.
  void read_costs(const Cursor& block, const std::string& level, std::optional<double> clock_hz, Memory& memory);

 private:
  struct Geometry {
    std::optional<Count> words;  ///< nullopt = unbounded
    int word_bits = 16;
    std::string technology{};
    bool operator==(const Geometry&) const = default;
  };
  enum class Cost { kRead, kWrite, kLeak, kArea };

  /// A number of the file, scaled from the geometry it was written for to the memory's own.
  std::optional<double> cost(const Cursor& block, std::string_view key, Cost kind, const std::string& level,
                             const Memory& memory);
  /// The geometry a stage gave to a level, or the first later one that gives it.
  std::optional<Geometry> geometry_at(std::size_t stage, const std::string& level) const;
  /// The table at a memory that inherits the accelerator's: problems belong to the key that names it.
  const Technology* own_table(const Cursor& block, const Memory& memory);
  static double at(const Technology& table, Cost kind, Count words, int bits);

  NamedTables& tables_;
  const AcceleratorTree& tree_;
};

}  // namespace pliant
