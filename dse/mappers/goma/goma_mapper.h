// SPDX-License-Identifier: Apache-2.0
// GOMA's mapper: the mapping with the least closed-form energy among those that use all processing elements.
#pragma once

#include <memory>

#include "dse/mappers/mapper.h"

namespace pliant {

/// For GEMMs on a chain of memory, memory, fanout of one side, memory, compute (the template of the paper). Whatever
/// the task's objective, it minimises the closed form, and that is what it proves: no mapping with all processing
/// elements in use has less energy in the closed form. The mapping is then priced by the cost model; nothing is proven
/// about the task. InputError for other layers and accelerators.
std::unique_ptr<Mapper> make_goma_mapper();

}  // namespace pliant
