// SPDX-License-Identifier: Apache-2.0
// What unrollings cost at least of which only some factors are chosen.
#pragma once

#include <cstdint>
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

  /// The unrollings of the fanout that is decided last.
  virtual void choose_from(int level, const std::vector<Unrolling>& all) = 0;
  struct Found {
    double floor;
    std::uint32_t unrolling;
  };
  /// What the others have at least: those that take too many steps, those that cost less than enough, and the rest.
  struct Others {
    double most_steps, enough;
    double slow = kInfinity, unlisted = kInfinity, dear = kInfinity;
  };
  /// Where all other fanouts are decided: of those unrollings the ones with floors below the limit.
  virtual void least_of_each(double limit, std::vector<Found>& found, Others& others) const = 0;
};

}  // namespace pliant::exact
