// SPDX-License-Identifier: Apache-2.0
// What charges are made of, kept for the whole task. Words of windows and iterations that repeat a transfer are
// functions of the chains of a few dims, which the task keeps as long as it lives (chain/axis.h) and many choices
// share.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "dse/mappers/exact/words/window_words.h"

namespace pliant::exact {

class KnownCharges {
 public:
  std::shared_ptr<const RankTable> windows(const ChargePlace& place, const KeeperPair& pair,
                                           const Problem::AffineRank& rank);
  /// Of one dim: fewest_iterations() at the place.
  using Iterations = std::shared_ptr<const std::vector<double>>;
  Iterations iterations(const ChargePlace& place, int dim, std::uint32_t shared_outside, std::uint32_t counted_inside);

 private:
  /// What is asked, and the chains of the dims that it depends on.
  struct Key {
    std::array<std::uint64_t, 2> asked;
    std::array<const Chain*, kMaxDims> chains{};
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const;
  };

  template <typename Table>
  using Known = std::unordered_map<Key, std::shared_ptr<const Table>, Hash>;
  template <typename Table, typename Make>
  std::shared_ptr<const Table> found_or_made(Known<Table>& known, const Key& key, const Make& make);

  std::mutex mutex_;
  Known<RankTable> windows_;
  Known<std::vector<double>> iterations_;
  std::size_t kept_ = 0;  // numbers
};

}  // namespace pliant::exact
