// SPDX-License-Identifier: Apache-2.0
// Random tasks for the campaign: wider than random_cases.h in every respect and smaller in size, so that a case takes
// about a millisecond. 2 to 5 memories and 1 to 4 fanouts (also of one unit, also several between two memories);
// limits on ports at any level, leakage, word widths; GEMMs, convolutions (strides above the kernel, dilated,
// transposed, depthwise) and einsums of 2 to 5 tensors with coefficients; every class with partial variants, every
// factorization rule, objective, preset and single convention; fractional cycles_per_mac; tiles of whole bursts;
// tensors that live in a memory, and room reserved there; elements of any width, networks with energy, systolic arrays.
#pragma once

#include <cstdint>

#include "dse/mappers/mapper.h"

namespace pliant::tests {

/// Seeds from here on draw every convention by itself, and mostly rules that leave remainders: where a bound rests on
/// conventions that go together in a preset, and where most wrong ones were found. Tests of single bounds use them; the
/// campaign asks such a task under a preset, for of a mix nothing is claimed.
inline constexpr std::uint64_t kAnyConventions = 1'000'000'000'000;

/// The same task for the same seed. It may be too large to enumerate, and it may have no legal mapping.
Task campaign_task(std::uint64_t seed);

/// The same without widths, energy of networks and systolic arrays: what the seed meant before there were any.
Task plain_campaign_task(std::uint64_t seed);

}  // namespace pliant::tests
