// SPDX-License-Identifier: Apache-2.0
// The legal unrollings of one fanout. What a fanout does depends on its factors alone, so factors are chosen dim by
// dim, and of the ways to lay the same factors over rows and columns only those are carried along that another could
// not stand for.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "dse/mappers/exact/choices/batch_dim.h"
#include "dse/mappers/exact/choices/mirror.h"
#include "dse/mappers/exact/choices/spatial_choices.h"

namespace pliant::exact {

/// Of a list that grew too long only so many stay, those with the least of something: calls keep(i) for what stays and
/// goes(i) for what does not, in the order of the list, and shortens `by` to what stays. Returns the least that goes.
double keep_least(std::vector<double>& by, std::size_t most, const std::function<void(std::size_t)>& keep,
                  const std::function<void(std::size_t)>& goes = {});

/// What may be tried of one dim at a fanout.
struct DimBounds {
  std::vector<Count> values;  ///< bounds of one loop worth trying, ascending
  /// Iterations that the fanout may find left, ascending; empty: not known, or idle units make a difference.
  std::vector<Count> finds;
  bool smallest_only = false;  ///< of bounds that leave the same iterations the smallest is as good as any
};

/// What unrollings cost at least that begin with the same factors.
class FloorOfFactors {
 public:
  virtual ~FloorOfFactors() = default;
  /// Of the fanout at this level; its factors are chosen in this order of the dims, which stays until the next call.
  virtual void begin(int level, std::span<const int> order) = 0;
  /// These are the factors of the first dims; so many steps are certain. At least `enough` where that is true and
  /// known; otherwise perhaps less than is known.
  virtual double least(std::span<const Count> chosen, double steps, double enough) = 0;
};

class Unroller {
 public:
  /// Unrollings that take more steps are left out, however much of the rest the other fanouts take; so are those whose
  /// image in the mirror is listed, and those that have room for a factor of the batch dim (batch_dim.h) that takes
  /// fewer rounds.
  Unroller(const Task& task, const FanoutRules& fanout, const std::vector<DimBounds>& bounds, SearchLimits& limits,
           double most_steps, std::optional<Mirror> mirror, std::optional<BatchDim> batch);
  /// Where there are many, those that cost so much are left out, too.
  void leave_out(FloorOfFactors& floors, int level, double enough);

  /// Those of the same factors stand together; factors ascend, but for the batch dim's.
  std::vector<Unrolling> run();

  /// At least so many steps has every one that was left out for its steps; infinity: there is none.
  double slow() const { return slow_; }
  /// The same of those for which there was no memory or no time (then 0).
  double unlisted() const { return unlisted_; }
  /// What all that were left out for their cost cost at least; and those for which there was no memory or time.
  double dear() const { return dear_; }
  double unlisted_floor() const { return unlisted_floor_; }

 private:
  /// Some of the rows and columns a dim may take. Their product is its factor, or the size of the dim where more units
  /// are as good. They can stand where so many iterations are left, and are worth it from so many on.
  struct Split {
    std::int32_t factor, rows, cols;
    Count stands_at = 1, worth_at = 1;
    double rounds = 0;  // iterations that the factor leaves
  };
  /// A way to lay the factors chosen so far over the two sides.
  struct Layout {
    Unrolling at;
    std::array<std::uint32_t, kMaxDims> split{};  // of the dims chosen: number in splits_
    Count rows = 1, cols = 1, most_cols = 1;
    int row_dims = 0, col_dims = 0;
    DimSet dims = 0;  // laid out on any side
    const FanoutRules::Sides* sides = nullptr;
    bool one_side = false;
  };

  const Split& split(const Layout& layout, int d) const {
    return splits_[static_cast<std::size_t>(d)][layout.split[d]];
  }

  void list_splits();
  double least_steps(int at, double taken, Count units) const;
  std::size_t skip_slow(const std::vector<Split>& all, double steps);
  void choose(int at, std::size_t first, double steps, Count units);
  void choose_of_batch(std::size_t first, double steps);
  void begin_with_floors();
  bool too_dear(int at, double steps);
  bool over(int at, double steps, Count units);
  bool lay(std::size_t before, int d, const Split& split, std::size_t first);
  bool mirrored(int d, Count factor, const Layout& before) const;
  bool stands_for(const Layout& a, const Layout& b) const;
  void keep(std::size_t first, double steps);
  void make_room();

  const Task& task_;
  const FanoutRules& fanout_;
  const std::vector<DimBounds>& bounds_;  // by dim
  SearchLimits& limits_;
  const int dims_, most_;
  const bool imperfect_, needs_differ_;
  const std::optional<Mirror> mirror_;
  const std::optional<BatchDim> batch_;
  double most_steps_;
  double slow_ = std::numeric_limits<double>::infinity(), unlisted_ = std::numeric_limits<double>::infinity();
  std::array<std::vector<Split>, kMaxDims> splits_;  // by dim; factors ascend, then rows
  std::array<int, kMaxDims> order_{};                // dims in the order in which factors are chosen
  std::array<double, kMaxDims + 1> to_come_{};       // iterations of the dims from here on, in this order
  std::vector<Layout> layouts_;                      // a stack: those of the factors chosen so far come last
  std::vector<std::size_t> kept_;                    // of them, where all factors are chosen
  std::vector<bool> laid_;                           // of them, which need no smaller factor of the batch dim
  std::vector<Unrolling> found_;
  std::vector<double> steps_;  // of those found; where floors are known: what they cost at least
  double least_ = 0;           // what the factors cost at least that were chosen last
  bool complete_ = true, expired_ = false;
  FloorOfFactors* floors_ = nullptr;
  int level_ = -1;                        // of the fanout, for floors
  std::array<Count, kMaxDims> chosen_{};  // factors, in the order of the dims
  bool by_floors_ = false, begin_again_ = false;
  double enough_ = std::numeric_limits<double>::infinity();
  double dear_ = std::numeric_limits<double>::infinity(), unlisted_floor_ = std::numeric_limits<double>::infinity();
  std::uint64_t looked_ = 0;  // factors, where floors are known
};

}  // namespace pliant::exact
