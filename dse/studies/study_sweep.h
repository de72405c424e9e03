// SPDX-License-Identifier: Apache-2.0
// Shipped sweeps as studies use them: run (or continued), then read back as rows that can be asked for.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "dse/studies/study.h"
#include "dse/sweep/sweep.h"

namespace pliant {

/// Rows of a table, found by what some columns say.
class Rows {
 public:
  using Where = std::map<std::string, std::string>;  ///< column -> text, as to_text writes it
  explicit Rows(DataTable table) : table_(std::move(table)) {}

  const DataTable& table() const { return table_; }
  std::size_t size() const { return table_.rows(); }
  std::vector<std::size_t> where(const Where& wanted) const;
  /// The one row; StudyError when there is none or more than one.
  std::size_t row(const Where& wanted) const;
  bool has(const Where& wanted) const { return !where(wanted).empty(); }
  /// NaN when empty.
  double number(std::size_t row, std::string_view column) const;
  double number(const Where& wanted, std::string_view column) const { return number(row(wanted), column); }
  std::string text(std::size_t row, std::string_view column) const;
  /// Every different text of a column, in the order of first appearance.
  std::vector<std::string> values(std::string_view column) const;

 private:
  const DataColumn& column(std::string_view name) const;
  DataTable table_;
};

struct SweepData {
  Rows layers, designs;
};

/// configs/sweeps/NAME.yaml.
Sweep load_study_sweep(const StudyContext& context, const std::string& name);

/// Runs configs/sweeps/NAME.yaml in FOLDER (default: NAME) below the study's folder and reads its two tables. `change`
/// may leave work out, or choose another mapper. StudyInterrupted after Ctrl-C; StudyError when a layer failed.
SweepData run_study_sweep(const StudyContext& context, const std::string& name,
                          const std::function<void(Sweep&)>& change = {}, const std::string& folder = {});

/// The same with another mapper, in a folder of its own: NAME_MAPPER.
SweepData run_study_sweep_with(const StudyContext& context, const std::string& mapper, const std::string& name,
                               const std::function<void(Sweep&)>& change);

/// Leaves only these layers in every workload of the sweep.
void keep_layers(Sweep& sweep, const std::vector<std::string>& names);
/// Leaves every n-th layer, the first one included.
void keep_every(Sweep& sweep, std::size_t n);

/// Leaves only these values, as written, of the axis with this key, the first if several vary together.
void keep_values(Sweep& sweep, std::string_view key, const std::vector<std::string>& values);

/// As the Ruby paper searches: random mappings until 3000 legal ones in a row were no better.
void search_at_random(Sweep& sweep, int seed);

double geometric_mean(const std::vector<double>& values);
/// Of an even number of values the mean of the two in the middle.
double median(std::vector<double> values);

}  // namespace pliant
