// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/exact/task/resolved_task.h"

#include <algorithm>
#include <bit>
#include <map>
#include <utility>

#include "costmodel/bits.h"
#include "dse/mappers/exact/task/facts.h"

namespace pliant::exact {

namespace {

using Groups = std::vector<DimSet>;

MemoryOrders::Precedence precedence(const OrderRules::Pattern& pattern, DimSet dims) {
  MemoryOrders::Precedence rule;
  for (const int d : members(dims))
    for (const int outside : members(pattern.before[static_cast<std::size_t>(d)] & dims))
      rule.inside[static_cast<std::size_t>(outside)] |= only(d);
  for (const DimSet inside : rule.inside) rule.free &= inside == 0;
  return rule;
}

/// Named dims one after the other, inside out; the others may stand at every place.
Groups named_sequence(const std::vector<int>& sequence, DimSet dims) {
  Groups groups;
  DimSet floating = dims;
  for (auto d = sequence.rbegin(); d != sequence.rend(); ++d) {
    if (!contains(floating, *d)) continue;
    groups.push_back(DimSet{1} << *d);
    floating &= ~groups.back();
  }
  if (groups.empty()) return {floating};
  for (DimSet& group : groups) group |= floating;
  return groups;
}

/// A stationarity: of two dims, the one that more of the role's tensors use lies outside. Dims that different tensors
/// use exclude each other. So the loops of a memory use a growing sequence of the role's tensors: every longest one.
std::vector<Groups> stationary_sequences(const std::vector<DimSet>& used_by_tensor, DimSet dims) {
  std::map<TensorSet, DimSet> by_users;  // dims by the tensors of the role that use them; subsets come first
  for (const int d : members(dims)) {
    TensorSet users = 0;
    for (std::size_t x = 0; x < used_by_tensor.size(); ++x)
      if (contains(used_by_tensor[x], d)) users |= only(x);
    by_users[users] |= only(d);
  }
  std::vector<Groups> found;
  Groups groups;
  const auto extend = [&](auto&& self, TensorSet last) -> void {
    bool longest = true;
    for (const auto& [users, group] : by_users) {
      if ((last & ~users) != 0 || (users == last && !groups.empty())) continue;
      // Only what comes next: nothing between the last and this one.
      const bool next = std::none_of(by_users.begin(), by_users.end(), [&, users = users](const auto& other) {
        const TensorSet between = other.first;
        return between != users && (between & ~users) == 0 && (last & ~between) == 0 &&
               (between != last || groups.empty());
      });
      if (!next) continue;
      longest = false;
      groups.push_back(group);
      self(self, users);
      groups.pop_back();
    }
    if (longest) found.push_back(groups);
  };
  extend(extend, 0);
  return found;
}

}  // namespace

MemoryOrders::MemoryOrders(const OrderRules& rules, DimSet dims) {
  if (rules.any_order()) {
    precedences.emplace_back();
    sequences.push_back({dims});
    return;
  }
  for (const OrderRules::Pattern& pattern : rules.patterns()) {
    precedences.push_back(precedence(pattern, dims));
    if (pattern.outside_rest.empty())
      sequences.push_back(named_sequence(pattern.sequence, dims));
    else
      for (Groups& groups : stationary_sequences(pattern.outside_rest, dims)) sequences.push_back(std::move(groups));
  }
  const auto keep_once = [](auto& list) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
  };
  keep_once(precedences);
  keep_once(sequences);
}

ResolvedTask::ResolvedTask(const Task& task_in, const Problem& problem_in)
    : task(task_in),
      problem(problem_in),
      rules(task_in.layer, task_in.accelerator, task_in.flexibility, task_in.factorization) {
  perfect = task.factorization == Factorization::kPerfect;
  within = problem.conventions.stationarity == Conventions::Stationarity::kWithinLevel;
  one_loop = problem.conventions.halo == Conventions::Halo::kOneLoop;
  compute_runs = problem.conventions.compute_reuse == Conventions::ComputeReuse::kOutsideInnermostMemory;
  walks = displacement_walks(problem);
  const Conventions::Halo halo = problem.conventions.halo;
  if (halo == Conventions::Halo::kDisplacement || halo == Conventions::Halo::kTwoIterations)
    for (int x = 0; x < problem.tensors; ++x) remembered |= TensorSet{problem.affine_dims[x] != 0} << x;
  for (auto memory = rules.memories.rbegin(); memory != rules.memories.rend(); ++memory) {
    memories.push_back(memory->level);
    may_loop.push_back(memory->may_loop);
    orders.emplace_back(memory->orders, memory->may_loop);
  }
  every_order = walks || std::ranges::any_of(problem.ports, [&](const Port& port) { return units_may_hold(port); });
  for (int x = 0; x < problem.tensors; ++x)
    for (int d = 0; d < problem.dims; ++d) every_order |= contains(problem.sliding[x], d) && slide_may_be_divided(0, d);
}

/// Is this a systolic array, and may no memory inside it keep the tensor that stays?
bool ResolvedTask::units_may_hold(const Port& array) const {
  return array.stationary >= 0 && std::ranges::none_of(rules.memories, [&](const MemoryRules& memory) {
           return memory.level > array.level && contains(memory.must_keep, array.stationary);
         });
}

bool ResolvedTask::slide_may_be_divided(int memory, int dim) const {
  if (one_loop) return false;  // there a slide is one loop
  DimSet outside = 0;
  for (std::size_t k = static_cast<std::size_t>(memory) + 1; k < memories.size(); ++k) outside |= may_loop[k];
  if (!contains(outside, dim)) return false;
  // A loop outside the parent repeats transfers that one at the parent slides.
  if (within) return true;
  // Moved out, the loop leaves smaller tiles behind: a rule may not allow them, a tensor that does not slide along the
  // dim gets more of them, a systolic array is filled with more of them, and the shares of a box are others.
  for (auto k = static_cast<std::size_t>(memory); k + 1 < memories.size(); ++k)
    if (!rules.memory(memories[k]).allows_smaller(dim)) return true;
  for (int x = 0; x < problem.tensors; ++x)
    if (contains(problem.affine_dims[x] & ~problem.sliding[x], dim)) return true;
  for (const Port& port : problem.ports)
    if (port.stationary >= 0 && problem.is_coupled(port.stationary, dim)) return true;
  return deals_boxes(problem);
}

DimSet ResolvedTask::staying(int tensor, int keeper) const {
  // Only outside an innermost memory that does not keep the tensor.
  if (!compute_runs || keeper == problem.innermost_memory) return 0;
  DimSet growable = 0;
  for (std::size_t k = 1; k < memories.size() && memories[k] >= (within ? keeper : 0); ++k) growable |= may_loop[k];
  return growable & ~problem.coupled[tensor];
}

}  // namespace pliant::exact
