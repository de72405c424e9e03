// SPDX-License-Identifier: Apache-2.0
// Windows of units overlap, but each unit is brought what it works on (docs/dev/proof, L3).
#include <gtest/gtest.h>

#include "dse/mappers/exact/truth_by_choice.h"
#include "dse/mappers/exact/words_of_transfers.h"

namespace pliant::exact {
namespace {

struct Prices {
  const char *dram, *registers;
};

/// Windows of R values, a stride apart, on some units. Only inputs cost anything.
Task windows_on_units(const std::string& dims, int stride, const std::string& units, const Prices& prices) {
  return task_of(
      std::string("levels:\n  - {memory: DRAM, capacity: unbounded, write_pj: 0, read_pj: ") + prices.dram + "}\n" +
          units + "  - {memory: Reg, capacity: 3 words, keeps: [inputs], read_pj: 0, write_pj: " + prices.registers +
          "}\n  - {compute: MAC, mac_pj: 0}\n",
      "  dims: {" + dims + "}\n  tensors:\n    - {name: I, role: inputs, projection: [" + std::to_string(stride) +
          "*P + R]}\n"
          "    - {name: W, role: weights, projection: [R]}\n"
          "    - {name: O, role: outputs, projection: [P]}\n");
}

TEST(Lemma, UnitsAreBroughtWhatTheyWorkOn) {
  int compared = 0, equal = 0, more = 0;
  for (const Factorization rule : {Factorization::kPerfect, Factorization::kRubyS, Factorization::kRuby})
    for (const char* dims : {"P: 4, R: 2", "P: 5, R: 3", "P: 6, R: 3", "P: 3, R: 4"})
      for (const int stride : {1, 2, 3})
        for (const char* units : {"  - {fanout: PEs, cols: 4}\n", "  - {fanout: PEs, rows: 2, cols: 3}\n",
                                  "  - {fanout: PEs, cols: 4, multicast: false}\n",
                                  "  - {fanout: PEs, cols: 4, partial_multicast: true}\n"})
          // What the DRAM serves, without and with what units ask for word by word, and what the units are brought.
          for (const Prices& prices : {Prices{"1", "0"}, Prices{"0", "1"}}) {
            Task task = windows_on_units(dims, stride, units, prices);
            task.factorization = rule;
            const Truth truth(task);
            ASSERT_TRUE(truth.complete);
            const ResolvedTask resolved(truth.task, truth.problem);
            for (const Choice& choice : truth.choices) {
              if ((choice.keeps[2] & 1U) == 0) continue;
              Bounded bounded(resolved, choice);
              const double bound = bounded.lattice.least(bounded.lattice.energy());
              const double least = choice.least([](const Priced& m) { return m.energy; });
              EXPECT_TRUE(at_most(bound, least)) << bound << " " << least;
              ++compared;
              equal += std::abs(bound - least) <= kSame * least;
              more += bound > truth.problem.tensor_words[0] * (1 + kSame);
            }
          }
  EXPECT_GT(compared, 500);
  EXPECT_GT(equal, compared / 2);
  EXPECT_GT(more, compared / 2);  // than every value once
}

}  // namespace
}  // namespace pliant::exact
