// SPDX-License-Identifier: Apache-2.0
// The best inflexible design of a network when nothing but the PEs limits the runtime: one tile, one pair of parallel
// dims and one array shape for all layers, chosen together. Loop order does not change such a runtime.
//
// With dim a over r rows and dim b over c columns a layer takes
//
//     f(D_a, T_a, r) * f(D_b, T_b, c) * product of the other dims      steps, where
//     f(D, T, s) = D / t * ceil(t / min(s, t)),  t = the largest divisor of D that is at most T
//
// (the fixed tile as flexibility rules define it with spatial remainders). f is at least ceil(D / s), whatever T, so
// the sum over layers with f replaced by ceil(D / s) bounds every tile of a pair and shape. Pairs and shapes are taken
// in the order of that bound until it reaches the best design found: the optimum over all T, O, P and S, with its
// proof.
#pragma once

#include <string>
#include <vector>

#include "core/layer.h"

namespace pliant {

struct FixedDesign {
  std::string row_dim, col_dim;  ///< of a convolution: M, C, P, Q, R, S
  Count rows = 1, cols = 1;
  Count row_tile = 1, col_tile = 1;  ///< the tile's other dims are 1
  double cycles = 0;                 ///< of the whole network: the proven optimum
  double lower_bound = 0;            ///< equal to cycles when the search ended by itself
  double pairs_and_shapes = 0;       ///< that the proof covers
};

/// Convolutions only. The tile (inputs, weights and outputs, one word each) must fit `buffer_words`.
FixedDesign best_fixed_design(const Workload& network, Count units, Count buffer_words);

/// A depthwise layer has no M: where the design has M, its C stands in.
double fixed_design_cycles(const FixedDesign& design, const Workload& network);

}  // namespace pliant
