// SPDX-License-Identifier: Apache-2.0
// The words of every transfer of a choice by the tables, against those of all its mappings.
#pragma once

#include "dse/mappers/exact/lattice/lattice.h"
#include "dse/mappers/exact/truth_by_choice.h"

namespace pliant::exact {

/// Everything that a test asks of one choice.
struct Bounded {
  Bounded(const ResolvedTask& resolved, const Choice& choice, const SearchOptions& options = {})
      : limits(options), lattice(resolved, choice.spatial, choice.keeps, store, limits) {}
  SearchLimits limits;
  ArrayStore store;
  Lattice lattice;
};

/// One transfer at a time: a functional that counts nothing but the words it serves, or delivers. Towards the compute
/// units words are part of the constant, unless operands may stay there.
inline void compare_words(const Truth& truth, const ResolvedTask& resolved, int& equal) {
  for (const Choice& choice : truth.choices) {
    Bounded bounded(resolved, choice);
    ASSERT_TRUE(bounded.lattice.build());
    const std::size_t count = bounded.lattice.energy().weights.size();
    std::size_t i = 0;
    for (int x = 0; x < truth.problem.tensors; ++x) {
      int child = truth.problem.levels;
      for (const int l : resolved.memories) {
        if (!(choice.keeps[static_cast<std::size_t>(l)] >> x & 1U)) continue;
        const std::array<int, 3> key{x, l, child};
        const bool to_memory = child < truth.problem.levels;
        for (const bool served : {true, false}) {
          if (!to_memory && (!served || resolved.staying(x, l) == 0)) continue;
          Functional words;
          words.weights.resize(count);
          (served ? words.weights[i].served : words.weights[i].delivered) = 1;
          const double bound = bounded.lattice.solve(words, kInfinity).best;
          const double least = choice.least(
              [&](const Priced& m) { return served ? m.words.at(key).served : m.words.at(key).delivered; });
          EXPECT_TRUE(at_most(bound, least))
              << "tensor " << x << " from " << l << " to " << child << ": " << bound << " " << least;
          if (to_memory && resolved.perfect && truth.problem.affine[static_cast<std::size_t>(x)].empty()) {
            ++equal;
            EXPECT_NEAR(bound, least, kSame * least);
          }
        }
        child = l;
        ++i;
      }
    }
  }
}

}  // namespace pliant::exact
