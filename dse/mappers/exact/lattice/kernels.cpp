// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/exact/lattice/kernels.h"

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
void close_chains(double* values, int size, int stride, int extent, std::span<const std::pair<int, int>> edges) {
  const int block = stride * extent;
  for (int base = 0; base < size; base += block) {
    for (const auto& [from, to] : edges) {
      const double* __restrict source = values + base + from * stride;
      double* __restrict target = values + base + to * stride;
      for (int i = 0; i < stride; ++i) target[i] = source[i] < target[i] ? source[i] : target[i];
    }
  }
}

namespace {

struct Level {
  // factors that become known when this dim is fixed, and all that move with it
  std::array<int, 8> known{}, moving{};
  int knowns = 0, movings = 0;
};

struct Product {
  std::span<const int> dims, extent;
  std::span<const Factor> factors;
  std::array<Level, kMaxDims> level;

  double* run(int at, double scale, std::array<int, 8>& offset, double* out) const {
    const int d = dims[static_cast<std::size_t>(at)], n = extent[static_cast<std::size_t>(d)];
    const Level& here = level[static_cast<std::size_t>(at)];
    if (at == 0) {
      if (here.knowns == 0) {
        for (int i = 0; i < n; ++i) out[i] += scale;
      } else if (here.knowns == 1) {
        const Factor& f = factors[static_cast<std::size_t>(here.known[0])];
        const double* table = f.values + offset[static_cast<std::size_t>(here.known[0])];
        const int stride = f.stride[static_cast<std::size_t>(d)];
        for (int i = 0; i < n; ++i) out[i] += scale * table[i * stride];
      } else {
        for (int i = 0; i < n; ++i) {
          double value = scale;
          for (int j = 0; j < here.knowns; ++j) {
            const Factor& f = factors[static_cast<std::size_t>(here.known[static_cast<std::size_t>(j)])];
            value *= f.values[offset[static_cast<std::size_t>(here.known[static_cast<std::size_t>(j)])] +
                              i * f.stride[static_cast<std::size_t>(d)]];
          }
          out[i] += value;
        }
      }
      return out + n;
    }
    std::array<int, 8> inner = offset;
    for (int i = 0; i < n; ++i) {
      double value = scale;
      for (int j = 0; j < here.knowns; ++j) {
        const auto f = static_cast<std::size_t>(here.known[static_cast<std::size_t>(j)]);
        value *= factors[f].values[offset[f] + i * factors[f].stride[static_cast<std::size_t>(d)]];
      }
      for (int j = 0; j < here.movings; ++j) {
        const auto f = static_cast<std::size_t>(here.moving[static_cast<std::size_t>(j)]);
        inner[f] = offset[f] + i * factors[f].stride[static_cast<std::size_t>(d)];
      }
      out = run(at - 1, value, inner, out);
    }
    return out;
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
        level.known[static_cast<std::size_t>(level.knowns++)] = static_cast<int>(f);
      else
        level.moving[static_cast<std::size_t>(level.movings++)] = static_cast<int>(f);
      last = false;
    }
  }
  std::array<int, 8> offset{};
  product.run(static_cast<int>(dims.size()) - 1, scale, offset, values);
}

}  // namespace pliant::exact
