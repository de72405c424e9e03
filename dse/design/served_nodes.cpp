// SPDX-License-Identifier: Apache-2.0
#include "dse/design/served_nodes.h"

#include <utility>

#include "dse/sweep/serving_task.h"

namespace pliant {

bool asks_serving(const Sweep& sweep, const SearchNode& node, std::int64_t inner) {
  if (sweep.served.empty()) return false;
  if (!node.designs) return node.ideal && !node.asked_serving && (!node.box.is_point() || inner > 1);
  const PointDesign& one = node.designs->front();
  return one.design->accelerator && one.served.empty();
}

bool serve_node(const Sweep& sweep, SearchNode& node, const std::stop_token& stop) {
  if (!node.designs) {
    const auto searched = search_serving_bounds(sweep, node.ideal->accelerator, stop);
    if (!searched) return false;
    node.asked_serving = true;
    raise(node.ideal->serving, *searched);
    return true;
  }
  PointDesign& one = node.designs->front();
  auto served = solve_all_serving(sweep, *one.design, stop);
  if (stop.stop_requested()) return false;
  one.serving = serving_bounds_of(served);
  one.served = std::move(served);
  one.stale = true;
  return true;
}

}  // namespace pliant
