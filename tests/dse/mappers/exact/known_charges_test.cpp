// SPDX-License-Identifier: Apache-2.0
// What a task keeps of its charges says the same as charges that are made anew for every choice.
#include <gtest/gtest.h>

#include "dse/mappers/exact/words_of_transfers.h"
#include "support/draw.h"

namespace pliant::exact {
namespace {

TEST(KnownCharges, ServeOtherChoicesWithWhatTheyWouldMakeThemselves) {
  int windows = 0;
  for_each_task(200, [&](const Truth& truth, const ResolvedTask& resolved) {
    for (const double nodes : {0.0, 8.0})  // every tile, and groups of tiles
      for (const Choice& choice : truth.choices) {
        const ResolvedTask fresh(truth.task, truth.problem);
        Bounded kept(resolved, choice), anew(fresh, choice);
        for (Bounded* one : {&kept, &anew}) one->lattice.group_beyond(nodes);
        const bool built = kept.lattice.build();
        ASSERT_EQ(built, anew.lattice.build());
        if (!built) continue;
        const auto best = [](const Bounded& one, const Functional& functional) {
          return one.lattice.solve(functional, kInfinity).best;
        };
        EXPECT_EQ(best(kept, kept.lattice.energy()), best(anew, anew.lattice.energy()));
        for (const Port& port : truth.problem.ports)
          EXPECT_EQ(best(kept, kept.lattice.port(port)), best(anew, anew.lattice.port(port)));
        windows += !truth.problem.affine[0].empty() || !truth.problem.affine[1].empty() ? 1 : 0;
      }
  });
  EXPECT_GT(windows, 500);
}

}  // namespace
}  // namespace pliant::exact
