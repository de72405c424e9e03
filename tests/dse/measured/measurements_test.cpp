// SPDX-License-Identifier: Apache-2.0
// Tables of kernels are read the same from JSON lines, CSV and Parquet, and what is wrong in them is told.
#include "dse/measured/measurements.h"

#include <gtest/gtest.h>

#include <fstream>

#include "core/input/diagnostics.h"
#include "dse/results/data_table.h"
#include "support/temporary_folder.h"

namespace pliant {
namespace {

std::filesystem::path written(const TemporaryFolder& folder, const char* name, const std::string& text) {
  const std::filesystem::path file = folder.path() / name;
  std::ofstream(file) << text;
  return file;
}

TEST(Measurements, AreTheSameInEveryFormat) {
  const TemporaryFolder folder;
  const auto lines =
      read_measurements(written(folder, "a.jsonl",
                                "{\"kind\": \"device\", \"name\": \"x\"}\n"
                                "{\"kind\": \"gemm\", \"M\": 16, \"N\": 24, \"K\": 32, \"seconds\": 1e-5, "
                                "\"joules\": 0.5}\n"));
  const auto commas =
      read_measurements(written(folder, "a.csv", "# a comment\nkind,M,N,K,seconds,joules\ngemm,16,24,32,1e-5,0.5\n"));
  DataTable table;
  for (const auto& [name, cell] : std::vector<std::pair<std::string, Cell>>{{"M", std::int64_t{16}},
                                                                            {"N", std::int64_t{24}},
                                                                            {"K", std::int64_t{32}},
                                                                            {"seconds", 1e-5},
                                                                            {"joules", 0.5}})
    table.columns.push_back({name, {cell}});
  write_table(table, folder.path() / "a.parquet");
  const auto parquet = read_measurements(folder.path() / "a.parquet");
  for (const auto* rows : {&lines, &commas, &parquet}) {
    ASSERT_EQ(rows->size(), 1U);
    const Measurement& one = rows->front();
    EXPECT_EQ(one.name, "gemm:M=16,N=24,K=32");
    EXPECT_EQ(one.seconds, 1e-5);
    EXPECT_EQ(one.joules, 0.5);
    EXPECT_EQ(one.bytes, 2 * (16 * 32 + 32 * 24 + 16 * 24));
    EXPECT_TRUE(one.aligned);
  }
}

// Two heads share keys and values: their queries are rows of one product. Causal: row i of 4 sees i keys, 10 of 16.
TEST(Measurements, AttentionIsTwoProducts) {
  const TemporaryFolder folder;
  const auto rows = read_measurements(written(
      folder, "a.jsonl", R"({"kind":"attention","B":3,"H":4,"HK":2,"Lq":4,"Lk":4,"D":8,"causal":true,"seconds":1})"));
  ASSERT_EQ(rows.front().layers.size(), 2U);
  EXPECT_EQ(rows.front().layers[0].macs(), 6 * (8 * 4 * 8));
  EXPECT_EQ(rows.front().layers[1].macs(), rows.front().layers[0].macs());
  EXPECT_DOUBLE_EQ(rows.front().share, 10.0 / 16);
  EXPECT_EQ(rows.front().bytes, 2 * 3 * 8 * (4 * 4 + 2 * 4 + 2 * 4 + 4 * 4));  // queries, keys, values, results
  EXPECT_EQ(rows.front().exponentials, 3 * 4 * 10);
}

TEST(Measurements, WhatIsWrongIsToldWithItsLine) {
  const TemporaryFolder folder;
  const auto told = [&](const char* name, const std::string& text) {
    try {
      read_measurements(written(folder, name, text));
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_NE(told("a.csv", "M,N,K,seconds\n8,8,8,1e-5\n8,8,8,-1\n").find("a.csv:3:1: seconds: -1 is not above 0"),
            std::string::npos);
  EXPECT_NE(told("a.csv", "M,N,seconds\n8,8,1\n").find("K: is missing"), std::string::npos);
  EXPECT_NE(told("a.csv", "M,N,K,seconds\n8,8,8\n").find("3 fields"), std::string::npos);
  EXPECT_NE(told("a.csv", "M,N,K,seconds\n8,8,x,1\n").find("K: `x` is no number"), std::string::npos);
  EXPECT_NE(told("a.jsonl", "{\"kind\": \"gem\", \"seconds\": 1}\n").find("unknown kind `gem`"), std::string::npos);
  EXPECT_NE(told("a.jsonl", "[]\n").find("a.jsonl:1:1"), std::string::npos);
  EXPECT_NE(told("a.txt", "x").find(".jsonl, .csv or .parquet"), std::string::npos);
  EXPECT_NE(told("a.csv", "M,N,K,seconds\n").find("no kernels"), std::string::npos);
}

}  // namespace
}  // namespace pliant
