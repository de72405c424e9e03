// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/exact/words/known_charges.h"

#include <utility>

#include "costmodel/bits.h"
#include "dse/mappers/exact/chain/iterations.h"
#include "dse/mappers/exact/task/facts.h"

namespace pliant::exact {

namespace {

/// Numbers that are kept at most, of one table and of all: then all are forgotten.
constexpr std::size_t kMostOfOne = 16'384, kMostOfAll = 4'194'304;

std::size_t numbers(const RankTable& table) { return 2 * table.served.size(); }
std::size_t numbers(const std::vector<double>& iterations) { return iterations.size(); }

}  // namespace

std::size_t KnownCharges::Hash::operator()(const Key& key) const {
  std::uint64_t mixed = key.asked[0] ^ key.asked[1] << 17;
  for (const Chain* chain : key.chains)
    mixed = (mixed ^ reinterpret_cast<std::uintptr_t>(chain)) * 0x9E3779B97F4A7C15ULL;
  return static_cast<std::size_t>(mixed ^ mixed >> 32);
}

template <typename Table, typename Make>
std::shared_ptr<const Table> KnownCharges::found_or_made(Known<Table>& known, const Key& key, const Make& make) {
  {
    const std::lock_guard lock(mutex_);
    if (const auto entry = known.find(key); entry != known.end()) return entry->second;
  }
  auto made = std::make_shared<const Table>(make());
  const std::size_t size = numbers(*made);
  const std::lock_guard lock(mutex_);
  if (size > kMostOfOne) return made;
  if (kept_ + size > kMostOfAll) {
    windows_.clear();
    iterations_.clear();
    kept_ = 0;
  }
  kept_ += size;
  return known.try_emplace(key, std::move(made)).first->second;
}

std::shared_ptr<const RankTable> KnownCharges::windows(const ChargePlace& place, const KeeperPair& pair,
                                                       const Problem::AffineRank& rank) {
  const Problem& p = place.resolved.problem;
  const auto number = static_cast<int>(&rank - p.affine[place.tensor].data());
  Key key{};
  for (const int asked : {place.memory, place.tensor, place.slide + 1, pair.parent, pair.child, number})
    key.asked[0] = key.asked[0] << 8 | static_cast<std::uint64_t>(asked);
  for (const int d : members(dims_of_windows(p, place.tensor, rank))) key.chains[d] = place.axes[d];
  return found_or_made(windows_, key, [&] { return WindowWords(place, pair, rank).table(); });
}

KnownCharges::Iterations KnownCharges::iterations(const ChargePlace& place, int dim, std::uint32_t shared_outside,
                                                  std::uint32_t counted_inside) {
  const Chain& chain = *place.axes[dim];
  const Key key{{static_cast<std::uint64_t>(place.memory), std::uint64_t{shared_outside} << 32 | counted_inside},
                {&chain}};
  return found_or_made(iterations_, key, [&] {
    return fewest_iterations(place.resolved, place.spatial, chain, dim, place.memory, shared_outside, counted_inside);
  });
}

}  // namespace pliant::exact
