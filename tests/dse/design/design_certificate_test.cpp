// SPDX-License-Identifier: Apache-2.0
// Certificates of design searches: those of random spaces are confirmed, spoiled ones are refused.
#include "dse/design/design_certificate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>

#include "core/input/diagnostics.h"
#include "core/legality.h"
#include "costmodel/area.h"
#include "costmodel/report.h"
#include "dse/audit/design_audit.h"
#include "dse/audit/space_tables.h"
#include "dse/audit/sum_of_regions.h"
#include "dse/mappers/mapper.h"
#include "flex/mapspace/enumerate.h"
#include "support/design_spaces.h"

namespace pliant {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

/// Without what has no certificate.
tests::RandomSpace plain_space(const Library& library, std::uint64_t seed, const fs::path& folder, std::int64_t most) {
  tests::RandomSpace space = tests::random_space(library, seed, folder, most);
  space.sweep.constraints.clear();
  space.sweep.result_limits.clear();
  space.sweep.deadlines = false;
  for (Workload& workload : space.sweep.workloads) workload.graph.reset();
  std::erase_if(space.sweep.goals->minimize,
                [](const DesignGoals::Goal& goal) { return goal.measure == DesignMeasure::kPower; });
  if (space.sweep.goals->minimize.empty()) space.sweep.goals->minimize.push_back({DesignMeasure::kArea, {}});
  return space;
}

void search_and_write(const Library& library, const Sweep& sweep, double gap, const fs::path& folder) {
  ProvenBounds proven;
  DesignSearchOptions options;
  options.threads = 1;
  options.gap = gap;
  options.proven = &proven;
  const DesignFrontier found = search_designs(library, sweep, options, nullptr);
  write_design_certificate(library, sweep, gap, found, proven, folder);
}

TEST(DesignCertificates, OfRandomSpacesAreClean) {
  const Library library(PLIANT_SOURCE_DIR "/configs");
  const tests::ScratchFolder folder("design_certificates");
  int clean = 0, spaces = 0;
  for (std::uint64_t seed = 500; seed < 507; ++seed) {
    const tests::RandomSpace space = plain_space(library, seed, folder.path(), 80);
    if (space.sweep.accelerators.size() > 1) continue;
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + space.text);
    const fs::path proof = folder.path() / ("proof" + std::to_string(seed));
    search_and_write(library, space.sweep, seed % 3 == 0 ? 0.05 : 0, proof);
    const audit::DesignAuditReport report = audit::audit_design(library, proof, {});
    ++spaces;
    clean += report.clean() ? 1 : 0;
    EXPECT_TRUE(report.wrong.empty()) << report.wrong.front();
    for (const std::string& what : report.undecided) std::cout << "seed " << seed << ": " << what << "\n";
  }
  EXPECT_GE(clean, spaces * 3 / 4);
}

// The auditor's own ideal design, which owes nothing to the search's: every mapping of a random design of the box.
TEST(DesignCertificates, TheAuditorsIdealCanRunEverythingForNoMore) {
  const Library library(PLIANT_SOURCE_DIR "/configs");
  const tests::ScratchFolder folder("audit_ideal");
  int compared = 0;
  for (std::uint64_t seed = 300; seed < 340 && !HasFailure(); ++seed) {
    const tests::RandomSpace space = plain_space(library, seed, folder.path(), 300);
    if (space.sweep.accelerators.size() > 1) continue;
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + space.text);
    audit::DesignTask task = design_task(library, space.sweep);
    audit::SpaceTables tables(library, task);
    ASSERT_EQ(tables.problem(), "");
    std::mt19937_64 random(seed);
    for (int k = 0; k < 4; ++k) {
      audit::Box box;
      std::int64_t point = 0;
      for (const audit::DesignAxis& axis : task.axes) {
        const auto size = static_cast<std::int64_t>(axis.values.size());
        const auto draw = [&] { return static_cast<std::int32_t>(random() % static_cast<std::uint64_t>(size)); };
        const std::int32_t a = draw(), b = draw(), at = std::min(a, b) + (a == b ? 0 : draw() % (std::abs(a - b) + 1));
        box.push_back({std::min(a, b), std::max(a, b)});
        point = point * size + at;
      }
      const auto ideal = tables.ideal(box);
      if (!std::holds_alternative<audit::BoxIdeal>(ideal)) continue;
      const auto& best = std::get<audit::BoxIdeal>(ideal);
      const std::int64_t design =
          point * task.designs_of_point() +
          static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(task.designs_of_point()));
      const auto own = tables.design(design);
      if (!std::holds_alternative<Accelerator>(own)) continue;
      const auto& accelerator = std::get<Accelerator>(own);
      EXPECT_FALSE(best.contradicts);
      EXPECT_LE(best.least_area_um2, area_um2(accelerator).total() * (1 + 1e-12));
      const Layer& layer = task.layers.front();
      const Factorization rule =
          task.factorizations[static_cast<std::size_t>(design % task.variants()) / task.objectives.size()];
      int seen = 0;
      for_each_mapping(layer, accelerator, accelerator.flexibility_of(layer), rule, [&](const Mapping& mapping) {
        if (++seen > 2000) return false;
        if (!check_legality(layer, accelerator, accelerator.flexibility_of(layer), rule, mapping).empty()) return true;
        const auto broken =
            check_legality(layer, best.accelerator, best.accelerator.flexibility_of(layer), rule, mapping);
        EXPECT_TRUE(broken.empty()) << (broken.empty() ? "" : broken.front().message);
        const Totals there = price(layer, best.accelerator, mapping).totals,
                     here = price(layer, accelerator, mapping).totals;
        EXPECT_LE(there.energy_pj, here.energy_pj * (1 + 1e-12));
        EXPECT_LE(there.cycles, here.cycles * (1 + 1e-12));
        ++compared;
        return !HasFailure();
      });
    }
  }
  EXPECT_GE(compared, 5'000);
}

TEST(DesignCertificates, WhatHasNoneIsRefused) {
  const Library library(PLIANT_SOURCE_DIR "/configs");
  const auto refused = [&](const std::string& more) -> std::string {
    const Sweep sweep = parse_sweep_text(
        library,
        "accelerator: flexref\nworkloads: [{name: w, layers: [\"gemm:M=4,N=4,K=4\"]}]\nvary: {rows: [4, 8]}\n" + more,
        "space");
    try {
      check_certificate(library, sweep, {});
    } catch (const InputError& error) {
      return error.diagnostics().front().what;
    }
    return "";
  };
  EXPECT_EQ(refused("minimize: area_um2\n"), "");
  EXPECT_NE(refused("minimize: area_um2\nconstraints: [rows <= 4]\n").find("constraints"), std::string::npos);
  EXPECT_NE(refused("minimize: power_w\nset: {clock: 1GHz}\n").find("power"), std::string::npos);
}

/// The files of a certificate, as JSON.
struct Files {
  json claim;
  std::map<std::string, std::vector<json>> lines;

  static Files read(const fs::path& folder) {
    Files files;
    std::ifstream in(folder / "design.json");
    files.claim = json::parse(in);
    for (const char* name : {"bounds", "mapped", "boxes"}) {
      std::ifstream all(folder / (std::string(name) + ".jsonl"));
      for (std::string line; std::getline(all, line);) files.lines[name].push_back(json::parse(line));
    }
    return files;
  }
  void write(const fs::path& folder) {
    fs::create_directories(folder);
    for (auto& [name, all] : lines) {
      std::ofstream out(folder / (name + ".jsonl"));
      for (const json& line : all) out << line.dump() << "\n";
      claim["lines"][name] = all.size();
    }
    std::ofstream(folder / "design.json") << claim.dump();
  }
};

class Spoiled : public testing::Test {
 protected:
  Spoiled() {
    const Sweep sweep = parse_sweep_text(
        library_,
        "accelerator: flexref\nset: {DRAM.bandwidth: 16}\n"
        "workloads: [{name: w, layers: [\"gemm:M=4,N=6,K=6\", \"gemm:M=2,N=8,K=4\", \"gemm:M=6,N=2,K=10\"]}]\n"
        "vary: {rows: [2, 4, 8, 16], cols: [2, 8], Buffer.capacity: [4KiB, 16KiB]}\n"
        "flexibility: [\"1111\", \"0110\"]\nminimize: [area_um2, edp_pj_cycles]\n",
        "space");
    search_and_write(library_, sweep, 0, folder_.path() / "proof");
    files_ = Files::read(folder_.path() / "proof");
  }

  /// What cannot even be read is refused.
  bool is_clean(Files files) {
    files.write(folder_.path() / "spoiled");
    try {
      return audit::audit_design(library_, folder_.path() / "spoiled", {}).clean();
    } catch (const InputError&) {
      return false;
    }
  }
  json& any(Files& files, const char* name) {
    std::vector<json>& all = files.lines[name];
    return all[random_() % all.size()];
  }
  /// The optimum is the bound that the line states.
  bool is_sharp(const json& line) {
    const audit::DesignClaim claim = audit::read_design_claim(folder_.path() / "proof");
    audit::SpaceTables tables(library_, claim.task);
    Accelerator accelerator;
    if (line.contains("design")) {
      accelerator = std::get<Accelerator>(tables.design(line.at("design").get<std::int64_t>()));
    } else {
      audit::Box box;
      for (const json& range : line.at("in"))
        box.push_back({range[0].get<std::int32_t>(), range[1].get<std::int32_t>()});
      accelerator = std::get<audit::BoxIdeal>(tables.ideal(box)).accelerator;
    }
    const Layer& layer = claim.task.layers[line.at("layer").get<std::size_t>()];
    const Task task{layer, accelerator, accelerator.flexibility_of(layer), Factorization::kPerfect,
                    *parse_objective(line.at("of").get<std::string>())};
    const double best = make_mapper("exact")->search(task, {}).value;
    return best <= line.at("least").get<double>() * (1 + 1e-9);
  }

  const Library library_{PLIANT_SOURCE_DIR "/configs"};
  const tests::ScratchFolder folder_{"spoiled_certificates"};
  Files files_;
  std::mt19937_64 random_{1};
};

TEST_F(Spoiled, AreRefused) {
  ASSERT_TRUE(is_clean(files_));
  const char* asked = std::getenv("PLIANT_SPOILINGS");
  const int each = asked != nullptr ? std::atoi(asked) : 4;
  const auto raised = [](json& number, double share) { number = number.get<double>() * (1 + share); };
  const auto refuse = [&](const char* kind, const auto& spoil) {
    for (int k = 0, tries = 0; k < each; ++tries) {
      ASSERT_LT(tries, 100 * each) << kind;
      Files files = files_;
      if (!spoil(files)) continue;
      ++k;
      EXPECT_FALSE(is_clean(std::move(files))) << kind;
    }
  };
  refuse("a bound of a box raised", [&](Files& files) {
    json& box = any(files, "boxes");
    if (box["least"].empty()) return false;
    raised(box["least"][random_() % box["least"].size()], 1e-6);
    return true;
  });
  refuse("a sharp bound of a layer raised", [&](Files& files) {
    if (files.lines["bounds"].empty()) return false;
    json& line = any(files, "bounds");
    if (line["least"].is_null() || !is_sharp(line)) return false;
    raised(line["least"], 1e-6);
    return true;
  });
  refuse("a box dropped", [&](Files& files) {
    std::vector<json>& all = files.lines["boxes"];
    all.erase(all.begin() + static_cast<std::ptrdiff_t>(random_() % all.size()));
    return true;
  });
  refuse("a box twice", [&](Files& files) {
    files.lines["boxes"].push_back(any(files, "boxes"));
    return true;
  });
  refuse("a frontier's value lowered", [&](Files& files) {
    json& point = files.claim["claim"]["frontier"];
    json& values = point[random_() % point.size()]["values"];
    raised(values[random_() % values.size()], -1e-6);
    return true;
  });
  refuse("a frontier's point of another design", [&](Files& files) {
    json& points = files.claim["claim"]["frontier"];
    json& design = points[random_() % points.size()]["design"];
    design = (design.get<std::int64_t>() + 1) % 32;
    return true;
  });
  refuse("a point of the frontier left out", [&](Files& files) {
    json& points = files.claim["claim"]["frontier"];
    points.erase(random_() % points.size());
    return true;
  });
  refuse("a mapping of another layer", [&](Files& files) {
    json& line = any(files, "mapped");
    line["layer"] = (line["layer"].get<int>() + 1) % 3;
    return true;
  });
  refuse("a mapping's value lowered", [&](Files& files) {
    raised(any(files, "mapped")["value"], -1e-6);
    return true;
  });
  refuse("a mapping left out", [&](Files& files) {
    std::vector<json>& all = files.lines["mapped"];
    all.erase(all.begin() + static_cast<std::ptrdiff_t>(random_() % all.size()));
    return true;
  });
}

}  // namespace
}  // namespace pliant
