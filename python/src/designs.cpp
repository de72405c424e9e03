// SPDX-License-Identifier: Apache-2.0
// A design search runs on a thread of its own; the thread that asked looks at its progress and may stop it.
#include <mutex>

#include "dse/answers/dataset_options.h"
#include "dse/answers/design_json.h"
#include "src/bindings.h"
#include "src/inputs.h"

namespace pliant::python {
namespace {

Sweep load_space(const std::string& source, bool in_memory, const std::vector<Setting>& settings,
                 std::optional<bool> network, std::optional<Count> inferences) {
  SweepOverrides overrides;
  overrides.network = network;
  overrides.inferences = inferences;
  overrides.settings = settings;
  overrides.most_designs = kMostDesignsOfSearch;
  Sweep space = in_memory ? parse_sweep_text(library(), source, kInMemory, overrides)
                          : load_sweep(library(), find_sweep(library(), source), overrides);
  check_design_sweep(space);
  return space;
}

class DesignRun {
 public:
  DesignRun(const Sweep& space, const std::filesystem::path& dataset, const std::filesystem::path& cache, int threads,
            double gap, std::pair<int, int> shard, bool update)
      : space_(space) {
    options_.dataset = dataset;
    options_.cache = cache;
    options_.update = update;
    options_.search.threads = threads;
    options_.search.gap = gap;
    options_.search.shard = shard_of(shard);
    options_.search.stop = stop_.get_token();
    options_.search.on_progress = [this](const DesignProgress& progress) {
      const std::lock_guard lock(mutex_);
      progress_ = progress;
    };
  }

  /// Returns when everything is decided or the run was stopped.
  std::string run() { return design_json(space_, options_, run_design(library(), space_, options_)).dump(); }
  void stop() { stop_.request_stop(); }

  /// Designs decided, designs in all, and how many were mapped.
  nb::tuple progress() const {
    const std::lock_guard lock(mutex_);
    return nb::make_tuple(progress_.decided, progress_.designs, std::to_string(progress_.opened) + " mapped");
  }

 private:
  Sweep space_;
  DesignRunOptions options_;
  std::stop_source stop_;
  mutable std::mutex mutex_;  ///< guards what follows
  DesignProgress progress_;
};

}  // namespace

void bind_designs(nb::module_& module) {
  using namespace nb::literals;
  const nb::call_guard<nb::gil_scoped_release> unlocked;
  nb::class_<DesignRun>(module, "DesignRun")
      .def(nb::init<const Sweep&, const std::filesystem::path&, const std::filesystem::path&, int, double,
                    std::pair<int, int>, bool>(),
           "space"_a, "dataset"_a, "cache"_a, "threads"_a, "gap"_a, "shard"_a, "update"_a)
      .def("run", &DesignRun::run, unlocked)
      .def("stop", &DesignRun::stop)
      .def("progress", &DesignRun::progress);
  module.def("load_space", &load_space, "source"_a, "in_memory"_a, "settings"_a, "network"_a.none(),
             "inferences"_a.none(), unlocked);
}

}  // namespace pliant::python
