// SPDX-License-Identifier: Apache-2.0
// The designs of a sweep by number. Nothing is listed in advance: design i is read off the axes like the digits of i,
// so memory does not grow with the sweep.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dse/results/rows.h"
#include "dse/sweep/hardware_sizes.h"
#include "dse/sweep/sweep.h"

namespace pliant {

/// One point of the outer loop.
struct DesignPoint {
  std::shared_ptr<const DesignKey> key;
  std::shared_ptr<const Accelerator> accelerator;  ///< null when it contradicts itself
  std::string problem;                             ///< why
  Factorization factorization = Factorization::kPerfect;
  Objective objective = Objective::kEdp;
  std::vector<double> deadlines;  ///< by workload of the sweep: the most cycles it may take; empty = no limits
  double deadline_of(const Sweep& sweep, const Workload& workload) const;
};

/// Hardware outermost, then flexibility, factorization and objective. Remembers the last hardware point it read, so it
/// is not for several threads at once; make one for each.
class DesignSpace {
 public:
  /// `sizes` spare most readings when many designs are judged; the answers are the same without.
  DesignSpace(const Library& library, std::shared_ptr<const Sweep> sweep,
              std::shared_ptr<const HardwareSizes> sizes = nullptr);

  const Sweep& sweep() const { return *sweep_; }
  std::int64_t size() const { return hardware_ * inner_; }  ///< the full product, constraints or not
  std::int64_t hardware_points() const { return hardware_; }
  /// Designs with the same hardware and flexibility: constraints cannot tell them apart.
  std::int64_t variants() const { return variants_; }

  /// Does design i meet the constraints? A design that contradicts itself does, unless its sizes break one with every
  /// flexibility: its rows tell why.
  bool allowed(std::int64_t i);
  /// The number of design i that a constraint may name; nullopt when it has none.
  std::optional<double> value(std::int64_t i, const std::string& name);
  DesignPoint design(std::int64_t i);
  /// Accelerators that were read so far, whole or their sizes.
  std::int64_t readings() const { return readings_; }

 private:
  struct Hardware {
    std::int64_t number = -1;
    std::vector<std::size_t> positions;  ///< on the axes
    std::size_t accelerator_index = 0;   ///< in Sweep::accelerators
    std::vector<Setting> settings;
    std::vector<AxisValue> cells;
    std::optional<Accelerator> accelerator;
    bool loaded = false;
    std::string problem;
    std::optional<bool> allowed;  ///< by the constraints, whatever the flexibility; empty when that matters
    bool judged = false;          ///< `allowed` is known
  };
  void seek(std::int64_t hardware);
  void load();
  /// Levels and areas; null when they contradict each other.
  const Accelerator* sizes();
  std::optional<bool> allowed_hardware();
  std::optional<double> number(const std::string& name, const Accelerator* accelerator) const;
  std::vector<double> deadlines(const Accelerator& accelerator) const;
  std::shared_ptr<const Accelerator> flexible(std::size_t flexibility, std::string& problem);

  const Library& library_;
  std::shared_ptr<const Sweep> sweep_;
  std::vector<std::unique_ptr<AcceleratorTemplate>> templates_;  ///< by accelerator
  std::int64_t hardware_ = 1, inner_ = 1, variants_ = 1, readings_ = 0;
  Hardware current_;
  std::shared_ptr<const HardwareSizes> sizes_;
  HardwareSizes::Point sized_;
  std::int64_t flexible_for_ = -1;  ///< hardware * flexibilities + flexibility of what follows
  std::shared_ptr<const Accelerator> flexible_;
  std::string flexible_problem_;
};

/// Capacity of all bounded memories, all instances.
double buffer_bits(const Accelerator& accelerator);

}  // namespace pliant
