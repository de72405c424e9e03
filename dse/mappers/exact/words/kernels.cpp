// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/exact/words/kernels.h"

#include "core/arithmetic.h"

// One binary serves old and new x86-64 machines: the widest vectors are chosen when the program starts. Sanitizers run
// before that choice could be made.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define PLIANT_WIDEST_VECTORS __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define PLIANT_WIDEST_VECTORS
#endif

namespace pliant::exact {

PLIANT_WIDEST_VECTORS
void min_into(double* __restrict target, const double* __restrict source, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) target[i] = source[i] < target[i] ? source[i] : target[i];
}

PLIANT_WIDEST_VECTORS
void min_sum_into(double* __restrict target, const double* __restrict a, const double* __restrict b, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    const double sum = a[i] + b[i];
    target[i] = sum < target[i] ? sum : target[i];
  }
}

PLIANT_WIDEST_VECTORS
void add_into(double* __restrict target, const double* __restrict source, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) target[i] += source[i];
}

PLIANT_WIDEST_VECTORS
void infinite_above(double* __restrict target, const double* __restrict source, double limit, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) target[i] = source[i] > limit ? kInfinity : target[i];
}

PLIANT_WIDEST_VECTORS
void close_chains(double* values, int size, int stride, int extent, std::span<const std::pair<int, int>> edges) {
  const int block = stride * extent;
  if (stride == 1) {  // one value for each edge: nothing to make vectors of
    for (double* chain = values; chain != values + size; chain += extent)
      for (const auto& [from, to] : edges) chain[to] = chain[from] < chain[to] ? chain[from] : chain[to];
    return;
  }
  for (int base = 0; base < size; base += block) {
    for (const auto& [from, to] : edges) {
      const double* __restrict source = values + base + from * stride;
      double* __restrict target = values + base + to * stride;
      for (int i = 0; i < stride; ++i) target[i] = source[i] < target[i] ? source[i] : target[i];
    }
  }
}

namespace {

/// Dims that a tensor does not use, and its ranks, which share no dim: each factor has one of its own.
constexpr std::size_t kMaxFactors = kMaxDims;

struct Level {
  // factors that become known when this dim is fixed, and all that move with it
  std::array<std::uint8_t, kMaxFactors> known, moving;
  std::size_t knowns = 0, movings = 0;
};

struct Product {
  std::span<const int> dims, extent;
  std::span<const Factor> factors;
  std::array<Level, kMaxDims> level;

  using Offsets = std::array<int, kMaxFactors>;  // of the factors at the dims that are fixed

  double* run(std::size_t at, double scale, const Offsets& offset, double* out) const {
    const auto d = static_cast<std::size_t>(dims[at]);
    const int n = extent[d];
    const Level& here = level[at];
    if (at == 0) {
      if (here.knowns == 0) {
        for (int i = 0; i < n; ++i) out[i] += scale;
      } else if (here.knowns == 1) {
        const std::size_t f = here.known[0];
        const double* table = factors[f].values + offset[f];
        const int stride = factors[f].stride[d];
        for (int i = 0; i < n; ++i) out[i] += scale * table[i * stride];
      } else {
        for (int i = 0; i < n; ++i) out[i] += with_known(scale, here, offset, d, i);
      }
      return out + n;
    }
    Offsets inner = offset;
    for (int i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < here.movings; ++j) {
        const std::size_t f = here.moving[j];
        inner[f] = offset[f] + i * factors[f].stride[d];
      }
      out = run(at - 1, with_known(scale, here, offset, d, i), inner, out);
    }
    return out;
  }

  double with_known(double value, const Level& here, const Offsets& offset, std::size_t d, int i) const {
    for (std::size_t j = 0; j < here.knowns; ++j) {
      const std::size_t f = here.known[j];
      value *= factors[f].values[offset[f] + i * factors[f].stride[d]];
    }
    return value;
  }
};

}  // namespace

void add_product(std::span<const int> dims, std::span<const int> extent_by_dim, double scale,
                 std::span<const Factor> factors, double* values) {
  Product product{dims, extent_by_dim, factors, {}};
  for (std::size_t f = 0; f < factors.size(); ++f) {
    bool last = true;  // its fastest dim decides when it is known
    for (std::size_t at = 0; at < dims.size(); ++at) {
      if (!factors[f].depends_on(dims[at])) continue;
      Level& level = product.level[at];
      if (last)
        level.known[level.knowns++] = static_cast<std::uint8_t>(f);
      else
        level.moving[level.movings++] = static_cast<std::uint8_t>(f);
      last = false;
    }
  }
  product.run(dims.size() - 1, scale, {}, values);
}

}  // namespace pliant::exact
