// SPDX-License-Identifier: Apache-2.0
#include "costmodel/displacement.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace pliant {

bool displacement_decides(const LoopNest& loops, int tensor, int child) {
  int moving = 0;
  for (int l = 0; l < child; ++l) {
    if (!loops.problem().is_memory[l]) continue;
    for_each_bit(loops.problem().affine_dims[tensor], [&](int d) { moving += loops.bound(l, d) > 1 ? 1 : 0; });
  }
  return moving > 1;
}

double DisplacementWalk::words(std::uint32_t united) {
  measure_tile(united);
  collect_loops();
  // A block of j loops maps the remembered state to (words, next state); state `count_` means nothing remembered.
  std::array<Block, 2> blocks;  // the one so far, and the one with a loop more
  Block once;
  for (int s = 0; s <= count_; ++s) blocks[0].next[s] = s;
  for (int j = 0; j < count_; ++j) {
    const Block& inside = blocks[j % 2];
    advance(j, inside, once);
    repeat(j, inside, once, blocks[(j + 1) % 2]);
  }
  return tile_ + blocks[count_ % 2].words[count_];
}

void DisplacementWalk::measure_tile(std::uint32_t united) {
  ranks_ = 0;
  tile_ = 1;
  for_each_bit(problem_.simple[tensor_], [&](int d) {
    simple_rank_[d] = ranks_;
    extent_[ranks_++] = loops_.tile(child_, d);
  });
  first_affine_ = ranks_;
  for (const Problem::AffineRank& rank : problem_.affine[tensor_]) {
    double e = 1;
    for (int i = 0; i < rank.terms; ++i) {
      const auto coefficient = static_cast<double>(rank.coefficient[i]);
      const int d = rank.dim[i];
      e += coefficient * (loops_.tile(child_, d) - 1);
      for_each_bit(united, [&](int l) { e += coefficient * loops_.tile(l + 1, d) * (loops_.bound(l, d) - 1); });
    }
    extent_[ranks_++] = e;
  }
  for (int r = 0; r < ranks_; ++r) tile_ *= extent_[r];
}

void DisplacementWalk::collect_loops() {
  count_ = 0;
  Displacement wrap{};
  for (int l = child_ - 1; l >= 0; --l) {
    if (!problem_.is_memory[l]) continue;
    for (int position = 0; position < problem_.dims; ++position) {
      const auto d = static_cast<int>(loops_.at(static_cast<unsigned>(l)).dim[position]);
      if (loops_.bound(l, d) > 1) add_loop(l, d, wrap);
    }
  }
}

/// How far one iteration of a loop moves the tile.
DisplacementWalk::Displacement DisplacementWalk::step_of(int l, int d) const {
  Displacement step{};
  const double size = loops_.tile(l + 1, d);
  if (problem_.simple[tensor_] >> d & 1U) step[simple_rank_[d]] = size;
  for (std::size_t r = 0; r < problem_.affine[tensor_].size(); ++r) {
    const Problem::AffineRank& rank = problem_.affine[tensor_][r];
    for (int i = 0; i < rank.terms; ++i)
      if (rank.dim[i] == d) step[first_affine_ + r] += static_cast<double>(rank.coefficient[i]) * size;
  }
  return step;
}

/// `wrap`: how far all loops inside have moved the tile when they end.
void DisplacementWalk::add_loop(int l, int d, Displacement& wrap) {
  const bool shortcut = problem_.conventions.halo == Conventions::Halo::kTwoIterations;
  const int j = count_++;
  const Displacement step = step_of(l, d);
  bound_[j] = loops_.bound(l, d);
  int along = -1, moving = 0;
  moved_[j] = {};
  for (int r = 0; r < ranks_; ++r) {
    moved_[j][r] = step[r] - wrap[r];
    wrap[r] += step[r] * (shortcut ? 1 : bound_[j] - 1);
    if (moved_[j][r] != 0) {
      ++moving;
      along = r;
    }
  }
  state_of_[j] = -1;
  if (moving > 0)
    state_of_[j] = static_cast<int>(std::find(moved_.begin(), moved_.begin() + j, moved_[j]) - moved_.begin());
  cost_[j] = moving == 1 ? tile_ / extent_[along] * std::min(std::abs(moved_[j][along]), extent_[along]) : tile_;
}

/// Loop j advances once from every state, then the block inside it runs.
void DisplacementWalk::advance(int j, const Block& inside, Block& once) const {
  for (int s = 0; s <= count_; ++s) {
    int state = s;
    double words = 0;
    if (state_of_[j] >= 0) {
      const bool partial = s == count_ || s == state_of_[j];
      words = partial ? cost_[j] : tile_;
      state = partial ? state_of_[j] : count_;
    }
    once.words[s] = words + inside.words[state];
    once.next[s] = inside.next[state];
  }
}

/// All iterations of loop j: the block inside it, then `again` for every further iteration.
void DisplacementWalk::repeat(int j, const Block& inside, const Block& again, Block& all) const {
  const bool shortcut = problem_.conventions.halo == Conventions::Halo::kTwoIterations;
  for (int s = 0; s <= count_; ++s) {
    double words = inside.words[s], left = bound_[j] - 1;
    int state = inside.next[s];
    if (shortcut) {  // iteration 1 stands for all later ones
      words += left * again.words[state];
      state = again.next[state];
      left = 0;
    }
    while (left > 0) {
      // A fixed point is reached after a step or two; longer cycles are followed one by one.
      if (again.next[state] == state) {
        words += left * again.words[state];
        break;
      }
      words += again.words[state];
      state = again.next[state];
      left -= 1;
    }
    all.words[s] = words;
    all.next[s] = state;
  }
}

}  // namespace pliant
