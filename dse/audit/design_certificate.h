// SPDX-License-Identifier: Apache-2.0
// The proof of a design search as a folder: the space and the frontier claimed, what is proven of layers, the mappings
// of designs that were mapped, and the boxes. All but the first are lines, read one by one. docs/audit.md describes it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/input/load.h"
#include "costmodel/task.h"

namespace pliant::audit {

/// Positions on the axes, both ends inside.
struct AxisRange {
  std::int32_t first = 0, last = 0;
  std::int64_t size() const { return last - first + 1; }
  bool operator==(const AxisRange&) const = default;
};
using Box = std::vector<AxisRange>;  ///< by axis

struct DesignAxis {
  std::vector<std::string> keys;
  std::vector<std::vector<std::string>> values;  ///< each a value for every key
};

enum class Measure : std::uint8_t { kArea, kRuntime, kEnergy, kEdp, kLatency };
enum class Mix : std::uint8_t { kGeometricMean, kWorst, kMean };

struct DesignTask {
  std::string accelerator;  ///< a shipped name or a path
  std::string first;        ///< the accelerator at the first position of every axis, as text
  std::vector<Setting> settings;
  std::vector<DesignAxis> axes;  ///< the last varies fastest
  std::vector<std::string> flexibilities;
  std::vector<Factorization> factorizations;
  std::vector<Objective> objectives;
  std::vector<Layer> layers;  ///< each once
  struct Use {
    std::size_t layer = 0;
    Count count = 1;
  };
  std::vector<std::vector<Use>> workloads;
  struct Goal {
    Measure measure = Measure::kArea;
    std::optional<std::size_t> workload;  ///< else of all, mixed
  };
  std::vector<Goal> goals;
  Mix mix = Mix::kGeometricMean;
  std::vector<double> weights;  ///< by workload

  std::int64_t points() const;            ///< of hardware
  std::int64_t variants() const;          ///< designs of one flexibility of a hardware point
  std::int64_t designs_of_point() const;  ///< flexibility outermost, then factorization and objective
  std::vector<std::int32_t> positions(std::int64_t point) const;
};

struct FrontierPoint {
  std::int64_t design = 0;
  std::vector<double> values;  ///< by goal
};

/// design.json
struct DesignClaim {
  DesignTask task;
  double gap = 0;
  std::int64_t designs = 0;
  std::vector<FrontierPoint> frontier;
  std::size_t bounds = 0, mapped = 0, boxes = 0;  ///< lines of the other files
};

/// A line of bounds.jsonl: no mapping of a layer on any design of a box, or on one design, is below.
struct ClaimedBound {
  Box box;                   ///< of several hardware points, or of one
  std::int64_t design = -1;  ///< -1: all designs of the box
  std::size_t rule = 0, layer = 0;
  Objective objective = Objective::kEdp;
  double least = 0;  ///< infinite: nothing is legal
};

/// A line of mapped.jsonl: a layer of a design has this mapping, and no other is better.
struct ClaimedMapping {
  std::int64_t design = 0;
  std::size_t layer = 0;
  double value = 0;
  std::string mapping;  ///< text
};

/// A line of boxes.jsonl.
struct ClaimedBox {
  Box box;
  std::int64_t design = -1;  ///< one design of the box's single hardware point; -1: all
  enum class ClosedBy : std::uint8_t { kBeaten, kNothingFits, kOpened } closed_by = ClosedBy::kBeaten;
  std::vector<double> least;                ///< by goal; of an opened design its values
  std::vector<std::uint32_t> bounds, maps;  ///< that it rests on: numbers of lines
};

/// Writes the four files. StorageError-free: `good` says whether everything was written.
class DesignCertificateWriter {
 public:
  explicit DesignCertificateWriter(const std::filesystem::path& folder);
  void add(const ClaimedBound& bound);
  void add(const ClaimedMapping& mapping);
  void add(const ClaimedBox& box);
  /// Last: without it the folder is no certificate.
  void finish(DesignClaim claim);
  bool good() const { return good_; }

 private:
  std::filesystem::path folder_;
  std::ofstream bounds_, mapped_, boxes_;
  std::size_t bounds_written_ = 0, mapped_written_ = 0, boxes_written_ = 0;
  bool good_ = true;
};

bool is_design_certificate(const std::filesystem::path& folder);
/// InputError names what is wrong in the file.
DesignClaim read_design_claim(const std::filesystem::path& folder);
void for_each_bound(const std::filesystem::path& folder, const std::function<void(ClaimedBound&&)>& visit);
void for_each_mapping(const std::filesystem::path& folder, const std::function<void(ClaimedMapping&&)>& visit);
void for_each_box(const std::filesystem::path& folder, const std::function<void(ClaimedBox&&)>& visit);

}  // namespace pliant::audit
