// SPDX-License-Identifier: Apache-2.0
// The kept tables are of one commit: results/studies/made_by.csv, which bench/keep_studies.py writes, has each of them
// as it is, made by one program, in less processor time than the goal of all studies without their samples.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/input/csv.h"
#include "dse/results/content_hash.h"
#include "dse/studies/study.h"
#include "support/file_text.h"
#include "support/temporary_folder.h"

namespace pliant {
namespace {

namespace fs = std::filesystem;

constexpr double kGoalSeconds = 15 * 60;

using Row = std::map<std::string, std::string>;

std::vector<Row> rows_of(const fs::path& file) {
  Diagnostics problems;
  std::vector<Row> rows;
  std::vector<std::string> names;
  for (const CsvRow& line : parse_csv(text_of(file), std::make_shared<const std::string>("made_by.csv"), problems)) {
    Row row;
    for (std::size_t i = 0; i < line.fields.size(); ++i)
      if (names.size() == line.fields.size()) row[names[i]] = line.fields[i].text;
    if (names.empty())
      for (const auto& field : line.fields) names.push_back(field.text);
    else
      rows.push_back(std::move(row));
  }
  return rows;
}

/// What is wrong with the tables of a folder; empty where all are those that made_by.csv names, made together.
std::vector<std::string> faults(const fs::path& folder) {
  std::vector<std::string> found;
  std::map<std::string, Row> by_table;
  for (Row& row : rows_of(folder / "made_by.csv")) {
    const std::string table = row["table"];
    if (!by_table.emplace(table, std::move(row)).second) found.push_back(table + ": named twice");
  }
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".csv" && entry.path().stem() != "made_by" &&
        !by_table.contains(entry.path().stem().string()))
      found.push_back(entry.path().stem().string() + ": not in made_by.csv");
  for (auto& [table, row] : by_table) {
    const fs::path file = folder / (table + ".csv");
    if (!fs::exists(file)) {
      found.push_back(table + ": no such table");
      continue;
    }
    const std::string text = text_of(file);
    if (std::to_string(std::ranges::count(text, '\n') - 1) != row["rows"]) found.push_back(table + ": other rows");
    if (sha256(text) != row["sha256"]) found.push_back(table + ": changed");
    Row& first = by_table.begin()->second;
    if (row["commit"] != first["commit"] || row["sources"] != first["sources"] || row["commit"].empty())
      found.push_back(table + ": made by another program than " + first["table"]);
  }
  return found;
}

fs::path kept() { return fs::path(PLIANT_SOURCE_DIR) / "results" / "studies"; }

TEST(KeptTables, AreOfOneCommitAndAsItMadeThem) {
  EXPECT_EQ(faults(kept()), std::vector<std::string>()) << "bench/keep_studies.py makes all of them together";
}

TEST(KeptTables, AllStudiesTakeLessThanTheirGoal) {
  double seconds = 0;
  std::set<std::string> timed;
  for (Row& row : rows_of(kept() / "made_by.csv"))
    if (!row["cpu_seconds"].empty()) {
      seconds += std::stod(row["cpu_seconds"]);
      timed.insert(row["table"]);
    }
  for (const Study& study : all_studies()) EXPECT_TRUE(timed.contains(std::string(study.name))) << study.name;
  EXPECT_LT(seconds, kGoalSeconds);
}

/// A copy of the kept tables, and what is wrong with it after somebody changed it by hand.
class Spoiled {
 public:
  Spoiled() {
    for (const auto& entry : fs::directory_iterator(kept()))
      if (entry.is_regular_file()) fs::copy_file(entry.path(), folder_.path() / entry.path().filename());
  }
  void replace(const char* file, const std::string& what, const std::string& by) const {
    std::string text = text_of(folder_.path() / file);
    const std::size_t at = text.find(what);
    ASSERT_NE(at, std::string::npos) << what;
    std::ofstream(folder_.path() / file, std::ios::binary) << text.replace(at, what.size(), by);
  }
  const fs::path& path() const { return folder_.path(); }

 private:
  TemporaryFolder folder_;
};

TEST(KeptTables, OneDigitOfATableIsFound) {
  const Spoiled copy;
  copy.replace("ladder.csv", "0.", "1.");
  EXPECT_EQ(faults(copy.path()), std::vector<std::string>{"ladder: changed"});
}

TEST(KeptTables, ATableMadeAloneIsFound) {
  const Spoiled copy;
  const std::string commit = rows_of(kept() / "made_by.csv").front()["commit"];
  copy.replace("made_by.csv", "\nladder," + commit, "\nladder,0123456789");
  EXPECT_EQ(faults(copy.path()), std::vector<std::string>{"ladder: made by another program than area"});
}

TEST(KeptTables, ATableThatIsMissingOrUnknownIsFound) {
  const Spoiled copy;
  fs::rename(copy.path() / "lacks.csv", copy.path() / "needs.csv");
  EXPECT_EQ(faults(copy.path()), (std::vector<std::string>{"needs: not in made_by.csv", "lacks: no such table"}));
}

}  // namespace
}  // namespace pliant
