// SPDX-License-Identifier: Apache-2.0
// How far the roofline and the prediction are from what was measured, by kind and size of kernels.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "dse/measured/judged.h"

namespace pliant {

/// Kernels of this length and more are told apart from short ones, which are launches more than work.
inline constexpr double kLongKernel = 20e-6;
/// Energy is judged from here on: the board's counter is slow.
inline constexpr double kLongEnough = 50e-6;

/// Relative errors |said / measured - 1|.
struct Errors {
  double mean = 0, median = 0;
};

struct KernelClass {
  std::string name;  ///< "gemm, 20 us and more", "all aligned", "not aligned"
  std::size_t kernels = 0;
  double above_bound = 0;  ///< median of measured / bound
  Errors roofline, prediction;
  std::optional<Errors> energy;  ///< of the prediction, of kernels from kLongEnough on with joules
};

/// Classes that have kernels among the rows of `used`, the largest sums last. Without predictions: bounds alone.
std::vector<KernelClass> classes_of(const std::vector<Measurement>& rows, const std::vector<KernelBound>& bounds,
                                    const std::vector<KernelPrediction>& predictions, const std::vector<bool>& used);

}  // namespace pliant
