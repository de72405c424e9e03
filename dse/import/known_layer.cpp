// SPDX-License-Identifier: Apache-2.0
#include "dse/import/known_layer.h"

#include <array>

#include "core/input/load.h"
#include "core/input/units.h"

namespace pliant {
namespace {

/// Which of input, weight and output a dim indexes, as bits 1, 2, 4.
enum Kind : unsigned { kReduced = 1 | 2, kRows = 1 | 4, kColumns = 2 | 4, kShared = 1 | 2 | 4 };

class Recogniser {
 public:
  explicit Recogniser(const Layer& layer) : layer_(layer), kinds_(layer.dims.size(), 0) {}

  std::optional<Layer> recognise() {
    if (layer_.tensors.size() != 3) return std::nullopt;
    for (const Role role : {Role::kInput, Role::kWeight, Role::kOutput}) {
      if (layer_.tensors_with_role(role) == 0) return std::nullopt;
    }
    for (std::size_t x = 0; x < layer_.tensors.size(); ++x) {
      if (!read(layer_.tensors[x])) return std::nullopt;
    }
    for (std::size_t d = 0; d < kinds_.size(); ++d) {
      if (!in_window(static_cast<int>(d)) && !multiply(product_[kinds_[d]], layer_.dims[d].size)) return std::nullopt;
    }
    // A dim that only one tensor has (or none) is neither a row nor a column of anything.
    for (const unsigned kind : {0U, 1U, 2U, 4U}) {
      if (product_[kind] != 1) return std::nullopt;
    }
    return windows_ == 0 ? gemm() : conv();
  }

 private:
  struct Window {
    int out = -1, in = -1;  ///< dims: of the output, of the window
    Count stride = 1, dilation = 1;
  };

  bool in_window(int dim) const {
    for (int w = 0; w < windows_; ++w) {
      const Window& one = window_[static_cast<std::size_t>(w)];
      if (one.out == dim || one.in == dim) return true;
    }
    return false;
  }

  static bool multiply(Count& product, Count size) {
    const auto next = checked_multiply(product, size);
    if (!next || *next >= kMaxCount) return false;
    product = *next;
    return true;
  }

  /// Plain indices, and in the input at most two sums of two dims.
  bool read(const Tensor& tensor) {
    const unsigned bit = tensor.role == Role::kInput ? 1 : tensor.role == Role::kWeight ? 2 : 4;
    for (const Rank& rank : tensor.ranks) {
      for (const Term& term : rank.terms) {
        unsigned& kind = kinds_[static_cast<std::size_t>(term.dim)];
        if ((kind & bit) != 0) return false;  // twice in one tensor: a diagonal
        kind |= bit;
      }
      if (rank.terms.size() == 1 && rank.terms[0].coefficient == 1) continue;
      if (rank.terms.size() != 2 || bit != 1 || windows_ == 2) return false;
      window_[static_cast<std::size_t>(windows_++)] = {rank.terms[0].dim, rank.terms[1].dim, rank.terms[0].coefficient,
                                                       rank.terms[1].coefficient};
    }
    return true;
  }

  std::optional<Layer> gemm() const {
    return make_gemm(layer_.name,
                     {.B = product_[kShared], .M = product_[kRows], .N = product_[kColumns], .K = product_[kReduced]});
  }

  Count size(int dim) const { return layer_.dims[static_cast<std::size_t>(dim)].size; }

  std::optional<Layer> conv() {
    ConvShape shape{.B = product_[kRows], .groups = product_[kShared]};
    shape.M = shape.C = shape.groups;
    if (!multiply(shape.M, product_[kColumns]) || !multiply(shape.C, product_[kReduced])) return std::nullopt;
    for (int w = 0; w < windows_; ++w) {
      Window one = window_[static_cast<std::size_t>(w)];
      if (kinds_[static_cast<std::size_t>(one.out)] == kReduced) {
        std::swap(one.out, one.in);
        std::swap(one.stride, one.dilation);
      }
      const bool slides =
          kinds_[static_cast<std::size_t>(one.out)] == kRows && kinds_[static_cast<std::size_t>(one.in)] == kReduced;
      if (!slides) return std::nullopt;
      (w == 0 ? shape.P : shape.Q) = size(one.out);
      (w == 0 ? shape.R : shape.S) = size(one.in);
      (w == 0 ? shape.stride_p : shape.stride_q) = one.stride;
      (w == 0 ? shape.dilation_r : shape.dilation_s) = one.dilation;
    }
    return make_conv(layer_.name, shape);
  }

  const Layer& layer_;
  std::vector<unsigned> kinds_;
  std::array<Count, 8> product_{1, 1, 1, 1, 1, 1, 1, 1};
  std::array<Window, 2> window_{};
  int windows_ = 0;
};

}  // namespace

std::optional<Layer> known_layer(const Layer& einsum) { return Recogniser(einsum).recognise(); }

}  // namespace pliant
