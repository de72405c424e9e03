// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/exact/words/known_charges.h"

#include "costmodel/bits.h"
#include "dse/mappers/exact/chain/iterations.h"

namespace pliant::exact {

namespace {

/// Numbers that are kept at most, of one table and of all: then all are forgotten.
constexpr std::size_t kMostOfOne = 16'384, kMostOfAll = 4'194'304;

}  // namespace

KnownCharges& ResolvedTask::known_charges() const {
  std::call_once(known_charges_made_, [this] { known_charges_ = std::make_shared<KnownCharges>(); });
  return *known_charges_;
}

std::size_t KnownCharges::Hash::operator()(const Key& key) const {
  std::uint64_t mixed = key.asked[0] ^ key.asked[1] << 17;
  for (const Chain* chain : key.chains)
    mixed = (mixed ^ reinterpret_cast<std::uintptr_t>(chain)) * 0x9E3779B97F4A7C15ULL;
  return static_cast<std::size_t>(mixed ^ mixed >> 32);
}

bool KnownCharges::keep(std::size_t numbers) {
  if (numbers > kMostOfOne) return false;
  if (kept_ + numbers > kMostOfAll) {
    windows_.clear();
    iterations_.clear();
    kept_ = 0;
  }
  kept_ += numbers;
  return true;
}

std::shared_ptr<const RankTable> KnownCharges::windows(const ChargePlace& place, const KeeperPair& pair,
                                                       const Problem::AffineRank& rank) {
  const Problem& p = place.resolved.problem;
  const auto number = static_cast<int>(&rank - p.affine[place.tensor].data());
  Key key{};
  for (const int asked : {place.memory, place.tensor, place.slide + 1, pair.parent, pair.child, number})
    key.asked[0] = key.asked[0] << 8 | static_cast<std::uint64_t>(asked);
  DimSet dims = rank.dims;  // and those of which units make one window with its own
  for (const Problem::AffineRank& joint : p.windows[place.tensor])
    if ((joint.dims & rank.dims) != 0) dims |= joint.dims;
  for (const int d : members(dims)) key.chains[d] = place.axes[d];
  {
    const std::lock_guard lock(mutex_);
    if (const auto entry = windows_.find(key); entry != windows_.end()) return entry->second;
  }
  auto table = std::make_shared<const RankTable>(WindowWords(place, pair, rank).table());
  const std::lock_guard lock(mutex_);
  if (keep(2 * table->served.size())) windows_.try_emplace(key, table);
  return table;
}

KnownCharges::Iterations KnownCharges::iterations(const ChargePlace& place, int dim, std::uint32_t shared_outside,
                                                  std::uint32_t counted_inside) {
  const Chain& chain = *place.axes[dim];
  const Key key{{static_cast<std::uint64_t>(place.memory), std::uint64_t{shared_outside} << 32 | counted_inside},
                {&chain}};
  {
    const std::lock_guard lock(mutex_);
    if (const auto entry = iterations_.find(key); entry != iterations_.end()) return entry->second;
  }
  auto fewest = std::make_shared<const std::vector<double>>(
      fewest_iterations(place.resolved, place.spatial, chain, dim, place.memory, shared_outside, counted_inside));
  const std::lock_guard lock(mutex_);
  if (keep(fewest->size())) iterations_.try_emplace(key, fewest);
  return fewest;
}

}  // namespace pliant::exact
