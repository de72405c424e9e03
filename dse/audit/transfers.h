// SPDX-License-Identifier: Apache-2.0
// What the words of one choice cost, written after docs/model.md: every transfer (one tensor between two memories that
// keep it, next to each other) as a function of the tile at which the run of loops that leave it in place ends.
//
// A node is the tile: by dim, the iterations in time inside it (a divisor of what the unrolling leaves). All spatial
// factors are those of the choice. Words are never more than the cost model counts; docs/audit.md says where less.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "dse/audit/certificate.h"
#include "dse/audit/problem.h"

namespace pliant::audit {

/// What is added up over the transfers: energy without leakage (index 0), and cycles of every limited port.
struct Measures {
  explicit Measures(const Problem& problem);
  std::span<const Port> ports;  ///< measure i + 1
  std::size_t size() const { return 1 + ports.size(); }
  /// Adds the cycles of so many words, written or read at a level by copies of it, to the ports that they pass.
  void charge(std::vector<double>& per_word, int tensor, int level, bool write, double words, double copies) const;
};

struct Transfer {
  int tensor = 0, parent = 0, child = 0;  ///< levels; child == Problem::levels: the compute units
  /// By measure: per word served by the parent, per word delivered to the children, and what does not depend on tiles.
  std::vector<double> served, delivered, constant;
  double served_words = 0, delivered_words = 0;  ///< of one sweep: copies included, windows left aside
  /// No fewer words than these, whatever the tiles.
  double least_served = 0, least_delivered = 0;
  /// With remainders, outputs: per word that is read back by the parent or filled into the child, and how many words at
  /// most arrive there for the first time and are not.
  std::vector<double> read_back, fill;
  double most_first_parent = 0, most_first_child = 0;
};

/// The spatial side of a choice, and its transfers.
class ChoiceTransfers {
 public:
  /// With remainders, units may be idle: only what needs no count of copies is certain then. Of outputs whose windows
  /// overlap, max(0, arrivals - most first arrivals) is read back: at least 0, and at least the difference. Neither is
  /// always the better bound; `differences` takes the second one everywhere.
  ChoiceTransfers(const Problem& problem, const Measures& measures, const Factors& unrolling, const Kept& kept,
                  Factorization factorization, bool differences = false);

  const Problem& problem() const { return p_; }
  Count factor(int level, int dim) const { return factor_[level][dim]; }  ///< 1 at memories
  /// Product of the factors at fanouts inside a level.
  Count inside(int level, int dim) const { return inside_[level][dim]; }
  Count left(int dim) const { return left_[dim]; }  ///< iterations in time, all levels together
  double steps() const { return steps_; }
  double copies(int level) const { return copies_[level]; }
  /// By tensor, from the inside out. The first is that of the compute units; it has no tiles to depend on.
  const std::vector<Transfer>& of(int tensor) const { return transfers_[tensor]; }

  /// Words along the tensor's affine dims, served and delivered, for a run that ends at a loop of `mover_level` over
  /// `mover_dim` (-1: nothing slides) with this bound; `tile` = iterations in time inside the child.
  struct Windows {
    double served = 1, delivered = 1;
  };
  Windows windows(const Transfer& transfer, const std::array<Count, kMaxDims>& tile, int mover_level, int mover_dim,
                  Count bound) const;

 private:
  void spread(const Factors& unrolling);
  Transfer make_transfer(const Measures& measures, int tensor, int parent, int child) const;
  void charge_input(const Measures& measures, Transfer& transfer) const;
  void charge_output(const Measures& measures, Transfer& transfer, const Transfer* inner) const;
  double most_first_arrivals(int level) const;
  double finished_saves(int level) const;
  double network_pj(const Transfer& transfer) const;
  void charge_compute_network(Transfer& transfer) const;
  void charge_array(const Measures& measures, Transfer& transfer) const;
  double copies_outside(int level, DimSet dims) const;  ///< product of the factors of these dims at fanouts outside
  double unshared(const Transfer& transfer) const;
  double extent(const Problem::AffineRank& rank, const Transfer& transfer, const std::array<Count, kMaxDims>& tile,
                int mover_level, int mover_dim, Count bound, std::uint32_t united, bool beside) const;
  Count displacements(const Problem::AffineRank& rank, std::uint32_t fanouts,
                      const std::array<Count, kMaxDims>& tile) const;
  Count fewest_displacements(const Problem::AffineRank& rank, std::uint32_t fanouts,
                             const std::array<Count, kMaxDims>& tile) const;
  double distinct(const Problem::AffineRank& rank, const Transfer& transfer, const std::array<Count, kMaxDims>& tile,
                  int mover_level, std::uint32_t united) const;
  std::uint32_t fanouts_between(int parent, int child) const;

  void least_towards_compute(Transfer& transfer) const;
  double least_with_idle_units(const Transfer& transfer) const;
  double share_of_windows(const Problem::AffineRank& rank, const Transfer& transfer) const;
  /// Units of one dim at work, in how large a share of its iterations; windows of neighbours are a step apart.
  struct Rounds {
    Count step = 0;
    std::vector<std::pair<Count, double>> units;
  };
  std::vector<Rounds> rounds_under(std::uint32_t fanouts, int dim, Count coefficient) const;
  static double share_of(std::span<const Rounds* const> dims);

  const Problem& p_;
  const Factorization factorization_;
  const bool remainders_, differences_;
  std::array<std::array<Count, kMaxDims>, kMaxLevels + 1> factor_{}, inside_{};
  std::array<Count, kMaxDims> left_{};
  std::array<double, kMaxLevels + 1> copies_{};
  double steps_ = 1;
  std::vector<std::vector<Transfer>> transfers_;
};

}  // namespace pliant::audit
