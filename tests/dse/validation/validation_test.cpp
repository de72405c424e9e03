// SPDX-License-Identifier: Apache-2.0
// Our model against vectors of other models, and the validator against itself: an excuse must not cover a real
// mismatch.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "core/input/diagnostics.h"
#include "dse/validation/reference_bookkeeping.h"
#include "dse/validation/timeloop_vectors.h"
#include "dse/validation/vectors.h"
#include "support/ran_command.h"

namespace pliant {
namespace {

using nlohmann::json;

const std::filesystem::path kData = PLIANT_SOURCE_DIR "/tests/data";
const std::filesystem::path kConfigs = PLIANT_SOURCE_DIR "/configs";

std::vector<json> records(const char* file) {
  std::vector<json> all;
  std::ifstream in(kData / file);
  for (std::string line; std::getline(in, line);) all.push_back(json::parse(line));
  return all;
}

ValidationResult validated(const json& record) {
  ValidationResult result;
  validate_timeloop_vector(record, result);
  return result;
}

/// A file in the test's temporary folder.
std::filesystem::path written(const std::string& name, const std::string& text) {
  const std::filesystem::path path =
      std::filesystem::path(::testing::TempDir()) / (std::to_string(::getpid()) + "-" + name);
  std::ofstream(path) << text;
  return path;
}

TEST(Validation, PerfectTimeloopVectorsMatchInEveryNumber) {
  const ValidationResult result = validate_vectors(kData / "oracle_perfect.jsonl", kConfigs);
  EXPECT_EQ(result.vectors, 76);
  EXPECT_EQ(result.mismatched_vectors, 0);
  EXPECT_EQ(result.excused_vectors, 0);
  EXPECT_TRUE(result.excused.empty());
  EXPECT_GT(result.compared, 76 * 20);
}

TEST(Validation, ImperfectTimeloopVectorsDifferOnlyWhereTheReferenceIsPredicted) {
  const ValidationResult result = validate_vectors(kData / "oracle_imperfect.jsonl", kConfigs);
  EXPECT_EQ(result.vectors, 55);
  EXPECT_EQ(result.mismatched_vectors, 0);
  for (const Mismatch& one : result.excused) EXPECT_FALSE(one.excuse.empty());
}

TEST(Validation, QuickflowVectorsMatch) {
  const ValidationResult result = validate_vectors(kData / "quickflow_vectors.json", kConfigs);
  EXPECT_EQ(result.vectors, 90);
  EXPECT_EQ(result.mismatched_vectors, 0);
  EXPECT_TRUE(result.excused.empty());
}

TEST(Validation, OperationsAreNeverExcusedWhereTheReferenceCountsThem) {
  std::set<std::string> miscounted;
  for (const json& record : records("oracle_imperfect.jsonl"))
    if (!record.at("computes_exact").get<bool>()) miscounted.insert(record.at("id"));
  for (const Mismatch& one : validate_vectors(kData / "oracle_imperfect.jsonl", kConfigs).excused) {
    if (one.quantity == "computes") {
      EXPECT_TRUE(miscounted.contains(one.vector)) << one.vector;
    }
  }
}

TEST(Validation, NothingExcusesAWrongNumber) {
  // Any number of a perfect vector, and of an imperfect one whose operations are exact, is a mismatch when changed.
  for (const char* file : {"oracle_perfect.jsonl", "oracle_imperfect.jsonl"}) {
    int changed = 0;
    for (json record : records(file)) {
      if (!record.at("computes_exact").get<bool>() || record.contains("results_full_walk")) continue;
      const json original = record;
      for (const char* key : {"cycles", "energy_pj", "computes"}) {
        record = original;
        record["results"][key] = record["results"][key].get<double>() * 1.01 + 2;
        EXPECT_EQ(validated(record).mismatched_vectors, 1) << record.at("id") << " " << key;
      }
      for (std::size_t l = 0; l < original["results"]["levels"].size(); ++l)
        for (const auto& [tensor, counts] : original["results"]["levels"][l]["tensors"].items()) {
          if (!counts.at("kept").get<bool>()) continue;
          for (const char* key : {"reads", "fills", "updates", "tile_size"}) {
            record = original;
            json& value = record["results"]["levels"][l]["tensors"][tensor][key];
            value = value.get<double>() + 2;
            EXPECT_EQ(validated(record).mismatched_vectors, 1) << record.at("id") << " " << tensor << " " << key;
          }
        }
      if (++changed == 6) break;
    }
  }
}

TEST(Validation, WhatFollowsFromAnExcusedNumberIsExcusedWithIt) {
  // The reference cuts operations to whole numbers and divides the cut number by its cycles: the utilization is then
  // predicted by its own cycles, not by the fraction that was lost.
  int tried = 0;
  for (json record : records("oracle_imperfect.jsonl")) {
    if (!record.at("computes_exact").get<bool>() || record.contains("results_full_walk")) continue;
    const ValidationResult before = validated(record);
    const auto excused = [](const ValidationResult& result, const char* quantity) {
      return std::any_of(result.excused.begin(), result.excused.end(),
                         [&](const Mismatch& one) { return one.quantity == quantity; });
    };
    json& results = record["results"];
    if (!excused(before, "cycles") || !excused(before, "utilization")) continue;
    const double computes = results["computes"].get<double>(), utilization = results["utilization"].get<double>();
    results["computes"] = computes - 1;
    results["utilization"] = utilization * (computes - 1) / computes;
    EXPECT_EQ(validated(record).mismatched_vectors, 0) << record.at("id");
    EXPECT_TRUE(excused(validated(record), "utilization")) << record.at("id");
    results["utilization"] = utilization * (computes - 1) / computes * (1 + 1e-3);  // follows from nothing
    EXPECT_EQ(validated(record).mismatched_vectors, computes > 2e3 ? 1 : 0) << record.at("id");
    ++tried;
  }
  EXPECT_GT(tried, 5);
}

TEST(ReferenceBookkeeping, EveryHabitHasAName) {
  std::set<std::string_view> names{describe(Habit::kNone)};
  for (const Habit habit : kHabits) EXPECT_TRUE(names.insert(describe(habit)).second);
  for (const std::string_view name : names) EXPECT_FALSE(name.empty());
}

TEST(ReferenceBookkeeping, SeventeenRowsOverSixUnits) {
  // The reference's own example: 3 rounds with 6, 6 and 5 rows of 4 words; 68 words leave the parent, 11 are counted at
  // each of 17/3 instances.
  const Layer layer = make_gemm("gemm", {.M = 17, .N = 5, .K = 4});
  Accelerator accelerator;
  Memory memory;
  memory.read_pj = memory.write_pj = memory.update_pj = 1;
  Fanout fanout;
  fanout.cols = 6;
  accelerator.levels = {{"DRAM", memory}, {"PEs", fanout}, {"Spad", memory}, {"MAC", Compute{}}};
  const int M = layer.find_dim("M"), N = layer.find_dim("N"), K = layer.find_dim("K");
  ReferenceNest nest{&layer, &accelerator, {0, 2}, {}, {7, 7}};
  nest.loops = {{0, false, M, 3, 3}, {0, true, M, 6, 5}, {1, false, N, 5, 5}, {1, false, K, 4, 4}};
  const Prediction all = predict_reference(nest);
  const int inputs = layer.find_tensor("Inputs");
  EXPECT_DOUBLE_EQ(all.computes, 340);
  EXPECT_EQ(all.compute_cycles, 60);
  EXPECT_EQ(all.counts[0][inputs].reads, 68);
  EXPECT_EQ(all.counts[1][inputs].fills, 11);
  EXPECT_EQ(predict_reference(nest, Habit::kAveragedFills).counts[1][inputs].fills, 12);  // every delivered word
  EXPECT_DOUBLE_EQ(all.counts[1][inputs].instances, 17.0 / 3);
  EXPECT_EQ(all.counts[1][inputs].instances_max, 6);
}

TEST(Validation, BadFilesAreExplained) {
  const auto refused = [](const std::filesystem::path& file) {
    try {
      validate_vectors(file, kConfigs);
    } catch (const InputError& error) {
      return error.diagnostics().front().text();
    }
    return std::string();
  };
  EXPECT_NE(refused(kData / "absent.jsonl").find("cannot be read"), std::string::npos);
  EXPECT_NE(refused(written("empty.jsonl", "\n")).find("holds no vectors"), std::string::npos);
  EXPECT_NE(refused(written("text.jsonl", "hello\n")).find("not JSON"), std::string::npos);
  EXPECT_NE(refused(written("other.json", "{\"a\": 1}\n")).find("not a file of reference vectors"), std::string::npos);
  const std::string good = records("oracle_perfect.jsonl").front().dump();
  EXPECT_NE(refused(written("cut.jsonl", good + "\n" + good.substr(0, 50) + "\n")).find(":2:"), std::string::npos);
  json lacking = json::parse(good);
  lacking["results"].erase("cycles");
  EXPECT_NE(refused(written("lacking.jsonl", lacking.dump())).find("cycles"), std::string::npos);
  const auto quickflow = [](const char* arch, const char* kernel, const char* level, const char* dim) {
    return json{{"vectors",
                 {{{"arch", arch},
                   {"kernel", kernel},
                   {"mapping", {{{"level", level}, {"factors", {{dim, 2}}}, {"loop_order_outer_to_inner", {dim}}}}}}}}}
        .dump();
  };
  EXPECT_NE(refused(written("a.json", quickflow("Nothing", "I", "DRAM", "M"))), "");
  EXPECT_NE(refused(written("k.json", quickflow("Eyeriss", "Z", "DRAM", "M"))).find("no such kernel"),
            std::string::npos);
  EXPECT_NE(refused(written("l.json", quickflow("Eyeriss", "I", "L7", "M"))).find("has no level L7"),
            std::string::npos);
  EXPECT_NE(refused(written("d.json", quickflow("Eyeriss", "I", "DRAM", "Z"))).find("has no dim Z"), std::string::npos);
}

Ran validate(std::vector<std::string> args) {
  args.insert(args.begin(), "validate");
  return run(args);
}

TEST(ValidateCommand, PrintsTheVerdict) {
  const Ran good = validate({(kData / "oracle_imperfect.jsonl").string()});
  EXPECT_EQ(good.code, 0) << good.err;
  EXPECT_NE(good.out.find("55 vectors, 0 mismatches, 55 excused"), std::string::npos) << good.out;
  EXPECT_NE(good.out.find("padded"), std::string::npos);
  const Ran listed = validate({(kData / "oracle_imperfect.jsonl").string(), "--excused"});
  EXPECT_NE(listed.out.find("excused differences"), std::string::npos);
}

TEST(ValidateCommand, AMismatchEndsWithOne) {
  json wrong = records("oracle_perfect.jsonl").front();
  wrong["results"]["cycles"] = 1;
  const std::string file = written("wrong.jsonl", wrong.dump()).string();
  const Ran text = validate({file});
  EXPECT_EQ(text.code, 1);
  EXPECT_NE(text.out.find("1 vectors, 1 mismatches, 0 excused"), std::string::npos) << text.out;
  EXPECT_NE(text.out.find("cycles"), std::string::npos);
  const Ran as_json = validate({file, "--json", "--excused"});
  EXPECT_EQ(as_json.code, 1);
  const json parsed = json::parse(as_json.out);
  EXPECT_EQ(parsed.at("schema"), 3);
  EXPECT_EQ(parsed.at("mismatches"), 1);
  EXPECT_EQ(parsed.at("differences").at(0).at("quantity"), "cycles");
}

TEST(ValidateCommand, BadArguments) {
  EXPECT_EQ(validate({}).code, 2);
  EXPECT_EQ(validate({"--nonsense"}).code, 2);
  EXPECT_EQ(validate({"absent.jsonl"}).code, 2);
  EXPECT_EQ(validate({"--help"}).code, 0);
}

}  // namespace
}  // namespace pliant
