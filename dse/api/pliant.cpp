// SPDX-License-Identifier: Apache-2.0
#include "dse/api/pliant.h"

#include <fmt/format.h>

#include "core/input/source_text.h"

namespace pliant {

SearchResult map_layer(const Accelerator& accelerator, const Layer& layer, const MapRequest& request) {
  const std::unique_ptr<Mapper> mapper = make_mapper(request.mapper);
  if (mapper == nullptr) {
    throw InputError(Diagnostic{.file = "",
                                .key = "mapper",
                                .what = fmt::format("no mapper `{}`", shorten(request.mapper, 40)),
                                .expected = "one of " + join(mapper_names()),
                                .did_you_mean = nearest(request.mapper, mapper_names())});
  }
  Task task;
  task.layer = layer;
  task.accelerator = accelerator;
  task.flexibility = accelerator.flexibility_of(layer);
  task.factorization = request.factorization;
  task.objective = request.objective;
  return run_mapper(*mapper, task, request.options);
}

}  // namespace pliant
