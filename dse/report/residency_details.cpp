// SPDX-License-Identifier: Apache-2.0
#include "dse/report/residency_details.h"

#include <map>
#include <system_error>

#include "dse/report/arrow_cells.h"
#include "dse/report/compact_json.h"
#include "dse/results/atomic_file.h"
#include "dse/results/checked_file.h"
#include "dse/results/part_file.h"
#include "dse/results/stored_files.h"

namespace pliant {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

namespace {

ordered_json residency_steps(const ListCells& steps, const ListCells& rooms, std::int64_t i) {
  ordered_json all = ordered_json::array();
  const auto [from, to] = steps.range(i);
  for (std::int64_t at = from; at < to; ++at) {
    ordered_json one{steps.text("node", at)};
    for (const char* name : {"count", "energy_pj", "runtime_cycles", "outside_energy_pj", "outside_runtime_cycles"})
      one.push_back(compact_number(steps.real(name, at).value_or(0)));
    ordered_json taken = ordered_json::array();
    const auto [first, last] = rooms.range(at);
    for (std::int64_t r = first; r < last; ++r)
      taken.push_back(
          ordered_json::array({rooms.text("level", r), compact_number(rooms.real("words", r).value_or(0))}));
    one.push_back(std::move(taken));
    one.push_back(steps.text("bound_by", at));
    one.push_back(steps.text("under", at));
    all.push_back(std::move(one));
  }
  return all;
}

ordered_json residency_tensors(const ListCells& tensors, std::int64_t i) {
  ordered_json all = ordered_json::array();
  const auto [from, to] = tensors.range(i);
  for (std::int64_t at = from; at < to; ++at) {
    ordered_json one{tensors.text("node", at)};
    for (const char* name : {"elements", "from_step", "to_step"})
      one.push_back(compact_number(tensors.real(name, at).value_or(0)));
    one.push_back(tensors.text("level", at));
    one.push_back(tensors.flag("tiles", at));
    all.push_back(std::move(one));
  }
  return all;
}

ordered_json energies_of(const ListCells& levels, std::int64_t i) {
  ordered_json all = ordered_json::array();
  const auto [from, to] = levels.range(i);
  for (std::int64_t at = from; at < to; ++at)
    all.push_back(
        ordered_json::array({levels.text("level", at), compact_number(levels.real("energy_pj", at).value_or(0))}));
  return all;
}

}  // namespace

ordered_json read_residency_details(const fs::path& dataset, const ReportData& data,
                                    const std::vector<std::size_t>& rows) {
  ordered_json all = ordered_json::object();
  std::map<std::pair<std::int64_t, std::string>, std::size_t> wanted;
  for (const std::size_t row : rows)
    if (data.number("tensors", row))
      wanted[{static_cast<std::int64_t>(*data.number("design_id", row)), data.text("workload", row)}] = row;
  if (wanted.empty()) return all;
  for (const std::int64_t part : list_parts(dataset)) {
    const fs::path file = part_path(dataset, TableKind::kDesigns, part);
    if (!is_there(file)) continue;
    std::shared_ptr<arrow::Table> table;
    try {
      table = combined(
          CheckedFile(file).read({"design_id", "workload", "energy_by_level", "residency_steps", "residency_tensors"}));
    } catch (const StorageError&) {
      continue;  // read_report_data has told that this part is damaged
    }
    const RowCells names(*table);
    const ListCells levels(*table, "energy_by_level"), steps(*table, "residency_steps"), rooms(steps, "on_chip"),
        tensors(*table, "residency_tensors");
    for (std::int64_t i = 0; i < table->num_rows(); ++i) {
      const auto found = wanted.find({names.whole("design_id", i), names.text("workload", i)});
      if (found == wanted.end()) continue;
      all[std::to_string(found->second)] = {{"steps", residency_steps(steps, rooms, i)},
                                            {"tensors", residency_tensors(tensors, i)},
                                            {"levels", energies_of(levels, i)}};
    }
  }
  return all;
}

}  // namespace pliant
