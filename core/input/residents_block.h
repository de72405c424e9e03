// SPDX-License-Identifier: Apache-2.0
// The keys `resident` and `reserved` of memories: tensors that live on chip while a layer runs, and the room they take.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "core/accelerator.h"
#include "core/input/cursor.h"

namespace pliant {

/// After `capacity` and `keeps` are known. `resident` is what the key of that name lists.
void read_residents(const Cursor& block, const std::array<bool, kRoles>& resident, Memory& memory);

/// What only the whole chain shows: nothing outside keeps what lives inside, and a memory that keeps nothing stands
/// where everything lives inside of it. `items` are the blocks of the levels.
void check_residents(const std::vector<Cursor>& items, const std::vector<Level>& levels);

/// Does a tensor of this role live in one of the memories?
bool lives_on_chip(const std::vector<Level>& levels, std::size_t role);

/// The value of `reserved`; empty where nothing is.
std::string write_reserved(const Memory& memory);

}  // namespace pliant
