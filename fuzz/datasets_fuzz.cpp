// SPDX-License-Identifier: Apache-2.0
// Spoiled datasets: the first byte chooses the table, the rest is its part file, without a checksum. Every reader must
// end well or say what is wrong: query and pareto (flat columns), Python (Arrow), verify (rows) and the report.
// Run from the root of the checkout: build/fuzz/bin/datasets_fuzz FOUND fuzz/corpus/datasets
#include <unistd.h>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "dse/report/layer_details.h"
#include "dse/report/report_data.h"
#include "dse/results/arrow_table.h"
#include "dse/results/atomic_file.h"
#include "dse/results/part_file.h"
#include "dse/results/stored_layers.h"
#include "fuzz/fuzz_reader.h"

namespace pliant {
namespace {

namespace fs = std::filesystem;

/// One folder for the life of the process; the other table is that of the corpus.
const fs::path& dataset() {
  static const fs::path folder = [] {
    const fs::path made = fs::temp_directory_path() / ("pliant_datasets_fuzz_" + std::to_string(::getpid()));
    for (const fs::path& one : part_folders(made)) fs::create_directories(one);
    return made;
  }();
  return folder;
}

void put_table(TableKind table, std::string_view bytes) {
  std::ofstream(part_path(dataset(), table, 0), std::ios::binary) << bytes;
}

void read_dataset(unsigned choice, std::string_view bytes) {
  const TableKind spoiled = choice % 2 == 0 ? TableKind::kLayers : TableKind::kDesigns;
  const TableKind other = choice % 2 == 0 ? TableKind::kDesigns : TableKind::kLayers;
  put_table(spoiled, bytes);
  put_table(other, file_bytes(fs::path("fuzz/corpus/datasets") / to_string(other)).substr(1));
  std::vector<std::string> damaged;
  const DataTable flat = read_table(dataset(), spoiled, damaged);
  for (const DataColumn& column : flat.columns)
    for (const Cell& cell : column.cells) to_text(cell);
  read_arrow_table(dataset(), spoiled, damaged);
  try {
    if (spoiled == TableKind::kLayers) read_stored_layers(part_path(dataset(), spoiled, 0));
    const ReportData data = read_report_data(dataset());
    read_layer_details(dataset(), data, rows_by_interest(data), 100).json.dump();
  } catch (const StorageError&) {  // says what is wrong
  }
}

}  // namespace
}  // namespace pliant

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return pliant::fuzz_reader(data, size, pliant::read_dataset);
}
