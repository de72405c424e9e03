// SPDX-License-Identifier: Apache-2.0
// A sweep as its file describes it, everything resolved and checked. docs/sweeps.md is the reference of the file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/input/load.h"
#include "dse/mappers/mapper.h"
#include "dse/results/manifest.h"
#include "dse/results/rows.h"
#include "dse/serving/request.h"
#include "dse/sweep/constraint.h"
#include "dse/sweep/design_goals.h"

namespace pliant {

/// The key of the axis of accelerators; all other keys are settings.
inline constexpr std::string_view kAcceleratorAxis = "accelerator";

/// Settings that vary together: one key, or several zipped.
struct SweepAxis {
  std::vector<std::string> keys;                 ///< as in --set
  std::vector<std::vector<std::string>> values;  ///< each a value for every key
};

struct Sweep {
  std::string name, description;
  std::vector<std::string> accelerators;  ///< shipped names or paths; several are the values of the first axis
  std::vector<Setting> settings;
  std::vector<Workload> workloads;  ///< with only the layers asked for; with a graph only where it is used
  /// By name of a workload: it is the prompts of a language model that is served so; what a design decides is open.
  std::map<std::string, serving::Request, std::less<>> served;
  std::vector<SweepAxis> axes;      ///< the last varies fastest
  std::vector<AxisColumn> columns;  ///< one for each key of the axes, in order
  /// Every value of every key as its column holds it: cells[axis][position][key].
  std::vector<std::vector<std::vector<AxisValue>>> cells;
  std::vector<std::string> flexibilities;  ///< classes, names, paths; "own" = the accelerator's
  std::vector<Factorization> factorizations;
  std::vector<Objective> objectives;
  std::string mapper;
  std::vector<std::pair<std::string, std::string>> mapper_options;
  double budget_seconds = 0;  ///< of one task; 0 = none
  double gap = 0;             ///< how close to proven optimal is close enough, as a share of the value
  std::uint64_t seed = 1;
  bool flexion = true;
  /// Workloads that know their graph are mapped as networks: tensors may stay on chip between layers, and operators
  /// without MACs count. False: layer by layer, as all others.
  bool network = true;
  bool tiles = false;                      ///< layers of networks may pass tiles on (docs/fusion.md)
  Count inferences = 1;                    ///< weights of networks may stay on chip across so many
  std::vector<std::string> unused_graphs;  ///< workloads whose graph is not used, because layers are asked for
  /// Limits on time hold for the choice of mappings: each design has the best that keep them.
  bool deadlines = false;
  std::vector<Constraint> constraints;
  std::vector<Constraint> result_limits;  ///< those that name a result: rows that break one are marked, not left out
  /// Of a design search. Rows depend on them only where no objective is written: it is then what they ask for.
  std::optional<DesignGoals> goals;
  std::vector<std::map<std::string, std::string>> parameters;  ///< of each accelerator, with the values of `set:`

  /// The workload is one question, because its tensors may stay on chip or because it has a deadline; else each of its
  /// layers is one. Its graph is then what is asked, without edges where the layers are unrelated.
  static bool asked_whole(const Workload& workload) { return workload.graph.has_value(); }

  std::vector<Manifest::Input> inputs;
  std::vector<std::pair<std::string, std::string>> options() const;  ///< for the manifest
};

/// In words: what is mapped as a network, what layer by layer, and how to ask for the other.
std::string mapped_as_words(const Sweep& sweep);

/// In words: what it means that the goals ask for one thing and the objective for another; empty when they agree.
std::string objective_words(const Sweep& sweep);

/// What the command line may say instead of the file.
struct SweepOverrides {
  std::optional<std::string> mapper;
  std::optional<double> budget_seconds, gap;
  std::optional<std::uint64_t> seed;
  std::optional<bool> network;
  std::optional<std::string> fusion;  ///< whole or tiles
  std::optional<Count> inferences;
  std::vector<Setting> settings;
  Count most_designs = 100'000'000;  ///< a bit for each fits into memory; who lists none may allow more
};

/// InputError with everything that is wrong in the file.
Sweep load_sweep(const Library& library, const std::filesystem::path& file, const SweepOverrides& overrides = {});
/// `name` stands for the file in diagnostics; files it names are looked for beside it.
Sweep parse_sweep_text(const Library& library, std::string_view text, std::string_view name,
                       const SweepOverrides& overrides = {});

}  // namespace pliant
