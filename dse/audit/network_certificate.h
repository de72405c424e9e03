// SPDX-License-Identifier: Apache-2.0
// The proof of a network's optimum as a file: the workload with its graph, the mappings and places that are claimed to
// be best, and for each variant of a layer that was searched its proofs. docs/audit.md says why the claim follows.
#pragma once

#include <array>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "core/input/load.h"
#include "dse/audit/certificate.h"

namespace pliant::audit {

/// Where a tensor lives: the level of a memory, or the outermost memory that keeps its role.
using Place = int;
inline constexpr Place kElsewhere = -1;

/// By level and role: words that tensors take which live there.
using Taken = std::vector<std::array<Count, kRoles>>;

/// A row of the workload with its operands at these places, while tensors take so many words; or what it runs on the
/// tiles of a group.
struct LayerVariant {
  int row = 0;
  std::array<Place, kRoles> places{kElsewhere, kElsewhere, kElsewhere};
  Taken taken{};
  std::vector<Count> sizes{};  ///< by dim; none = the whole layer
  bool sums = false;           ///< what it makes stays as wide as partial sums: another run adds to it
  Place sums_in = kElsewhere;  ///< a memory that outputs must not pass by: sums come back to it
  auto operator<=>(const LayerVariant&) const = default;
};

struct NetworkTask {
  Workload workload;
  Accelerator accelerator;
  Factorization factorization = Factorization::kPerfect;
  Objective objective = Objective::kEdp;
  bool stay = true;                                              ///< tensors may live on chip
  bool tiles = false;                                            ///< and layers may pass tiles on
  double most_cycles = std::numeric_limits<double>::infinity();  ///< of the network

  std::vector<Task> rows() const;  ///< of the workload, each by itself
};

/// The task whose lower bound is the least energy + slope * cycles of a variant; a slope of infinity asks for cycles.
Task line_task(const Task& row, const LayerVariant& variant, double slope);

/// The proof of one line of one variant. Its task is not said: it follows from the variant and the slope.
struct VariantProof {
  LayerVariant variant;
  double slope = 0;
  Certificate proof;
};

/// What is chosen for a step of the run.
struct StepClaim {
  Place made = kElsewhere;  ///< where its output lives
  struct Part {
    Mapping mapping;
    Count count = 1;  ///< so many of the step's layers have it
  };
  std::vector<Part> parts;  ///< of a layer
};

/// Layers that pass tiles on, and how.
struct GroupClaim {
  std::vector<std::size_t> steps;  ///< of its layers
  Place home = kElsewhere;
  /// A loop over a dim of one of the layers, or over those that a node counts.
  struct LoopClaim {
    std::size_t layer = 0;  ///< of the group
    int dim = -1;           ///< -1: it counts layers
    bool groups = false;    ///< of those, groups that share operands
    Count tile = 1;
  };
  std::vector<std::vector<LoopClaim>> stacks;  ///< by tensor between two of them, outermost loop first
  struct HeldClaim {
    std::size_t layer = 0;
    int tensor = 0;
    std::size_t loops = 0;  ///< under so many of its layer's
  };
  std::vector<HeldClaim> held;
  struct RunClaim {
    std::size_t layer = 0;
    std::vector<Count> sizes;  ///< by dim
    Mapping mapping;
  };
  std::vector<RunClaim> runs;
};

struct NetworkCertificate {
  NetworkTask task;
  double value = 0, lower_bound = 0, energy_pj = 0, cycles = 0;
  bool certified = false;
  std::vector<StepClaim> steps;    ///< in the order of the run; those of groups have no parts
  std::vector<GroupClaim> groups;  ///< by their first step
  std::vector<double> slopes;      ///< of the lines that bound the network
  std::vector<VariantProof> proofs;
};

/// The rows of the run's steps; -1 = an operator. A workload without a graph has every row once, `count` times.
std::vector<int> rows_of_steps(const Workload& workload);

bool is_network_certificate(std::string_view text);
std::string write_network_certificate(const NetworkCertificate& certificate);
NetworkCertificate read_network_certificate(const Library& library, std::string_view text, const std::string& file);

}  // namespace pliant::audit
