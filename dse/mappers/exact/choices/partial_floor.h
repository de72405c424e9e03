// SPDX-License-Identifier: Apache-2.0
// What unrollings cost at least of which only some factors are chosen.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/arithmetic.h"
#include "dse/mappers/exact/choices/network_unrollings.h"

namespace pliant::exact {

class PartialFloor {
 public:
  virtual ~PartialFloor() = default;

  /// The loops of one dim at one fanout. A dim is decided from the outermost fanout inwards, but fanouts of which
  /// nothing is decided may lie outside.
  virtual void decide(int level, int d, Count rows, Count cols) = 0;
  virtual void reopen(int level, int d) = 0;
  /// Of every mapping whose unrolling goes on from here and takes at least so many steps; 0 will do where something is
  /// below `enough`.
  virtual double least(double steps, double enough) const = 0;

  /// What all combinations of the fanouts that are decided last have at least that are left out because their floors
  /// are not below what is enough.
  struct Last {
    double beyond;
    bool exact;  ///< the floors of least_of_each are what `least` would say where all is decided
  };
  /// These are decided last, together. What is decided now stays decided, and what is enough becomes no more.
  virtual Last decide_last(std::shared_ptr<const NetworkUnrollings> network, double enough) = 0;
  struct Found {
    double floor;
    std::span<const std::uint32_t> unrollings;  ///< as NetworkUnrollings has them
  };
  /// What the others have at least: steps of those that take too many, and floors of the rest.
  struct Others {
    double slow = kInfinity, floor = kInfinity;
  };
  /// Where all other fanouts are decided: what takes no more steps and has a floor below the limit.
  virtual Others least_of_each(double limit, double most_steps, std::vector<Found>& found) = 0;
  /// At how many of these combinations there was a look since the last call.
  virtual std::uint64_t newly_looked() = 0;
};

}  // namespace pliant::exact
