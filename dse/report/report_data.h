// SPDX-License-Identifier: Apache-2.0
// What a report knows of a dataset: one row for each design and workload, with what is derived from them, and how the
// whole came about. Read from the Parquet files alone.
#pragma once

#include <array>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dse/report/venn.h"
#include "dse/results/data_table.h"
#include "dse/results/manifest.h"

namespace pliant {

/// Of all layers of all designs.
struct CertificateSummary {
  std::int64_t layers = 0, solved = 0, certified = 0;
  double max_gap = 0;
  std::string max_gap_at;                         ///< design, workload and layer of the largest gap
  std::map<std::string, std::int64_t> ended_by;   ///< "proof", "budget", ...
  std::map<std::string, std::int64_t> by_status;  ///< "solved", "no_legal_mapping", ...
  /// Why layers have no mapping, with one example; at most kReasons.
  struct Reason {
    std::string status, reason, example;
    std::int64_t layers = 0;
  };
  static constexpr std::size_t kReasons = 25;
  std::vector<Reason> reasons;
  bool more_reasons = false;
};

/// The columns of `designs`, in this order behind those of the dataset:
///
///     label       the flexibility as charts name it: "1011", "Part 1011", "maeri 1011"
///     axes        how many of T, O, P, S are flexible
///     array       "16 x 64"
///     buffer_kib  of all on-chip memories
///     edp_js      energy x latency in J x s; empty without a clock
///     rel_runtime, rel_energy, rel_edp, rel_area   divided by the value of the inflexible design (class 0000) that is
///                 equal in everything else; empty when the sweep has none
struct ReportData {
  DataTable designs;
  std::vector<std::string> varied;  ///< columns that make the sweep's designs differ, besides label
  std::optional<Manifest> manifest;
  CertificateSummary certificates;
  std::vector<std::string> damaged;         ///< parts that could not be read, and why
  std::int64_t parts_missing = 0;           ///< of those that the manifest announces
  std::int64_t over_limit = 0;              ///< rows left out: their results break a constraint of the sweep
  std::vector<VennPanel> sets;              ///< the different sets of flexion there are
  std::vector<std::array<int, 4>> sets_of;  ///< by row: T, O, P, S; -1 without flexion
  /// What areas are made of, each kind of design once: component and um2.
  std::vector<std::vector<std::pair<std::string, double>>> areas;
  std::vector<int> areas_of;     ///< by row; -1 where nothing has an area
  nlohmann::ordered_json space;  ///< of a design search: closed_space.h

  std::optional<double> number(std::string_view column, std::size_t row) const;
  std::string text(std::string_view column, std::size_t row) const;
  /// Rows of a workload that have all the named columns.
  std::vector<std::size_t> rows_of(const std::string& workload, const std::vector<std::string>& complete) const;
  std::vector<std::string> workloads() const;  ///< in the dataset's order
};

/// InputError when there is no dataset or it holds no design.
ReportData read_report_data(const std::filesystem::path& dataset);

/// The design that the page opens with: the knee of area against EDP.
std::optional<std::size_t> knee_row(const ReportData& data, const std::string& workload);

}  // namespace pliant
