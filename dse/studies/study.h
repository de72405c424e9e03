// SPDX-License-Identifier: Apache-2.0
// A study reproduces a published evaluation: it runs what the paper ran, sets the published numbers beside ours, draws
// the figures and keeps all points. docs/studies has a page for each: settings, and what the paper leaves open.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "core/input/load.h"
#include "dse/report/chart.h"
#include "dse/results/data_table.h"

namespace pliant {

/// What one study of a run has made and another needs too. For one thread at a time.
class StudyMemory {
 public:
  template <class T>
  const T& once(const std::string& name, const std::function<T()>& make) {
    std::shared_ptr<void>& kept = made_[name];
    if (!kept) kept = std::make_shared<T>(make());
    return *static_cast<const T*>(kept.get());
  }

 private:
  std::map<std::string, std::shared_ptr<void>> made_;  ///< a name stands for one type
};

/// What a study is given. It writes below `folder` only.
struct StudyContext {
  const Library& library;
  std::filesystem::path folder;  ///< of this study
  std::filesystem::path cache;   ///< of solved tasks, shared by all studies
  bool quick = false;            ///< a part of the work; what it gives is the same as in full
  int threads = 0;               ///< 0 = all
  std::stop_token stop;
  std::function<void(const std::string&)> on_progress;  ///< a line for people, at most a few times a second
  bool sampled = false;  ///< also what searches find that draw at random; all else is proven and the same in any run
  std::shared_ptr<StudyMemory> memory = std::make_shared<StudyMemory>();  ///< of all studies of one run

  /// Is this part asked for: a whole study, with its samples?
  bool wants_samples() const { return sampled && !quick; }
};

/// One number of ours, under the name that the published one has.
struct Finding {
  std::string quantity;
  double value = 0;
};

/// What a study hands back.
struct StudyResult {
  std::vector<Finding> findings;
  std::vector<Chart> charts;
  std::vector<std::pair<std::string, DataTable>> tables;  ///< by name; written as Parquet beside the sweeps' datasets

  void found(std::string quantity, double value) { findings.push_back({std::move(quantity), value}); }
};

struct Study {
  std::string_view name;
  std::string_view paper;       ///< "flexibility", "Ruby", "GOMA", "QuickFlow"
  std::string_view reproduces;  ///< "Table I and Figures 5, 7, 8: sizes, toys, padding"
  StudyResult (*run)(const StudyContext&);
};

/// In the order in which `all` runs them.
const std::vector<Study>& all_studies();
const Study* find_study(std::string_view name);

/// Something that a study takes for granted is not so: a layer without a mapping, an optimum without a proof.
class StudyError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Ctrl-C while a study runs; what its sweeps have finished is kept.
class StudyInterrupted : public std::exception {
 public:
  const char* what() const noexcept override { return "interrupted; the same command continues"; }
};

}  // namespace pliant
