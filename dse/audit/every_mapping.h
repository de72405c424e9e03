// SPDX-License-Identifier: Apache-2.0
// Every mapping of a choice, from the auditor's own rules: the loops in time of every dim at every memory, in every
// order. Mappings that differ only in which of a dim's loops in space run over rows and which over columns cost the
// same, and one of them stands for all.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "dse/audit/certificate.h"
#include "dse/audit/space_rules.h"

namespace pliant::audit {

class EveryMapping {
 public:
  /// Both outlive it.
  EveryMapping(const Task& task, const SpaceRules& rules) : task_(task), rules_(rules) {}

  /// No more than so many mappings, and so many partial ones looked at on the way, over all calls.
  struct Limits {
    std::uint64_t mappings = 0, steps = 0;
  };
  /// Calls visit for every mapping of the choice. False: the limits did not suffice.
  bool visit(const Factors& unrolling, const Kept& kept, Limits& limits,
             const std::function<void(const Mapping&)>& visit);

 private:
  using PerDim = std::array<Count, kMaxDims>;
  /// Loops over rows and columns that give a fanout its factors.
  using Layout = std::vector<SpatialLoop>;

  void list_layouts(const Factors& unrolling);
  void place_layout(std::size_t fanout, std::span<const Count> factors, std::size_t dim, Layout& loops,
                    std::array<Count, 2> used, std::array<DimSet, 2> dims);
  bool outwards(int level, PerDim tile, PerDim left);
  bool choose_loops(int level, std::size_t memory, std::size_t dim, PerDim& bounds, const PerDim& tile,
                    const PerDim& left);
  bool order_loops(int level, std::size_t memory, const PerDim& bounds, const PerDim& tile, const PerDim& left);
  bool may_end(int level, std::size_t dim, Count left) const;
  bool may_hold(int level, std::size_t dim, Count tile) const;

  const Task& task_;
  const SpaceRules& rules_;
  // Of one call:
  const Factors* unrolling_ = nullptr;
  const Kept* kept_ = nullptr;
  Limits* limits_ = nullptr;
  const std::function<void(const Mapping&)>* visit_ = nullptr;
  PerDim size_{};
  std::vector<std::vector<Layout>> layouts_;  ///< by fanout
  Mapping mapping_;
  std::map<Count, std::vector<Count>> divisors_;
};

}  // namespace pliant::audit
