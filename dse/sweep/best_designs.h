// SPDX-License-Identifier: Apache-2.0
// The best design of a dataset so far: on each workload, and on all of them together.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dse/sweep/sweep.h"

namespace pliant {

/// Designs are compared by the column that belongs to the sweep's first objective, among the rows of that objective.
/// On all workloads together the geometric mean counts: a network with large numbers must not outvote the others.
class BestDesigns {
 public:
  struct Found {
    std::int64_t design_id = 0;
    double value = 0;
  };

  explicit BestDesigns(const Sweep& sweep);

  std::string_view column() const;  ///< of `designs`
  /// All rows of a design come one after the other.
  void add(const DesignRow& row);
  void add(std::int64_t design_id, std::string_view objective, std::string_view workload, std::optional<double> value);
  /// The rows of one file of `designs`. False when it cannot be read.
  bool add_file(const std::filesystem::path& file);
  void merge(const BestDesigns& other);

  const std::optional<Found>& on(std::size_t workload) const { return by_workload_[workload]; }
  const std::optional<Found>& on_all() const { return on_all_; }

 private:
  static void keep(std::optional<Found>& best, const Found& found);

  Objective objective_;
  std::vector<std::string> workloads_;
  std::vector<std::optional<Found>> by_workload_;
  std::optional<Found> on_all_;
  std::int64_t design_ = -1;  ///< whose rows come now
  std::size_t rows_ = 0;      ///< with a value, of that design
  double logarithms_ = 0;     ///< of those values, summed
};

}  // namespace pliant
