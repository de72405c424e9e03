// SPDX-License-Identifier: Apache-2.0
// A sweep runs on a thread of its own; the thread that asked looks at its progress and may stop it.
#include <mutex>
#include <nlohmann/json.hpp>

#include "dse/answers/dataset_options.h"
#include "dse/answers/sweep_json.h"
#include "dse/sweep/room_warnings.h"
#include "dse/sweep/run_sweep.h"
#include "src/bindings.h"
#include "src/inputs.h"

namespace pliant::python {
namespace {

Sweep load(const std::string& source, bool in_memory, const std::vector<Setting>& settings,
           const std::optional<std::string>& mapper, std::optional<double> budget_seconds, std::optional<double> gap,
           std::optional<std::uint64_t> seed, std::optional<bool> network, std::optional<Count> inferences,
           const std::optional<std::string>& fusion) {
  SweepOverrides overrides;
  overrides.network = network;
  overrides.fusion = fusion;
  overrides.inferences = inferences;
  overrides.mapper = mapper;
  overrides.budget_seconds = budget_seconds;
  overrides.gap = gap;
  overrides.seed = seed;
  overrides.settings = settings;
  if (in_memory) return parse_sweep_text(library(), source, kInMemory, overrides);
  return load_sweep(library(), find_sweep(library(), source), overrides);
}

class SweepRun {
 public:
  SweepRun(const Sweep& sweep, const std::filesystem::path& dataset, const std::filesystem::path& cache, int threads,
           std::pair<int, int> shard, bool update)
      : sweep_(sweep) {
    options_.dataset = dataset;
    options_.cache = cache;
    options_.threads = threads;
    options_.shard = shard_of(shard);
    options_.update = update;
    options_.stop = stop_.get_token();
    options_.on_progress = [this](const SweepProgress& progress) {
      const std::lock_guard lock(mutex_);
      progress_ = progress;
      phase_.clear();
    };
    options_.on_phase = [this](const PhaseProgress& phase) {
      const std::lock_guard lock(mutex_);
      phase_ = phase.what;
    };
    options_.on_note = [this](const std::string& note) {
      const std::lock_guard lock(mutex_);
      notes_.push_back(note);
    };
  }

  /// Returns when everything is done or the run was stopped.
  std::string run() { return outcome_json(sweep_, options_.dataset, run_sweep(library(), sweep_, options_)).dump(); }
  void stop() { stop_.request_stop(); }

  std::string estimate(double sample_seconds) {
    return estimate_json(estimate_sweep(library(), sweep_, options_, sample_seconds)).dump();
  }

  /// Layers done, layers in all, and what comes before the first of them.
  nb::tuple progress() const {
    const std::lock_guard lock(mutex_);
    return nb::make_tuple(progress_.done, progress_.total, phase_);
  }
  std::vector<std::string> notes() const {
    const std::lock_guard lock(mutex_);
    return notes_;
  }

 private:
  Sweep sweep_;
  SweepRunOptions options_;
  std::stop_source stop_;
  mutable std::mutex mutex_;  ///< guards what follows
  SweepProgress progress_;
  std::string phase_;
  std::vector<std::string> notes_;
};

std::optional<std::string> status(const std::filesystem::path& dataset) {
  const auto found = dataset_status(dataset);
  return found ? std::optional(status_json(*found).dump()) : std::nullopt;
}

}  // namespace

void bind_sweeps(nb::module_& module) {
  using namespace nb::literals;
  const nb::call_guard<nb::gil_scoped_release> unlocked;
  nb::class_<Sweep>(module, "Sweep")
      .def_ro("name", &Sweep::name)
      .def_ro("description", &Sweep::description)
      .def_prop_ro("designs",
                   [](const Sweep& sweep) {
                     std::size_t designs =
                         sweep.flexibilities.size() * sweep.factorizations.size() * sweep.objectives.size();
                     for (const SweepAxis& axis : sweep.axes) designs *= axis.values.size();
                     return designs;
                   })
      .def_prop_ro("workloads",
                   [](const Sweep& sweep) {
                     std::vector<std::string> names;
                     for (const Workload& workload : sweep.workloads) names.push_back(workload.name);
                     return names;
                   })
      .def_prop_ro("mapped_as", &mapped_as_words)
      .def("room_warnings", [](const Sweep& sweep) { return room_warnings(library(), sweep); });
  nb::class_<SweepRun>(module, "SweepRun")
      .def(nb::init<const Sweep&, const std::filesystem::path&, const std::filesystem::path&, int, std::pair<int, int>,
                    bool>(),
           "sweep"_a, "dataset"_a, "cache"_a, "threads"_a, "shard"_a, "update"_a)
      .def("run", &SweepRun::run, unlocked)
      .def("stop", &SweepRun::stop)
      .def("estimate", &SweepRun::estimate, "sample_seconds"_a, unlocked)
      .def("progress", &SweepRun::progress)
      .def("notes", &SweepRun::notes);
  module.def("load_sweep", &load, "source"_a, "in_memory"_a, "settings"_a, "mapper"_a.none(), "budget_seconds"_a.none(),
             "gap"_a.none(), "seed"_a.none(), "network"_a.none(), "inferences"_a.none(), "fusion"_a.none(), unlocked);
  module.def("dataset_status", &status, "dataset"_a, unlocked);
}

}  // namespace pliant::python
