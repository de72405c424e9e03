// SPDX-License-Identifier: Apache-2.0
// GAMMA's genetic search within a flexibility class.
#pragma once

#include <memory>

#include "dse/mappers/mapper.h"

namespace pliant {

/// Genes: one factor chain per dim (tiles, parallel dims and array shape at once), one loop order per memory, one set
/// of kept tensors per memory. Every gene is drawn from what the class allows, so only the joint limits (capacity,
/// units of an array) can be broken; a child that breaks them is given up for its parent. GAMMA's growth and aging
/// change the number of levels, which hardware here has fixed: they do not apply. Options: population (100),
/// generations (100), crossover (0.57), reorder (0.47), tile (0.53), parallel (0.1), bypass (0.1) as probabilities,
/// parents (0.4) and elite (0.05) as shares of the population.
std::unique_ptr<Mapper> make_genetic_mapper();

}  // namespace pliant
