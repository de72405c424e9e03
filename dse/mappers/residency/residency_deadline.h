// SPDX-License-Identifier: Apache-2.0
// The best within a deadline that lies between two corners of the hull: labels of energy and cycles over the
// states of the dynamic programme, without what the line at the deadline rules out.
#pragma once

#include <map>
#include <vector>

#include "dse/mappers/residency/residency_lines.h"

namespace pliant::residency {

struct Optimum;

class DeadlineCombination {
 public:
  /// `slope`: of the line that bounds the energy at the deadline best.
  DeadlineCombination(const Mapper& mapper, ResidencyLines& lines, VariantLines& variants, const SearchOptions& options,
                      const NetworkGoal& goal, double slope);

  /// Replaces `best` (which meets the deadline) when there is something better. True when what `best` then holds is
  /// proven to be the optimum; false when a frontier is not proven or there are too many labels. No better choice
  /// is faster than `fastest`.
  bool improve(Optimum& best, double fastest);
  std::uint64_t searches() const { return searches_; }

 private:
  /// What the layers of one step can cost together: `times` of each point of the variant's frontier.
  struct Sum {
    double energy_pj = 0, cycles = 0;
    std::vector<Count> times;
  };
  struct Label {
    double energy_pj = 0, cycles = 0;
    int before = -1;  ///< label of the step before
    const Transition* by = nullptr;
    int sum = 0;  ///< of the variant's sums
  };
  using Labels = std::vector<Label>;

  void find_bounds();
  const std::vector<Sum>* sums_of(int variant, Count count);
  bool extend(std::size_t step, const std::vector<Labels>& before, std::vector<Labels>& after);
  void take(std::size_t label, Optimum& best) const;
  static void keep_best(Labels& labels);
  double weight(const Transition& transition, std::size_t step);

  const Mapper& mapper_;
  ResidencyLines& lines_;
  VariantLines& variants_;
  const SearchOptions& options_;
  NetworkGoal goal_;
  double slope_, slack_ = 0, least_ = 0;
  std::vector<std::vector<double>> before_, after_;     ///< by step and state: least up to there, least from there
  std::map<int, std::vector<SearchResult>> frontiers_;  ///< by variant
  std::map<std::pair<int, Count>, std::vector<Sum>> sums_;
  std::vector<std::vector<Labels>> labels_;  ///< by step and state
  std::uint64_t searches_ = 0;
};

}  // namespace pliant::residency
