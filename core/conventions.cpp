// SPDX-License-Identifier: Apache-2.0
#include "core/conventions.h"

#include <cassert>

namespace pliant {

namespace {

/// Calls visit(field) with the field that a row of the option table stands for; the order is that of the table.
template <class C, class Visit>
void with_field(C& conventions, std::size_t option, Visit visit) {
  switch (option) {
    case 0: return visit(conventions.footprint);
    case 1: return visit(conventions.drain);
    case 2: return visit(conventions.stationarity);
    case 3: return visit(conventions.halo);
    case 4: return visit(conventions.equal_windows);
    case 5: return visit(conventions.compute_reuse);
    case 6: return visit(conventions.first_time);
    case 7: return visit(conventions.stall_rounding);
    default: assert(false && "no such convention");
  }
}

}  // namespace

Conventions Conventions::timeloop() {
  Conventions c;
  c.footprint = Footprint::kBoundingBox;
  c.drain = Drain::kFree;
  c.stationarity = Stationarity::kAcrossLevels;
  c.halo = Halo::kDisplacement;
  c.equal_windows = EqualWindows::kShared;
  c.compute_reuse = ComputeReuse::kNone;
  c.first_time = FirstTime::kDistinctElements;
  c.stall_rounding = StallRounding::kDemandRatio;
  return c;
}

Conventions Conventions::quickflow() {
  Conventions c;
  c.footprint = Footprint::kDistinct;
  c.drain = Drain::kParentWrites;
  c.stationarity = Stationarity::kWithinLevel;
  c.halo = Halo::kOneLoop;
  c.equal_windows = EqualWindows::kSeparate;
  c.compute_reuse = ComputeReuse::kOutsideInnermostMemory;
  c.first_time = FirstTime::kPerSweep;
  return c;
}

std::optional<Conventions> Conventions::preset(std::string_view name) {
  if (name == "physical") return physical();
  if (name == "timeloop") return timeloop();
  if (name == "quickflow") return quickflow();
  return std::nullopt;
}

std::vector<std::string> Conventions::preset_names() { return {"physical", "timeloop", "quickflow"}; }

std::string Conventions::name() const {
  for (const std::string& candidate : preset_names())
    if (preset(candidate) == *this) return candidate;
  return "custom";
}

const std::vector<ConventionOption>& convention_options() {
  static const std::vector<ConventionOption> options = {
      {"footprint", {"distinct", "bounding-box"}, "size of a tile along an affine index: distinct values or interval"},
      {"drain", {"counted", "free", "parent-writes"}, "reading the child when it drains outputs to its parent"},
      {"stationarity", {"across-levels", "within-level"}, "how far the innermost run of uncoupled loops reaches"},
      {"halo", {"run", "displacement", "one-loop", "two-iterations"}, "which sliding steps refetch only what is new"},
      {"equal-windows",
       {"shared", "separate"},
       "equal windows of neighbours under a fanout: read once or each its own"},
      {"compute-reuse",
       {"none", "outside-innermost-memory"},
       "operands of the compute units: one word each step, or reuse across loops outside the innermost memory"},
      {"first-time",
       {"distinct-elements", "per-sweep"},
       "arrivals of outputs that need no read back: distinct elements, or arrivals per sweep of the uncoupled loops"},
      {"stall-rounding",
       {"exact", "demand-ratio"},
       "cycles of a saturated port: words over bandwidth, or the quotient of demands with its rounding error"},
  };
  return options;
}

void set_convention(Conventions& conventions, std::size_t option, std::size_t value) {
  assert(value < convention_options()[option].values.size());
  with_field(conventions, option, [value]<class Field>(Field& field) { field = static_cast<Field>(value); });
}

std::size_t get_convention(const Conventions& conventions, std::size_t option) {
  std::size_t value = 0;
  with_field(conventions, option, [&value](const auto& field) { value = static_cast<std::size_t>(field); });
  return value;
}

}  // namespace pliant
