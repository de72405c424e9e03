// SPDX-License-Identifier: Apache-2.0
// Kernels that somebody timed on a chip: a table of JSON lines, CSV or Parquet; docs/silicon.md names the columns.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/layer.h"

namespace pliant {

enum class KernelKind : std::uint8_t { kGemm, kBatchedGemm, kConvolution, kAttention, kCopy };
std::string_view to_string(KernelKind kind);  // "gemm", "bmm", "conv", "attention", "copy"

struct Measurement {
  std::string name;  ///< "gemm:M=1,N=8192,K=8192"
  KernelKind kind = KernelKind::kGemm;
  /// What it computes, one after the other in one kernel: none of a copy, two of attention.
  std::vector<Layer> layers;
  double share = 1;         ///< of their multiply-adds that the kernel does: about a half of causal attention
  double bytes = 0;         ///< that it must at least move between the chip and its outermost memory
  double exponentials = 0;  ///< of attention: one for each score
  double warm_bytes = 0;    ///< of those, what the run before may have left on the chip
  double seconds = 0;
  std::optional<double> joules;
  bool aligned = true;  ///< rows of all tensors begin at multiples of 16 bytes
};

/// InputError with the line of what is wrong. Rows of other kinds (`device`, `idle`) are left out.
std::vector<Measurement> read_measurements(const std::filesystem::path& file);

}  // namespace pliant
