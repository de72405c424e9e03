// SPDX-License-Identifier: Apache-2.0
// What the parts of a proof cost, in units of about a nanosecond. Searches without a budget end by their sum: always at
// the same place, whatever the machine.
#pragma once

#include <cstdint>

namespace pliant::exact::effort {

/// Of a search without a budget: a few seconds. Where an easier task comes first, that one has a quarter of it, and
/// what it leaves goes to the other.
inline constexpr std::uint64_t kOfSearch = 5'800'000'000;

// Choices.
inline constexpr std::uint64_t kBranch = 250;   ///< the floor of a branch of the tree, or of a list's first factors
inline constexpr std::uint64_t kSorting = 200;  ///< listing one of many unrollings and putting it in its place

// Bounds.
inline constexpr std::uint64_t kUnrolling = 1'000;        ///< looking at one
inline constexpr std::uint64_t kRememberedWalks = 2'500;  ///< the same where displacements are remembered
inline constexpr std::uint64_t kGlance = 400;  ///< the same where it is closed at once and nothing has windows
inline constexpr std::uint64_t kKeeps = 300, kTile = 40;  ///< one way to keep, one tile for its bounds
inline constexpr std::uint64_t kTilesOfSetUp = 8;         ///< preparing to look at tiles, in tiles

// Lattice.
inline constexpr std::uint64_t kLattice = 20'000, kGroups = 10'000;  ///< its axes and boxes; of groups
inline constexpr std::uint64_t kTables = 2'000;                      ///< of one charge
inline constexpr std::uint64_t kWindow = 100, kWindowOfGroup = 200;  ///< each window in them; of each tile of a group
inline constexpr std::uint64_t kStart = 30, kLoop = 60, kEnd = 15;   ///< of the loops of one memory

// Search.
inline constexpr std::uint64_t kExpansion = 1'000;                    ///< besides the steps that it finds
inline constexpr std::uint64_t kPrice = 1'500, kUnevenPrice = 4'000;  ///< of a mapping, without and with remainders
inline constexpr std::uint64_t kChecking = 5'000;                     ///< that a mapping is legal
inline constexpr std::uint64_t kReadOff = 4'000;                      ///< making, pricing and judging one
inline constexpr std::uint64_t kMove = 2'000;                         ///< of the first mapping: a price and a check

}  // namespace pliant::exact::effort
