// SPDX-License-Identifier: Apache-2.0
// Unrollings that are counted without being listed, and claims about them.
#include "dse/audit/choices.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "core/arithmetic.h"
#include "core/input/load.h"
#include "costmodel/report.h"
#include "dse/audit/audit.h"
#include "dse/audit/every_mapping.h"
#include "dse/mappers/mapper.h"
#include "support/random_cases.h"

namespace pliant::audit {
namespace {

TEST(Choices, ThoseThatAreNotListedAreCounted) {
  int cut = 0;
  for (const Factorization factorization :
       {Factorization::kPerfect, Factorization::kRubyS, Factorization::kRuby, Factorization::kPadding})
    for (std::uint64_t seed = 1; seed <= 150; ++seed) {
      const tests::RandomCase random =
          tests::random_case(seed, {.factorizations = {factorization}, .most_mappings = 20'000});
      SCOPED_TRACE(random.text);
      const Task& task = random.task;
      const SpaceRules rules(task.layer, task.accelerator, task.flexibility, task.factorization);
      const Choices all = list_choices(task, rules).value();
      EXPECT_EQ(all.unlisted, 0U);
      std::set<double> steps;
      for (const Factors& unrolling : all.unrollings) steps.insert(least_steps(task, unrolling));
      for (const double below : steps) {
        const Choices fast = list_choices(task, rules, kMostUnrollings, below).value();
        std::vector<Factors> expected;
        for (const Factors& unrolling : all.unrollings)
          if (least_steps(task, unrolling) < below) expected.push_back(unrolling);
        EXPECT_EQ(fast.unrollings, expected);
        EXPECT_EQ(fast.unlisted, all.unrollings.size() - expected.size());
        cut += fast.unlisted > 0 && !expected.empty() ? 1 : 0;
      }
    }
  EXPECT_GT(cut, 500);
}

/// Two or three fanouts with no memory between them, and one that stands alone.
Task of_networks(const char* layer, const char* inner, const char* ports) {
  Task task;
  task.accelerator = parse_accelerator_text(
      Library(PLIANT_SOURCE_DIR "/configs"),
      fmt::format("pliant: accelerator\nname: networks\nlevels:\n"
                  "  - {{memory: DRAM, capacity: unbounded, read_pj: 8, write_pj: 8, bandwidth: 3}}\n"
                  "  - {{fanout: Chips, rows: 2}}\n"
                  "  - {{memory: L1, capacity: 24 B, read_pj: 2, write_pj: 2{}}}\n{}"
                  "  - {{memory: Acc, capacity: unbounded, keeps: [outputs], read_pj: 1, write_pj: 1}}\n"
                  "  - {{compute: MAC, mac_pj: 1}}\n",
                  ports, inner),
      "accelerator.yaml");
  task.layer = parse_layer(layer, "test");
  task.flexibility = task.accelerator.flexibility_of(task.layer);
  task.factorization = Factorization::kPerfect;
  task.objective = Objective::kEdp;
  return task;
}

// Where only the products of several fanouts count, unrollings with the same products have the same mappings: as many,
// with the same values. One stands for them all, and says for how many.
TEST(Choices, UnrollingsWithEqualProductsHaveTheSameMappings) {
  std::uint64_t merged = 0, compared = 0;
  for (const char* layer : {"gemm:M=4,N=4,K=2", "conv:M=1,C=2,P=4,Q=1,R=4,S=1", "conv:M=2,C=1,P=4,Q=1,R=2,S=1,stride=2",
                            "conv:M=1,C=1,P=4,Q=1,R=4,S=1,dilation=2"})
    for (const char* inner : {"  - {fanout: Rows, rows: 2}\n  - {fanout: PEs, rows: 2, cols: 2}\n",
                              "  - {fanout: Rows, rows: 4, multicast: false}\n"
                              "  - {fanout: PEs, rows: 2, multicast: false}\n",
                              "  - {fanout: Rows, rows: 2, reduction: false}\n"
                              "  - {fanout: PEs, rows: 2, cols: 2, reduction: false}\n",
                              "  - {fanout: Rows, rows: 2}\n  - {fanout: PEs, rows: 2}\n  - {fanout: Dot, rows: 2}\n"})
      for (const char* ports : {"", ", bandwidth: 2"}) {
        const Task task = of_networks(layer, inner, ports);
        SCOPED_TRACE(layer + std::string("\n") + inner);
        const SpaceRules rules(task.layer, task.accelerator, task.flexibility, task.factorization);
        const Choices each = list_choices(task, rules).value();
        const Choices alike = list_choices(task, rules, kMostUnrollings, kInfinity, true).value();
        EXPECT_EQ(alike.listed, each.unrollings.size());
        EXPECT_TRUE(std::ranges::is_sorted(alike.unrollings));
        const std::size_t dims = task.layer.dims.size();
        const auto products = [&](const Factors& unrolling) {  // outside L1, and inside it
          Factors all(2 * dims, 1);
          for (std::size_t i = 0; i < unrolling.size(); ++i) all[(i < dims ? 0 : dims) + i % dims] *= unrolling[i];
          return all;
        };
        EveryMapping every(task, rules);
        const auto values = [&](const Factors& unrolling) {
          std::multiset<double> all;
          EveryMapping::Limits limits{1'000'000, 100'000'000};
          for (const Kept& kept : each.keeps)
            EXPECT_TRUE(every.visit(unrolling, kept, limits, [&](const Mapping& one) {
              all.insert(task_value(task, price(task.layer, task.accelerator, one).totals));
            }));
          compared += all.size();
          return all;
        };
        std::map<Factors, std::pair<std::multiset<double>, std::uint64_t>> groups;
        for (const Factors& unrolling : each.unrollings) {
          const std::multiset<double> here = values(unrolling);
          const auto [group, fresh] = groups.try_emplace(products(unrolling), here, 0);
          EXPECT_EQ(here, group->second.first);
          ++group->second.second;
        }
        ASSERT_EQ(alike.unrollings.size(), groups.size());
        for (std::size_t i = 0; i < alike.unrollings.size(); ++i)
          EXPECT_EQ(alike.alike[i], groups.at(products(alike.unrollings[i])).second);
        merged += each.unrollings.size() - groups.size();
      }
  EXPECT_GT(merged, 500U);
  EXPECT_GT(compared, 10'000U);
}

// Nothing is merged where the fanouts differ, cost energy, serve overlapping windows together or leave remainders.
TEST(Choices, NetworksThatTellTheirFanoutsApartAreNotMerged) {
  for (const char* inner : {"  - {fanout: Rows, rows: 2, multicast: false}\n  - {fanout: PEs, rows: 2, cols: 2}\n",
                            "  - {fanout: Rows, rows: 2, partial_multicast: true}\n"
                            "  - {fanout: PEs, rows: 2, cols: 2, partial_multicast: true}\n",
                            "  - {fanout: Rows, rows: 2, pj_per_bit: 1}\n  - {fanout: PEs, rows: 2, cols: 2}\n",
                            "  - {fanout: Rows, rows: 2}\n  - {memory: M, capacity: 8 B, read_pj: 1, write_pj: 1}\n  - "
                            "{fanout: PEs, rows: 2}\n"})
    for (const Factorization factorization : {Factorization::kPerfect, Factorization::kRubyS}) {
      Task task = of_networks("conv:M=2,C=2,P=4,Q=1,R=3,S=1", inner, "");
      task.factorization = factorization;
      const SpaceRules rules(task.layer, task.accelerator, task.flexibility, task.factorization);
      EXPECT_EQ(list_choices(task, rules, kMostUnrollings, kInfinity, true).value().unrollings,
                list_choices(task, rules).value().unrollings)
          << inner;
    }
}

// Of the whole map-space as one part, without enumeration: a bound above the optimum is never confirmed, and of those
// at it most are.
TEST(Choices, NoBoundAboveTheOptimumIsConfirmed) {
  int confirmed = 0, compared = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    const tests::RandomCase random = tests::random_case(
        seed, {.factorizations = {Factorization::kPerfect, Factorization::kRubyS, Factorization::kRuby},
               .most_mappings = 5'000,
               .residents = seed % 4 == 0});
    SCOPED_TRACE(random.text);
    const SearchResult truth = make_mapper("exhaustive")->search(random.task, {});
    if (!truth.mapping || !(truth.value > 0)) continue;
    AuditOptions options;
    options.enumerate = 0;
    const auto asked = [&](double bound) {
      Certificate whole{random.task, truth.mapping, truth.value, bound, false, false, {}};
      whole.parts.push_back({ClosedBy::kSearch, bound, Part::Scope::kRest, 0, {}, {}});
      state_sizes(random.task, whole.parts);
      return audit(whole, options);
    };
    ++compared;
    for (const double above : {1 + 1e-6, 1.01, 1.5, 4.0}) {
      const AuditReport report = asked(truth.value * above);
      std::uint64_t open = 0;
      for (const PartAudit& part : report.parts) open += part.undecided;
      const auto below_value = [](const std::string& what) { return what.find("a mapping has") != std::string::npos; };
      EXPECT_TRUE(open > 0 || std::ranges::any_of(report.wrong, below_value)) << above;
    }
    confirmed += asked(truth.value).clean() ? 1 : 0;
  }
  EXPECT_GT(compared, 250);
  EXPECT_GT(confirmed, compared / 2);
}

}  // namespace
}  // namespace pliant::audit
