// SPDX-License-Identifier: Apache-2.0
// Does a network fit into the memory that its weights come from? Mappings ask of the outermost memory no more than a
// layer needs at a time; the weights of all layers must live there together.
#pragma once

#include <optional>
#include <string>

#include "core/accelerator.h"
#include "core/layer.h"

namespace pliant {

struct ModelRoom {
  std::string memory;            ///< the outermost that keeps weights
  double capacity_bytes = 0;     ///< of all its instances
  double weights_bytes = 0;      ///< of all layers: parameters, and caches that are read as weights
  double activations_bytes = 0;  ///< inputs and outputs of the layer that has most of them, if they live there too
  double chips() const;          ///< that hold it together
};

/// Of a network that does not fit; nullopt when it does, or when that memory is unbounded.
std::optional<ModelRoom> model_too_large(const Workload& workload, const Accelerator& accelerator);

/// "141 GB of weights do not fit into HBM (85.9 GB): 2 chips"
std::string model_room_text(const ModelRoom& room);

}  // namespace pliant
