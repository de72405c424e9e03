// SPDX-License-Identifier: Apache-2.0
#include "dse/mappers/exact/setting.h"

#include <bit>
#include <set>
#include <utility>

#include "dse/mappers/exact/lattice/windows.h"

namespace pliant::exact {

namespace {

/// Loops of the same group run in any order.
using Groups = std::vector<DimSet>;

/// A pattern of one fixed sequence: every way to put the dims it does not name into the gaps, inside out. Gap i lies
/// inside the i-th dim of the sequence.
std::vector<Groups> interleaved(const std::vector<int>& sequence, DimSet dims) {
  Groups fixed;
  DimSet placed = 0;
  for (auto d = sequence.rbegin(); d != sequence.rend(); ++d) {
    if ((dims >> *d & 1U) == 0) continue;
    fixed.push_back(DimSet{1} << *d);
    placed |= fixed.back();
  }
  std::vector<Groups> found;
  std::vector<DimSet> gaps(fixed.size() + 1, 0);
  const auto place = [&](auto&& self, DimSet floating) -> void {
    if (floating == 0) {
      Groups groups;
      for (std::size_t g = 0; g <= fixed.size(); ++g) {
        if (gaps[g] != 0) groups.push_back(gaps[g]);
        if (g < fixed.size()) groups.push_back(fixed[g]);
      }
      found.push_back(std::move(groups));
      return;
    }
    const DimSet next = floating & (~floating + 1);
    for (DimSet& gap : gaps) {
      gap |= next;
      self(self, floating & ~next);
      gap &= ~next;
    }
  };
  place(place, dims & ~placed);
  return found;
}

/// Any precedence: every order that no further dim can join, inside out. Dims left out cannot loop beside the others.
std::vector<Groups> one_by_one(const OrderRules::Precedence& before, DimSet dims) {
  std::vector<Groups> found;
  Groups order;
  const auto place = [&](auto&& self, DimSet placed) -> void {
    bool last = true;
    for (DimSet rest = dims & ~placed; rest != 0; rest &= rest - 1) {
      const int d = std::countr_zero(rest);
      if ((before[static_cast<std::size_t>(d)] & placed) != 0) continue;  // what is inside already must be outside it
      last = false;
      order.push_back(DimSet{1} << d);
      self(self, placed | order.back());
      order.pop_back();
    }
    if (last) found.push_back(order);
  };
  place(place, 0);
  return found;
}

/// Every order that a pattern allows, as lists of groups from the inside out.
std::vector<Groups> groups_of(const OrderRules::Pattern& pattern, DimSet dims) {
  if (pattern.outside_rest.empty()) return interleaved(pattern.sequence, dims);
  if (pattern.outside_rest.size() > 1 || !pattern.sequence.empty()) return one_by_one(pattern.before, dims);
  const DimSet outside = pattern.outside_rest.front();
  return {{dims & ~outside, dims & outside}};
}

std::vector<Groups> orders_of(const MemoryRules& memory) {
  if (memory.orders.any_order()) return {{memory.may_loop}};
  std::vector<Groups> alternatives;
  std::set<Groups> seen;
  for (const OrderRules::Pattern& pattern : memory.orders.patterns())
    for (Groups& groups : groups_of(pattern, memory.may_loop))
      if (seen.insert(groups).second) alternatives.push_back(std::move(groups));
  return alternatives;
}

}  // namespace

Setting::Setting(const Task& task_in, const Problem& problem_in)
    : task(task_in),
      problem(problem_in),
      rules(task_in.layer, task_in.accelerator, task_in.flexibility, task_in.factorization) {
  perfect = task.factorization == Factorization::kPerfect;
  within = problem.conventions.stationarity == Conventions::Stationarity::kWithinLevel;
  one_loop = problem.conventions.halo == Conventions::Halo::kOneLoop;
  compute_runs = problem.conventions.compute_reuse == Conventions::ComputeReuse::kOutsideInnermostMemory;
  walks = displacement_walks(problem);
  for (auto memory = rules.memories.rbegin(); memory != rules.memories.rend(); ++memory) {
    memories.push_back(memory->level);
    may_loop.push_back(memory->may_loop);
    orders.push_back(orders_of(*memory));
  }
  for (int x = 0; x < problem.tensors; ++x)
    for (int d = 0; d < problem.dims; ++d)
      divides_slides |= (problem.sliding[x] >> d & 1U) != 0 && slide_may_be_divided(0, d);
}

bool Setting::slide_may_be_divided(int memory, int dim) const {
  if (one_loop) return false;
  for (auto k = static_cast<std::size_t>(memory); k + 1 < memories.size(); ++k)
    if (!rules.memory(memories[k]).allows_smaller(dim)) return true;
  return false;
}

DimSet Setting::staying(int tensor, int keeper) const {
  // Only outside an innermost memory that does not keep the tensor.
  if (!compute_runs || keeper == problem.innermost_memory) return 0;
  DimSet growable = 0;
  for (std::size_t k = 1; k < memories.size() && memories[k] >= (within ? keeper : 0); ++k) growable |= may_loop[k];
  return growable & ~problem.coupled[tensor];
}

}  // namespace pliant::exact
