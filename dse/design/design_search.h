// SPDX-License-Identifier: Apache-2.0
// The designs of a space that no other beats, proven without looking at most of them: branch and bound over boxes of
// hardware. A box is bounded by its ideal design; it is closed when a design found is nowhere worse.
// docs/design-search.md explains and proves it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "dse/audit/design_audit.h"
#include "dse/design/design_rows.h"
#include "dse/design/hardware_box.h"
#include "dse/design/proven_bounds.h"
#include "dse/results/pareto.h"
#include "dse/results/rows.h"
#include "dse/sweep/run_sweep.h"

namespace pliant {

class SharedDesigns;

/// Why nothing in a box has to be looked at any more.
enum class ClosedBy : std::uint8_t {
  kBeaten,       ///< a design found is nowhere worse than the box's bounds
  kConstraints,  ///< no design of it meets the constraints
  kLimits,       ///< no design of it keeps within the limits
  kNothingFits,  ///< a layer fits on none of its designs
  kOpened,       ///< one design, and it was mapped
};
std::string_view to_string(ClosedBy closed_by);  ///< "beaten", ...
inline constexpr int kClosedByCount = 5;

struct ClosedBox {
  HardwareBox box;
  std::int64_t design_id = -1;  ///< one design of a single hardware point; -1: all designs of the box
  std::int64_t designs = 0;
  ClosedBy closed_by = ClosedBy::kBeaten;
  double least_area_um2 = 0;
  Point least;                  ///< bounds, by goal; of an opened design its values (empty when it has none)
  std::int64_t beaten_by = -1;  ///< design
  BoxProof proof{};             ///< where DesignSearchOptions::proven keeps what is proven
};

struct DesignProgress {
  std::int64_t designs = 0, decided = 0;  ///< of the whole space, or of the shard
  std::int64_t opened = 0, boxes = 0;     ///< designs mapped; boxes closed
  std::int64_t frontier = 0;
  std::int64_t solved = 0, reused = 0;  ///< searches of layers; answers known before
  double seconds = 0;
  /// Whatever is still open, a design found is worse than it by at most this share in every goal; not known before a
  /// design is found and while nothing is known of a box.
  std::optional<double> gap;
  std::optional<double> seconds_left;  ///< about
};

struct DesignSearchOptions {
  int threads = 0;  ///< 0 = all; nothing but the time depends on it
  double gap = 0;   ///< a box is closed when a design found is worse by at most this share
  /// Only the boxes of one shard: nothing is proven about the others, but the answers of its searches are in the store.
  Shard shard;
  SharedDesigns* others = nullptr;  ///< of a shard: what it tells the others and is told
  ProvenBounds* proven = nullptr;   ///< keeps what a certificate needs
  std::stop_token stop;
  std::function<void(const DesignProgress&)> on_progress;
};

struct DesignFrontier {
  std::vector<OpenedDesign> opened;   ///< by number
  std::vector<std::size_t> frontier;  ///< of `opened`: those that no other beats, by the first goal
  std::vector<ClosedBox> boxes;       ///< they hold every design of the space once; in the order of their closing
  DesignProgress progress;
  double search_seconds = 0;  ///< of all searches, summed
  /// Then the above says how far it came: what is still open is better by at most progress.gap in every goal.
  bool interrupted = false;
  std::optional<audit::DesignAuditReport> audit{};  ///< where the proof was checked
};

/// InputError when the sweep has no goals or another mapper than exact.
void check_design_sweep(const Sweep& sweep);
/// The same when its conventions are mixed: boxes are closed by bounds that are proven for the presets only.
void check_design_conventions(const Library& library, const Sweep& sweep);

/// `store` keeps the answers of searches and may be null. The sweep is as check_design_sweep() wants it. InputError
/// when its constraints leave no design.
DesignFrontier search_designs(const Library& library, const Sweep& sweep, const DesignSearchOptions& options,
                              TaskStore* store);

}  // namespace pliant
