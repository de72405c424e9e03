// SPDX-License-Identifier: Apache-2.0
// What unrollings cost at least of which only some factors are chosen.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/arithmetic.h"
#include "dse/mappers/exact/choices/choice.h"

namespace pliant::exact {

class PartialFloor {
 public:
  virtual ~PartialFloor() = default;

  /// The loops of one dim at one fanout. A dim is decided from the outermost fanout inwards, but fanouts of which
  /// nothing is decided may lie outside.
  virtual void decide(int level, int d, Count rows, Count cols) = 0;
  virtual void reopen(int level, int d) = 0;
  /// Of every mapping whose unrolling goes on from here and takes at least so many steps.
  virtual double least(double steps) const = 0;

  struct ListedFanout {
    int level;
    const std::vector<Unrolling>* all;
  };
  /// Of fanouts from the innermost outwards: how many of them are decided last, together.
  virtual std::size_t choose_last(const std::vector<ListedFanout>& fanouts) = 0;
  struct Found {
    double floor;
    std::span<const std::uint32_t> unrollings;  ///< one of each of them, from the innermost outwards; then others
  };
  /// What the others have at least: steps of those that take too many, and floors of the rest.
  struct Others {
    double slow = kInfinity, floor = kInfinity;
    std::size_t looked = 0;  ///< at how many there was a look
  };
  /// Where all other fanouts are decided: what takes no more steps and has a floor below the limit.
  virtual Others least_of_each(double limit, double most_steps, std::vector<Found>& found) = 0;
};

}  // namespace pliant::exact
