// SPDX-License-Identifier: Apache-2.0
// What docs/compatibility.md promises, on files that version 0.2.0 wrote.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "support/ran_command.h"
#include "support/temporary_folder.h"

namespace pliant {
namespace {

const std::string kOldDataset = PLIANT_SOURCE_DIR "/tests/data/v0_2_0/dataset";

TEST(FilesOf020, TablesAreQueried) {
  const Ran ran = run({"query", kOldDataset, "--json", "--select", "design_id,set_PEs_rows,set_PEs_cols,status"});
  ASSERT_EQ(ran.code, 0) << ran.err;
  const auto rows = nlohmann::json::parse(ran.out)["rows"];
  ASSERT_EQ(rows.size(), 4U);  // rows 1, 2 x cols 2, 4
  for (const auto& row : rows) EXPECT_EQ(row["status"], "solved");
  const Ran frontier = run({"pareto", kOldDataset, "--minimize", "energy_pj,runtime_cycles", "--json"});
  EXPECT_EQ(frontier.code, 0) << frontier.err;
}

TEST(FilesOf020, AColumnOfLaterIsNotThere) {
  const Ran ran = run({"query", kOldDataset, "--select", "mapped_as"});
  EXPECT_EQ(ran.code, 2);
  EXPECT_NE(ran.err.find("mapped_as"), std::string::npos) << ran.err;
}

TEST(FilesOf020, WhatNeedsEveryColumnSaysSo) {
  const TemporaryFolder folder;
  const Ran report = run({"report", kOldDataset, "-o", (folder.path() / "r.html").string()});
  EXPECT_EQ(report.code, 1) << report.out;
  EXPECT_NE(report.err.find("is of schema 6, of an earlier version"), std::string::npos) << report.err;
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "r.html"));
  const Ran verify = run({"verify", kOldDataset});
  EXPECT_EQ(verify.code, 1);
  EXPECT_NE(verify.err.find("is of schema 6, of an earlier version"), std::string::npos) << verify.err;
}

TEST(FilesOf020, CertificatesAreAudited) {
  const Ran ran = run({"audit", PLIANT_SOURCE_DIR "/tests/data/v0_2_0/certificate.json"});
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  EXPECT_NE(ran.out.find("clean: 38 of 38 choices"), std::string::npos) << ran.out;
}

}  // namespace
}  // namespace pliant
