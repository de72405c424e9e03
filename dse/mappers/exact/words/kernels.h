// SPDX-License-Identifier: Apache-2.0
// The few loops that all the time goes into, over plain arrays.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "core/layer.h"

namespace pliant::exact {

void min_into(double* target, const double* source, std::size_t n);
/// target = min(target, a + b)
void min_sum_into(double* target, const double* a, const double* b, std::size_t n);
void add_into(double* target, const double* source, std::size_t n);
/// target = infinity wherever source is above the limit
void infinite_above(double* target, const double* source, double limit, std::size_t n);
/// target = min over all chains of edges leading to it, along one dim of a box.
void close_chains(double* values, int size, int stride, int extent, std::span<const std::pair<int, int>> edges);

/// A table over some dims of a box.
struct Factor {
  std::array<int, kMaxDims> stride{};  ///< 0 = does not depend on the dim
  const double* values = nullptr;
  bool depends_on(int dim) const { return stride[dim] != 0; }
};

/// values[node] += scale * product of the factors at the node; dims listed fastest first.
void add_product(std::span<const int> dims, std::span<const int> extent_by_dim, double scale,
                 std::span<const Factor> factors, double* values);

}  // namespace pliant::exact
