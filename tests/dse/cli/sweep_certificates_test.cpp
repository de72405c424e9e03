// SPDX-License-Identifier: Apache-2.0
// `pliant sweep --certificates` and `pliant audit DIR`: proofs of chosen rows, and what the auditor says of them.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "support/ran_command.h"
#include "support/temporary_folder.h"

namespace pliant {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* kCertifiedSweep = R"(name: small
accelerator: flexref
workloads:
  - {name: one, layers: ["gemm:M=6,N=4,K=8", "gemm:M=4,N=4,K=4"]}
  - {name: two, layers: ["conv:M=4,C=4,P=3,Q=3,R=1,S=1"]}
vary: {rows: [2, 4], Buffer.capacity: [2, 64Ki]}
flexibility: ["0000", "1111"]
)";

class SweepCertificates : public testing::Test {
 protected:
  void SetUp() override { std::ofstream(folder_.path() / "small.yaml") << kCertifiedSweep; }

  Ran sweep(const std::vector<std::string>& more) const {
    std::vector<std::string> args{
        "sweep", (folder_.path() / "small.yaml").string(), "-o", data().string(), "--threads", "1", "--progress",
        "none"};
    args.insert(args.end(), more.begin(), more.end());
    return run(args);
  }
  fs::path data() const { return folder_.path() / "data"; }
  fs::path certificates() const { return data() / "certificates"; }

  TemporaryFolder folder_;
};

TEST_F(SweepCertificates, OfTheRowsThatTheConditionsChoose) {
  const Ran swept = sweep({"--certificates", "workload == one", "--certificates", "class == 1111"});
  EXPECT_EQ(swept.code, 0) << swept.err;
  EXPECT_NE(swept.out.find("8 certificates of 8 chosen rows"), std::string::npos) << swept.out;
  std::map<std::string, json> written;  // by design, workload and layer
  for (const auto& entry : fs::directory_iterator(certificates())) {
    const std::string name = entry.path().filename().string();
    written[name.substr(0, name.find('-', name.find("one-") + 4))] = json::parse(std::ifstream(entry.path()));
  }
  const json rows =
      json::parse(run({"query", data().string(), "--json", "--table", "layers", "--where", "workload == one", "--where",
                       "class == 1111", "--select", "design_id,layer_index,status,certificate.value"})
                      .out)["rows"];
  ASSERT_EQ(rows.size(), 8U);
  ASSERT_EQ(written.size(), 8U);
  int infeasible = 0;
  for (const json& row : rows) {
    const std::string name =
        std::to_string(row["design_id"].get<int>()) + "-one-" + std::to_string(row["layer_index"].get<int>());
    ASSERT_TRUE(written.contains(name)) << name;
    const json& claim = written[name]["claim"];
    if (row["status"] == "no_legal_mapping") {
      ++infeasible;
      EXPECT_TRUE(claim["infeasible"].get<bool>());
    } else {
      EXPECT_DOUBLE_EQ(claim["value"].get<double>(), row["certificate.value"].get<double>());
    }
  }
  EXPECT_EQ(infeasible, 4);  // a buffer of two words cannot hold three tensors

  const Ran audited = run({"audit", certificates().string(), "--json"});
  EXPECT_EQ(audited.code, 0) << audited.out << audited.err;
  const json report = json::parse(audited.out);
  EXPECT_EQ(report["certificates"], 8);
  EXPECT_EQ(report["confirmed"], 8);
  for (const json& one : report["audits"]) EXPECT_EQ(one["verdict"], "clean") << one;
}

TEST_F(SweepCertificates, OneAlteredCertificateMakesTheFolderWrong) {
  ASSERT_EQ(sweep({"--certificates", "design_id >= 2", "--certificates", "design_id <= 3"}).code, 0);
  const fs::path first = fs::directory_iterator(certificates())->path();
  json altered = json::parse(std::ifstream(first));
  altered["parts"].erase(0);
  std::ofstream(first) << altered.dump();
  const Ran audited = run({"audit", certificates().string()});
  EXPECT_EQ(audited.code, 1) << audited.out;
  EXPECT_NE(audited.out.find("5 of 6 certificates confirmed"), std::string::npos) << audited.out;
  EXPECT_NE(audited.out.find("WRONG"), std::string::npos) << audited.out;
}

// A fixed tile that the buffer cannot hold: the design contradicts itself.
TEST_F(SweepCertificates, RowsWithoutACertificateAreNamed) {
  const Ran swept = sweep({"--certificates", "design_id <= 1"});
  EXPECT_EQ(swept.code, 1);
  EXPECT_NE(swept.out.find("3 certificates of 6 chosen rows"), std::string::npos) << swept.out;
  EXPECT_NE(swept.err.find("design 0, two, layer 0: the design is not valid"), std::string::npos) << swept.err;
}

TEST_F(SweepCertificates, AFinishedDatasetIsNotSolvedAgain) {
  ASSERT_EQ(sweep({}).code, 0);
  EXPECT_FALSE(fs::exists(certificates()));
  const Ran again = sweep({"--certificates", "design_id == 3"});
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_NE(again.out.find("everything was done already"), std::string::npos) << again.out;
  EXPECT_NE(again.out.find("3 certificates of 3 chosen rows"), std::string::npos) << again.out;
}

TEST_F(SweepCertificates, WhatCannotBeProvenOrUnderstoodIsRefused) {
  const Ran random = sweep({"--certificates", "design_id == 0", "--mapper", "random"});
  EXPECT_EQ(random.code, 2);
  EXPECT_NE(random.err.find("proves nothing part by part"), std::string::npos) << random.err;
  const Ran unknown = sweep({"--certificates", "ipsum > 3"});
  EXPECT_EQ(unknown.code, 2);
  EXPECT_NE(unknown.err.find("--certificates ipsum > 3"), std::string::npos) << unknown.err;
  fs::create_directories(certificates());
  const Ran empty = run({"audit", certificates().string()});
  EXPECT_EQ(empty.code, 2);
  EXPECT_NE(empty.err.find("holds no certificate"), std::string::npos) << empty.err;
}

}  // namespace
}  // namespace pliant
