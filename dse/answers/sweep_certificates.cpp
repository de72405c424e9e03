// SPDX-License-Identifier: Apache-2.0
#include "dse/answers/sweep_certificates.h"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>
#include <string>
#include <vector>

#include "dse/answers/dataset_options.h"
#include "dse/answers/row_filter.h"
#include "dse/combinations/combinations.h"
#include "dse/results/data_table.h"
#include "dse/sweep/row_certificates.h"
#include "dse/sweep/run_sweep.h"

namespace pliant {
namespace {

constexpr std::size_t kMostTold = 20;

/// The rows of the layers table in which all conditions hold.
std::vector<LayerRowName> chosen_rows(const Arguments& arguments, const std::filesystem::path& dataset,
                                      std::ostream& err) {
  const std::vector<ColumnKind> columns = table_columns(dataset, TableKind::kLayers);
  std::vector<RowFilter> filters;
  TableChoice choice;
  choice.columns = {"design_id", "workload", "layer_index", "certificate.value"};
  for (const std::string& text : arguments.texts("certificates")) {
    const RowFilter& filter = filters.emplace_back(text, columns, "--certificates");
    for (const std::string& name : filter.names())
      if (std::ranges::find(choice.columns, name) == choice.columns.end()) choice.columns.push_back(name);
  }
  choice.keep = [&](const DataTable& part, std::size_t row) {
    return std::ranges::all_of(filters, [&](const RowFilter& filter) { return filter.passes(part, row); });
  };
  std::vector<std::string> damaged;
  const DataTable found = read_table(dataset, TableKind::kLayers, damaged, choice);
  for (const std::string& what : damaged) err << what << "\n";
  std::vector<LayerRowName> rows;
  for (std::size_t i = 0; i < found.rows(); ++i) {
    const auto cell = [&](const char* name) -> const Cell& { return found.find(name)->cells[i]; };
    LayerRowName row{std::get<std::int64_t>(cell("design_id")), std::get<std::string>(cell("workload")),
                     std::get<std::int64_t>(cell("layer_index")), std::nullopt};
    if (const auto* value = std::get_if<double>(&cell("certificate.value"))) row.value = *value;
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace

void check_certificates_option(const Arguments& arguments, const Sweep& sweep) {
  check_works(arguments.command(), Traits{Trait::kSweep, Trait::kCertificate}.add(TraitGroup::kMappers, sweep.mapper),
              "--certificates");
}

bool write_certificates(const Arguments& arguments, const Library& library, const Sweep& sweep,
                        const std::filesystem::path& dataset, const std::stop_token& stop, std::ostream& out,
                        std::ostream& err) {
  const std::vector<LayerRowName> rows = chosen_rows(arguments, dataset, err);
  RowCertificateOptions options;
  options.folder = dataset / "certificates";
  options.threads = arguments.threads() > 0 ? arguments.threads() : usable_cores();
  options.stop = stop;
  const RowCertificates written = write_row_certificates(library, sweep, rows, options);
  for (std::size_t i = 0; i < written.left_out.size() && i < kMostTold; ++i)
    err << "no certificate: " << written.left_out[i] << "\n";
  if (!arguments.has("json")) {
    out << fmt::format("{} certificates of {} chosen rows in {}\n", written.files.size(), rows.size(),
                       options.folder.string());
    if (std::ranges::any_of(sweep.workloads, &Sweep::asked_whole))
      out << "they prove the rows of layers, each by itself; of what a network claims nothing is written, but `pliant "
             "verify` solves it again\n";
    if (!written.files.empty()) out << fmt::format("next: pliant audit {}\n", options.folder.string());
  }
  return written.files.size() == rows.size();
}

}  // namespace pliant
