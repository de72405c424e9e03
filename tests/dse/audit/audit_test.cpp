// SPDX-License-Identifier: Apache-2.0
// The auditor against enumeration: what `exact` certifies is clean, what is altered is found, and no bound of the
// auditor's own exceeds the truth of its choice.
#include "dse/audit/audit.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>

#include "core/arithmetic.h"
#include "core/input/load.h"
#include "costmodel/report.h"
#include "dse/audit/choices.h"
#include "dse/mappers/mapper.h"
#include "support/checked_space.h"
#include "support/driven_clock.h"
#include "support/random_cases.h"

namespace pliant::audit {
namespace {

std::uint64_t cases(std::uint64_t usual) {
  const char* many = std::getenv("PLIANT_CASES");
  return many != nullptr ? std::strtoull(many, nullptr, 10) : usual;
}

Certificate certificate_of(const pliant::Task& task, SearchOptions options = {}) {
  options.record_parts = true;
  const SearchResult found = run_mapper(*make_mapper("exact"), task, options);
  return {task,
          found.mapping,
          found.mapping ? found.value : kInfinity,
          found.lower_bound,
          found.certified,
          found.infeasible,
          found.parts};
}

std::string text_of(const AuditReport& report) {
  std::string text;
  for (const std::string& what : report.wrong) text += "wrong: " + what + "\n";
  for (const std::string& what : report.undecided) text += "undecided: " + what + "\n";
  return text;
}

void expect_clean(const tests::CaseOptions& options, std::uint64_t count) {
  int proven = 0, enumerated = 0;
  for (std::uint64_t seed = 1; seed <= count; ++seed) {
    const tests::RandomCase random = tests::random_case(seed, options);
    SCOPED_TRACE(random.text);
    const Certificate certificate = certificate_of(random.task);
    const AuditReport report = audit(certificate, {});
    EXPECT_TRUE(report.clean()) << text_of(report);
    proven += certificate.certified ? 1 : 0;
    if (report.mappings_enumerated == 0 && !certificate.infeasible) continue;
    ++enumerated;
    const SearchResult truth = make_mapper("exhaustive")->search(random.task, {});
    if (truth.mapping) {
      EXPECT_NEAR(report.optimum / truth.value, 1, 1e-9);
    } else {
      EXPECT_EQ(report.optimum, kInfinity);
    }
  }
  EXPECT_GT(enumerated, static_cast<int>(count) / 2);
  EXPECT_GT(proven, static_cast<int>(count) * 9 / 10);
}

TEST(Audit, CertificatesOfTheExactMapperAreClean) {
  expect_clean({.factorizations = {Factorization::kPerfect, Factorization::kPerfect, Factorization::kRubyS,
                                   Factorization::kRubyT, Factorization::kRuby, Factorization::kPadding}},
               cases(300));
}

TEST(Audit, CertificatesWithTensorsThatLiveInAMemoryAreClean) {
  expect_clean({.factorizations = {Factorization::kPerfect, Factorization::kRubyS},
                .most_mappings = 5'000,
                .infeasible_share = 0,
                .residents = true},
               cases(100));
}

// The file says what lives where and how much room is taken: without that the audit would be of another task.
TEST(Audit, FilesCarryTheTensorsThatLiveInAMemory) {
  const Library library(std::filesystem::path(PLIANT_SOURCE_DIR) / "configs");
  int residents = 0;
  for (std::uint64_t seed = 1; seed <= 120; ++seed) {
    const tests::RandomCase random = tests::random_case(seed, {.most_mappings = 2'000, .residents = true});
    SCOPED_TRACE(random.text);
    const std::string text = write_certificate(certificate_of(random.task));
    Certificate read;
    try {
      read = read_certificate(library, text, "proof.json");
    } catch (const InputError&) {
      continue;  // a random machine that no file may describe: a fixed tile that does not fit, a share for nothing
    }
    for (std::size_t l = 0; l < random.task.accelerator.levels.size(); ++l) {
      if (!random.task.accelerator.levels[l].is_memory()) continue;
      const Memory &then = random.task.accelerator.levels[l].memory(), &now = read.task.accelerator.levels[l].memory();
      EXPECT_EQ(now.resident, then.resident);
      EXPECT_EQ(now.reserved_words, then.reserved_words);
      EXPECT_EQ(now.may_keep, then.may_keep);
      residents += then.resident != std::array<bool, kRoles>{} ? 1 : 0;
    }
    const AuditReport report = audit(read, {});
    EXPECT_TRUE(report.clean()) << text_of(report);
  }
  EXPECT_GT(residents, 30);
}

/// The least value of every choice, by enumeration.
std::map<std::pair<Factors, Kept>, double> truth_of(const pliant::Task& task, const SpaceRules& rules) {
  std::map<std::pair<Factors, Kept>, double> least;
  const pliant::testing::CheckedSpace space{task.layer, task.accelerator, task.flexibility, task.factorization};
  space.enumerate([&](const Mapping& mapping) {
    const double value = task_value(task, price(task.layer, task.accelerator, mapping).totals);
    double& best = least.try_emplace({unrolling_of(rules, mapping), kept_of(rules, mapping)}, kInfinity).first->second;
    best = std::min(best, value);
    return true;
  });
  return least;
}

// Each means by itself: the target decides how far the bound goes, and paths below it are all followed.
TEST(Audit, NoBoundExceedsTheTruthOfItsChoice) {
  const tests::CaseOptions options{
      .factorizations = {Factorization::kPerfect, Factorization::kPerfect, Factorization::kRubyS, Factorization::kRuby,
                         Factorization::kPadding},
      .most_mappings = 5'000};
  std::uint64_t choices = 0, equal = 0, energy_choices = 0, energy_equal = 0, remainder_choices = 0,
                remainder_equal = 0;
  const std::uint64_t plain = cases(600);  // and a third as many with networks that cost energy, and systolic arrays
  for (std::uint64_t seed = 1; seed <= plain + plain / 3; ++seed) {
    tests::CaseOptions drawn = options;
    drawn.buses = drawn.widths = seed % 3 == 0;
    drawn.networks = seed > plain;
    drawn.arrays = seed > plain && seed % 2 == 0;
    const tests::RandomCase random = tests::random_case(seed, drawn);
    SCOPED_TRACE(random.text);
    const Problem problem(random.task.layer, random.task.accelerator);
    const SpaceRules rules(random.task.layer, random.task.accelerator, random.task.flexibility,
                           random.task.factorization);
    const ChoiceBound bound(random.task, problem, rules);
    const auto truth = truth_of(random.task, rules);
    // How many words a tile in a systolic array has is not known to the bound.
    const bool exact = random.task.factorization == Factorization::kPerfect && seed <= plain &&
                       random.task.accelerator.conventions == Conventions::physical();
    for (const auto& [choice, value] : truth) {
      for (const double target : {value * 1e-3, value * 0.5, value * 0.9, value, value * 1.1, value * 4}) {
        const ChoiceBound::Result found = bound.of(choice.first, choice.second, target, 1e6);
        ASSERT_LE(found.lower_bound, value * (1 + 1e-9)) << "by " << to_string(found.means);
        const bool reached = found.lower_bound >= value * (1 - 1e-9);
        if (target == value && seed <= plain && random.task.factorization == Factorization::kRubyS) {
          ++remainder_choices;
          remainder_equal += reached;
        }
        if (target != value || !exact) continue;
        ++choices;
        equal += reached;
        if (random.task.objective != Objective::kEnergy) continue;
        ++energy_choices;
        energy_equal += reached;
      }
    }
  }
  // What it is worth: with perfect factors and physical counts, most choices are decided to the last digit.
  RecordProperty("choices", static_cast<int>(choices));
  RecordProperty("equal", static_cast<int>(equal));
  RecordProperty("energy_choices", static_cast<int>(energy_choices));
  RecordProperty("energy_equal", static_cast<int>(energy_equal));
  RecordProperty("remainder_choices", static_cast<int>(remainder_choices));
  RecordProperty("remainder_equal", static_cast<int>(remainder_equal));
  EXPECT_GT(choices, 500U);
  EXPECT_GT(equal, choices * 95 / 100) << equal << " of " << choices;
  EXPECT_GT(energy_equal, energy_choices * 9 / 10) << energy_equal << " of " << energy_choices;
  EXPECT_GT(remainder_equal, remainder_choices * 5 / 10) << remainder_equal << " of " << remainder_choices;
}

// Remainders at two fanouts, windows with holes beside one another, bursts and networks: what blocks of iterations
// bring is counted there, and tiles of about the same size are charged as the best of them.
TEST(Audit, NoBoundWithRemaindersExceedsTheTruthOfItsChoice) {
  std::uint64_t choices = 0, equal = 0;
  for (std::uint64_t seed = 1; seed <= cases(450); ++seed) {
    const tests::RandomCase random = tests::random_case(
        seed, {.factorizations = {Factorization::kRubyS, Factorization::kRubyT, Factorization::kRuby},
               .most_mappings = 5'000,
               .spread = seed % 3 == 1,
               .holes = seed % 3 == 2,
               .bursts = seed % 5 == 0,
               .networks = seed % 7 == 0});
    SCOPED_TRACE(random.text);
    const pliant::Task& task = random.task;
    const Problem problem(task.layer, task.accelerator);
    const SpaceRules rules(task.layer, task.accelerator, task.flexibility, task.factorization);
    const ChoiceBound bound(task, problem, rules);
    for (const auto& [choice, value] : truth_of(task, rules)) {
      const ChoiceBound::Result found = bound.of(choice.first, choice.second, value, 1e7);
      ASSERT_LE(found.lower_bound, value * (1 + 1e-9)) << "by " << to_string(found.means);
      if (task.factorization != Factorization::kRubyS) continue;
      ++choices;
      equal += found.lower_bound >= value * (1 - 1e-9) ? 1 : 0;
    }
  }
  EXPECT_GT(equal, choices * 5 / 10) << equal << " of " << choices;
}

// The units' memory keeps outputs only: which units ask for the same input depends on the loops of that memory, and the
// least over all of these is certain.
void compare_units_that_share_windows(Factorization factorization, double share_of_equal_ones) {
  std::uint64_t choices = 0, equal = 0;
  for (const char* layer : {"conv:M=1,C=1,P=8,Q=1,R=3,S=1", "conv:M=1,C=1,P=8,Q=1,R=3,S=1,stride=2",
                            "conv:M=1,C=1,P=8,Q=1,R=3,S=1,dilation=4", "conv:M=1,C=1,P=6,Q=1,R=4,S=1,dilation=2"}) {
    pliant::Task task;
    task.accelerator =
        parse_accelerator_text(Library(PLIANT_SOURCE_DIR "/configs"),
                               "pliant: accelerator\nname: small\nlevels:\n"
                               "  - {memory: DRAM, capacity: unbounded, read_pj: 8, write_pj: 8}\n"
                               "  - {fanout: PEs, rows: 4, cols: 3}\n"
                               "  - {memory: Acc, capacity: unbounded, keeps: [outputs], read_pj: 1, write_pj: 1}\n"
                               "  - {compute: MAC, mac_pj: 1}\n"
                               "flexibility: {parallel: {PEs: {rows: [P], cols: [R]}}}\n",
                               "accelerator.yaml");
    task.layer = parse_layer(layer, "test");
    task.flexibility = task.accelerator.flexibility_of(task.layer);
    task.objective = Objective::kEnergy;
    task.factorization = factorization;
    SCOPED_TRACE(layer);
    const Problem problem(task.layer, task.accelerator);
    const SpaceRules rules(task.layer, task.accelerator, task.flexibility, task.factorization);
    const ChoiceBound bound(task, problem, rules);
    for (const auto& [choice, value] : truth_of(task, rules)) {
      const ChoiceBound::Result found = bound.of(choice.first, choice.second, value, 1e6);
      EXPECT_LE(found.lower_bound, value * (1 + 1e-9)) << "by " << to_string(found.means);
      ++choices;
      equal += found.lower_bound >= value * (1 - 1e-9) ? 1 : 0;
    }
  }
  EXPECT_GT(choices, 20U);
  EXPECT_GT(static_cast<double>(equal), share_of_equal_ones * static_cast<double>(choices))
      << equal << " of " << choices;
}

TEST(Audit, UnitsThatShareWindowsUnderLoopsOfTheirOwn) {
  compare_units_that_share_windows(Factorization::kPerfect, 0.9);
}

// Rounds may leave units idle; that the others share no more is certain.
TEST(Audit, UnitsThatShareWindowsWithRemainders) {
  compare_units_that_share_windows(Factorization::kRubyS, 0.3);
  compare_units_that_share_windows(Factorization::kRuby, 0.3);
}

// Without enumeration, on the same cases: nothing of a true certificate is called wrong, and most of it is confirmed.
TEST(Audit, BoundsConfirmCertificatesOfPerfectFactors) {
  std::uint64_t choices = 0, checked = 0;
  AuditOptions without;
  without.enumerate = 0;
  for (std::uint64_t seed = 1; seed <= cases(200); ++seed) {
    const tests::RandomCase random = tests::random_case(seed, {.factorizations = {Factorization::kPerfect}});
    SCOPED_TRACE(random.text);
    const AuditReport report = audit(certificate_of(random.task), without);
    EXPECT_TRUE(report.wrong.empty()) << text_of(report);
    EXPECT_EQ(report.clean(), report.checked == report.choices) << text_of(report);
    choices += report.choices;
    checked += report.checked;
  }
  RecordProperty("choices", static_cast<int>(choices));
  RecordProperty("checked", static_cast<int>(checked));
  EXPECT_GT(checked, choices * 95 / 100) << checked << " of " << choices;
}

/// Cases with several legal values, so that an altered certificate can be told from a true one.
std::vector<tests::RandomCase> telling_cases() {
  std::vector<tests::RandomCase> all;
  for (std::uint64_t seed = 1; all.size() < 60; ++seed) {
    tests::RandomCase random = tests::random_case(seed, {.factorizations = {Factorization::kPerfect}});
    if (certificate_of(random.task).certified) all.push_back(std::move(random));
  }
  return all;
}

// A mapping that is not the best, with its own true value, and all bounds raised to it.
TEST(Audit, FindsAValueThatIsNotTheOptimum) {
  int altered = 0;
  for (const tests::RandomCase& random : telling_cases()) {
    Certificate certificate = certificate_of(random.task);
    std::optional<Mapping> worse;
    double value = 0;
    const pliant::Task& task = random.task;
    const pliant::testing::CheckedSpace space{task.layer, task.accelerator, task.flexibility, task.factorization};
    space.enumerate([&](const Mapping& mapping) {
      value = task_value(task, price(task.layer, task.accelerator, mapping).totals);
      if (value > certificate.value * (1 + 1e-6)) worse = mapping;
      return !worse.has_value();
    });
    if (!worse) continue;
    ++altered;
    certificate.mapping = worse;
    certificate.value = certificate.lower_bound = value;
    for (Part& part : certificate.parts) {
      part.lower_bound = std::max(part.lower_bound, value);
      for (Member& member : part.members) member.lower_bound = std::max(member.lower_bound, value);
    }
    SCOPED_TRACE(random.text);
    EXPECT_FALSE(audit(certificate, {}).wrong.empty());
    AuditOptions without;
    without.enumerate = 0;
    EXPECT_FALSE(audit(certificate, without).clean());
  }
  EXPECT_GT(altered, 30);
}

TEST(Audit, FindsAlteredCertificates) {
  for (const tests::RandomCase& random : telling_cases()) {
    SCOPED_TRACE(random.text);
    const Certificate certificate = certificate_of(random.task);
    ASSERT_TRUE(audit(certificate, {}).clean());
    // Another value.
    Certificate altered = certificate;
    altered.value *= 0.99;
    altered.lower_bound = altered.value;
    EXPECT_FALSE(audit(altered, {}).wrong.empty());
    // A part is gone.
    for (std::size_t i = 0; i < certificate.parts.size(); ++i) {
      altered = certificate;
      altered.parts.erase(altered.parts.begin() + static_cast<std::ptrdiff_t>(i));
      EXPECT_FALSE(audit(altered, {}).wrong.empty()) << "without part " << i + 1;
    }
    // The part with the optimum claims more than is true.
    bool raised = false;
    for (std::size_t i = 0; i < certificate.parts.size(); ++i) {
      altered = certificate;
      Part& part = altered.parts[i];
      part.lower_bound *= 1.01;
      for (Member& member : part.members) member.lower_bound *= 1.01;
      raised |= !audit(altered, {}).wrong.empty();
    }
    EXPECT_TRUE(raised);
    // Another layer: twice as much of a dim that the mapping does not cover then.
    altered = certificate;
    altered.task.layer.dims.front().size *= 2;
    EXPECT_FALSE(audit(altered, {}).wrong.empty());
    // A member that the map-space does not have, and one that stands twice.
    for (std::size_t i = 0; i < certificate.parts.size(); ++i) {
      if (certificate.parts[i].members.empty()) continue;
      altered = certificate;
      altered.parts[i].members.push_back(altered.parts[i].members.front());
      EXPECT_FALSE(audit(altered, {}).wrong.empty());
      if (altered.parts[i].members.front().unrolling.empty()) continue;
      altered = certificate;
      altered.parts[i].members.front().unrolling.front() += 1000;
      EXPECT_FALSE(audit(altered, {}).wrong.empty());
    }
  }
}

// Whatever the factorization: what is taken out of the other parts would be the rest's, and the rest says its size.
TEST(Audit, FindsPartsAndMembersThatWereTakenOut) {
  int parts = 0, members = 0;
  for (const Factorization factorization : {Factorization::kPerfect, Factorization::kRubyS, Factorization::kRubyT,
                                            Factorization::kRuby, Factorization::kPadding})
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
      const tests::RandomCase random =
          tests::random_case(seed, {.factorizations = {factorization}, .most_mappings = 3'000});
      SCOPED_TRACE(random.text);
      const Certificate certificate = certificate_of(random.task);
      std::uint64_t stated = 0;
      for (const Part& part : certificate.parts) stated += part.choices.value();
      const SpaceRules rules(random.task.layer, random.task.accelerator, random.task.flexibility, factorization);
      ASSERT_EQ(stated, list_choices(random.task, rules)->count());
      for (std::size_t i = 0; i < certificate.parts.size(); ++i) {
        Certificate altered = certificate;
        altered.parts.erase(altered.parts.begin() + static_cast<std::ptrdiff_t>(i));
        EXPECT_FALSE(audit(altered, {}).wrong.empty()) << "without part " << i + 1;
        ++parts;
        for (std::size_t m = 0; m < certificate.parts[i].members.size(); ++m)
          for (const bool recounted : {false, true}) {
            altered = certificate;
            Part& part = altered.parts[i];
            part.members.erase(part.members.begin() + static_cast<std::ptrdiff_t>(m));
            if (recounted) --*part.choices;
            EXPECT_FALSE(audit(altered, {}).wrong.empty()) << "without member " << m + 1 << " of part " << i + 1;
            ++members;
          }
      }
    }
  EXPECT_GT(parts, 250);
  EXPECT_GT(members, 500);
}

TEST(Audit, APartThatDoesNotSayItsSizeIsNotDecided) {
  for (const tests::RandomCase& random : telling_cases()) {
    Certificate certificate = certificate_of(random.task);
    certificate.parts.back().choices.reset();
    const AuditReport report = audit(certificate, {});
    EXPECT_TRUE(report.wrong.empty()) << text_of(report);
    EXPECT_FALSE(report.clean());
  }
}

// A search may end before it has met all unrollings; its parts say no more of them than it knows.
TEST(Audit, WhatASearchLeftOpenIsNotWrong) {
  pliant::Task task;
  const Library library(PLIANT_SOURCE_DIR "/configs");
  task.accelerator = load_accelerator(library, "npu");
  task.layer = parse_layer("conv:M=32,C=3,P=112,Q=112,R=3,S=3,stride=2", "test");
  task.flexibility = task.accelerator.flexibility_of(task.layer);
  int left = 0;
  for (const Objective objective : {Objective::kRuntime, Objective::kEnergy, Objective::kEdp})
    for (double looks = 1; looks <= 40; ++looks) {
      task.objective = objective;
      const tests::DrivenClock clock(1);
      SearchOptions options;
      options.record_parts = true;
      options.clock = &clock;
      options.budget.seconds = looks;
      const Certificate certificate = certificate_of(task, options);
      left += certificate.certified ? 0 : 1;
      const AuditReport report = audit(certificate, {});
      EXPECT_TRUE(report.wrong.empty()) << looks << "\n" << text_of(report);
    }
  EXPECT_GT(left, 3);
}

// A sample is a share of every part, and never called complete.
TEST(Audit, ASampleSaysThatItIsOne) {
  AuditOptions half;
  half.share = 0.5;
  half.enumerate = 0;
  int sampled = 0;
  for (const tests::RandomCase& random : telling_cases()) {
    const AuditReport report = audit(certificate_of(random.task), half);
    if (report.choices < 2) continue;
    std::uint64_t looked_at = 0;
    for (const PartAudit& part : report.parts) {
      looked_at += part.checked + part.undecided;
      EXPECT_GE(part.checked + part.undecided, (part.choices + 1) / 2);  // more where many are closed at once
    }
    if (looked_at == report.choices) continue;
    ++sampled;
    EXPECT_FALSE(report.clean());
    EXPECT_LT(report.checked, report.choices);
  }
  EXPECT_GT(sampled, 10);
}

}  // namespace
}  // namespace pliant::audit
