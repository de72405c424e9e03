// SPDX-License-Identifier: Apache-2.0
// `pliant query` and `pliant verify` on a dataset, as a user and as a script see them.
#include <arrow/array.h>
#include <arrow/array/concatenate.h>
#include <arrow/builder.h>
#include <arrow/table.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "dse/results/atomic_file.h"
#include "dse/results/content_hash.h"
#include "dse/results/data_table.h"
#include "dse/results/parquet_file.h"
#include "dse/results/part_file.h"
#include "support/ran_command.h"
#include "support/temporary_folder.h"

namespace pliant {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* kSweep = R"(name: small
accelerator: flexref
workloads:
  - {name: one, layers: ["gemm:M=6,N=4,K=8", "gemm:M=4,N=4,K=4"]}
  - {name: two, layers: ["conv:M=4,C=4,P=3,Q=3,R=1,S=1"]}
vary: {rows: [2, 4], Buffer.capacity: [20, 64Ki]}
flexibility: ["0000", "1111"]
)";

class DatasetCommands : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    made_ = new TemporaryFolder;
    std::ofstream(made_->path() / "small.yaml") << kSweep;
    const Ran swept = run({"sweep", (made_->path() / "small.yaml").string(), "-o", (made_->path() / "data").string(),
                           "--threads", "1", "--progress", "none"});
    ASSERT_EQ(swept.code, 0) << swept.err;
  }
  static void TearDownTestSuite() {
    delete made_;
    made_ = nullptr;
  }

  static std::string data() { return (made_->path() / "data").string(); }
  static std::string sweep() { return (made_->path() / "small.yaml").string(); }

  static json query(std::vector<std::string> more) {
    std::vector<std::string> args{"query", data(), "--json"};
    args.insert(args.end(), more.begin(), more.end());
    const Ran ran = run(args);
    EXPECT_EQ(ran.code, 0) << ran.err;
    return json::parse(ran.out).at("rows");
  }

  static DataTable table(TableKind kind) {
    std::vector<std::string> damaged;
    return read_table(data(), kind, damaged);
  }

  /// Puts another array in the place of a column of the only part, as a forger with a Parquet library would,
  /// the checksums included.
  static void forge(const fs::path& dataset, TableKind kind, const std::string& column,
                    const std::function<std::shared_ptr<arrow::Array>(const arrow::Array&)>& change) {
    const fs::path file = part_path(dataset, kind, 0);
    auto table = read_parquet(*open_parquet(file), {}, file)->CombineChunks().ValueOrDie();
    const int at = table->schema()->GetFieldIndex(column);
    const auto array = change(*table->column(at)->chunk(0));
    table = table->SetColumn(at, table->schema()->field(at), std::make_shared<arrow::ChunkedArray>(array)).ValueOrDie();
    write_atomically(file, parquet_bytes(*table));
    std::ofstream checksums(checksum_path(dataset, 0));
    for (const TableKind each : {TableKind::kLayers, TableKind::kDesigns}) {
      std::ostringstream bytes;
      bytes << std::ifstream(part_path(dataset, each, 0), std::ios::binary).rdbuf();
      checksums << sha256(bytes.str()) << "  " << to_string(each) << "/part-000000.parquet\n";
    }
  }

  static fs::path copy_of_data(const TemporaryFolder& folder) {
    fs::copy(data(), folder.path() / "copy", fs::copy_options::recursive);
    return folder.path() / "copy";
  }

  static Ran verify(const fs::path& dataset, const std::string& prove = "0") {
    return run({"verify", dataset.string(), "--sweep", sweep(), "--prove", prove});
  }

  static TemporaryFolder* made_;
};
TemporaryFolder* DatasetCommands::made_ = nullptr;

std::shared_ptr<arrow::Array> scaled(const arrow::Array& array, std::int64_t row, double by) {
  const auto& reals = static_cast<const arrow::DoubleArray&>(array);
  arrow::DoubleBuilder builder;
  for (std::int64_t i = 0; i < reals.length(); ++i) {
    const auto status = reals.IsNull(i) ? builder.AppendNull() : builder.Append(reals.Value(i) * (i == row ? by : 1));
    EXPECT_TRUE(status.ok());
  }
  return builder.Finish().ValueOrDie();
}

TEST_F(DatasetCommands, QueryFiltersByTextAndByNumber) {
  const DataTable all = table(TableKind::kDesigns);
  std::size_t expected = 0;
  for (std::size_t i = 0; i < all.rows(); ++i) {
    const Cell& energy = all.find("energy_pj")->cells[i];
    if (to_text(all.find("class")->cells[i]) == "1111" && std::holds_alternative<double>(energy) &&
        std::get<double>(energy) / static_cast<double>(std::get<std::int64_t>(all.find("macs")->cells[i])) > 2)
      ++expected;
  }
  ASSERT_GT(expected, 0U);
  ASSERT_LT(expected, all.rows());
  EXPECT_EQ(query({"--where", "class == 1*1", "--where", "energy_pj / macs > 2"}).size(), expected);
  // Designs that contradict themselves (the fixed tile in 20 words) have no class: neither equal nor unequal.
  EXPECT_EQ(query({"--where", "class != 1111"}).size(), all.rows() / 4);
  EXPECT_EQ(query({"--where", "status == solved", "--where", "set_rows == 4"}).size() +
                query({"--where", "status != solved", "--where", "set_rows == 4"}).size(),
            all.rows() / 2);
}

TEST_F(DatasetCommands, QuerySortsSelectsAndLimits) {
  const json rows = query({"--sort", "-set_rows,edp_pj_cycles", "--select", "set_rows,edp_pj_cycles,workload"});
  ASSERT_EQ(rows.size(), table(TableKind::kDesigns).rows());
  EXPECT_EQ(rows[0].size(), 3U);
  double before = -1;
  bool empty_seen = false;
  for (const json& row : rows) {
    if (row["set_rows"] != 4) continue;
    empty_seen = empty_seen || row["edp_pj_cycles"].is_null();
    if (row["edp_pj_cycles"].is_null()) continue;
    EXPECT_FALSE(empty_seen) << "empty cells come last";
    EXPECT_GE(row["edp_pj_cycles"].get<double>(), before);
    before = row["edp_pj_cycles"].get<double>();
  }
  EXPECT_EQ(rows.front()["set_rows"], 4);
  EXPECT_EQ(query({"--limit", "3"}).size(), 3U);
}

TEST_F(DatasetCommands, QueryGroups) {
  const DataTable all = table(TableKind::kDesigns);
  std::map<std::string, double> least;
  std::map<std::string, int> count;
  for (std::size_t i = 0; i < all.rows(); ++i) {
    const std::string workload = to_text(all.find("workload")->cells[i]);
    ++count[workload];
    if (const auto* edp = std::get_if<double>(&all.find("edp_pj_cycles")->cells[i]))
      least[workload] = least.contains(workload) ? std::min(least[workload], *edp) : *edp;
  }
  const json groups = query({"--group-by", "workload", "--aggregate", "count,min(edp_pj_cycles)"});
  ASSERT_EQ(groups.size(), 2U);
  for (const json& group : groups) {
    EXPECT_EQ(group["count"], count[group["workload"]]);
    EXPECT_EQ(group["min(edp_pj_cycles)"].get<double>(), least[group["workload"]]);
  }
  const json best = query({"--group-by", "workload", "--sort", "edp_pj_cycles", "--limit", "1"});
  ASSERT_EQ(best.size(), 2U);
  for (const json& row : best) EXPECT_EQ(row["edp_pj_cycles"].get<double>(), least[row["workload"]]);
}

TEST_F(DatasetCommands, QueryOpensTheCertificateAndWritesFiles) {
  const json rows = query({"--table", "layers", "--where", "certificate.certified == true", "--where",
                           "certificate.gap == 0", "--select", "layer,certificate.value"});
  ASSERT_GT(rows.size(), 0U);
  EXPECT_TRUE(rows[0]["certificate.value"].is_number());
  const TemporaryFolder folder;
  for (const char* name : {"all.csv", "all.parquet"}) {
    const std::string file = (folder.path() / name).string();
    ASSERT_EQ(run({"query", data(), "-o", file}).code, 0);
    EXPECT_GT(fs::file_size(file), 0U);
  }
  EXPECT_EQ(run({"query", (folder.path() / "all.parquet").string(), "--limit", "1"}).code, 0);
}

TEST_F(DatasetCommands, QueryExplainsMistakes) {
  const auto refused = [&](std::vector<std::string> more, const std::string& what) {
    std::vector<std::string> args{"query", data()};
    args.insert(args.end(), more.begin(), more.end());
    const Ran ran = run(args);
    EXPECT_EQ(ran.code, 2) << what;
    EXPECT_NE(ran.err.find(what), std::string::npos) << ran.err;
  };
  refused({"--where", "edp_pj_cycle < 3"}, "did you mean edp_pj_cycles?");
  refused({"--where", "class < 1"}, "class is not a number");
  refused({"--where", "area_um2"}, "no comparison");
  refused({"--sort", "nothing"}, "no column `nothing`");
  refused({"--aggregate", "median(area_um2)"}, "median");
  refused({"--aggregate", "min(class)"}, "class is not a number");
  refused({"--table", "layer"}, "did you mean layers?");
  EXPECT_EQ(run({"query", "/no/such/folder"}).code, 2);
  EXPECT_EQ(run({"query"}).code, 2);
}

TEST_F(DatasetCommands, SuggestsColumnsAndRanges) {
  const auto refused = [&](const std::string& column, const std::string& meant) {
    const Ran ran = run({"pareto", data(), "--minimize", column});
    EXPECT_EQ(ran.code, 2);
    EXPECT_NE(ran.err.find("did you mean " + meant + "?"), std::string::npos) << ran.err;
  };
  refused("area", "area_um2");
  refused("latency", "runtime_cycles");
  refused("energy", "energy_pj");
  refused("rows", "set_rows");
  const Ran none = run({"query", data(), "--where", "area_um2 <= 5"});
  EXPECT_EQ(none.code, 0);
  EXPECT_NE(none.out.find("no row passes\nhere area_um2 runs from "), std::string::npos) << none.out;
  const Ran size = run({"query", data(), "--where", "area_um2 <= 1MiB"});
  EXPECT_EQ(size.code, 2);
  EXPECT_NE(size.err.find("a size in bytes beside area_um2, which is in um2"), std::string::npos) << size.err;
}

TEST_F(DatasetCommands, FrontiersAreInUnits) {
  const json found = json::parse(run({"pareto", data(), "--minimize", "area_um2,energy_pj", "--json"}).out);
  const double area = found["groups"][0]["frontier"][0]["area_um2"].get<double>();
  const std::string shown = fmt::format("{:.4g} mm2", area / 1e6), exact = fmt::format("{:.6g}", area);
  const Ran table = run({"pareto", data(), "--minimize", "area_um2,energy_pj"});
  EXPECT_NE(table.out.find(shown), std::string::npos) << shown << " in\n" << table.out;
  const Ran plain = run({"pareto", data(), "--minimize", "area_um2,energy_pj", "--plain"});
  EXPECT_EQ(plain.out.find("mm2"), std::string::npos) << plain.out;
  EXPECT_NE(plain.out.find(exact), std::string::npos) << exact << " in\n" << plain.out;
}

TEST_F(DatasetCommands, SaysWhenADatasetIsNotComplete) {
  const TemporaryFolder folder;
  const fs::path copy = copy_of_data(folder);
  const auto answer = [&](const std::vector<std::string>& more) {
    std::vector<std::string> args{more[0], copy.string()};
    args.insert(args.end(), more.begin() + 1, more.end());
    return run(args);
  };
  EXPECT_EQ(answer({"query"}).code, 0);
  // A manifest that announces one more part, as while the sweep runs.
  std::ostringstream text;
  text << std::ifstream(copy / "manifest.json").rdbuf();
  json manifest = json::parse(text.str());
  manifest["parts"] = manifest["parts"].get<int>() + 1;
  manifest.erase("manifest_sha256");
  std::ofstream(copy / "manifest.json") << manifest.dump();
  for (const char* command : {"query", "pareto"}) {
    const Ran ran = answer({command});
    EXPECT_EQ(ran.code, 1) << command;
    EXPECT_NE(ran.err.find("1 of 2 parts are not there yet; the sweep is not finished"), std::string::npos) << ran.err;
    EXPECT_FALSE(ran.out.empty());
    EXPECT_EQ(answer({command, "--partial"}).code, 0) << command;
    EXPECT_FALSE(json::parse(answer({command, "--partial", "--json"}).out).at("complete").get<bool>());
  }
  EXPECT_EQ(answer({"report", "-o", (folder.path() / "page.html").string()}).code, 1);
  // Damage: the rows of the only part are gone, so there is nothing to answer.
  const fs::path file = part_path(copy, TableKind::kDesigns, 0);
  fs::resize_file(file, fs::file_size(file) - 60);
  EXPECT_NE(answer({"query"}).code, 0);
}

TEST_F(DatasetCommands, AllWrongColumnsAreToldAtOnce) {
  const Ran query = run({"query", data(), "--select", "enrgy_pj,area_um2", "--sort", "edp", "--where", "latenz <= 5"});
  EXPECT_EQ(query.code, 2);
  for (const char* words : {"no column `enrgy_pj`", "did you mean energy_pj?", "no column `edp`", "no column `latenz`"})
    EXPECT_NE(query.err.find(words), std::string::npos) << words << "\n" << query.err;
  const Ran pareto = run({"pareto", data(), "--minimize", "are_um2,engy_pj", "--group-by", "net"});
  EXPECT_EQ(pareto.code, 2);
  EXPECT_EQ(std::ranges::count(pareto.err, '\n'), 3) << pareto.err;
  // Not the whole list of columns on every line.
  for (const std::string& err : {query.err, pareto.err}) EXPECT_LT(err.size(), 1200U) << err;
}

TEST_F(DatasetCommands, SizesFilterAndSort) {
  const TemporaryFolder folder;
  const std::string dataset = (folder.path() / "data").string();
  std::ofstream(folder.path() / "sizes.yaml") << "accelerator: " PLIANT_SOURCE_DIR
                                                 "/tests/data/sweeps/sized.yaml\n"
                                                 "workloads: [{name: one, layers: [\"gemm:M=4,N=4,K=4\"]}]\n"
                                                 "vary: {sram: [2MiB, 256KiB, 1MiB]}\n";
  ASSERT_EQ(run({"sweep", (folder.path() / "sizes.yaml").string(), "-o", dataset, "--progress", "none"}).code, 0);
  const Ran ran = run({"query", dataset, "--where", "set_sram <= 1MiB", "--sort", "set_sram", "--json"});
  ASSERT_EQ(ran.code, 0) << ran.err;
  const json rows = json::parse(ran.out).at("rows");
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0]["set_sram"], 256 * 1024);
  EXPECT_EQ(rows[1]["set_sram"], 1024 * 1024);
  // Tables are for people, unless they ask otherwise.
  const std::vector<std::string> asked{"query",    dataset,    "--sort",
                                       "set_sram", "--select", "set_sram,energy_pj,area_um2"};
  const Ran table = run(asked);
  EXPECT_NE(table.out.find("256 KiB"), std::string::npos) << table.out;
  EXPECT_NE(table.out.find("1 MiB"), std::string::npos) << table.out;
  EXPECT_NE(table.out.find("J  "), std::string::npos) << table.out;
  std::vector<std::string> plain = asked;
  plain.emplace_back("--plain");
  EXPECT_NE(run(plain).out.find("262144"), std::string::npos);
  EXPECT_EQ(run(plain).out.find("KiB"), std::string::npos);
  const Ran least = run({"query", dataset, "--group-by", "workload", "--aggregate", "max(set_sram),count"});
  EXPECT_NE(least.out.find("2 MiB      3"), std::string::npos) << least.out;
}

TEST_F(DatasetCommands, FoldersAndFilesInTheWrongPlace) {
  const TemporaryFolder folder;
  std::ofstream(folder.path() / "file") << "x";
  const Ran output = run({"sweep", sweep(), "-o", (folder.path() / "file").string()});
  EXPECT_EQ(output.code, 2);
  EXPECT_NE(output.err.find("is a file; expected a folder"), std::string::npos) << output.err;
  for (const std::vector<std::string>& args :
       {std::vector<std::string>{"sweep", folder.path().string()},
        {"map", "--accelerator", folder.path().string(), "--layer", "gemm:M=4,N=4,K=4"},
        {"map", "--accelerator", "eyeriss", "--workload", folder.path().string()}}) {
    const Ran ran = run(args);
    EXPECT_EQ(ran.code, 2);
    EXPECT_NE(ran.err.find("is a folder"), std::string::npos) << ran.err;
  }
}

TEST_F(DatasetCommands, VerifyAcceptsWhatTheSweepWrote) {
  const Ran ran = verify(data(), "all");
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  EXPECT_NE(ran.out.find("24 of 24 layer rows and 16 design rows checked"), std::string::npos) << ran.out;
  // The six rows of invalid designs claim nothing.
  EXPECT_NE(ran.out.find("18 claims proven again; 0 differences"), std::string::npos) << ran.out;
}

TEST_F(DatasetCommands, VerifyFindsForgedNumbersSumsAndMappings) {
  // A row that is solved, so that its costs are claims.
  const DataTable layers = table(TableKind::kLayers);
  std::int64_t row = 0;
  while (to_text(layers.find("status")->cells[static_cast<std::size_t>(row)]) != "solved") ++row;
  {
    const TemporaryFolder folder;
    const fs::path copy = copy_of_data(folder);
    forge(copy, TableKind::kLayers, "energy_pj", [&](const arrow::Array& a) { return scaled(a, row, 0.5); });
    const Ran ran = verify(copy);
    EXPECT_EQ(ran.code, 1);
    EXPECT_NE(ran.out.find("energy_pj is"), std::string::npos) << ran.out;
  }
  {
    const TemporaryFolder folder;
    const fs::path copy = copy_of_data(folder);
    forge(copy, TableKind::kDesigns, "area_um2", [](const arrow::Array& a) { return scaled(a, 3, 1.01); });
    const Ran ran = verify(copy);
    EXPECT_EQ(ran.code, 1);
    EXPECT_NE(ran.out.find("area_um2 is"), std::string::npos) << ran.out;
  }
  {
    // Every mapping one row further down: some are of other layers, others of other designs.
    const TemporaryFolder folder;
    const fs::path copy = copy_of_data(folder);
    forge(copy, TableKind::kLayers, "mapping", [](const arrow::Array& a) {
      return arrow::Concatenate({a.Slice(a.length() - 1), a.Slice(0, a.length() - 1)}).ValueOrDie();
    });
    EXPECT_EQ(verify(copy).code, 1);
  }
}

TEST_F(DatasetCommands, VerifyProvesClaimsAgain) {
  // A search that stops at its first legal sample misses optima; a forger calls what it found certified.
  const TemporaryFolder folder;
  const std::string dataset = (folder.path() / "data").string(), file = (folder.path() / "small.yaml").string();
  std::ofstream(file) << kSweep << "mapper: {name: random, options: {victory: 1}}\n";
  const std::vector<std::string> set{"--set", "cols=8", "--threads", "1"};
  const auto with = [&](std::vector<std::string> args) {
    args.insert(args.end(), set.begin(), set.end());
    return run(args);
  };
  ASSERT_EQ(with({"sweep", file, "-o", dataset, "--progress", "none"}).code, 0);
  const auto check = [&](const std::string& prove) {
    return with({"verify", dataset, "--sweep", file, "--prove", prove});
  };
  EXPECT_EQ(check("all").code, 0);
  EXPECT_EQ(run({"verify", dataset, "--sweep", file}).code, 2) << "it was made with --set";
  forge(dataset, TableKind::kLayers, "certificate", [](const arrow::Array& array) {
    const auto& all = static_cast<const arrow::StructArray&>(array);
    arrow::BooleanBuilder yes;
    for (std::int64_t i = 0; i < all.length(); ++i) EXPECT_TRUE(yes.Append(true).ok());
    arrow::ArrayVector fields = all.fields();
    const auto& type = static_cast<const arrow::StructType&>(*all.type());
    fields[static_cast<std::size_t>(type.GetFieldIndex("certified"))] = yes.Finish().ValueOrDie();
    fields[static_cast<std::size_t>(type.GetFieldIndex("lower_bound"))] = all.GetFieldByName("value");
    return arrow::StructArray::Make(fields, type.fields()).ValueOrDie();
  });
  EXPECT_EQ(check("0").code, 0) << "every mapping is legal and costs what the row says";
  const Ran thorough = check("all");
  EXPECT_EQ(thorough.code, 1);
  EXPECT_NE(thorough.out.find("a mapping has the value"), std::string::npos) << thorough.out;
}

/// Also in the footer and in the texts of the metadata, which the page checksums of Parquet do not cover.
TEST_F(DatasetCommands, VerifyNoticesEveryFlippedByte) {
  const TemporaryFolder folder;
  const fs::path copy = copy_of_data(folder);
  for (const TableKind kind : {TableKind::kLayers, TableKind::kDesigns}) {
    const fs::path file = part_path(copy, kind, 0);
    std::ostringstream stream;
    stream << std::ifstream(file, std::ios::binary).rdbuf();
    const std::string whole = stream.str();
    for (std::size_t at = 3; at < whole.size(); at += whole.size() / 20) {
      std::string flipped = whole;
      flipped[at] = static_cast<char>(flipped[at] ^ 0x20);
      std::ofstream(file, std::ios::binary) << flipped;
      EXPECT_EQ(verify(copy).code, 1) << file << " byte " << at;
    }
    std::ofstream(file, std::ios::binary) << whole;
    EXPECT_EQ(verify(copy).code, 0);
  }
  fs::remove(checksum_path(copy, 0));
  const Ran without = verify(copy);
  EXPECT_EQ(without.code, 1);
  EXPECT_NE(without.out.find("part 0 is not complete: a file is missing"), std::string::npos) << without.out;
}

TEST_F(DatasetCommands, VerifyNamesDamageAndMissingRows) {
  const TemporaryFolder folder;
  const fs::path copy = copy_of_data(folder);
  const fs::path file = part_path(copy, TableKind::kLayers, 0);
  fs::resize_file(file, fs::file_size(file) - 50);
  const Ran damaged = verify(copy);
  EXPECT_EQ(damaged.code, 1);
  EXPECT_NE(damaged.out.find("part-000000"), std::string::npos) << damaged.out;
  EXPECT_EQ(run({"verify", folder.path().string()}).code, 2) << "no dataset";
}

}  // namespace
}  // namespace pliant
