// SPDX-License-Identifier: Apache-2.0
// The outer loop gives the same files however it is run: threads, shards, interruptions, caches and damage do not show.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <fstream>
#include <sstream>
#include <thread>

#include "dse/results/atomic_file.h"
#include "dse/results/data_table.h"
#include "dse/results/part_file.h"
#include "dse/sweep/run_sweep.h"
#include "support/shipped_library.h"
#include "support/temporary_folder.h"
#include "support/toy_sweep.h"

namespace pliant {
namespace {

namespace fs = std::filesystem;

const Sweep& toy() {
  static const Sweep sweep = parse_sweep_text(library(), kToySweep, "toy.yaml");
  return sweep;
}

SweepOutcome run(const fs::path& dataset, int threads = 1, Shard shard = {}, const fs::path& cache = {}) {
  SweepRunOptions options;
  options.dataset = dataset;
  options.threads = threads;
  options.shard = shard;
  options.cache = cache;
  return run_sweep(library(), toy(), options);
}

/// The dataset of one undisturbed run on one thread, made once.
const std::map<std::string, std::string>& reference() {
  static const std::map<std::string, std::string> files = [] {
    const TemporaryFolder folder;
    const SweepOutcome outcome = run(folder.path());
    EXPECT_TRUE(outcome.dataset_complete);
    EXPECT_EQ(outcome.progress.done, outcome.progress.total);
    return dataset_files(folder.path());
  }();
  return files;
}

/// Names the file that differs rather than printing it.
void expect_reference(const fs::path& dataset) {
  const auto files = dataset_files(dataset);
  ASSERT_EQ(files.size(), reference().size());
  for (const auto& [name, bytes] : reference()) {
    ASSERT_TRUE(files.contains(name)) << name;
    EXPECT_TRUE(files.at(name) == bytes) << name << " differs";
  }
}

TEST(SweepRun, EveryAllowedDesignHasItsRows) {
  const TemporaryFolder folder;
  const SweepOutcome outcome = run(folder.path());
  // 2 rows x 3 cols of which 16x32 is too large, 2 buffers, 3 flexibilities, 2 rules, 2 objectives; 5 layers.
  constexpr std::int64_t kDesigns = 5 * 2 * 3 * 2 * 2;
  EXPECT_EQ(outcome.progress.total, kDesigns * 5);
  EXPECT_LT(outcome.progress.solved, outcome.progress.total) << "equal layers are solved once";
  EXPECT_GT(outcome.progress.without_mapping, 0);
  std::vector<std::string> damaged;
  const DataTable designs = read_table(folder.path(), TableKind::kDesigns, damaged);
  const DataTable layers = read_table(folder.path(), TableKind::kLayers, damaged);
  EXPECT_TRUE(damaged.empty());
  EXPECT_EQ(designs.rows(), static_cast<std::size_t>(kDesigns * 2));
  EXPECT_EQ(layers.rows(), static_cast<std::size_t>(kDesigns * 5));
  std::map<std::string, int> status;
  for (std::size_t i = 0; i < layers.rows(); ++i) {
    const std::string text = to_text(layers.find("status")->cells[i]);
    ++status[text];
    EXPECT_EQ(text == "solved", to_text(layers.find("reason")->cells[i]).empty());
    EXPECT_EQ(text == "solved", !to_text(layers.find("energy_pj")->cells[i]).empty());
  }
  EXPECT_GT(status["solved"], 0);
  EXPECT_EQ(status["failed"], 0);
}

TEST(SweepRun, ThreadsDoNotShow) {
  const TemporaryFolder folder;
  run(folder.path(), 4);
  expect_reference(folder.path());
}

TEST(SweepRun, ShardsMakeTheSameDataset) {
  const TemporaryFolder folder;
  EXPECT_FALSE(run(folder.path(), 1, {1, 3}).dataset_complete);
  std::thread other([&] { run(folder.path(), 1, {0, 3}); });
  run(folder.path(), 1, {2, 3});
  other.join();
  expect_reference(folder.path());
  EXPECT_TRUE(run(folder.path()).already_done);
  EXPECT_FALSE(dataset_status(folder.path())->manifest.end.empty());
}

TEST(SweepRun, CachedRunsGiveTheSameRowsAndSolveNothing) {
  const TemporaryFolder folder;
  run(folder.path() / "first", 2, {}, folder.path() / "cache");
  const SweepOutcome second = run(folder.path() / "second", 2, {}, folder.path() / "cache");
  EXPECT_EQ(second.progress.solved, 0);
  expect_reference(folder.path() / "second");
}

TEST(SweepRun, ContinuesWhereItWasStopped) {
  const TemporaryFolder folder;
  int runs = 0;
  for (bool complete = false; !complete; ++runs) {
    ASSERT_LT(runs, 200);
    std::stop_source stop;
    SweepRunOptions options;
    options.dataset = folder.path();
    options.threads = 2;
    options.stop = stop.get_token();
    options.grace_seconds = 0.001;
    const std::int64_t until = 60 * (runs + 1);
    options.on_progress = [&](const SweepProgress& progress) {
      if (progress.done > until) stop.request_stop();
    };
    const SweepOutcome outcome = run_sweep(library(), toy(), options);
    complete = outcome.dataset_complete;
    EXPECT_EQ(outcome.interrupted, !complete);
  }
  expect_reference(folder.path());
}

/// The best of the finished dataset by reading its rows: {design, value} on a workload, among rows of the objective.
std::pair<std::int64_t, double> best_by_rows(const fs::path& dataset, const std::string& workload) {
  std::vector<std::string> damaged;
  const DataTable rows = read_table(dataset, TableKind::kDesigns, damaged);
  std::pair<std::int64_t, double> best{-1, 0};
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    const auto* edp = std::get_if<double>(&rows.find("edp_pj_cycles")->cells[i]);
    if (edp == nullptr || to_text(rows.find("workload")->cells[i]) != workload ||
        to_text(rows.find("objective")->cells[i]) != "edp")
      continue;
    if (best.first < 0 || *edp < best.second) best = {std::get<std::int64_t>(rows.find("design_id")->cells[i]), *edp};
  }
  return best;
}

TEST(SweepRun, NamesTheBestOfTheWholeDatasetOnEveryWorkload) {
  const TemporaryFolder folder;
  const auto expect_best = [&](const SweepOutcome& outcome) {
    ASSERT_TRUE(outcome.dataset_complete);
    const std::vector<SweepProgress::Best>& best = outcome.progress.best;
    ASSERT_EQ(best.size(), 3U);
    EXPECT_EQ(best[0].workload, "all workloads");
    EXPECT_TRUE(best[0].label.starts_with("rows=2 cols=") || best[0].label.starts_with("rows=16 cols="))
        << best[0].label;
    for (const std::size_t w : {1U, 2U}) {
      const auto [design, value] = best_by_rows(folder.path(), best[w].workload);
      EXPECT_EQ(best[w].design_id, design) << best[w].workload;
      EXPECT_EQ(best[w].value, value) << best[w].workload;
    }
    EXPECT_GE(best[0].value, std::sqrt(best[1].value * best[2].value) * (1 - 1e-12));
  };
  // In shards: the second to end knows the rows of the first. Asked again: nothing is computed.
  run(folder.path(), 1, {1, 2});
  expect_best(run(folder.path(), 1, {0, 2}));
  const SweepOutcome again = run(folder.path());
  EXPECT_TRUE(again.already_done);
  expect_best(again);
  // Continued: every part in turn is computed again, so most runs do not see the best design themselves.
  const std::vector<std::int64_t> parts = list_parts(folder.path());
  ASSERT_GT(parts.size(), 2U);
  for (const std::int64_t part : parts) {
    remove_part(folder.path(), part);
    expect_best(run(folder.path()));
  }
}

TEST(SweepRun, ReportsFromTheFirstMoment) {
  const TemporaryFolder folder;
  std::vector<std::string> phases;
  SweepRunOptions options;
  options.dataset = folder.path();
  options.threads = 1;
  options.on_phase = [&](const PhaseProgress& phase) {
    if (phases.empty() || phases.back() != phase.what) phases.push_back(phase.what);
    EXPECT_LE(phase.done, phase.total);
  };
  options.on_progress = [&](const SweepProgress&) {
    if (phases.empty() || phases.back() != "tasks") phases.emplace_back("tasks");
  };
  run_sweep(library(), toy(), options);
  ASSERT_GE(phases.size(), 3U);
  EXPECT_EQ(phases.front(), "counting the designs that meet the constraints");
  EXPECT_EQ(phases.back(), "tasks");
}

TEST(SweepRun, StopsWhileDesignsAreCounted) {
  const TemporaryFolder folder;
  std::stop_source stop;
  stop.request_stop();
  SweepRunOptions options;
  options.dataset = folder.path() / "data";
  options.threads = 1;
  options.stop = stop.get_token();
  EXPECT_TRUE(run_sweep(library(), toy(), options).interrupted);
  EXPECT_FALSE(fs::exists(options.dataset)) << "nothing was written";
}

TEST(SweepRun, DamagedPartsAreComputedAgain) {
  const TemporaryFolder folder;
  run(folder.path());
  const fs::path cut = part_path(folder.path(), TableKind::kLayers, 0);
  const fs::path flipped = part_path(folder.path(), TableKind::kDesigns, 1);
  const fs::path missing = part_path(folder.path(), TableKind::kLayers, 2);
  fs::resize_file(cut, fs::file_size(cut) / 2);
  {
    std::fstream file(flipped, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(200);
    file.put('\x55');
  }
  fs::remove(missing);
  std::vector<std::string> notes;
  SweepRunOptions options;
  options.dataset = folder.path();
  options.threads = 1;
  options.on_note = [&](const std::string& text) { notes.push_back(text); };
  const SweepOutcome outcome = run_sweep(library(), toy(), options);
  EXPECT_EQ(outcome.progress.solved, 0) << "the cache has everything";
  EXPECT_EQ(notes.size(), 2U);
  expect_reference(folder.path());
}

TEST(SweepRun, ReadersLeaveDamagedPartsOut) {
  const TemporaryFolder folder;
  run(folder.path());
  const fs::path cut = part_path(folder.path(), TableKind::kDesigns, 1);
  fs::resize_file(cut, fs::file_size(cut) - 100);
  std::vector<std::string> damaged;
  const DataTable designs = read_table(folder.path(), TableKind::kDesigns, damaged);
  ASSERT_EQ(damaged.size(), 1U);
  EXPECT_NE(damaged[0].find("part-000001"), std::string::npos);
  EXPECT_GT(designs.rows(), 0U);
}

TEST(SweepRun, DamagedCacheAndManifestAreNoticed) {
  const TemporaryFolder folder;
  run(folder.path());
  fs::remove_all(folder.path() / "layers");
  for (const auto& entry : fs::directory_iterator(folder.path() / "cache"))
    fs::resize_file(entry.path(), fs::file_size(entry.path()) / 3);
  std::ofstream(folder.path() / "manifest.json") << "{";
  EXPECT_GT(run(folder.path()).progress.solved, 0);
  expect_reference(folder.path());
}

TEST(SweepRun, ChangedInputsAreNamed) {
  const TemporaryFolder folder;
  run(folder.path());
  std::string text = kToySweep;
  text.replace(text.find("K=16"), 4, "K=18");
  const Sweep changed = parse_sweep_text(library(), text, "toy.yaml");
  SweepRunOptions options;
  options.dataset = folder.path();
  options.threads = 1;
  try {
    run_sweep(library(), changed, options);
    FAIL() << "it went on";
  } catch (const ChangedInputs& error) {
    EXPECT_NE(std::string(error.what()).find("workload first has changed"), std::string::npos) << error.what();
  }
  expect_reference(folder.path());
  options.update = true;
  const SweepOutcome outcome = run_sweep(library(), changed, options);
  EXPECT_TRUE(outcome.dataset_complete);
  EXPECT_GT(outcome.progress.reused, 0) << "the layers that did not change";
}

TEST(SweepRun, SaysWhenTheFolderCannotBeWritten) {
  const TemporaryFolder folder;
  std::ofstream(folder.path() / "file") << "in the way";
  EXPECT_THROW(run(folder.path() / "file"), StorageError);
  if (::geteuid() == 0) GTEST_SKIP() << "root may write anywhere";
  fs::create_directory(folder.path() / "locked");
  ::chmod((folder.path() / "locked").c_str(), 0555);
  EXPECT_THROW(run(folder.path() / "locked"), StorageError);
}

TEST(SweepRun, SaysWhenAPartCannotBePutInPlace) {
  const TemporaryFolder folder;
  fs::create_directories(part_path(folder.path(), TableKind::kLayers, 2) / "in the way");
  EXPECT_THROW(run(folder.path()), StorageError);
  EXPECT_TRUE(fs::exists(part_path(folder.path(), TableKind::kDesigns, 1))) << "good parts stay";
  fs::remove_all(part_path(folder.path(), TableKind::kLayers, 2));
  run(folder.path());
  expect_reference(folder.path());
}

/// A limit on the size of files stands for a full disk: writing fails in the middle of a run.
TEST(SweepRun, SaysWhenTheDiskIsFull) {
  const TemporaryFolder folder;
  std::ofstream(folder.path() / "toy.yaml") << kToySweep;
  const fs::path messages = folder.path() / "messages";
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{20'000, 20'000};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    ::setenv("PLIANT_CONFIGS", PLIANT_SOURCE_DIR "/configs", 1);
    if (::freopen(messages.c_str(), "w", stderr) == nullptr) ::_exit(99);
    ::execl(PLIANT_BINARY, PLIANT_BINARY, "sweep", (folder.path() / "toy.yaml").c_str(), "-o",
            (folder.path() / "dataset").c_str(), "--threads", "1", "--progress", "none", nullptr);
    ::_exit(98);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 1);
  std::ostringstream text;
  text << std::ifstream(messages).rdbuf();
  EXPECT_NE(text.str().find("the same command continues"), std::string::npos) << text.str();
  EXPECT_TRUE(run(folder.path() / "dataset").dataset_complete);
  expect_reference(folder.path() / "dataset");
}

}  // namespace
}  // namespace pliant
