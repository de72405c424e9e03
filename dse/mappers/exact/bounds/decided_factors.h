// SPDX-License-Identifier: Apache-2.0
// The floor of all unrollings that have some factors in common (decided_words.h).
//
// The innermost fanouts, with no memory between them, are decided last and together: only the products of their factors
// count. What each combination of factors shares is known before anything else is decided. So there is a floor for it,
// and a frontier of those that share the most, of which one is as good as whatever the last fanouts will be.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "dse/mappers/exact/bounds/decided_words.h"
#include "dse/mappers/exact/choices/partial_floor.h"

namespace pliant::exact {

class DecidedFactors final : public PartialFloor {
 public:
  DecidedFactors(const ResolvedTask& resolved, const ChoiceBounds& bounds, SearchLimits& limits);

  PartialFloor::Last decide_last(std::shared_ptr<const NetworkUnrollings> network, double enough) override;
  Others least_of_each(double limit, double most_steps, std::vector<Found>& found) override;
  void decide(int level, int d, Count rows, Count cols) override { words_.decide(level, d, rows, cols); }
  void reopen(int level, int d) override { words_.reopen(level, d); }
  double least(double steps, double enough) const override;
  std::uint64_t newly_looked() override { return std::exchange(looked_, 0); }
  double least_energy() const { return words_.least_energy(combine(0)); }
  /// As `least`, whatever the last fanouts are: also of unrollings that are in no list.
  double least_of_any(double steps) const { return words_.least(combine(0), steps, nullptr); }

 private:
  using Known = DecidedWords::Known;
  using Sharing = DecidedWords::Sharing;

  /// A product over dims of what each has by its factor.
  struct Product {
    double of_decided;
    struct Table {
      const std::uint16_t* at;  // by combination: which factor
      const double* by_factor;
    };
    int dims = 0;
    std::array<Table, kMaxDims> tables;

    double of(std::size_t combination) const {
      double product = of_decided;
      for (int i = 0; i < dims; ++i) product *= tables[i].by_factor[tables[i].at[combination]];
      return product;
    }
  };
  /// Over these dims as well: what is left by the units of last_, over what was left without them.
  void multiply(Product& product, DimSet dims, int outside, std::uint32_t fanouts,
                const std::array<double, kMaxDims>& sizes, double (*measure)(double size, double units));

  /// What moves of a tensor to the compute units, by its innermost keeper.
  struct Moved {
    double fixed, unshared;  // where no other fanouts are inside the keeper
    Product words;           // otherwise
  };
  void find_moved(int tensor, const DecidedWords::Keepers& keepers);

  using Factors = NetworkUnrollings::Factors;
  /// As things stand; until the next call.
  const DecidedWords::Combinations& combine(std::uint32_t last) const;
  Sharing sharing(const Factors& factors, double steps) const;
  void list_last(double enough);
  void find_frontier(std::size_t below);
  double iterations() const;
  bool last_is_open() const;

  const ResolvedTask& resolved_;
  const Problem& p_;
  const ChoiceBounds& bounds_;
  SearchLimits& limits_;
  DecidedWords words_;
  /// What the fanouts that are decided last can be.
  struct Last {
    std::shared_ptr<const NetworkUnrollings> network;
    std::uint32_t fanouts = 0;
    std::array<std::vector<Count>, kMaxDims> factors;
    std::array<double, kMaxDims> others{};  // units along a dim that were decided before
    /// By combination of factors, the least floor first; which factors, and its number in the network.
    std::vector<Sharing> sharing;
    std::array<std::vector<std::uint16_t>, kMaxDims> at;
    std::vector<std::uint32_t> number;
    /// Those below what is enough that share the most; unless they are too many.
    std::vector<Sharing> frontier;
    bool has_frontier = false;
    double beyond = kInfinity;  // of those that are not even listed
  };
  Last last_;
  mutable DecidedWords::Combinations combinations_;
  // For least_of_each.
  std::array<std::vector<Moved>, kMaxTensors> moved_;
  std::vector<double> values_;
  mutable std::size_t below_before_ = 0;  // of the frontier
  mutable std::uint64_t looked_ = 0;
};

}  // namespace pliant::exact
