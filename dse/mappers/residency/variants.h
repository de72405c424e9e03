// SPDX-License-Identifier: Apache-2.0
// A layer's variants: which of its operands live in which memory, and how much room other tensors take there. Each is
// an ordinary task on a derived accelerator, so any mapper solves it, and the legality checker judges it.
#pragma once

#include <array>
#include <compare>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "dse/mappers/layer_floor.h"
#include "dse/mappers/network_lines.h"
#include "dse/mappers/residency/live_tensors.h"

namespace pliant::residency {

/// Words of each memory (by level) that tensors living there take, by the role whose share of the memory they use.
using Reserved = std::vector<std::array<Count, kRoles>>;

struct Variant {
  int row = 0;
  std::array<Home, kRoles> homes{kOutside, kOutside, kOutside};
  Reserved reserved;
  auto operator<=>(const Variant&) const = default;
};

/// The task of a variant: memories outside a home do not keep the role; the home keeps it whole (Memory::resident) and
/// has less room (Memory::reserved_words).
Task variant_task(const Task& row, const Variant& variant);

/// The variants that a network asks for, and the least energy + slope * cycles of each, searched once and shared.
class VariantLines {
 public:
  VariantLines(const Mapper& mapper, const std::vector<Task>& rows, const SearchOptions& options);

  /// Number of the variant. `own`: the same with nothing reserved but the layer's own operands.
  int intern(Variant variant, Variant own);
  const Variant& variant(int id) const { return entries_[static_cast<std::size_t>(id)].variant; }
  const Task& task(int id) const { return entries_[static_cast<std::size_t>(id)].layer->task; }

  /// The first row of the same shape and rules.
  int shape_of(int row) const { return shapes_[static_cast<std::size_t>(row)]; }

  struct Known {
    double least = 0;                        ///< no mapping has less
    const LayerLines::Line* line = nullptr;  ///< what reaches it, once that is known
    bool nothing_fits = false;
  };
  /// What follows from searches made so far; makes one when there is none at all, and time is left.
  Known bound(int id, double slope);
  /// Searches unless something known decides it.
  Known exact(int id, double slope);
  /// A search could say more: there was none at this slope, and time is left.
  bool may_search(int id, double slope) const;
  /// The best of what was found at any slope; nullptr when nothing was.
  const LayerLines::Line* best_found(int id, double slope) const;

  std::uint64_t searches() const;
  int count() const { return static_cast<int>(entries_.size()); }
  const std::vector<LineProof>& proofs(int id) const { return entries_[static_cast<std::size_t>(id)].lines->proofs(); }
  /// Every variant without a mapping is proven to have none.
  bool complete() const { return complete_; }

 private:
  struct Entry {
    Variant variant;
    int own = -1;                         ///< -1 = itself
    std::unique_ptr<NetworkLayer> layer;  ///< LayerLines refers to it
    std::unique_ptr<LayerLines> lines;
    std::map<double, std::optional<LayerLines::Line>> found;  ///< own searches, by slope
    std::map<double, Known> settled;                          ///< by slope: what is known for good
    std::optional<LayerFloor> floor;                          ///< once it is asked for
    std::set<double> misfits;  ///< slopes at which the best mapping without strangers does not fit
  };

  int add(Variant variant);
  Known search(int id, double slope);
  Known from_own(int id, double slope);
  static double below(const Entry& entry, double slope);
  static double floor(Entry& entry, double slope);
  bool holds(int id, const Mapping& mapping) const;

  const Mapper& mapper_;
  const std::vector<Task>& rows_;
  const SearchOptions& options_;
  std::vector<int> shapes_;  ///< by row
  std::vector<Entry> entries_;
  std::map<Variant, int> known_;
  bool complete_ = true;
};

}  // namespace pliant::residency
