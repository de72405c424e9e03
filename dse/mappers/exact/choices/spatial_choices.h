// SPDX-License-Identifier: Apache-2.0
// The unrollings of a task: all combinations of spatial factors of its fanouts, or those that may be worth looking at.
// There may be millions.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "dse/mappers/exact/task/search_limits.h"
#include "dse/mappers/exact/task/spatial.h"

namespace pliant::exact {

class FloorOfFactors;  // unroller.h
class PartialFloor;    // partial_floor.h
struct FanoutLists;    // fanout_lists.h

/// All combinations of legal unrollings of the fanouts that the dims' sizes allow, kept as one index per fanout: there
/// may be many. With perfect factors each factor vector once, for then only the product of a dim's two loops matters.
/// With remainders, of two that mirror each other (mirror.h) one. Of those that differ along a batch dim (batch_dim.h)
/// the fastest; of those that have the same products at the innermost network (network_unrollings.h) those that can
/// stand wherever any of them can.
class SpatialChoices {
 public:
  /// What need not be listed.
  struct LeftOut {
    double most_steps = std::numeric_limits<double>::infinity();  ///< those that take more
    FloorOfFactors* floors = nullptr;                             ///< where there are many: those that cost so much
    double enough = std::numeric_limits<double>::infinity();
    PartialFloor* partial = nullptr;  ///< where there are many combinations: those that cost so much, too
    /// Of the others, for now, those with floors from so many times the least one on, and all but about so many with
    /// the least ones.
    double band = std::numeric_limits<double>::infinity();
    std::size_t most = std::numeric_limits<std::size_t>::max();
    bool count_all = false;  ///< list also what others along a batch dim or a network stand for
  };
  SpatialChoices(const Task& task, const Problem& problem, SearchLimits& limits, const LeftOut& left_out);
  SpatialChoices(const Task& task, const Problem& problem, SearchLimits& limits,
                 double most_steps = std::numeric_limits<double>::infinity())
      : SpatialChoices(task, problem, limits, LeftOut{.most_steps = most_steps}) {}
  ~SpatialChoices();

  /// Are there any that were left out for now?
  bool more() const;
  /// In place of those that are listed, the next ones. What is left out without floors stays as it was.
  void list_next(const LeftOut& left_out);
  /// Those that are listed will be listed once more.
  void put_back();

  std::size_t size() const { return steps_.size(); }
  double steps(std::size_t i) const { return steps_[i]; }
  /// There are many: what each costs at least is known, and `band` and `most` count.
  bool has_floors() const { return by_floors_; }
  double least(std::size_t i) const { return by_floors_ ? least_[i] : 0; }
  /// At least so many steps has every one that was not listed for its steps; infinity: there is none.
  double slow() const { return slow_; }
  /// The same of those for which there was no memory or no time: the fastest are listed. Maybe 0.
  double unlisted() const { return unlisted_; }
  /// What all that were left out for their cost cost at least, and those for which there was no memory or no time, or
  /// that were left out for now.
  double dear() const { return dear_; }
  double unlisted_floor() const;
  bool complete() const {  ///< but for slow and dear ones
    return std::min(unlisted_, unlisted_floor()) == std::numeric_limits<double>::infinity();
  }
  void get(std::size_t i, Spatial& spatial) const;

 private:
  class Tree;

  std::shared_ptr<const FanoutLists> lists_;
  std::vector<std::uint32_t> index_;  // by choice and fanout
  std::vector<double> steps_, least_;
  double most_steps_, slow_, unlisted_, dear_, lost_;
  std::unique_ptr<Tree> tree_;
  bool by_floors_ = false;
};

}  // namespace pliant::exact
