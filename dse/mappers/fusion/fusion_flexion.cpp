// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/fusion/fusion_flexion.h"

#include <memory>
#include <string>
#include <vector>

#include "core/flexibility_class.h"
#include "dse/mappers/fusion/fusion.h"

namespace pliant::fusion {

namespace {

/// Dims of a family that index what its layers make. Batches and groups of channels are no loops of a family's class.
std::vector<std::string> dims_made(const Layer& layer) {
  if (layer.operation == Operation::kConv || layer.operation == Operation::kDepthwise)
    return {layer.operation == Operation::kConv ? "M" : "C", "P", "Q"};
  if (layer.operation == Operation::kGemm) return {"M", "N"};
  std::vector<std::string> dims;
  for (std::size_t d = 0; d < layer.dims.size(); ++d)
    if ((layer.coupled(layer.output()) >> d & 1U) != 0) dims.push_back(layer.dims[d].name);
  return dims;
}

/// Orders of one or two different ones.
Count orders_of(Count dims, int depth) { return depth == 1 ? dims : dims * dims; }

Count allowed_orders(const FusionRule& rule, const std::vector<std::string>& dims) {
  if (!rule.tiles) return 0;
  Count allowed = 0;
  for (const std::string& dim : dims)
    allowed += !rule.dims || std::ranges::find(*rule.dims, dim) != rule.dims->end() ? 1 : 0;
  return orders_of(allowed, rule.depth == 1 ? 1 : static_cast<int>(kDeepestStack));
}

}  // namespace

std::optional<FusionFlexion> fusion_flexion(const Workload& workload, const Accelerator& accelerator) {
  if (!workload.graph) return std::nullopt;
  std::vector<Task> rows;
  for (const Workload::Entry& entry : workload.layers)
    rows.push_back({entry.layer, accelerator, accelerator.flexibility_of(entry.layer)});
  const std::unique_ptr<Mapper> mapper = make_mapper("exact");
  const SearchOptions options;
  const Search search(*mapper, workload, rows, options);
  const std::vector<int> homes = tile_homes(accelerator);
  FusionFlexion all;
  double h_f = 0, w_f = 0;
  for (const ChainSteps& steps : search.groups()) {
    if (steps.layers.size() != 2) continue;
    const std::vector<std::string> dims = dims_made(steps.chain->layer(0));
    Count c = 0, a = 0, a_and_w = 0;
    for (const int home : homes) {
      c += orders_of(static_cast<Count>(dims.size()), static_cast<int>(kDeepestStack));
      a += allowed_orders(rule_at(accelerator, home), dims);
    }
    const std::vector<Stack> stacks = all_stacks(*steps.chain, 0);
    for (const Stack& stack : stacks) {
      bool allowed = false;
      for (const int home : homes) {
        Setting setting;
        setting.chain = steps.chain;
        setting.home = home;
        setting.taken.assign(accelerator.levels.size(), {});
        allowed |= allows(rule_at(accelerator, home), *steps.chain, 0, stack) &&
                   rooms_of(setting, tile_words(setting, {stack}, nests_of({stack}), {})).has_value();
      }
      a_and_w += allowed ? 1 : 0;
    }
    if (c == 0 || stacks.empty()) continue;
    ++all.tensors;
    all.c += c;
    all.a += a;
    all.w += static_cast<Count>(stacks.size());
    all.a_and_w += a_and_w;
    h_f += static_cast<double>(a) / static_cast<double>(c);
    w_f += static_cast<double>(a_and_w) / static_cast<double>(stacks.size());
  }
  if (all.tensors == 0) return std::nullopt;
  all.h_f = h_f / all.tensors;
  all.w_f = w_f / all.tensors;
  return all;
}

}  // namespace pliant::fusion
