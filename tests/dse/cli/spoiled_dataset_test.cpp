// SPDX-License-Identifier: Apache-2.0
// A dataset as untrusted input: whoever opens a spoiled one refuses it, naming the file, or answers as before.
#include <arrow/builder.h>
#include <arrow/table.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "dse/results/arrow_table.h"
#include "dse/results/atomic_file.h"
#include "dse/results/manifest.h"
#include "dse/results/parquet_file.h"
#include "dse/results/part_file.h"
#include "support/ran_command.h"
#include "support/temporary_folder.h"

namespace pliant {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSpoiledSweep = R"(name: small
accelerator: flexref
workloads: [{name: one, layers: ["gemm:M=6,N=4,K=8"]}]
vary: {rows: [2, 4]}
flexibility: ["0000", "1111"]
)";

void put(const fs::path& file, const std::string& bytes) { std::ofstream(file, std::ios::binary) << bytes; }

class SpoiledDataset : public testing::Test {
 protected:
  void SetUp() override {
    put(folder_.path() / "small.yaml", kSpoiledSweep);
    const Ran swept =
        run({"sweep", (folder_.path() / "small.yaml").string(), "-o", data().string(), "--progress", "none"});
    ASSERT_EQ(swept.code, 0) << swept.err;
  }

  fs::path data() const { return folder_.path() / "data"; }
  fs::path layers() const { return part_path(data(), TableKind::kLayers, 0); }
  fs::path designs() const { return part_path(data(), TableKind::kDesigns, 0); }

  std::vector<std::vector<std::string>> questions() const {
    return {{"query", data().string(), "--select", "all"},
            {"query", data().string(), "--table", "layers", "--select", "all"},
            {"pareto", data().string(), "--minimize", "area_um2,edp_pj_cycles"}};
  }
  Ran report() const { return run({"report", data().string(), "-o", (folder_.path() / "page.html").string()}); }

  /// Every way in ends with an error that names `file` and says `words`.
  void expect_refused(const fs::path& file, const std::string& words) {
    std::vector<Ran> answers{report()};
    const bool of_layers = file == layers();
    answers.push_back(run({"query", data().string(), "--table", of_layers ? "layers" : "designs"}));
    for (const Ran& answer : answers) {
      EXPECT_TRUE(answer.code == 1 || answer.code == 2) << answer.code;
      EXPECT_NE(answer.err.find(file.filename().string()), std::string::npos) << answer.err;
      EXPECT_NE(answer.err.find(words), std::string::npos) << answer.err;
    }
    std::vector<std::string> damaged;
    read_arrow_table(data(), of_layers ? TableKind::kLayers : TableKind::kDesigns, damaged);
    ASSERT_EQ(damaged.size(), 1U);
    EXPECT_NE(damaged.front().find(words), std::string::npos) << damaged.front();
  }

  /// Another table in the place of a part, without a checksum.
  void forge(const fs::path& file,
             const std::function<std::shared_ptr<arrow::Table>(const std::shared_ptr<arrow::Table>&)>& change) {
    fs::remove(checksum_path(data(), 0));
    const auto table = read_parquet(*open_parquet(file), {}, file)->CombineChunks().ValueOrDie();
    put(file, parquet_bytes(*change(table)));
  }

  static std::shared_ptr<arrow::Table> with(const std::shared_ptr<arrow::Table>& table, const std::string& column,
                                            const std::shared_ptr<arrow::Array>& array) {
    const int at = table->schema()->GetFieldIndex(column);
    return table
        ->SetColumn(at, table->schema()->field(at)->WithType(array->type()),
                    std::make_shared<arrow::ChunkedArray>(array))
        .ValueOrDie();
  }

  TemporaryFolder folder_;
};

TEST_F(SpoiledDataset, AFlippedBitIsRefusedOrChangesNothing) {
  std::vector<Ran> before;
  for (const auto& question : questions()) before.push_back(run(question));
  std::mt19937 random(1);
  for (const fs::path& file : {layers(), designs(), checksum_path(data(), 0), manifest_path(data())}) {
    const std::string whole = file_bytes(file);
    for (int k = 0; k < 40; ++k) {
      bool refused = false;
      std::string flipped = whole;
      const std::size_t at = random() % whole.size();
      flipped[at] = static_cast<char>(flipped[at] ^ (1 << random() % 8));
      put(file, flipped);
      for (std::size_t q = 0; q < before.size(); ++q) {
        const Ran answer = run(questions()[q]);
        const std::string where = fmt::format("{} byte {}, question {}", file.filename().string(), at, q);
        if (answer.code == 0) {
          EXPECT_EQ(answer.out, before[q].out) << where;
        } else {
          EXPECT_TRUE(answer.code == 1 || answer.code == 2) << where;
          EXPECT_NE(answer.err.find(file.extension() == ".json" ? "manifest.json" : "part-000000"), std::string::npos)
              << where << ": " << answer.err;
          refused = true;
        }
      }
      EXPECT_TRUE(refused || (file != layers() && file != designs())) << "a flipped bit of a part that nobody sees";
      if (k % 20 == 0) {
        EXPECT_LE(report().code, 2);
      }
    }
    put(file, whole);
  }
  for (std::size_t q = 0; q < before.size(); ++q) EXPECT_EQ(run(questions()[q]).out, before[q].out);
}

TEST_F(SpoiledDataset, BytesWithoutAChecksumCrashNobody) {
  fs::remove(checksum_path(data(), 0));
  std::mt19937 random(2);
  for (const fs::path& file : {layers(), designs()}) {
    const std::string whole = file_bytes(file);
    for (int k = 0; k < 60; ++k) {
      std::string spoiled = whole;
      for (int flips = 1 + k % 3; flips > 0; --flips) {
        const std::size_t at = random() % whole.size();
        spoiled[at] = static_cast<char>(spoiled[at] ^ (1 << random() % 8));
      }
      if (k % 10 == 0) spoiled.resize(random() % spoiled.size());
      put(file, spoiled);
      for (const auto& question : questions()) {
        const Ran answer = run(question);
        EXPECT_TRUE(answer.code == 0 || answer.err.find("part-000000") != std::string::npos) << answer.err;
      }
      if (k % 10 == 0) {
        EXPECT_LE(report().code, 2);
      }
    }
    put(file, whole);
  }
}

TEST_F(SpoiledDataset, APartOfAnotherKindIsNoPart) {
  fs::copy_file(designs(), layers(), fs::copy_options::overwrite_existing);
  expect_refused(layers(), "its SHA-256 is not the one in");
  fs::remove(checksum_path(data(), 0));
  expect_refused(layers(), "is no part of layers: it says that it is one of `designs`");
}

TEST_F(SpoiledDataset, APartOfAnotherSweepIsNoPart) {
  fs::remove(checksum_path(data(), 0));
  Manifest manifest = *read_manifest(data());
  manifest.sweep_sha256 = "other";
  write_manifest(data(), manifest);
  expect_refused(designs(), "was written by another sweep");
}

TEST_F(SpoiledDataset, ARenamedColumnIsNoColumn) {
  forge(designs(), [](const auto& table) {
    auto names = table->ColumnNames();
    std::replace(names.begin(), names.end(), std::string("energy_pj"), std::string("enerfy_pj"));
    return table->RenameColumns(names).ValueOrDie()->ReplaceSchemaMetadata(table->schema()->metadata());
  });
  expect_refused(designs(), "has a column `enerfy_pj`");
}

TEST_F(SpoiledDataset, AColumnOfAnotherTypeIsRefused) {
  forge(layers(), [](const auto& table) {
    arrow::DoubleBuilder reals;
    for (std::int64_t i = 0; i < table->num_rows(); ++i) EXPECT_TRUE(reals.Append(1).ok());
    return with(table, "certificate", reals.Finish().ValueOrDie());
  });
  expect_refused(layers(), "column certificate is of another kind");
}

TEST_F(SpoiledDataset, RowsWithoutANameAreRefused) {
  forge(designs(), [](const auto& table) {
    arrow::Int64Builder none;
    EXPECT_TRUE(none.AppendNulls(table->num_rows()).ok());
    return with(table, "design_id", none.Finish().ValueOrDie());
  });
  expect_refused(designs(), "column design_id is empty in 4 rows");
}

TEST_F(SpoiledDataset, WhatIsNoNumberIsRefused) {
  forge(designs(), [](const auto& table) {
    arrow::DoubleBuilder reals;
    for (std::int64_t i = 0; i < table->num_rows(); ++i)
      EXPECT_TRUE(reals.Append(std::numeric_limits<double>::quiet_NaN()).ok());
    return with(table, "area_um2", reals.Finish().ValueOrDie());
  });
  expect_refused(designs(), "column area_um2 holds something that is no number");
}

}  // namespace
}  // namespace pliant
