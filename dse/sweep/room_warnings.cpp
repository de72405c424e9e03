// SPDX-License-Identifier: Apache-2.0
#include "dse/sweep/room_warnings.h"

#include <fmt/format.h>

#include "core/input/diagnostics.h"
#include "core/input/load.h"
#include "core/input/load_accelerator.h"
#include "dse/mappers/model_room.h"

namespace pliant {

std::vector<std::string> room_warnings(const Library& library, const Sweep& sweep) {
  std::vector<std::string> warnings;
  for (const std::string& name : sweep.accelerators) {
    std::optional<Accelerator> accelerator;
    try {
      accelerator = load_accelerator(library, name, sweep.settings);
    } catch (const InputError&) {  // complete only with the values of an axis
      continue;
    }
    for (const Workload& workload : sweep.workloads)
      if (const auto room = model_too_large(workload, *accelerator))
        warnings.push_back(fmt::format("{} on {}: {}", workload.name, accelerator->name, model_room_text(*room)));
  }
  return warnings;
}

}  // namespace pliant
