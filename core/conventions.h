// SPDX-License-Identifier: Apache-2.0
// The few places where public cost models differ. Each field is one line of the model; a preset is a row of the table
// in docs/model.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pliant {

struct Conventions {
  /// Size of a tile along an affine rank: the distinct index values, or the whole interval they span.
  enum class Footprint : std::uint8_t { kDistinct, kBoundingBox };
  /// Reading the child when it drains outputs to its parent: counted, free, or QuickFlow's rule (the child is read for
  /// every output write of the parent, the parent's own fills included).
  enum class Drain : std::uint8_t { kCounted, kFree, kParentWrites };
  /// How far the innermost run of uncoupled loops reaches: across levels, or only through the parent's own loops and
  /// those of bypassed memories below it.
  enum class Stationarity : std::uint8_t { kAcrossLevels, kWithinLevel };
  /// Sliding windows: a run through consecutive loops over one dim; Timeloop's memory of the last displacement, every
  /// iteration walked or with its two-iteration shortcut; or one loop of one level (QuickFlow).
  enum class Halo : std::uint8_t { kRun, kDisplacement, kOneLoop, kTwoIterations };
  /// Windows of neighbours under a fanout that are equal (not merely overlapping): read once, or each its own.
  enum class EqualWindows : std::uint8_t { kShared, kSeparate };
  /// Operands of the compute units: one word each step, or QuickFlow's reuse across loops outside the innermost memory.
  enum class ComputeReuse : std::uint8_t { kNone, kOutsideInnermostMemory };
  /// First arrivals of outputs, which need no read back: distinct elements of each instance, or arrivals divided by the
  /// iterations of uncoupled loops (the two differ only where output windows overlap).
  enum class FirstTime : std::uint8_t { kDistinctElements, kPerSweep };

  /// Cycles of a saturated port: words over bandwidth, rounded up; or Timeloop's quotient of demands, whose rounding
  /// error can add a cycle.
  enum class StallRounding : std::uint8_t { kExact, kDemandRatio };

  Footprint footprint = Footprint::kDistinct;
  Drain drain = Drain::kCounted;
  Stationarity stationarity = Stationarity::kAcrossLevels;
  Halo halo = Halo::kRun;
  EqualWindows equal_windows = EqualWindows::kShared;
  ComputeReuse compute_reuse = ComputeReuse::kNone;
  FirstTime first_time = FirstTime::kDistinctElements;
  StallRounding stall_rounding = StallRounding::kExact;

  static Conventions physical() { return {}; }
  static Conventions timeloop();
  static Conventions quickflow();
  static std::optional<Conventions> preset(std::string_view name);
  static std::vector<std::string> preset_names();
  /// The preset's name, or "custom".
  std::string name() const;
  bool operator==(const Conventions&) const = default;
};

/// The option table behind the accelerator file's `conventions:` block, --help and docs: key, allowed values.
struct ConventionOption {
  std::string_view key;
  std::vector<std::string_view> values;  ///< index = enum value
  std::string_view help;
};
const std::vector<ConventionOption>& convention_options();
/// Sets one option by key and value index of the table above.
void set_convention(Conventions& conventions, std::size_t option, std::size_t value);
std::size_t get_convention(const Conventions& conventions, std::size_t option);

}  // namespace pliant
