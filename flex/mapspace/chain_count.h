// SPDX-License-Identifier: Apache-2.0
// How many factor chains there are (flex/mapspace/factors.h says what they are).
#pragma once

#include <span>

#include "core/big_count.h"
#include "core/mapping.h"
#include "flex/mapspace/factors.h"

namespace pliant {

/// The number of chains that for_each_chain visits, without visiting them: a sum over the values that can be left, of
/// which there are at most 2 sqrt(size).
BigCount count_chains(Count size, std::span<const Slot> slots, Factorization rule);

/// Perfect chains over unlimited slots: the product over primes of binomial(exponent + slots - 1, slots - 1).
BigCount count_perfect_chains(Count size, int slots);

BigCount binomial(int n, int k);
BigCount factorial(int n);

}  // namespace pliant
