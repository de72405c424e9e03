// SPDX-License-Identifier: Apache-2.0
// The loops of one memory, step by step: from the nodes before them to where they end.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "dse/mappers/exact/lattice/lattice.h"
#include "dse/mappers/exact/words/charges.h"

namespace pliant::exact {

/// Charges at one memory, made when first asked for.
struct ChargeCache {
  struct Entry {
    int functional, tensor, pending, slide;
    std::unique_ptr<ChargeTables> tables;
  };
  std::vector<Entry> entries;
};

/// The loops of memory k, innermost first, and what they charge.
struct Step {
  Status before{}, after{};  ///< as this memory sees it before its loops, as the next one out sees it after them
  int node = 0;              ///< before its loops
  std::array<double, kMaxFunctionals> charges{};  ///< made at this memory, by functional
  std::array<std::int8_t, kMaxDims> order{};      ///< dims of its loops, innermost first
  int loops = 0;
};

struct StepQuery {
  int k = 0, end = 0;
  const Status* after = nullptr;  ///< nullptr = any
  std::span<const Functional* const> functionals;
  std::span<const Lattice::Tables* const> tables;  ///< by functional
  double limit = 0;                                ///< on table value + charges of functional 0 (+ what `after` pends)
  std::function<bool(const double*)> worth;        ///< asked per start with its table values; empty = always
  std::function<bool(const Step&)> ends;           ///< told of each step; true: no more are asked for
  bool follow = false;                             ///< also steps that charge what no loop moved, as the tables do
  ChargeCache* cache = nullptr;
};
/// Continues inwards from memory k: all reuse-distinct ways to reach node `end`.
void steps_into(const Lattice& lattice, const StepQuery& query, std::vector<Step>& found);

/// The least cost of a complete mapping where only the loops of the outermost memory are missing in the tables, or
/// infinity where none is below the limit.
double cheapest_end(const Lattice& lattice, const Functional& functional, double limit, const Lattice::Tables& tables);

}  // namespace pliant::exact
