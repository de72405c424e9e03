// SPDX-License-Identifier: Apache-2.0
// `pliant sweep --audit` and `--shard auto`.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "dse/answers/shard_option.h"
#include "support/ran_command.h"
#include "support/temporary_folder.h"

namespace pliant {
namespace {

namespace fs = std::filesystem;

constexpr const char* kAuditedSweep = R"(name: small
accelerator: flexref
workloads:
  - {name: one, layers: ["gemm:M=6,N=4,K=8", "gemm:M=4,N=4,K=4"]}
vary: {rows: [2, 4], Buffer.capacity: [2, 64Ki]}
flexibility: ["1111", "1101"]
)";

class AuditedSweeps : public testing::Test {
 protected:
  void SetUp() override { std::ofstream(file()) << kAuditedSweep; }

  Ran sweep(const std::vector<std::string>& more) const {
    std::vector<std::string> args{"sweep", file().string(), "-o",  data().string(), "--threads",
                                  "1",     "--progress",    "none"};
    args.insert(args.end(), more.begin(), more.end());
    return run(args);
  }
  fs::path file() const { return folder_.path() / "small.yaml"; }
  fs::path data() const { return folder_.path() / "data"; }

  TemporaryFolder folder_;
};

TEST_F(AuditedSweeps, RowsAreProvenAndTheManifestSaysSo) {
  const Ran ran = sweep({"--audit", "50%", "--json"});
  ASSERT_EQ(ran.code, 0) << ran.out << ran.err;
  const auto answer = nlohmann::json::parse(ran.out);
  EXPECT_EQ(answer["audit"]["verdict"], "audited");
  EXPECT_EQ(answer["audit"]["layer_rows"], 16);
  EXPECT_EQ(answer["audit"]["proven_again"], 8);
  const auto manifest = nlohmann::json::parse(std::ifstream(data() / "manifest.json"));
  EXPECT_EQ(manifest["options"]["audited"], "audited: 8 of 16 rows proven again");
  // Once more, of all rows: the dataset is as it was, and the newest audit counts.
  const Ran again = sweep({"--audit", "100%"});
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_NE(again.out.find("audit: audited: 16 layer rows priced again, 16 of 16 rows proven again"), std::string::npos)
      << again.out;
  EXPECT_NE(again.out.find("everything was done already"), std::string::npos) << again.out;
}

constexpr const char* kAuditedNetwork = R"(pliant: workload
name: residual
layers:
  - {layer: wide, gemm: {M: 6, N: 8, K: 4}}
  - {layer: narrow, gemm: {M: 6, N: 4, K: 8}}
graph:
  - {layer: wide}
  - {layer: narrow, from: wide}
  - {op: add, name: sum, from: [wide, narrow], words: 24}
)";

TEST_F(AuditedSweeps, ClaimsOfNetworksAreProven) {
  std::ofstream(folder_.path() / "residual.yaml") << kAuditedNetwork;
  const auto ask = [&](const std::string& more, const std::string& name) {
    std::ofstream(file()) << "name: networks\naccelerator: npu\nworkloads: [residual.yaml]\n"
                          << "vary: {SRAM.capacity: [40, 64Ki]}\n"
                          << more;
    const Ran ran = run({"sweep", file().string(), "-o", (data() / name).string(), "--threads", "1", "--progress",
                         "none", "--audit", "100%", "--json"});
    return std::pair(ran, nlohmann::json::parse(ran.out).at("audit"));
  };
  // A deadline that can be kept, one that cannot, and layers that pass tiles on.
  for (const char* more :
       {"", "constraints: [runtime_cycles <= 100000]", "constraints: [runtime_cycles <= 1]", "fusion: tiles"}) {
    const auto [ran, audit] = ask(more, "data" + std::to_string(std::string_view(more).size()));
    EXPECT_EQ(ran.code, 0) << more << ran.out << ran.err;
    EXPECT_EQ(audit["verdict"], "audited") << more << audit;
    EXPECT_EQ(audit["networks_proven_again"], 2) << more << audit;
    EXPECT_EQ(audit["networks_solved_again"], 0) << more << audit;
    EXPECT_EQ(audit["proven_again"], 4) << more << audit;
  }
  const auto manifest = nlohmann::json::parse(std::ifstream(data() / "data0" / "manifest.json"));
  EXPECT_EQ(manifest["options"]["audited"], "audited: 4 of 4 rows and 2 networks proven again");
  // Weights that stay over several inferences have no certificate.
  const auto [ran, audit] = ask("inferences: 10", "inferences");
  EXPECT_EQ(ran.code, 4) << ran.out << ran.err;
  EXPECT_EQ(audit["verdict"], "undecided") << audit;
  EXPECT_EQ(audit["networks_solved_again"], 2) << audit;
}

TEST_F(AuditedSweeps, ADatasetOfAnotherSweepIsNotAudited) {
  ASSERT_EQ(sweep({}).code, 0);
  std::ofstream(file(), std::ios::app) << "objective: energy\n";
  EXPECT_EQ(sweep({"--audit", "100%"}).code, 2);
}

TEST_F(AuditedSweeps, WhatCannotBeAudited) {
  for (const char* share : {"0%", "101%", "10", "-1%", "half"}) {
    const Ran ran = sweep({"--audit", share});
    EXPECT_EQ(ran.code, 2) << share;
    EXPECT_NE(ran.err.find("--audit"), std::string::npos) << ran.err;
  }
  const Ran shard = sweep({"--audit", "10%", "--shard", "0/2"});
  EXPECT_EQ(shard.code, 2);
  EXPECT_NE(shard.err.find("of one shard"), std::string::npos) << shard.err;
  EXPECT_EQ(sweep({"--audit", "10%", "--mapper", "genetic"}).code, 2);
  EXPECT_FALSE(fs::exists(data()));
}

Shard asked_shard(const std::vector<std::string>& args, const char* variable, const char* value) {
  return shard_of(read_arguments("sweep", args, 1), [&](std::string_view name) -> std::optional<std::string> {
    return name == variable ? std::optional<std::string>(value) : std::nullopt;
  });
}

TEST(ShardAuto, TakesTheIndexOfTheEngine) {
  const Shard shard = asked_shard({"--shard", "auto/4"}, "JOB_COMPLETION_INDEX", "3");
  EXPECT_EQ(shard.index, 3);
  EXPECT_EQ(shard.count, 4);
  EXPECT_EQ(asked_shard({}, "JOB_COMPLETION_INDEX", "3").count, 1);  // how many is not known: everything, as before
  EXPECT_EQ(asked_shard({"--shard", "1/8"}, "JOB_COMPLETION_INDEX", "3").index, 1);
  for (const char* text : {"auto", "auto/3", "auto/0", "auto/x", "auto/"})
    EXPECT_THROW(asked_shard({"--shard", text}, "JOB_COMPLETION_INDEX", "3"), InputError) << text;
  EXPECT_THROW(asked_shard({"--shard", "auto"}, "OTHER", "3"), InputError);
}

}  // namespace
}  // namespace pliant
