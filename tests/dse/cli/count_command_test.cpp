// SPDX-License-Identifier: Apache-2.0
// `pliant count` as scripts see it: JSON, exit codes, messages.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "support/ran_command.h"

namespace pliant {
namespace {

struct Counted : Ran {
  nlohmann::json json() const { return nlohmann::json::parse(out); }
};

Counted count(std::vector<std::string> args) {
  args.insert(args.begin(), "count");
  return {run(args)};
}

const std::string kEyeriss = std::string(PLIANT_SOURCE_DIR) + "/configs/accelerators/eyeriss.yaml";
const std::string kCounted = "gemm:M=4,N=4,K=4";

TEST(CountCommand, OrdersOfAPlainConvolution) {
  const Counted answer = count({"--orders", "--layer", "conv:M=8,C=8,P=8,Q=8,R=3,S=3", "--json"});
  ASSERT_EQ(answer.code, 0) << answer.err;
  EXPECT_EQ(answer.json()["schema"], 3);
  EXPECT_EQ(answer.json()["count"], "21");
  EXPECT_EQ(answer.json()["without_halo_reuse"], "11");
  EXPECT_EQ(answer.json()["all_orders"], "720");
}

TEST(CountCommand, RubyTable) {
  const Counted answer = count({"--table", "ruby", "--json"});
  ASSERT_EQ(answer.code, 0) << answer.err;
  const std::vector<std::string> expected{"7", "50", "61", "117", "83"};
  EXPECT_EQ(answer.json()["as_published"]["ruby-s"], expected);
  EXPECT_NE(count({"--table", "ruby"}).out.find("as the paper's generator"), std::string::npos);
}

TEST(CountCommand, WalkAndEnumerationAgree) {
  for (const char* rule : {"pfm", "ruby-s", "ruby-t", "ruby"}) {
    const auto with = [rule](const char* mode) {
      const Counted answer =
          count({"--accelerator", kEyeriss, "--layer", kCounted, "--factorization", rule, mode, "--json"});
      EXPECT_EQ(answer.code, 0) << answer.err;
      return answer.json()["count"];
    };
    EXPECT_EQ(with("--legal"), with("--enumerate")) << rule;
  }
}

TEST(CountCommand, ClosedFormIsTheProductOfItsParts) {
  const Counted answer = count({"--accelerator", kEyeriss, "--layer", kCounted, "--json"});
  ASSERT_EQ(answer.code, 0) << answer.err;
  const nlohmann::json counted = answer.json();
  long product = 1;
  for (const char* part : {"factor_chains", "orders", "bypasses"})
    for (const auto& [name, value] : counted[part].items()) product *= std::stol(value.get<std::string>());
  EXPECT_EQ(counted["count"], std::to_string(product));
  EXPECT_EQ(counted["what"], "map-space");
}

TEST(CountCommand, HelpShowsExamples) {
  const Counted answer = count({"--help"});
  EXPECT_EQ(answer.code, 0);
  EXPECT_NE(answer.out.find("pliant count --accelerator eyeriss"), std::string::npos);
}

TEST(CountCommand, BadInputIsExplained) {
  const auto refused = [](const std::vector<std::string>& args, const std::string& part) {
    const Counted answer = count(args);
    EXPECT_EQ(answer.code, 2);
    EXPECT_TRUE(answer.out.empty());
    EXPECT_NE(answer.err.find(part), std::string::npos) << answer.err;
  };
  refused({}, "--layer");
  refused({"--layer", kCounted}, "--accelerator");
  refused({"--nonsense"}, "--nonsense");
  refused({"--lay", kCounted}, "--lay");  // no guessing
  refused({"stray"}, "one word too many");
  refused({"--table", "timeloop"}, "unknown table");
  refused({"--legal", "--orders"}, "several modes");
  refused({"--accelerator", kEyeriss, "--layer", kCounted, "--factorization", "rubys"}, "did you mean ruby-s");
  refused({"--accelerator", kEyeriss, "--layer", kCounted, "--conventions", "timelop"}, "did you mean timeloop");
  refused({"--accelerator", kEyeriss, "--layer", kCounted, "--set", "GlobalBuffer.capacity"}, "KEY=VALUE");
  refused({"--accelerator", kEyeriss, "--layer", "gemm:M=512,N=512,K=512", "--enumerate"}, "too many");
  refused({"--accelerator", kEyeriss, "--layer", kCounted, "--legal", "--factorization", "padding"}, "padded");
}

}  // namespace
}  // namespace pliant
