// SPDX-License-Identifier: Apache-2.0
#include "support/small_cases.h"

#include <algorithm>
#include <string>

#include "flex/mapspace/factors.h"

namespace pliant::reference {

namespace {

bool chance(Random& random, int percent) { return pick(random, 1, 100) <= percent; }

template <class T>
void shuffle(Random& random, std::vector<T>& items) {
  for (std::size_t i = items.size(); i > 1; --i)
    std::swap(items[i - 1], items[static_cast<std::size_t>(pick(random, 0, static_cast<Count>(i) - 1))]);
}

Layer random_conv(Random& random) {
  ConvShape s;
  s.M = pick(random, 1, 4);
  s.C = pick(random, 1, 4);
  s.P = pick(random, 1, 6);
  s.Q = chance(random, 50) ? 1 : pick(random, 1, 4);
  s.R = pick(random, 1, 4);
  s.S = chance(random, 50) ? 1 : pick(random, 1, 3);
  if (chance(random, 30)) s.B = 2;
  if (chance(random, 50)) {
    s.stride_p = pick(random, 1, 3);
    s.stride_q = pick(random, 1, 3);
  }
  if (chance(random, 50)) {
    s.dilation_r = pick(random, 1, 3);
    s.dilation_s = pick(random, 1, 3);
  }
  if (chance(random, 20))
    s.groups = s.M = s.C;  // depthwise
  else if (chance(random, 20)) {
    s.groups = 2;
    s.M *= 2;
    s.C *= 2;
  }
  s.transposed = chance(random, 25);
  return make_conv("conv", s);
}

Layer random_einsum(Random& random) {
  Layer layer;
  layer.name = "einsum";
  const int dims = static_cast<int>(pick(random, 2, 5));
  for (int d = 0; d < dims; ++d) layer.dims.push_back({std::string(1, static_cast<char>('a' + d)), pick(random, 1, 6)});
  const int tensors = static_cast<int>(pick(random, 2, 4));
  for (int x = 0; x < tensors; ++x) {
    Tensor tensor;
    tensor.name = std::string(1, static_cast<char>('A' + x));
    tensor.role = x == tensors - 1 ? Role::kOutput : x == 0 ? Role::kInput : Role::kWeight;
    std::vector<int> free(static_cast<std::size_t>(dims));
    for (int d = 0; d < dims; ++d) free[static_cast<std::size_t>(d)] = d;
    shuffle(random, free);
    const int ranks = static_cast<int>(pick(random, 0, 3));
    for (int r = 0; r < ranks && !free.empty(); ++r) {
      Rank rank;
      const Count terms = chance(random, 40) ? 1 : pick(random, 1, 3);
      for (Count t = 0; t < terms && !free.empty(); ++t) {
        const int d = free.back();
        if (std::any_of(rank.terms.begin(), rank.terms.end(), [d](const Term& term) { return term.dim == d; }))
          continue;
        rank.terms.push_back({d, chance(random, 50) ? 1 : pick(random, 1, 4)});
        if (chance(random, 80))
          free.pop_back();  // else another index may mention the dim again
        else
          shuffle(random, free);
      }
      if (!rank.terms.empty()) tensor.ranks.push_back(rank);
    }
    layer.tensors.push_back(std::move(tensor));
  }
  return layer;
}

std::vector<SpatialLoop> spatial_loops(Random& random, const Fanout& fanout, const std::vector<Loop>& loops) {
  std::vector<SpatialLoop> spatial;
  for (const Loop& loop : loops)
    spatial.push_back({loop.dim, loop.bound, fanout.rows > 1 && chance(random, 50) ? Side::kRows : Side::kCols});
  return spatial;
}

}  // namespace

Count pick(Random& random, Count low, Count high) {
  return low + static_cast<Count>(random() % static_cast<std::uint64_t>(high - low + 1));
}

Layer random_layer(Random& random, Kind kind, Count max_macs) {
  while (true) {
    Layer layer;
    switch (kind) {
      case Kind::kGemm: {
        GemmShape s{chance(random, 20) ? 2 : 1, pick(random, 1, 9), pick(random, 1, 9), pick(random, 1, 9)};
        layer = make_gemm("gemm", s);
        break;
      }
      case Kind::kConv: layer = random_conv(random); break;
      case Kind::kEinsum: layer = random_einsum(random); break;
    }
    if (layer.macs() <= max_macs) return layer;
  }
}

Accelerator random_accelerator(Random& random, bool special_networks) {
  Accelerator accelerator;
  accelerator.name = "random";
  const Count memories = pick(random, 2, 4);
  for (Count m = 0; m < memories; ++m) {
    Memory memory;
    memory.may_bypass = {true, true, true};
    // Powers of two and small halves: sums of products with them are exact in any order.
    memory.read_pj = static_cast<double>(pick(random, 1, 64)) / 4;
    memory.write_pj = static_cast<double>(pick(random, 1, 64)) / 4;
    memory.update_pj = static_cast<double>(pick(random, 1, 64)) / 4;
    memory.leak_pj_per_cycle = static_cast<double>(pick(random, 0, 2)) / 4;
    if (chance(random, 30)) memory.read_words_per_cycle = static_cast<double>(pick(random, 1, 8)) / 2;
    if (chance(random, 30)) memory.write_words_per_cycle = static_cast<double>(pick(random, 1, 8)) / 2;
    if (!memory.read_words_per_cycle && !memory.write_words_per_cycle && chance(random, 40)) {
      std::optional<double>* const port[] = {&memory.bus_words_per_cycle, &memory.bandwidth_of[0].read,
                                             &memory.bandwidth_of[1].bus, &memory.bandwidth_of[2].write,
                                             &memory.bandwidth_of[2].bus};
      *port[pick(random, 0, 4)] = static_cast<double>(pick(random, 1, 8)) / 2;
    }
    accelerator.levels.push_back({"M" + std::to_string(m), memory});
    const Count fanouts = pick(random, 0, 2);
    for (Count f = 0; f < fanouts; ++f) {
      Fanout fanout;
      fanout.cols = pick(random, 2, 6);
      if (chance(random, 30)) fanout.rows = 2;
      if (special_networks) {
        fanout.multicast = !chance(random, 25);
        fanout.reduction = !chance(random, 25);
        fanout.partial_multicast = chance(random, 25);
      }
      accelerator.levels.push_back({"F" + std::to_string(m) + std::to_string(f), fanout});
    }
  }
  Compute compute;
  compute.mac_pj = 0.5;
  // Also MACs that take less than a cycle: steps that end within a cycle.
  const Count pace = pick(random, 1, 10);
  compute.cycles_per_mac = pace == 10 ? 2 : pace == 9 ? 0.5 : pace == 8 ? 0.75 : 1;
  compute.leak_pj_per_cycle = 0.25;
  accelerator.levels.push_back({"MAC", compute});
  return accelerator;
}

void add_widths_and_networks(Random& random, Accelerator& accelerator) {
  // Widths that are powers of two: shares of words stay exact.
  const auto width = [&] { return 4 << pick(random, 0, 3); };
  if (chance(random, 40)) {
    for (auto& bits : accelerator.bits.of)
      if (chance(random, 70)) bits = width();
    if (chance(random, 70)) accelerator.bits.partial_sums = 32;
  }
  for (Level& level : accelerator.levels) {
    if (!level.is_memory() || !chance(random, 20)) continue;
    level.memory().word_bits = width();
    level.memory().bits.of[static_cast<std::size_t>(pick(random, 0, 2))] = width();
    if (chance(random, 50)) level.memory().bits.partial_sums = width();
  }
  for (Level& level : accelerator.levels) {
    if (!level.is_fanout()) continue;
    if (chance(random, 35)) level.fanout().pj_per_bit = static_cast<double>(pick(random, 1, 8)) / 64;
    if (chance(random, 15)) level.fanout().systolic = static_cast<Role>(pick(random, 0, 2));
  }
  if (!chance(random, 20)) return;
  // One array of all fanouts, with shadow registers.
  const auto role = static_cast<Role>(pick(random, 0, 2));
  for (Level& level : accelerator.levels) {
    if (level.is_fanout()) level.fanout().systolic = role;
    if (level.is_memory() && chance(random, 50)) level.memory().buffers = 2;
  }
}

Mapping random_mapping(Random& random, const Layer& layer, const Accelerator& accelerator, Factorization rule) {
  const std::size_t levels = accelerator.levels.size() - 1;
  Mapping mapping;
  mapping.levels.resize(levels + 1);
  std::vector<Count> room(levels, 0);
  std::vector<std::vector<Loop>> loops(levels);
  for (std::size_t l = 0; l < levels; ++l)
    if (accelerator.levels[l].is_fanout()) room[l] = accelerator.levels[l].fanout().units();
  for (std::size_t d = 0; d < layer.dims.size(); ++d) {
    // Innermost outwards: n is what is left to iterate; the outermost memory takes the rest.
    Count n = layer.dims[d].size;
    for (std::size_t l = levels; l-- > 0;) {
      const bool spatial = accelerator.levels[l].is_fanout();
      Count bound = 1;
      if (l == 0) {
        bound = n;
      } else if (may_be_imperfect(rule, spatial)) {
        if (chance(random, spatial ? 60 : 50)) bound = pick(random, 1, spatial ? std::min(n, room[l]) : n);
      } else {
        std::vector<Count> fits;
        for (Count divisor : divisors(n))
          if (!spatial || divisor <= room[l]) fits.push_back(divisor);
        bound = fits[static_cast<std::size_t>(pick(random, 0, static_cast<Count>(fits.size()) - 1))];
        if (l > 1 && chance(random, 25)) bound = 1;
      }
      n = (n + bound - 1) / bound;
      if (spatial) room[l] /= bound;
      if (bound > 1) loops[l].push_back({static_cast<int>(d), bound});
    }
  }
  for (std::size_t l = 0; l < levels; ++l) {
    shuffle(random, loops[l]);
    if (accelerator.levels[l].is_fanout()) {
      mapping.levels[l].spatial = spatial_loops(random, accelerator.levels[l].fanout(), loops[l]);
      continue;
    }
    mapping.levels[l].temporal = loops[l];
    for (std::size_t x = 0; x < layer.tensors.size(); ++x)
      if (chance(random, 65)) mapping.levels[l].keeps |= TensorSet{1} << x;
  }
  for (std::size_t x = 0; x < layer.tensors.size(); ++x) {
    bool kept = false;
    for (const LevelMapping& level : mapping.levels) kept |= (level.keeps >> x & 1U) != 0;
    if (!kept) mapping.levels[0].keeps |= TensorSet{1} << x;
  }
  return mapping;
}

}  // namespace pliant::reference
