// SPDX-License-Identifier: Apache-2.0
#include "costmodel/displacement.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "costmodel/bits.h"

namespace pliant {

namespace {

constexpr int kMaxRanks = 2 * kMaxDims;
constexpr int kMaxLoops = kMaxDims * kMaxLevels;
using Displacement = std::array<double, kMaxRanks>;

}  // namespace

bool DisplacementWalk::needed(int tensor, int child) const {
  int loops = 0;
  for (int l = 0; l < child; ++l) {
    if (!problem_.is_memory[l]) continue;
    for (DimSet rest = problem_.affine_dims[tensor]; rest != 0; rest &= rest - 1)
      loops += nest_.bound(l, std::countr_zero(rest)) > 1 ? 1 : 0;
  }
  return loops > 1;
}

double DisplacementWalk::words(int tensor, int child, std::uint32_t united) const {
  const bool shortcut = problem_.conventions.halo == Conventions::Halo::kTwoIterations;
  // 1. The tile: extent along every rank (plain dims first, then affine ranks).
  std::array<double, kMaxRanks> extent{};
  std::array<int, kMaxDims> simple_rank{};
  int ranks = 0;
  double tile = 1;
  for (DimSet rest = problem_.simple[tensor]; rest != 0; rest &= rest - 1) {
    const int d = std::countr_zero(rest);
    simple_rank[d] = ranks;
    extent[ranks++] = nest_.tile(child, d);
  }
  const int first_affine = ranks;
  for (const Problem::AffineRank& rank : problem_.affine[tensor]) {
    double e = 1;
    for (int i = 0; i < rank.terms; ++i) {
      const auto coefficient = static_cast<double>(rank.coefficient[i]);
      const int d = rank.dim[i];
      e += coefficient * (nest_.tile(child, d) - 1);
      for_each_bit(united, [&](int l) { e += coefficient * nest_.tile(l + 1, d) * (nest_.bound(l, d) - 1); });
    }
    extent[ranks++] = e;
  }
  for (int r = 0; r < ranks; ++r) tile *= extent[r];

  // 2. The displacement when loop j advances and all loops inside it wrap.
  std::array<double, kMaxLoops> bound{}, cost{};
  std::array<int, kMaxLoops> state_of{};  // which remembered displacement this one is; -1 = no displacement
  std::array<Displacement, kMaxLoops> moved{};
  int loops = 0;
  Displacement wrap{};
  for (int l = child - 1; l >= 0; --l) {
    if (!problem_.is_memory[l]) continue;
    for (int position = 0; position < problem_.dims; ++position) {
      const int d = nest_.dim_at(l, position);
      if (nest_.bound(l, d) <= 1) continue;
      Displacement step{};
      const double size = nest_.tile(l + 1, d);
      if (problem_.simple[tensor] >> d & 1U) step[simple_rank[d]] = size;
      for (std::size_t r = 0; r < problem_.affine[tensor].size(); ++r) {
        const Problem::AffineRank& rank = problem_.affine[tensor][r];
        for (int i = 0; i < rank.terms; ++i)
          if (rank.dim[i] == d) step[first_affine + r] += static_cast<double>(rank.coefficient[i]) * size;
      }
      bound[loops] = nest_.bound(l, d);
      int along = -1, moving = 0;
      for (int r = 0; r < ranks; ++r) {
        moved[loops][r] = step[r] - wrap[r];
        wrap[r] += step[r] * (shortcut ? 1 : bound[loops] - 1);
        if (moved[loops][r] != 0) {
          ++moving;
          along = r;
        }
      }
      state_of[loops] = moving == 0 ? -1 : loops;
      for (int j = 0; j < loops && moving > 0; ++j)
        if (moved[j] == moved[loops]) {
          state_of[loops] = j;
          break;
        }
      cost[loops] = moving == 1 ? tile / extent[along] * std::min(std::abs(moved[loops][along]), extent[along]) : tile;
      ++loops;
    }
  }

  // 3. A block of j loops maps the remembered state to (words, next state); state `loops` means nothing remembered.
  const int none = loops;
  std::array<double, kMaxLoops + 1> block_words{}, next_words{};
  std::array<int, kMaxLoops + 1> block_out{}, next_out{};
  for (int s = 0; s <= none; ++s) block_out[s] = s;
  std::array<double, kMaxLoops + 1> once_words{};
  std::array<int, kMaxLoops + 1> once_out{};
  for (int j = 0; j < loops; ++j) {
    for (int s = 0; s <= none; ++s) {
      // advance loop j from state s, then run the block inside it
      int state = s;
      double words = 0;
      if (state_of[j] >= 0) {
        const bool partial = s == none || s == state_of[j];
        words = partial ? cost[j] : tile;
        state = partial ? state_of[j] : none;
      }
      once_words[s] = words + block_words[state];
      once_out[s] = block_out[state];
    }
    for (int s = 0; s <= none; ++s) {
      double words = block_words[s], left = bound[j] - 1;
      int state = block_out[s];
      if (shortcut) {  // iteration 1 stands for all later ones
        words += left * once_words[state];
        state = once_out[state];
        left = 0;
      }
      while (left > 0) {
        // A fixed point is reached after a step or two; longer cycles are followed one by one.
        if (once_out[state] == state) {
          words += left * once_words[state];
          break;
        }
        words += once_words[state];
        state = once_out[state];
        left -= 1;
      }
      next_words[s] = words;
      next_out[s] = state;
    }
    block_words = next_words;
    block_out = next_out;
  }
  return tile + block_words[none];
}

}  // namespace pliant
