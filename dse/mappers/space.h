// SPDX-License-Identifier: Apache-2.0
// The map-space of a task (flex/mapspace/mapspace.h) together with what prices its candidates: what the searches that
// walk mappings one by one (exhaustive, random, local, genetic) share.
#pragma once

#include <array>
#include <map>
#include <memory>

#include "costmodel/nest.h"
#include "costmodel/problem.h"
#include "dse/mappers/mapper.h"
#include "flex/mapspace/mapspace.h"

namespace pliant {

class Space : public MapSpace {
 public:
  /// The task must outlive the space.
  explicit Space(const Task& of)
      : MapSpace(of.layer, of.accelerator, of.flexibility, of.factorization),
        task(of),
        problem(of.layer, of.accelerator) {}

  const Task& task;
  Problem problem;

  FlatMapping flat(const Candidate& candidate) const;
};

/// Prices candidates. Padding changes the layer: one problem per padded size, made when first met.
class Pricer {
 public:
  explicit Pricer(const Space& space);
  /// The nest of this candidate, loaded with all of it. It stays valid until the next load.
  Nest& load(const Candidate& candidate);
  /// Prices the nest loaded last, after any changes made to it.
  Totals price();

 private:
  struct Padded {
    Problem problem;
    Nest nest;
    double useful = 1;  ///< share of the padded MACs that the layer asked for
    Padded(const Layer& layer, const Accelerator& accelerator, double macs)
        : problem(layer, accelerator), nest(problem), useful(macs / problem.macs) {}
  };

  const Space& space_;
  Nest nest_;
  std::map<std::array<Count, kMaxDims>, std::unique_ptr<Padded>> padded_;
  Nest* current_ = nullptr;
  double useful_ = 1;
};

/// A better than B? Ties: energy, then cycles; the earlier one stays.
bool better(double value_a, const Totals& a, double value_b, const Totals& b);

}  // namespace pliant
