// SPDX-License-Identifier: Apache-2.0
// The rows of a dataset as the sweep hands them over, before they become Arrow columns. columns.h says what every
// column means.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/accelerator.h"
#include "core/layer.h"
#include "costmodel/physical.h"
#include "costmodel/power_parts.h"
#include "dse/results/task_result.h"
#include "dse/results/task_store.h"

namespace pliant {

/// Something that varies in a sweep becomes a column of its own: `Buffer.capacity` is set_Buffer_capacity.
struct AxisColumn {
  enum class Kind : std::uint8_t { kInteger, kReal, kText };
  std::string key;     ///< as in --set
  std::string column;  ///< set_...
  Kind kind = Kind::kText;
  std::string unit = {};  ///< "B" for sizes in bytes, else empty
  bool operator==(const AxisColumn&) const = default;
};
/// Holds what its column's kind says.
using AxisValue = std::variant<std::int64_t, double, std::string>;

/// What the rows of one design have in common.
struct DesignKey {
  std::int64_t design_id = 0;  ///< its place in the full product of the sweep's axes
  std::vector<AxisValue> axes;
  std::string flexibility;    ///< as the sweep names it; "own" = the accelerator file's
  std::string class_bits;     ///< "1011"; empty when the design is invalid
  std::string factorization;  ///< "pfm", ...
  std::string objective;      ///< "edp", ...
  std::string mapper;
};

struct LayerRow {
  std::shared_ptr<const DesignKey> design;
  std::string workload;
  std::int32_t layer_index = 0;  ///< in the workload
  std::int64_t count = 1;        ///< repetitions in the workload
  std::shared_ptr<const Layer> layer;
  std::shared_ptr<const Accelerator> accelerator;  ///< null when the design is invalid
  std::shared_ptr<const TaskResult> result;
  TaskKey key;
  std::string on_chip = {};  ///< of a layer of a network: its tensors that stay there, in words
};

struct DesignRow {
  std::shared_ptr<const DesignKey> design;
  std::string workload;
  std::int32_t layers = 0, layers_without_mapping = 0;
  std::int64_t macs = 0;
  std::string status, reason;
  /// Sums over the layers with their repetitions; only when every layer has a mapping.
  struct Cost {
    double energy_pj = 0, runtime_cycles = 0, edp_pj_cycles = 0, sum_layer_edp_pj_cycles = 0, utilization = 0;
    bool certified = false;
    double max_gap = 0;
    std::vector<TaskResult::LevelEnergy> energy_by_level{};  ///< outermost first
  };
  std::optional<Cost> cost;
  /// Only when there is a cost and a clock.
  struct InTime {
    Physical physical;
    PowerParts power;
    double inferences_per_s = 0;
    std::optional<double> tokens_per_s;  ///< when the workload says how many tokens a pass is
  };
  std::optional<InTime> in_time;
  /// Only when the design is valid.
  struct Hardware {
    double area_um2 = 0, flexibility_area_um2 = 0;
    std::string flexibility_area_from;
    /// What the area is made of: levels (all instances), flexibility by axis, the rest; only what has an area.
    std::vector<std::pair<std::string, double>> area_by_component;
    std::int64_t array_rows = 1, array_cols = 1;  ///< products over the fanouts
    std::int64_t compute_units = 0;
    double buffer_bits = 0;  ///< all bounded memories on the chip, all instances
    std::optional<double> clock_hz, peak_tops;
  };
  std::optional<Hardware> hardware;
  /// Means over the layers as often as they are repeated; H-F and W-F of T, O, P, S and of all four.
  struct Flexion {
    std::array<double, 5> h_f{}, w_f{};
    struct Sets {
      double c = 1, a = 1, w = 1, a_and_w = 1, c_and_w = 1;
    };
    std::array<Sets, 4> sets;  ///< mean sizes
  };
  std::optional<Flexion> flexion;
  /// Only of a whole network, whose tensors may stay on chip.
  struct Residency {
    std::int64_t tensors = 0, tensors_on_chip = 0;                 ///< that the network makes and reads again
    std::int64_t tensors_in_tiles = 0;                             ///< of those on chip
    double most_on_chip_bits = 0;                                  ///< that they take at once
    std::int64_t weights_on_chip = 0;                              ///< layers whose weights stay across inferences
    double operators_energy_pj = 0, operators_runtime_cycles = 0;  ///< the part of operators without MACs
    std::shared_ptr<const TaskResult> result;                      ///< its `network`
    std::vector<std::string> nodes;                                ///< by step
    std::vector<std::int64_t> counts;                              ///< by step
    std::shared_ptr<const Accelerator> accelerator;
  };
  std::optional<Residency> residency;
  /// Only of a language model that is served (docs/serving.md).
  struct Serving {
    std::optional<std::int64_t> largest_batch;  ///< nullopt = nothing limits it
    struct Cost {
      double ttft_s = 0;
      std::optional<double> tpot_s;
      double tokens_per_s = 0, tokens_per_j = 0, gap = 0;
    };
    std::optional<Cost> cost;
    std::string problem;  ///< why there is none
  };
  std::optional<Serving> serving;
};

/// What every part file says about itself.
struct Provenance {
  std::string sweep_name;
  std::string sweep_sha256;  ///< of everything that decides the rows
  std::vector<AxisColumn> axes;
  std::int64_t part = 0;
};

}  // namespace pliant
