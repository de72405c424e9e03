// SPDX-License-Identifier: Apache-2.0
#include "costmodel/nest.h"

#include <algorithm>
#include <bit>

#include "costmodel/imperfect.h"

namespace pliant {

Nest::Nest(const Problem& problem) : problem_(problem), loops_(problem) {
  for (int l = 0; l < problem_.levels; ++l)
    if (problem_.is_memory[l]) memory_[memories_++] = l;
  remembers_ = problem_.conventions.halo == Conventions::Halo::kDisplacement ||
               problem_.conventions.halo == Conventions::Halo::kTwoIterations;
  for (auto& dims : uncoupled_) dims.fill(kMaxDims);
  for (int x = 0; x < problem_.tensors; ++x)
    for_each_bit(loops_.all_dims() & ~problem_.coupled[x],
                 [&](int d) { uncoupled_[x][uncoupled_count_[x]++] = static_cast<std::uint8_t>(d); });
  for (const Port& port : problem_.ports) {
    LoadedPort loaded;
    loaded.bandwidth = port.bandwidth;
    if (port.stationary < 0) {
      loaded.level = port.level;
    } else {
      arrays_.push_back(ports_.size());
      loaded.first = static_cast<unsigned>(kOfPorts + ports_.size());
    }
    loaded.ring = loops_.ring(static_cast<unsigned>(loaded.level));
    ports_.push_back(loaded);
  }
  crowded_.reserve(ports_.size());
  for (PerLevel& row : copied_) row.at.fill(1);
  for (int x = 0; x < problem_.tensors; ++x) prepare_windows(x);
  output_ = static_cast<unsigned>(problem_.output);
  drain_ = problem_.conventions.drain;
  first_per_sweep_ = problem_.conventions.first_time == Conventions::FirstTime::kPerSweep;
  every_transfer_.resize(static_cast<std::size_t>(problem_.tensors * memories_ * (memories_ + 1)));
  for (int x = 0; x < problem_.tensors; ++x) kind_[x] = windows_[x].count == 0 ? Kind::kPlain : Kind::kPairs;
  auto transfer = every_transfer_.begin();
  for (int x = 0; x < problem_.tensors; ++x)
    for (int parent = 0; parent < memories_; ++parent)
      for (int child = 0; child <= memories_; ++child, ++transfer)
        if (parent < child) {
          *transfer = make_transfer(x, parent, child);
          if (transfer->odd) kind_[x] = Kind::kAny;
        }
  // Start from the mapping without loops, so that changes may come in any order.
  FlatMapping empty{};
  for (int l = 0; l < problem_.levels; ++l) {
    empty.bound[l].fill(1);
    for (int d = 0; d < problem_.dims; ++d) empty.order[l][d] = static_cast<std::uint8_t>(d);
    empty.keeps[l] = problem_.may_keep[l];
  }
  load(empty);
}

// ---- Changes ----

void Nest::load(const FlatMapping& mapping) {
  loops_.load_bounds(mapping);
  stale_rates_ = true;
  for (int x = 0; x < problem_.tensors; ++x) {
    keepers_[x] = 0;
    ++windows_[x].version;
    refresh_copies(x);
    mark(x);
  }
  for (int i = 0; i < memories_; ++i) {
    const int l = memory_[i];
    if (keeps_[l] != mapping.keeps[l]) {
      keeps_[l] = mapping.keeps[l];
      route_words(l);
    }
    for (int x = 0; x < problem_.tensors; ++x) keepers_[x] |= (keeps_[l] >> x & 1U) << i;
    loops_.set_order(l, mapping.order[l].data());
  }
}

void Nest::set_bounds(int dim, const Count* bound_by_level) {
  const LoopNest::Change change = loops_.set_bounds(dim, bound_by_level);
  if (!change.any()) return;
  if (change.spatial()) {
    stale_rates_ = true;
    for_each_bit(problem_.uncoupled[dim], [&](int x) { refresh_copies(x); });
    // Where sums are whole, outputs are finished, also along a dim that divides them simply.
    if (problem_.outputs_narrow && (problem_.summing >> dim & 1U) != 0) mark(problem_.output);
  }
  // Whom it concerns. Along a simple dim every word is covered once however it is split, so its tensors only care about
  // which loop moves them first: maybe one that appeared or vanished. Finding out takes longer than pricing them.
  if (change.toggled() || remembers_) {
    mark_all();
  } else {
    for_each_bit(problem_.not_simple[dim], [&](int x) { mark(x); });
  }
  for_each_bit(problem_.windowed[dim] & keeping_windows_, [&](int x) { ++windows_[x].version; });
}

void Nest::set_order(int level, const std::uint8_t* dims_outermost_first) {
  loops_.set_order(level, dims_outermost_first);
  // The order matters to transfers whose stationary run ends here, or whose sliding run may reach here.
  for (int x = 0; x < problem_.tensors; ++x) {
    if (problem_.sliding[x] != 0 || remembers_) {
      mark(x);
    } else if ((loops_.moving(x) >> level & 1U) != 0) {
      const Chain& chain = chains_[x];
      std::uint32_t ending = 0;
      for (int k = 0; k < chain.count; ++k)
        ending |= std::uint32_t{chain.at[k].base == static_cast<unsigned>(level)} << k;
      stale_transfers_[x] |= ending;
      stale_ |= TensorSet{ending != 0} << x;
    }
  }
}

void Nest::set_keeps(int level, TensorSet keeps) {
  const TensorSet changed = keeps_[level] ^ keeps;
  keeps_[level] = keeps;
  route_words(level);
  const int i = std::popcount(below(level) & ~problem_.fanouts);
  for_each_bit(changed, [&](int x) {
    const bool chained = chains_[x].keepers == keepers_[x];
    keepers_[x] ^= std::uint32_t{1} << i;
    stale_ |= TensorSet{1} << x;
    if (chained) splice_keeper(x, i);
  });
}

void Nest::mark(int x) {
  stale_ |= TensorSet{1} << x;
  stale_transfers_[x] = ~std::uint32_t{0};
}

void Nest::mark_all() {
  stale_ = below(problem_.tensors);
  stale_transfers_.fill(~std::uint32_t{0});
}

void Nest::refresh_copies(int x) {
  loops_.copies_along({uncoupled_[x].data(), uncoupled_count_[x]}, problem_.simple_words[x], copied_[x]);
}

// ---- The whole machine ----

std::span<const Transfer> Nest::transfers() const {
  std::size_t n = 0;
  for (int x = 0; x < problem_.tensors; ++x)
    for (int k = 0; k < chains_[x].count; ++k) {
      transfers_[n] = chains_[x].at[k].words;
      if (transfers_[n].child == problem_.levels) transfers_[n].first_child = 0;
      ++n;
    }
  return {transfers_.data(), n};
}

}  // namespace pliant
