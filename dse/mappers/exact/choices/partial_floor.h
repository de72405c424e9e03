// SPDX-License-Identifier: Apache-2.0
// What unrollings cost at least of which only some factors are chosen.
#pragma once

#include "core/arithmetic.h"

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
};

}  // namespace pliant::exact
