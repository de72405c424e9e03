// SPDX-License-Identifier: Apache-2.0
// In which respects one accelerator is at least as good as another, as the auditor sees it: the best of each level, and
// of each rule, over many accelerators. What is not known to have a better end must be the same in all of them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/accelerator.h"
#include "core/flexibility_class.h"

namespace pliant::audit {

/// More capacity, bandwidth and units allow every mapping that less allows, and take no longer; less energy, leakage,
/// area, reserved room, narrower elements and fewer cycles of a MAC cost no more. A systolic array takes longer to fill
/// when it is larger.
class BestLevel {
 public:
  void add(const Level& level);
  const Level& best() const { return *best_; }  ///< rows and columns at their largest, each by itself
  /// What differs and has no better end; empty when nothing does.
  const std::string& unknown() const { return unknown_; }
  double least_area_um2() const { return least_area_um2_; }  ///< of one instance
  double least_leak() const { return least_leak_; }          ///< of one instance
  Count least_units() const { return least_units_; }         ///< of a fanout: of one array
  Count most_units() const { return most_units_; }
  bool varies() const { return varies_; }            ///< rows or columns do
  bool speeds_vary() const { return speeds_vary_; }  ///< cycles of a MAC do

 private:
  void add_memory(const Memory& memory);
  void add_fanout(const Fanout& fanout);
  void add_compute(const Compute& compute);

  std::optional<Level> best_;
  std::string unknown_;
  double least_area_um2_ = 0, least_leak_ = 0;
  Count least_units_ = 1, most_units_ = 1;
  bool varies_ = false, speeds_vary_ = false;
};

/// All levels together, outermost first.
class BestLevels {
 public:
  void add(const BestLevel& level) { levels_.push_back(level); }
  /// Of a systolic array neither size nor speed may differ.
  bool systolic_varies() const;
  double least_area_um2() const;  ///< of all instances
  /// All leakage stands at the outermost memory, of which there is one: that of the fewest instances.
  void move_leakage(Accelerator& accelerator) const;
  /// An array of any shape is its number of units. False when one that varies is made of blocks.
  bool set_arrays(Accelerator& accelerator) const;

 private:
  std::vector<BestLevel> levels_;
};

/// Rules of a baseline at one level, tiles' sizes left out: any order and any parallel dims that one of them has.
class BestRules {
 public:
  void add(const LevelFlexibility& rules);
  const LevelFlexibility& best() const { return *best_; }
  const std::string& unknown() const { return unknown_; }

 private:
  std::optional<LevelFlexibility> best_;
  std::string unknown_;
};

/// Each width the narrower of the two; false when one is said in one of them only.
bool narrow(std::optional<ElementBits>& best, const ElementBits& other);

/// Of a wired-in tile that differs within the box: it may be anything.
inline constexpr Count kOpenTile = 0;

/// How much an accelerator has of everything, each number such that more of it is never worse; and what is left of it.
struct Sized {
  std::vector<double> sizes;
  Accelerator form;  ///< with the flexibility in force
};
Sized sized(Accelerator accelerator, const Flexibility& flexibility);

/// Every rule lifted.
Accelerator without_rules(const Accelerator& accelerator);

/// Do even the least of all wired-in tiles (in the order of the baseline's rules) not fit into the largest capacities,
/// whatever the class? Only where tiles are wired in at one memory of every family: then nothing else decides.
bool fits_nowhere(Accelerator accelerator, const std::vector<Count>& least_tiles,
                  const std::optional<FlexibilityClass>& classes);

}  // namespace pliant::audit
