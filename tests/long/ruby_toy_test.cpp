// SPDX-License-Identifier: Apache-2.0
// Ruby's toy study (Fig. 7): which mapspace wins where, by random search over the first 10,000 valid mappings. The
// paper averages 100 runs; these use fewer and look at the geometric mean.

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "core/input/load.h"
#include "dse/mappers/mapper.h"

namespace pliant {
namespace {

constexpr int kRuns = 12;
constexpr std::uint64_t kSamples = 10'000;

/// Geometric mean of the best EDP by mapspace.
std::map<Factorization, double> study(const char* accelerator, const char* layer) {
  const Library library(std::filesystem::path(PLIANT_SOURCE_DIR) / "configs");
  Task task;
  task.accelerator = load_accelerator(library, accelerator);
  task.layer = parse_layer(layer, "test");
  task.flexibility = task.accelerator.flexibility_of(task.layer);
  const std::unique_ptr<Mapper> random = make_mapper("random");
  std::map<Factorization, double> mean;
  for (const Factorization rule :
       {Factorization::kPerfect, Factorization::kRubyS, Factorization::kRubyT, Factorization::kRuby}) {
    task.factorization = rule;
    double sum = 0;
    for (int run = 0; run < kRuns; ++run) {
      SearchOptions options;
      options.seed = static_cast<std::uint64_t>(run) + 1;
      options.threads = 2;
      options.budget.evaluations = kSamples;
      options.extra = {{"victory", "1000000000"}};
      sum += std::log(run_mapper(*random, task, options).value);
    }
    mean[rule] = std::exp(sum / kRuns);
    std::printf("%s %-7s %.5g\n", accelerator, std::string(to_string(rule)).c_str(), mean[rule]);
  }
  return mean;
}

constexpr const char* kProduct = "gemm:M=100,N=100,K=100";
constexpr const char* kConvolution = "conv:M=64,C=64,P=28,Q=28,R=3,S=3";

// (a) 100 x 100 on 5 PEs: the sizes fit the array; Ruby-S converges to what PFM finds.
TEST(RubyToyStudy, AlignedProduct) {
  const auto mean = study("ruby_toy_5", kProduct);
  EXPECT_NEAR(mean.at(Factorization::kRubyS) / mean.at(Factorization::kPerfect), 1, 0.05);
}

/// The proven optimum.
double optimum(const char* accelerator, const char* layer, Factorization rule) {
  const Library library(std::filesystem::path(PLIANT_SOURCE_DIR) / "configs");
  Task task;
  task.accelerator = load_accelerator(library, accelerator);
  task.layer = parse_layer(layer, "test");
  task.flexibility = task.accelerator.flexibility_of(task.layer);
  task.factorization = rule;
  const SearchResult best = run_mapper(*make_mapper("exact"), task, {});
  EXPECT_TRUE(best.certified);
  return best.value;
}

// (b) 100 x 100 on 16 PEs: the paper finds Ruby-S below PFM. It is not: 100 = 4 * 25, so 4 x 4 of two dims uses all 16
// PEs with perfect factors, and spatial remainders have nothing to add. Both optima are proven and equal. Temporal
// remainders do win, because tiles that do not divide fill the scratchpad better.
TEST(RubyToyStudy, MisalignedProduct) {
  const double perfect = optimum("ruby_toy_16", kProduct, Factorization::kPerfect);
  EXPECT_DOUBLE_EQ(optimum("ruby_toy_16", kProduct, Factorization::kRubyS), perfect);
  const auto mean = study("ruby_toy_16", kProduct);
  EXPECT_GE(mean.at(Factorization::kRubyS), perfect);
  EXPECT_LT(mean.at(Factorization::kRuby), mean.at(Factorization::kPerfect));
}

// (c) 3x3x64 over 28x28x64 on 8 PEs: PFM is best, Ruby-S comes near, Ruby and Ruby-T get lost in their mapspaces.
TEST(RubyToyStudy, AlignedConvolution) {
  const auto mean = study("ruby_toy_8", kConvolution);
  EXPECT_LT(mean.at(Factorization::kRubyS), mean.at(Factorization::kPerfect) * 1.25);
  EXPECT_GT(mean.at(Factorization::kRubyT), mean.at(Factorization::kRubyS));
  EXPECT_GT(mean.at(Factorization::kRuby), mean.at(Factorization::kRubyS));
}

// (d) the same on 15 PEs: Ruby-S uses them, PFM cannot; it stays easier to search than Ruby and Ruby-T.
TEST(RubyToyStudy, MisalignedConvolution) {
  const auto mean = study("ruby_toy_15", kConvolution);
  EXPECT_LT(mean.at(Factorization::kRubyS), mean.at(Factorization::kPerfect));
  EXPECT_LT(mean.at(Factorization::kRubyS), mean.at(Factorization::kRubyT));
  EXPECT_LT(mean.at(Factorization::kRubyS), mean.at(Factorization::kRuby));
}

}  // namespace
}  // namespace pliant
