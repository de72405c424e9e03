// SPDX-License-Identifier: Apache-2.0
// What the designs of a dataset would cost if figures of their accelerators were others: with the mappings that are
// stored, or searched again.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "dse/sweep/design_space.h"
#include "dse/sweep/uncertain_figures.h"

namespace pliant {

/// One sign per group of uncertain figures: -1 = at the lower end, 1 = at the upper end.
using Corner = std::vector<int>;

/// All corners for up to six groups; beyond that each group alone at both ends, and all together at both ends.
std::vector<Corner> corners_of(std::size_t groups);

/// What figures decide of a design on a workload; the runtime is not among it, while the mapping is kept.
struct FigureCosts {
  double energy_pj = 0, sum_layer_edp_pj_cycles = 0, runtime_cycles = 0, area_um2 = 0;
};

class Repricing {
 public:
  using Row = std::pair<std::int64_t, std::string>;  ///< design_id, workload

  /// Prices every stored mapping once for each group. InputError when the dataset is not of this sweep, or when a group
  /// matches no figure of its accelerators.
  Repricing(const Library& library, const Sweep& sweep, const std::filesystem::path& dataset,
            const std::vector<UncertainFigures>& figures);

  bool has(const Row& row) const { return rows_.contains(row); }
  /// With the stored mappings, of a network with those that are best for the sweep's figures: costs are linear in
  /// energies and areas.
  FigureCosts at(const Row& row, const Corner& corner) const;
  /// With mappings that the sweep's mapper finds for the figures of the corner, all threads; a row for which it finds
  /// none keeps its own.
  std::vector<FigureCosts> search(const std::vector<std::pair<Row, Corner>>& questions) const;

 private:
  struct Priced {
    FigureCosts base;
    std::vector<FigureCosts> change;  ///< by group, at its upper end
  };
  static Priced with_areas(const DesignPoint& design, const std::vector<Accelerator>& moved);
  void price_network(const DesignPoint& design, const Workload& workload, const std::vector<Accelerator>& moved);
  FigureCosts searched_at(const Row& row, const Corner& corner) const;
  const Workload* workload(const std::string& name) const;

  const Library& library_;
  std::shared_ptr<const Sweep> sweep_;
  std::vector<UncertainFigures> figures_;
  std::map<Row, Priced> rows_;
};

}  // namespace pliant
