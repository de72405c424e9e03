// SPDX-License-Identifier: Apache-2.0
// The best within a deadline that lies between two corners of the hull: labels of energy and cycles over the
// states of the dynamic programme, without what the line at the deadline rules out. A few repetitions of a layer may
// take other mappings than the rest.
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
  struct Label {
    double energy_pj = 0, cycles = 0;
    int before = -1;  ///< in chosen_
    int point = -1;   ///< of the variant's frontier, by the last repetition of a layer; -1: an operator's
  };
  using Labels = std::vector<Label>;
  /// A label that was kept: what was chosen last, and what before it.
  struct Chosen {
    const Transition* by;
    int before;
    int point;
  };

  void find_bounds();
  const std::vector<SearchResult>* frontier_of(int variant);
  double above(const Label& label) const { return label.energy_pj + slope_ * label.cycles - least_; }
  bool extend(std::size_t step, const std::vector<Labels>& before, std::vector<Labels>& after);
  bool repeat(const Transition& by, Count count, double to_come, Labels& labels);
  static void keep_best(Labels& labels);
  void note(const Transition& by, Labels& labels);
  void take(const Label& last, Optimum& best) const;
  double weight(const Transition& transition, std::size_t step);
  double least_of_one(int variant);

  const Mapper& mapper_;
  ResidencyLines& lines_;
  VariantLines& variants_;
  const SearchOptions& options_;
  NetworkGoal goal_;
  double slope_, slack_ = 0, least_ = 0;
  std::vector<std::vector<double>> before_, after_;     ///< by step and state: least up to there, least from there
  std::map<int, std::vector<SearchResult>> frontiers_;  ///< by variant
  std::vector<Chosen> chosen_;
  std::size_t made_ = 0;  ///< labels of this step
  std::uint64_t searches_ = 0;
};

}  // namespace pliant::residency
