// SPDX-License-Identifier: Apache-2.0
#include "costmodel/problem.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/arithmetic.h"
#include "core/partial_sums.h"

namespace pliant {

namespace {

Problem::AffineRank resolve_rank(const Rank& rank) {
  Problem::AffineRank affine;
  for (const Term& term : rank.terms) {
    affine.dim[affine.terms] = term.dim;
    affine.coefficient[affine.terms++] = term.coefficient;
    affine.dims |= DimSet{1} << term.dim;
  }
  if (affine.terms == 2) {
    const Count unit = std::gcd(affine.coefficient[0], affine.coefficient[1]);
    for (int i = 0; i < 2; ++i) affine.reduced[i] = static_cast<double>(affine.coefficient[i] / unit);
  }
  return affine;
}

/// Without the dims of one iteration: they move nothing, so a 1x1 kernel has plain indices and no windows. Where words
/// are distinct values and runs of loops slide, that changes no count. Boxes and remembered displacements are counted
/// by rules of their own, which see every term.
std::vector<Rank> moving_ranks(const Problem& problem, std::vector<Rank> ranks) {
  const Conventions& by = problem.conventions;
  const bool all = by.footprint == Conventions::Footprint::kBoundingBox ||
                   by.halo == Conventions::Halo::kDisplacement || by.halo == Conventions::Halo::kTwoIterations;
  for (Rank& rank : ranks)
    if (!all) std::erase_if(rank.terms, [&](const Term& term) { return problem.size[term.dim] == 1; });
  return ranks;
}

void resolve_tensor(Problem& problem, int x) {
  const bool box = problem.conventions.footprint == Conventions::Footprint::kBoundingBox;
  problem.coupled[x] = problem.layer.coupled(x);
  const std::vector<Rank> ranks = moving_ranks(problem, problem.layer.tensors[x].ranks);
  std::array<int, kMaxDims> uses{};
  for (const Rank& rank : ranks)
    for (const Term& term : rank.terms) ++uses[term.dim];
  problem.simple_words[x] = 1;
  for (const Rank& rank : moving_ranks(problem, problem.layer.independent_ranks(x))) {
    if (rank.terms.empty()) continue;
    const Term& first = rank.terms.front();
    if (rank.terms.size() == 1 && !(box && (first.coefficient != 1 || uses[first.dim] > 1))) {
      problem.simple[x] |= DimSet{1} << first.dim;
      problem.simple_words[x] *= problem.size[first.dim];
      continue;
    }
    problem.windows[x].push_back(resolve_rank(rank));
    problem.affine_dims[x] |= problem.windows[x].back().dims;
  }
  if (!box) problem.affine[x] = problem.windows[x];
  for (const Rank& rank : ranks) {
    const Problem::AffineRank affine = resolve_rank(rank);
    if (box && (affine.dims & problem.affine_dims[x]) != 0) problem.affine[x].push_back(affine);
    if (affine.terms < 2) continue;
    for (const Term& term : rank.terms)
      if (uses[term.dim] == 1) problem.sliding[x] |= DimSet{1} << term.dim;
  }
}

/// A dim that is an index of the output by itself divides its elements: parts of it have no element in common.
DimSet summing_dims(const Layer& layer) {
  DimSet dims = (DimSet{1} << layer.dims.size()) - 1;
  for (const Rank& rank : layer.tensors[static_cast<std::size_t>(layer.output())].ranks)
    if (rank.terms.size() == 1) dims &= ~(DimSet{1} << rank.terms[0].dim);
  return dims;
}

/// The ports of a memory that have a limit: for all tensors, and for those of one role.
void resolve_ports(Problem& problem, int l, const Memory& memory) {
  const auto add = [&](const Bandwidth& bandwidth, TensorSet tensors, const std::string& whose) {
    if (tensors == 0) return;
    if (bandwidth.read) problem.ports.push_back({l, tensors, 0, *bandwidth.read, whose + "read"});
    if (bandwidth.write) problem.ports.push_back({l, 0, tensors, *bandwidth.write, whose + "write"});
    if (bandwidth.bus) problem.ports.push_back({l, tensors, tensors, *bandwidth.bus, whose + "bus"});
  };
  add({memory.read_words_per_cycle, memory.write_words_per_cycle, memory.bus_words_per_cycle},
      (TensorSet{1} << problem.tensors) - 1, "");
  for (std::size_t role = 0; role < kRoles; ++role) {
    TensorSet tensors = 0;
    for (int x = 0; x < problem.tensors; ++x)
      if (static_cast<std::size_t>(problem.layer.tensors[x].role) == role) tensors |= TensorSet{1} << x;
    add(memory.bandwidth_of[role], tensors & problem.may_keep[l], std::string(kRoleNames[role]) + " ");
  }
}

void resolve_memory(Problem& problem, int l, const Memory& memory) {
  problem.is_memory[l] = true;
  problem.innermost_memory = l;
  Count reserved = 0;
  for (const Count words : memory.reserved_words) reserved += words;
  problem.capacity[l] =
      memory.capacity_words ? static_cast<double>((*memory.capacity_words - reserved) / memory.buffers) : kInfinity;
  problem.prefetches[l] = memory.buffers > 1;
  problem.read_pj[l] = memory.read_pj;
  problem.write_pj[l] = memory.write_pj;
  problem.update_pj[l] = memory.update_pj;
  problem.leak_pj_per_cycle[l] = memory.leak_pj_per_cycle;
  problem.word_bits[l] = memory.word_bits;
  const auto words_of = [&](int bits) { return static_cast<double>(bits) / memory.word_bits; };
  for (int x = 0; x < problem.tensors; ++x) {
    const auto role = static_cast<std::size_t>(problem.layer.tensors[x].role);
    problem.element_words[l][x] = words_of(problem.accelerator.held_bits(l, problem.layer, x));
    if (!memory.may_keep[role]) continue;
    problem.may_keep[l] |= TensorSet{1} << x;
    if (!memory.may_bypass[role]) problem.must_keep[l] |= TensorSet{1} << x;
  }
  problem.finished_saves[l] = problem.element_words[l][problem.output] -
                              words_of(problem.accelerator.element_bits(l, problem.layer, problem.output));
  problem.outputs_narrow |= problem.finished_saves[l] > 0;
  if (!takes_partial_sums(memory)) problem.finished_only |= std::uint32_t{1} << l;
  resolve_ports(problem, l, memory);
}

bool may_keep(const Level& level, Role role) {
  return level.is_memory() && level.memory().may_keep[static_cast<std::size_t>(role)];
}

/// A tile of w words a unit is shifted through the rows in rows * w cycles; then the last unit starts, and the last
/// ends, as many cycles after the first as there are rows and columns between them. An array may be several fanouts,
/// with memories for other tensors between them; the outermost stands for all.
void resolve_array(Problem& problem, int l, Role role) {
  const std::vector<Level>& levels = problem.accelerator.levels;
  const auto is_array = [&](const Level& level) { return level.is_fanout() && level.fanout().systolic == role; };
  for (int k = l - 1; k >= 0 && !may_keep(levels[static_cast<std::size_t>(k)], role); --k)
    if (is_array(levels[static_cast<std::size_t>(k)])) return;
  double rows = 1, cols = 1;
  for (auto level = levels.begin() + l; level != levels.end() && !may_keep(*level, role); ++level) {
    if (!is_array(*level)) continue;
    rows *= static_cast<double>(level->fanout().rows);
    cols *= static_cast<double>(level->fanout().cols);
  }
  const bool may_hide = std::any_of(levels.begin() + l, levels.end(), [&](const Level& level) {
    return may_keep(level, role) && level.memory().buffers > 1;
  });
  for (int x = 0; x < problem.tensors; ++x) {
    if (problem.layer.tensors[static_cast<std::size_t>(x)].role != role) continue;
    problem.ports.push_back({l, 0, 0, 1, "fill", x, rows, rows + cols - 2});
    if (may_hide) problem.ports.push_back({l, 0, 0, 1, "fill", x, rows, rows + cols - 2, true});
  }
}

}  // namespace

Problem::Problem(const Layer& layer_in, const Accelerator& accelerator_in)
    : layer(layer_in), accelerator(accelerator_in), conventions(accelerator_in.conventions) {
  dims = static_cast<int>(layer.dims.size());
  tensors = static_cast<int>(layer.tensors.size());
  levels = static_cast<int>(accelerator.levels.size()) - 1;
  output = layer.output();
  macs = 1;
  for (int d = 0; d < dims; ++d) {
    size[d] = static_cast<double>(layer.dims[d].size);
    macs *= size[d];
  }
  for (int x = 0; x < tensors; ++x) {
    resolve_tensor(*this, x);
    if (sliding[x] != 0) sliding_tensors |= TensorSet{1} << x;
    tensor_words[x] = static_cast<double>(layer.tensor_words(x));
    for (int d = 0; d < dims; ++d) {
      if (!is_coupled(x, d)) uncoupled[d] |= TensorSet{1} << x;
      if (!(simple[x] >> d & 1U)) not_simple[d] |= TensorSet{1} << x;
      if (affine_dims[x] >> d & 1U) windowed[d] |= TensorSet{1} << x;
    }
  }
  summing = summing_dims(layer);
  double copies = 1;
  for (int l = 0; l < levels; ++l) {
    const Level& level = accelerator.levels[l];
    built[l] = copies;
    if (level.is_memory()) {
      resolve_memory(*this, l, level.memory());
      leak_pj_per_cycle_total += copies * leak_pj_per_cycle[l];
    } else {
      const Fanout& fanout = level.fanout();
      multicast[l] = fanout.multicast;
      reduction[l] = fanout.reduction;
      partial_multicast[l] = fanout.partial_multicast;
      const std::uint32_t bit = std::uint32_t{1} << l;
      fanouts |= bit;
      for (int x = 0; x < tensors; ++x) {
        if (!(x == output ? fanout.reduction : fanout.multicast)) continue;
        sharing[x] |= bit;
        if (fanout.partial_multicast) uniting[x] |= bit;
      }
      network_pj[l] = fanout.pj_per_bit;
      if (fanout.pj_per_bit > 0) networks |= bit;
      if (fanout.systolic) resolve_array(*this, l, *fanout.systolic);
      copies *= static_cast<double>(fanout.units());
    }
  }
  built[levels] = copies;
  if (conventions.equal_windows == Conventions::EqualWindows::kShared) sharing_equal = sharing;
  int inside = levels;
  for (int l = levels - 1; l >= 0; --l) {
    if (is_memory[l]) {
      inside = l;
    } else {
      gap[l] = inside;
    }
  }
  for (int l = 0; l < levels; ++l)
    for (int k = 0; k < levels; ++k)
      if (!is_memory[l] && !is_memory[k] && gap[l] == gap[k]) network[l] |= std::uint32_t{1} << k;
  const Compute& compute = accelerator.levels.back().compute();
  mac_pj = compute.mac_pj;
  cycles_per_mac = compute.cycles_per_mac;
  busy_cycles = macs * cycles_per_mac / copies;
  compute_leak_pj_per_cycle = compute.leak_pj_per_cycle;
  leak_pj_per_cycle_total += copies * compute_leak_pj_per_cycle;
}

FlatMapping flatten(const Problem& problem, const Mapping& mapping) {
  FlatMapping flat{};
  for (int l = 0; l < problem.levels; ++l) {
    flat.bound[l].fill(1);
    flat.keeps[l] = mapping.levels[l].keeps;
    DimSet placed = 0;
    int at = 0;
    for (const Loop& loop : mapping.levels[l].temporal) {
      flat.bound[l][loop.dim] *= loop.bound;
      if (placed >> loop.dim & 1U) continue;
      placed |= DimSet{1} << loop.dim;
      flat.order[l][at++] = static_cast<std::uint8_t>(loop.dim);
    }
    for (const SpatialLoop& loop : mapping.levels[l].spatial) flat.bound[l][loop.dim] *= loop.bound;
    for (int d = 0; d < problem.dims; ++d)
      if (!(placed >> d & 1U)) flat.order[l][at++] = static_cast<std::uint8_t>(d);
  }
  return flat;
}

}  // namespace pliant
