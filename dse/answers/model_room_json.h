// SPDX-License-Identifier: Apache-2.0
// A network that does not fit into the memory its weights come from, for scripts.
#pragma once

#include <nlohmann/json.hpp>

#include "dse/mappers/model_room.h"

namespace pliant {

inline nlohmann::ordered_json model_room_json(const ModelRoom& room) {
  return {{"memory", room.memory},
          {"capacity_bytes", room.capacity_bytes},
          {"weights_bytes", room.weights_bytes},
          {"activations_bytes", room.activations_bytes},
          {"chips", room.chips()}};
}

}  // namespace pliant
