// SPDX-License-Identifier: Apache-2.0
// What it costs when a tensor meets its first coupled loop at a memory: words of its pending transfers as a function of
// the node. Exact with perfect factors; a lower bound where the cost model's count is not a function of the node alone
// (docs/mappers.md lists those corners; complete mappings are always priced by the model itself).
#pragma once

#include <span>

#include "dse/mappers/exact/words/kernels.h"
#include "dse/mappers/exact/words/known_charges.h"

namespace pliant::exact {

/// Words of one pair: `varying` times the iterations left of the uncoupled dims at the node, in the linear cost of one
/// functional. Split so that the node-dependent part is a product of small tables.
class ChargeTables {
 public:
  ChargeTables(const ChargePlace& place, const std::vector<KeeperPair>& pairs, const std::vector<int>& pending,
               const Functional& functional, double repetitions);

  double at(const std::array<int, kMaxDims>& node) const;
  /// Windows that were counted: what making these tables takes most of its time for.
  std::size_t cells() const { return counted_; }
  /// The least over some states of every dim.
  double least(const std::array<std::vector<int>, kMaxDims>& states) const;
  /// Fills values for all nodes of a box; dims fastest first.
  void fill(std::span<const int> dims, std::span<const int> extent_by_dim, std::span<double> values) const;

 private:
  /// Iterations that repeat a transfer, by dim and state. Number 0 is all that are left outside; with remainders the
  /// words of a pair may need their own.
  using Repeats = std::array<KnownCharges::Iterations, kMaxDims>;
  static constexpr std::size_t kOnce = ~std::size_t{0};  ///< what does not repeat (quickflow's first time per sweep)
  using Ranks = std::vector<std::shared_ptr<const RankTable>>;
  /// weight * repeats * words of windows, those that are served or those that are delivered.
  struct Product {
    double weight = 0;
    std::size_t repeats = 0;
    bool served = true;
    Ranks ranks = {};
    const std::vector<double>& words(const RankTable& rank) const { return served ? rank.served : rank.delivered; }
  };
  /// First arrivals of outputs: no more than these words, which have no weight.
  struct Begun {
    double weight, first, most;
    Product words;
  };
  /// Fanouts between the memories of a pair, by level, and those between the parent and the node where that is inside.
  struct Fanouts {
    std::uint32_t inside = 0;          // the node: the child has copies there
    std::uint32_t counted_inside = 0;  // of these, those that the parent serves one by one
    std::uint32_t shared_outside = 0;  // outside the node, served as one
    std::uint32_t unshared = 0;        // between parent and child, served one by one
  };
  /// For each iteration left outside the node, windows left aside.
  struct Words {
    double served, delivered;
  };
  static Fanouts fanouts_of(const ChargePlace& place, const KeeperPair& pair);
  Words perfect_words(const ChargePlace& place, const Fanouts& fanouts) const;
  std::size_t fewest_repeats(const ChargePlace& place, std::uint32_t shared_outside, std::uint32_t counted_inside);
  std::size_t covering_repeats(const ChargePlace& place, const Fanouts& fanouts);
  void add_towards_compute(const ChargePlace& place, const KeeperPair& pair, const Weights& weights,
                           double repetitions);
  void forbid_unfinished(const ChargePlace& place, const KeeperPair& pair);
  void add_begun(double weight, double first, double most, const Product& words);
  void add_between_memories(const ChargePlace& place, const KeeperPair& pair, const Weights& weights);

  const Repeats& repeats(std::size_t number) const { return number == 0 ? left_ : fewer_[number - 1]; }
  std::shared_ptr<const RankTable> windows(const ChargePlace& place, const KeeperPair& pair,
                                           const Problem::AffineRank& rank);
  std::size_t add_repeats(Repeats repeats);
  double repeated(std::size_t number, const std::array<int, kMaxDims>& node) const;
  void add(Product product);
  double at(const Product& product, double left, const std::array<int, kMaxDims>& node) const;
  std::vector<Factor> factors(const Product& product) const;

  int dims_ = 0;
  double constant_ = 0;
  DimSet uncoupled_ = 0, affine_ = 0;
  Repeats left_;                // number 0
  std::vector<Repeats> fewer_;  // from number 1 on
  std::vector<Product> products_;
  std::vector<Begun> begun_;
  std::size_t counted_ = 0;
  std::array<std::vector<double>, kMaxDims>
      forbidden_;  // by dim and state: infinity where outputs would come unfinished to a memory that takes none
};

}  // namespace pliant::exact
