// SPDX-License-Identifier: Apache-2.0
#include "dse/audit/problem.h"

#include <algorithm>
#include <span>
#include <string>

#include "core/arithmetic.h"
#include "dse/audit/index_values.h"

namespace pliant::audit {

namespace {

Problem::AffineRank as_affine(const Rank& rank) {
  Problem::AffineRank affine;
  for (const Term& term : rank.terms) {
    affine.dim[static_cast<std::size_t>(affine.terms)] = term.dim;
    affine.coefficient[static_cast<std::size_t>(affine.terms++)] = term.coefficient;
  }
  return affine;
}

DimSet dims_of(const Rank& rank) {
  DimSet dims = 0;
  for (const Term& term : rank.terms) dims |= DimSet{1} << term.dim;
  return dims;
}

bool keeps_role(const Level& level, Role role) {
  return level.is_memory() && level.memory().may_keep[static_cast<std::size_t>(role)];
}

}  // namespace

Problem::Problem(const Layer& of_layer, const Accelerator& of_accelerator)
    : layer(of_layer), accelerator(of_accelerator), conventions(of_accelerator.conventions) {
  dims = static_cast<int>(layer.dims.size());
  tensors = static_cast<int>(layer.tensors.size());
  levels = static_cast<int>(accelerator.levels.size()) - 1;
  for (std::size_t d = 0; d < layer.dims.size(); ++d) {
    size[d] = static_cast<double>(layer.dims[d].size);
    macs *= size[d];
  }
  for (int x = 0; x < tensors; ++x) {
    if (layer.tensors[static_cast<std::size_t>(x)].role == Role::kOutput) output = x;
    resolve_tensor(x);
  }
  summing = (DimSet{1} << dims) - 1;
  for (const Rank& rank : layer.tensors[static_cast<std::size_t>(output)].ranks)
    if (rank.terms.size() == 1) summing &= ~dims_of(rank);
  const Widths widths(layer, accelerator);
  double instances = 1;
  std::uint32_t together = 0;  // fanouts since the last memory
  for (int l = 0; l < levels; ++l) {
    const Level& level = accelerator.levels[static_cast<std::size_t>(l)];
    if (level.is_memory()) {
      resolve_memory(l, widths);
      leak_pj_per_cycle_total += instances * level.memory().leak_pj_per_cycle;
      together = 0;
      continue;
    }
    resolve_fanout(l);
    instances *= static_cast<double>(level.fanout().rows) * static_cast<double>(level.fanout().cols);
    together |= std::uint32_t{1} << l;
    for (int k = 0; k <= l; ++k)
      if ((together >> k & 1U) != 0) network[static_cast<std::size_t>(k)] = together;
  }
  const Compute& compute = accelerator.levels.back().compute();
  mac_pj = compute.mac_pj;
  cycles_per_mac = compute.cycles_per_mac;
  busy_cycles = macs * cycles_per_mac / instances;
  leak_pj_per_cycle_total += instances * compute.leak_pj_per_cycle;
}

/// A dim of one iteration moves nothing: an index is no window because of it. Where words are boxes, or displacements
/// are remembered, every term counts as it is written.
void Problem::resolve_tensor(int tensor) {
  const auto x = static_cast<std::size_t>(tensor);
  const bool boxes = conventions.footprint == Conventions::Footprint::kBoundingBox;
  const bool as_written = boxes || conventions.halo == Conventions::Halo::kDisplacement ||
                          conventions.halo == Conventions::Halo::kTwoIterations;
  std::vector<Count> sizes;
  for (const Dim& dim : layer.dims) sizes.push_back(dim.size);
  std::vector<Rank> ranks = layer.tensors[x].ranks;
  for (const Rank& rank : ranks) coupled[x] |= dims_of(rank);
  std::array<int, kMaxDims> named{};  // by dim: in so many indices
  for (Rank& rank : ranks) {
    if (!as_written)
      std::erase_if(rank.terms, [&](const Term& term) { return sizes[static_cast<std::size_t>(term.dim)] == 1; });
    for (const Term& term : rank.terms) ++named[static_cast<std::size_t>(term.dim)];
  }
  simple_words[x] = tensor_words[x] = most_words[x] = 1;
  for (const Rank& rank : joined_ranks(ranks, sizes)) {
    if (rank.terms.empty()) continue;
    const auto d = static_cast<std::size_t>(rank.terms.front().dim);
    std::vector<IndexTerm> values;
    for (const Term& term : rank.terms) values.push_back({term.coefficient, sizes[static_cast<std::size_t>(term.dim)]});
    tensor_words[x] *= static_cast<double>(fewest_values(values));
    most_words[x] *= static_cast<double>(most_values(values));
    // With boxes an index that steps over values has holes that count.
    if (rank.terms.size() == 1 && !(boxes && (rank.terms.front().coefficient != 1 || named[d] > 1))) {
      simple[x] |= dims_of(rank);
      simple_words[x] *= size[d];
      continue;
    }
    windows[x].push_back(as_affine(rank));
    affine_dims[x] |= dims_of(rank);
  }
  if (!boxes) affine[x] = windows[x];
  for (const Rank& rank : ranks) {
    if (boxes && (dims_of(rank) & affine_dims[x]) != 0) affine[x].push_back(as_affine(rank));
    for (const Term& term : rank.terms)
      if (rank.terms.size() > 1 && named[static_cast<std::size_t>(term.dim)] == 1) sliding[x] |= DimSet{1} << term.dim;
  }
}

void Problem::resolve_memory(int level, const Widths& widths) {
  const auto l = static_cast<std::size_t>(level);
  const Memory& memory = accelerator.levels[l].memory();
  is_memory[l] = true;
  innermost_memory = level;
  Count taken = 0;
  for (const Count words : memory.reserved_words) taken += words;
  capacity[l] =
      memory.capacity_words ? static_cast<double>((*memory.capacity_words - taken) / memory.buffers) : kInfinity;
  read_pj[l] = memory.read_pj;
  write_pj[l] = memory.write_pj;
  update_pj[l] = memory.update_pj;
  word_bits[l] = memory.word_bits;
  for (int x = 0; x < tensors; ++x)
    element_words[l][static_cast<std::size_t>(x)] = static_cast<double>(widths.held(level, x)) / memory.word_bits;
  finished_saves[l] = static_cast<double>(widths.of_sums(level) - widths.of(level, Role::kOutput)) / memory.word_bits;
  const auto add = [&](const std::optional<double>& read, const std::optional<double>& write,
                       const std::optional<double>& bus, TensorSet passing) {
    if (passing == 0) return;
    if (read) ports.push_back({level, passing, 0, *read});
    if (write) ports.push_back({level, 0, passing, *write});
    if (bus) ports.push_back({level, passing, passing, *bus});
  };
  add(memory.read_words_per_cycle, memory.write_words_per_cycle, memory.bus_words_per_cycle,
      (TensorSet{1} << tensors) - 1);
  for (std::size_t role = 0; role < kRoles; ++role) {
    TensorSet own = 0;
    for (int x = 0; x < tensors; ++x)
      if (static_cast<std::size_t>(layer.tensors[static_cast<std::size_t>(x)].role) == role && memory.may_keep[role])
        own |= TensorSet{1} << x;
    const Bandwidth& rates = memory.bandwidth_of[role];
    add(rates.read, rates.write, rates.bus, own);
  }
}

void Problem::resolve_fanout(int level) {
  const auto l = static_cast<std::size_t>(level);
  const Fanout& fanout = accelerator.levels[l].fanout();
  const std::uint32_t bit = std::uint32_t{1} << level;
  fanouts |= bit;
  network_pj[l] = fanout.pj_per_bit;
  if (fanout.pj_per_bit > 0) networks |= bit;
  for (std::size_t x = 0; x < layer.tensors.size(); ++x) {
    if (!(layer.tensors[x].role == Role::kOutput ? fanout.reduction : fanout.multicast)) continue;
    sharing[x] |= bit;
    if (fanout.partial_multicast) uniting[x] |= bit;
    if (conventions.equal_windows == Conventions::EqualWindows::kShared) sharing_equal[x] |= bit;
  }
  if (fanout.systolic) resolve_array(level, *fanout.systolic);
}

/// Fanouts of one array have no keeper of what stays between them; the outermost speaks for all. A tile of w words in a
/// unit comes in through the rows, rows * w cycles, and work runs as a wave from the first corner to the last.
void Problem::resolve_array(int level, Role role) {
  const std::vector<Level>& all = accelerator.levels;
  const auto belongs = [&](const Level& one) { return one.is_fanout() && one.fanout().systolic == role; };
  for (std::size_t k = static_cast<std::size_t>(level); k-- > 0 && !keeps_role(all[k], role);)
    if (belongs(all[k])) return;
  double rows = 1, cols = 1;
  bool hides = false, ended = false;
  for (std::size_t k = static_cast<std::size_t>(level); k < all.size(); ++k) {
    if (keeps_role(all[k], role)) {
      ended = true;
      hides |= all[k].memory().buffers > 1;
    }
    if (ended || !belongs(all[k])) continue;
    rows *= static_cast<double>(all[k].fanout().rows);
    cols *= static_cast<double>(all[k].fanout().cols);
  }
  for (int x = 0; x < tensors; ++x) {
    if (layer.tensors[static_cast<std::size_t>(x)].role != role) continue;
    for (const bool once : {false, true})
      if (!once || hides) ports.push_back({level, 0, 0, 1, x, rows, rows + cols - 2, once});
  }
}

}  // namespace pliant::audit
