// SPDX-License-Identifier: Apache-2.0
// `pliant design` as a user and as a script see it, and the commands that read what it wrote.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "dse/results/data_table.h"
#include "support/ran_command.h"
#include "support/temporary_folder.h"

namespace pliant {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSpace = R"(accelerator: flexref
set: {DRAM.bandwidth: 16}
workloads: [{name: two, layers: ["gemm:M=64,N=64,K=32", "conv:M=16,C=8,P=8,Q=8,R=3,S=3"]}]
vary: {rows: {from: 2, to: 16, times: 2}, cols: [4, 8, 16], Buffer.capacity: [4KiB, 8KiB, 32KiB]}
flexibility: ["1111", "1010", "0000"]
flexion: false
minimize: [area_um2, edp_pj_cycles]
)";

class DesignCommand : public testing::Test {
 protected:
  void SetUp() override { write(kSpace); }
  void write(const std::string& text) const { std::ofstream(file(), std::ios::binary) << text; }
  std::string file() const { return (folder_ / "space.yaml").string(); }
  std::string dataset() const { return (folder_ / "out").string(); }
  nlohmann::json design(std::vector<std::string> more = {}) const {
    more.insert(more.begin(), {"design", file(), "-o", dataset(), "--json"});
    const Ran ran = run(more);
    EXPECT_EQ(ran.code, 0) << ran.err;
    return nlohmann::json::parse(ran.out);
  }

  const TemporaryFolder temporary_;
  const fs::path folder_ = temporary_.path();
};

TEST_F(DesignCommand, ConstraintsThatLeaveNoDesignAreBadInput) {
  write(std::string(kSpace) + "constraints: rows*cols <= 4\n");
  const Ran none = run({"design", file(), "-o", dataset()});
  EXPECT_EQ(none.code, 2);
  EXPECT_NE(none.err.find("no design meets `rows*cols <= 4`"), std::string::npos) << none.err;
  EXPECT_EQ(none.err, run({"sweep", file(), "-o", dataset() + "-swept"}).err);
}

TEST_F(DesignCommand, ProvesAFrontierThatOtherCommandsRead) {
  const auto json = design();
  EXPECT_TRUE(json["certified"]);
  EXPECT_EQ(json["designs"], 4 * 3 * 3 * 3);
  EXPECT_EQ(json["decided"], json["designs"]);
  EXPECT_LT(json["opened"], json["designs"]);
  ASSERT_GE(json["frontier"].size(), 2U);
  const Ran pareto = run({"pareto", dataset(), "--minimize", "area_um2,edp_pj_cycles", "--json"});
  ASSERT_EQ(pareto.code, 0) << pareto.err;
  for (const auto& design : json["frontier"]) EXPECT_NE(pareto.out.find(design["design_id"].dump()), std::string::npos);
  EXPECT_EQ(run({"query", dataset(), "--limit", "3"}).code, 0);
  const Ran text = run({"design", file(), "-o", dataset()});
  EXPECT_NE(text.out.find("proven"), std::string::npos) << text.out;
  // Again: everything comes from the cache.
  EXPECT_EQ(design()["searches"], 0);
}

TEST_F(DesignCommand, VerifyMapsDesignsOfClosedBoxes) {
  design();
  const std::vector<std::string> verify = {"verify", dataset(), "--sweep", file(), "--prove", "20", "--json"};
  const Ran good = run(verify);
  ASSERT_EQ(good.code, 0) << good.out << good.err;
  const auto json = nlohmann::json::parse(good.out);
  EXPECT_TRUE(json["verified"]);
  EXPECT_EQ(json["designs"], 4 * 3 * 3 * 3);
  EXPECT_EQ(json["opened_again"], 20);
  // A bound that is too high is found.
  const fs::path boxes = fs::path(dataset()) / "boxes.parquet";
  std::vector<std::string> damaged;
  DataTable table = read_table(boxes, TableKind::kDesigns, damaged);
  for (DataColumn& column : table.columns)
    if (column.name == "goal2_edp_pj_cycles")
      for (Cell& cell : column.cells)
        if (auto* value = std::get_if<double>(&cell)) *value *= 1e6;
  write_table(table, boxes);
  const Ran bad = run(verify);
  EXPECT_EQ(bad.code, 1);
  EXPECT_NE(bad.out.find("better than the bound"), std::string::npos) << bad.out;
}

TEST_F(DesignCommand, MistakesAreNamed) {
  EXPECT_EQ(run({"design"}).code, 2);
  write(std::string(kSpace) + "constraints: runtime_cycle <= 5\n");
  const Ran limit = run({"design", file(), "-o", dataset()});
  EXPECT_EQ(limit.code, 2);
  EXPECT_NE(limit.err.find("did you mean runtime_cycles"), std::string::npos) << limit.err;
  write(std::string(kSpace) + "mix: {of: best}\n");
  const Ran mix = run({"design", file(), "-o", dataset()});
  EXPECT_EQ(mix.code, 2);
  EXPECT_NE(mix.err.find("no mix `best`"), std::string::npos) << mix.err;
  write(std::string(kSpace) + "mapper: random\n");
  const Ran mapper = run({"design", file(), "-o", dataset()});
  EXPECT_EQ(mapper.code, 2);
  EXPECT_NE(mapper.err.find("proves no bounds"), std::string::npos) << mapper.err;
  write(kSpace);
  EXPECT_EQ(run({"design", file(), "-o", dataset(), "--gap", "much"}).code, 2);
  // A dataset of other goals is not overwritten.
  design();
  EXPECT_EQ(run({"design", file(), "-o", dataset(), "--gap", "1%"}).code, 2);
}

}  // namespace
}  // namespace pliant
