// SPDX-License-Identifier: Apache-2.0
// A layer is one tensor operation: named dims with sizes, and tensors whose elements are addressed by affine
// expressions of those dims. Convolutions, GEMMs and free einsums are all instances of this one representation.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pliant {

/// Numbers of words, iterations, MACs. Every product formed from input sizes is checked when inputs are read.
using Count = std::int64_t;

/// Limits that keep hot structures flat. Readers refuse inputs beyond them with a located error.
inline constexpr int kMaxDims = 12;
inline constexpr int kMaxTensors = 6;
inline constexpr int kMaxLevels = 20;

/// Bit i stands for dim i (or tensor i) of a layer.
using DimSet = std::uint32_t;
using TensorSet = std::uint32_t;

struct Dim {
  std::string name;
  Count size = 1;
  bool operator==(const Dim&) const = default;
};

/// coefficient * dim.
struct Term {
  int dim = 0;
  Count coefficient = 1;
  bool operator==(const Term&) const = default;
};

/// One index expression of a tensor: the sum of its terms.
struct Rank {
  std::vector<Term> terms;
  bool operator==(const Rank&) const = default;
};

/// What a memory's `keeps:` list names. A tensor of a free einsum states its role.
enum class Role : std::uint8_t { kInput, kWeight, kOutput };
inline constexpr int kRoles = 3;
inline constexpr std::array<std::string_view, kRoles> kRoleNames{"inputs", "weights", "outputs"};
std::string_view to_string(Role role);  // "inputs", "weights", "outputs"

/// Bits of one element, by role, and of an output that is not finished; nullopt where nothing is said.
struct ElementBits {
  std::array<std::optional<int>, kRoles> of{};
  std::optional<int> partial_sums{};
  bool operator==(const ElementBits&) const = default;
};

struct Tensor {
  std::string name;
  Role role = Role::kInput;
  std::vector<Rank> ranks;
  bool is_output() const { return role == Role::kOutput; }
  bool operator==(const Tensor&) const = default;
};

/// The family a layer was written in. It decides nothing about the arithmetic; flexibility rules may be given per
/// family because the same letter means different loops in different families.
/// A depthwise convolution is a family of its own because it has no M: where a rule names M, it may say what stands in.
enum class Operation : std::uint8_t { kConv, kGemm, kEinsum, kDepthwise };
/// Whose rules a family follows when it has none of its own: depthwise convolutions those of convolutions.
constexpr Operation parent_family(Operation operation) {
  return operation == Operation::kDepthwise ? Operation::kConv : operation;
}
std::string_view to_string(Operation operation);

struct Layer {
  std::string name;
  Operation operation = Operation::kEinsum;
  std::vector<Dim> dims;
  std::vector<Tensor> tensors;  ///< exactly one output
  std::string written_as;       ///< the in-place spelling, e.g. "conv:M=64,C=3,...", or empty for a free einsum
  ElementBits bits{};           ///< where it differs from the accelerator's

  int find_dim(std::string_view name) const;     ///< -1 when unknown
  int find_tensor(std::string_view name) const;  ///< -1 when unknown
  int output() const;                            ///< index of the output tensor
  DimSet coupled(int tensor) const;              ///< dims that the tensor's projection mentions
  TensorSet tensors_with_role(Role role) const;
  /// The tensor's ranks, those that share a dim written as one: rank r's index is weighed by one more than the largest
  /// index of the ranks before it, so that different elements get different values. The elements that a tile touches
  /// are then the product over these ranks of their distinct values.
  std::vector<Rank> independent_ranks(int tensor) const;
  Count macs() const;                    ///< product of the dim sizes
  Count tensor_words(int tensor) const;  ///< distinct elements of the whole tensor
  bool operator==(const Layer&) const = default;
};

/// What the layers of a network read from each other: nodes in the order in which they run. core/workload_graph.h says
/// what fits and unrolls the blocks.
struct WorkloadGraph {
  /// Work without MACs: it moves its operands and holds tensors alive. A part reads of its operand only what it makes;
  /// an output gives its operand to the network's user, so nobody reads it.
  enum class Operator : std::uint8_t { kAdd, kPool, kConcat, kActivation, kSoftmax, kNorm, kPart, kOutput };
  static constexpr int kNetworkInput = -1;  ///< comes from outside the network
  static constexpr int kRoundBefore = -2;  ///< what the block's last node made one round ago; in the first, Block::from

  struct Edge {
    int node = kNetworkInput;
    int tensor = 0;  ///< of the reading layer; operators: the position among its operands
    bool operator==(const Edge&) const = default;
  };
  struct Node {
    std::string name;
    int layer = -1;  ///< row of Workload::layers; -1 = an operator
    Operator work = Operator::kAdd;
    Count count = 1;  ///< so many such layers, one after the other, make the output together
    std::vector<Edge> from;
    Count words = 0;  ///< of the output
    /// Of a softmax: its rows may pass in parts, with the largest element and the sum carried along.
    bool online = false;
    bool is_layer() const { return layer >= 0; }
    bool operator==(const Node&) const = default;
  };
  /// The nodes [first, first + nodes) run `rounds` times. Later nodes that name one of them mean the last round.
  struct Block {
    int first = 0, nodes = 0;
    Count rounds = 1;
    int from = kNetworkInput;
    bool operator==(const Block&) const = default;
  };
  std::vector<Node> nodes;
  std::vector<Block> blocks;  ///< in order, none inside another
  bool operator==(const WorkloadGraph&) const = default;
};
inline constexpr std::array<std::string_view, 8> kOperatorNames{"add",     "pool", "concat", "activation",
                                                                "softmax", "norm", "part",   "output"};

/// A network: layers with repetition counts, in network order.
struct Workload {
  struct Entry {
    Layer layer;
    Count count = 1;
    bool operator==(const Entry&) const = default;
  };
  std::string name;
  std::string description;
  std::vector<Entry> layers;
  /// What one pass through all layers is worth: so many inferences, and of language models so many tokens.
  struct Pass {
    Count inferences = 1;
    std::optional<Count> tokens{};
    bool operator==(const Pass&) const = default;
  };
  Pass pass{};
  std::optional<WorkloadGraph> graph{};  ///< without one the layers are unrelated

  const Entry* find(std::string_view layer_name) const;
  bool operator==(const Workload&) const = default;
};

/// Sizes of a convolution in the project's spelling. P and Q are output sizes (input sizes when transposed).
/// M and C are totals; with groups > 1 the layer gets a dim G and per-group M and C; depthwise (groups == C == M)
/// becomes a layer without M whose C is coupled to all three tensors. Dims of size 1 are kept, except B and G.
struct ConvShape {
  Count B = 1, M = 1, C = 1, P = 1, Q = 1, R = 1, S = 1;
  Count stride_p = 1, stride_q = 1, dilation_r = 1, dilation_s = 1;
  Count groups = 1;
  bool transposed = false;
};
Layer make_conv(std::string name, const ConvShape& shape);

/// Outputs[M,N] += Inputs[M,K] * Weights[K,N]; B independent products when B > 1 (all three tensors get B).
struct GemmShape {
  Count B = 1, M = 1, N = 1, K = 1;
};
Layer make_gemm(std::string name, const GemmShape& shape);

}  // namespace pliant
