// SPDX-License-Identifier: Apache-2.0
// Every key the YAML readers know, block by block. The readers refuse what is not here; the JSON Schema files in
// configs/schema are compared with it by a test.
#pragma once

#include <array>
#include <span>
#include <string_view>

#include <vector>

#include "core/layer.h"

namespace pliant {

using Keys = std::span<const std::string_view>;

namespace keys {

inline constexpr std::array<std::string_view, 19> kAccelerator{
    "pliant",     "include", "name",       "description", "word_bits", "bits",        "conventions",
    "technology", "clock",   "parameters", "levels",      "area",      "flexibility", "baseline",
    "partial",    "hints",   "vector",     "links",       "prediction"};
inline constexpr std::array<std::string_view, 18> kMemory{
    "memory",    "capacity",  "keeps",          "may_bypass",      "read_pj",  "write_pj",
    "update_pj", "bandwidth", "read_bandwidth", "write_bandwidth", "buffers",  "leak_pj_per_cycle",
    "area_um2",  "word_bits", "bits",           "technology",      "resident", "reserved"};
inline constexpr std::array<std::string_view, 9> kFanout{
    "fanout", "rows", "cols", "multicast", "reduction", "partial_multicast", "pj_per_bit", "systolic", "area_um2"};
inline constexpr std::array<std::string_view, 5> kReductions{"true", "false", "always", "rows", "cols"};
inline constexpr std::array<std::string_view, 7> kCompute{
    "compute", "mac_pj", "cycles_per_mac", "leak_pj_per_cycle", "area_um2", "operation", "technology"};
inline constexpr std::array<std::string_view, 3> kArea{"base_um2", "flexibility_um2", "flexibility_from"};
inline constexpr std::array<std::string_view, 4> kAxes{"T", "O", "P", "S"};
inline constexpr std::array<std::string_view, 1> kHints{"min_utilization"};
inline constexpr std::array<std::string_view, 3> kVector{"lanes", "ops", "pj_per_op"};
inline constexpr std::array<std::string_view, 10> kVectorOps{"add",  "pool", "concat", "activation", "softmax",
                                                             "norm", "part", "output", "rotary",     "sampling"};
inline constexpr std::array<std::string_view, 5> kLinks{"topology", "gb_per_s", "us", "pj_per_bit", "sums"};
inline constexpr std::array<std::string_view, 4> kPrediction{"overhead", "power_limit", "idle_power", "achievable"};
using pliant::kRoleNames;
inline constexpr std::array<std::string_view, 4> kBits{"inputs", "weights", "outputs", "partial_sums"};

inline constexpr std::array<std::string_view, 5> kAxisRules{"tiles", "orders", "loops", "parallel", "shape"};
inline constexpr std::array<std::string_view, 4> kFamilies{"conv", "gemm", "einsum", "depthwise"};
inline constexpr std::array<std::string_view, 11> kFlexibility{
    "class", "tiles", "orders", "loops", "parallel", "shape", "fusion", "conv", "gemm", "einsum", "depthwise"};
inline constexpr std::array<std::string_view, 14> kFlexibilityFile{
    "pliant",   "name",  "description", "class", "tiles", "orders", "loops",
    "parallel", "shape", "fusion",      "conv",  "gemm",  "einsum", "depthwise"};
inline constexpr std::array<std::string_view, 4> kClassAxes{"tiles", "orders", "parallel", "shape"};
inline constexpr std::array<std::string_view, 8> kBaseline{"tiles", "orders", "parallel", "shape",
                                                           "conv",  "gemm",   "einsum",   "depthwise"};
inline constexpr std::array<std::string_view, 9> kVariant{"tiles", "orders", "parallel", "shape",    "fusion",
                                                          "conv",  "gemm",   "einsum",   "depthwise"};
inline constexpr std::array<std::string_view, 10> kPartial{"tiles", "orders", "parallel", "shape",     "fusion",
                                                           "conv",  "gemm",   "einsum",   "depthwise", "variants"};
inline constexpr std::array<std::string_view, 2> kFusionRule{"dims", "depth"};
inline constexpr std::array<std::string_view, 3> kTileRule{"fixed", "partition", "burst"};
inline constexpr std::array<std::string_view, 4> kParallelRule{"rows", "cols", "any_of", "max_dims_per_side"};
inline constexpr std::array<std::string_view, 2> kAssignment{"rows", "cols"};
inline constexpr std::array<std::string_view, 1> kShapeRule{"block"};

inline constexpr std::array<std::string_view, 7> kLayer{"pliant",    "layer", "bits",  "conv",
                                                        "depthwise", "gemm",  "einsum"};
inline constexpr std::array<std::string_view, 8> kWorkloadEntry{"layer", "count",     "from", "bits",
                                                                "conv",  "depthwise", "gemm", "einsum"};
inline constexpr std::array<std::string_view, 4> kGraphLayer{"layer", "name", "count", "from"};
inline constexpr std::array<std::string_view, 5> kGraphOperator{"op", "name", "words", "from", "online"};
inline constexpr std::array<std::string_view, 3> kGraphBlock{"repeat", "from", "nodes"};
inline constexpr std::array<std::string_view, 4> kOperations{"conv", "depthwise", "gemm", "einsum"};
inline constexpr std::array<std::string_view, 9> kWorkload{"pliant", "name",  "description", "layers", "table",
                                                           "graph",  "chain", "inferences",  "tokens"};
inline constexpr std::array<std::string_view, 19> kConv{
    "B", "M",      "C",        "P",        "Q",        "R",          "S",          "N",      "K",         "Y",
    "X", "stride", "stride_p", "stride_q", "dilation", "dilation_r", "dilation_s", "groups", "transposed"};
inline constexpr std::array<std::string_view, 16> kDepthwise{
    "B", "C",      "P",        "Q",        "R",        "S",          "N",          "Y",
    "X", "stride", "stride_p", "stride_q", "dilation", "dilation_r", "dilation_s", "transposed"};
inline constexpr std::array<std::string_view, 4> kGemm{"B", "M", "N", "K"};
inline constexpr std::array<std::string_view, 2> kEinsum{"dims", "tensors"};
inline constexpr std::array<std::string_view, 3> kTensor{"name", "role", "projection"};

inline constexpr std::array<std::string_view, 7> kMapping{"pliant", "accelerator", "layer",      "factorization",
                                                          "levels", "padded",      "description"};
inline constexpr std::array<std::string_view, 5> kMappingLevel{"level", "temporal", "rows", "cols", "keeps"};

inline constexpr std::array<std::string_view, 9> kTechnology{"pliant", "name",    "description", "word_bits", "energy",
                                                             "area",   "leakage", "compute",     "off_chip"};
inline constexpr std::array<std::string_view, 4> kTechnologyPoint{"capacity", "read_pj", "write_pj", "from"};
inline constexpr std::array<std::string_view, 3> kTechnologyArea{"overhead_um2", "um2_per_bit", "from"};
inline constexpr std::array<std::string_view, 3> kTechnologyLeakage{"nw_per_um2", "pj_per_cycle_per_bit", "from"};
inline constexpr std::array<std::string_view, 5> kTechnologyCompute{"operation", "mac_pj", "mac_pj_from", "area_um2",
                                                                    "area_um2_from"};
inline constexpr std::array<std::string_view, 3> kTechnologyOffChip{"pj_per_bit", "pj_per_bit_from", "gb_per_s"};

}  // namespace keys

/// A block of keys and the place in configs/schema that lists the same ones.
struct KeyTable {
  std::string_view schema_file;     ///< "accelerator.json"
  std::string_view schema_pointer;  ///< JSON pointer of the object with `properties`
  Keys keys;
};
const std::vector<KeyTable>& known_keys();

}  // namespace pliant
