// SPDX-License-Identifier: Apache-2.0
// What a design search knows about one box, and about the designs of one hardware point.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/flexibility_class.h"
#include "dse/design/bounded_space.h"
#include "dse/design/ideal_design.h"
#include "dse/design/known_mappings.h"
#include "dse/design/proven_bounds.h"
#include "dse/design/task_pool.h"
#include "dse/design/trimmed_proof.h"

namespace pliant {

/// How often a search was asked: not yet, within a gap, or for the best.
enum class AskedFor : std::uint8_t { kNothing, kBound, kBest };

/// Under one factorization rule.
struct RuleBounds {
  LayerBounds bounds;               ///< by distinct layer
  std::vector<KnownResults> known;  ///< by distinct layer: the nearest box around that was searched
  std::vector<std::array<AskedFor, kBoundObjectives.size()>> asked;  ///< by distinct layer, of this node
  std::optional<ReachedBounds> reached;  ///< on the ideal of this node; empty until it is asked for
  bool nothing_fits = false;
  std::int32_t nothing_fits_by = -1;  ///< what that rests on, as LayerBound::rests_on
  bool at_floor = false;              ///< the mapper's floors on the ideal of this node are in the bounds
};

/// One design of a hardware point.
struct PointDesign {
  std::int64_t design_id = 0;
  std::optional<FlexibilityClass> flexibility;  ///< when it is a class
  std::size_t rule = 0;                         ///< factorization
  std::shared_ptr<const DesignPoint> design;
  double area_um2 = 0;
  LayerBounds bounds;                                       ///< of every mapping that it can run
  ServingBounds serving{};                                  ///< bounds; where `served` is there, the figures
  std::vector<std::optional<DesignRow::Serving>> served{};  ///< by workload; empty: not asked yet
  std::vector<PoolAnswer> answers;                          ///< by distinct layer; empty where it was not asked yet
  /// By distinct layer: the best mapping of a design of this point that allows more; may be null.
  std::vector<std::shared_ptr<const TaskResult>> above;
  std::vector<std::optional<bool>> runs;  ///< by distinct layer: can this design run that mapping? Empty: not tried
  std::optional<ReachedBounds> reached;   ///< empty until it is asked for
  std::vector<AskedFor> asked;            ///< by distinct layer
  struct Search {
    std::size_t layer = 0;
    std::optional<BoundSearch> bound;
  };
  std::vector<Search> searches;  ///< of this round
  Point least;
  bool stale = true;  ///< `least` has to be made from the bounds and answers again
  bool nothing_fits = false;
  std::int32_t nothing_fits_by = -1;  ///< what that rests on, as LayerBound::rests_on

  bool complete() const;
  /// What its rows will say at least: of layers that were asked, the mapping found; of the others, the bounds.
  LayerBounds of_rows() const;
};

struct SearchNode {
  HardwareBox box;
  std::optional<IdealDesign> ideal;
  std::vector<RuleBounds> rules;  ///< by factorization
  ServingBounds serving{};        ///< of the box around it
  bool asked_serving = false;     ///< the best mappings of the ideal design are in ideal->serving
  Point least;
  std::int64_t number = 0;  ///< in the order of making
  /// Of a hardware point whose designs are decided one by one: those that are left, the most flexible first.
  std::optional<std::vector<PointDesign>> designs;
};

/// What its bounds of these layers rest on.
BoxProof proof_of(const SearchNode& node, TrimmedProof few);
/// Of one design; layers that were asked count with the mapping found, which `proven` then keeps.
BoxProof proof_of(const PointDesign& one, TrimmedProof few, ProvenBounds& proven);

/// Does the flexibility of `larger` allow every mapping that the other allows?
bool contains(const FlexibilityClass& larger, const FlexibilityClass& smaller);

/// How much a class may do: 2 for a full axis, 1 for a partial one.
int freedom_of(const FlexibilityClass& flexibility);

}  // namespace pliant
