// SPDX-License-Identifier: Apache-2.0
#include "dse/answers/dataset_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <ostream>
#include <system_error>
#include <utility>

#include "core/input/one_of.h"
#include "core/input/source_text.h"
#include "dse/results/manifest.h"
#include "dse/results/part_file.h"
#include "dse/results/stored_files.h"

namespace pliant {

std::vector<std::string> split_names(const std::string& text) {
  std::vector<std::string> words;
  std::string word;
  for (const char c : text + ",") {
    if (c != ',') {
      word += c;
    } else if (!word.empty()) {
      words.push_back(std::exchange(word, ""));
    }
  }
  return words;
}

std::filesystem::path dataset_of(const Arguments& arguments) {
  constexpr const char* kExpected = "the folder that `pliant sweep` wrote";
  const auto dataset = arguments.word();
  if (!dataset) throw arguments.bad("", "no dataset", kExpected);
  if (!is_there(*dataset)) throw arguments.bad("", fmt::format("{} does not exist", *dataset), kExpected);
  return *dataset;
}

bool tell_if_incomplete(const std::filesystem::path& dataset, TableKind table, const std::vector<std::string>& damaged,
                        std::ostream& err) {
  std::int64_t missing = 0, parts = 0;
  if (const auto manifest = read_manifest(dataset)) {
    parts = manifest->parts;
    for (std::int64_t part = 0; part < parts; ++part) missing += is_there(part_path(dataset, table, part)) ? 0 : 1;
  }
  for (const std::string& what : damaged) err << what << "\n";
  if (missing > 0)
    err << fmt::format("{}: {} of {} parts are not there yet; the sweep is not finished\n", dataset.string(), missing,
                       parts);
  if (missing == 0 && damaged.empty()) return true;
  if (std::error_code error; std::filesystem::is_regular_file(dataset, error)) return false;
  err << "the answer is of the other parts only; the same `pliant sweep` command computes what is missing\n";
  return false;
}

InputError no_table(const Arguments& arguments, const std::filesystem::path& dataset, TableKind table,
                    const std::vector<std::string>& damaged) {
  if (damaged.empty())
    return arguments.bad("", fmt::format("{} holds no {} table", dataset.string(), to_string(table)),
                         "the folder that `pliant sweep` wrote");
  return arguments.bad("", join(damaged, "; "),
                       "parts as they were written; `pliant sweep` computes damaged ones again");
}

int exit_code(const Arguments& arguments, bool complete) { return complete || arguments.has("partial") ? 0 : 1; }

std::string ranges_text(const DataTable& rows) {
  std::vector<std::string> ranges;
  for (const DataColumn& column : rows.columns) {
    std::optional<double> least, most;
    for (const Cell& cell : column.cells) {
      const auto* real = std::get_if<double>(&cell);
      const auto* whole = std::get_if<std::int64_t>(&cell);
      if (real == nullptr && whole == nullptr) continue;
      const double value = real != nullptr ? *real : static_cast<double>(*whole);
      least = std::min(least.value_or(value), value);
      most = std::max(most.value_or(value), value);
    }
    if (least) ranges.push_back(fmt::format("{} runs from {:.4g} to {:.4g}", column.name, *least, *most));
  }
  return join(ranges, "; ");
}

TableKind table_of(const Arguments& arguments) {
  const std::string name = *arguments.text("table");
  for (const TableKind kind : {TableKind::kDesigns, TableKind::kLayers})
    if (name == to_string(kind)) return kind;
  throw arguments.unknown("--table", "table", name, {"designs", "layers"});
}

std::string nearest_column(const std::string& name, const std::vector<std::string>& known) {
  // Other words for a column, and names without their unit.
  static const std::map<std::string, std::string, std::less<>> kMeant = {
      {"area", "area_um2"},          {"energy", "energy_pj"},
      {"power", "energy_pj"},        {"latency", "runtime_cycles"},
      {"delay", "runtime_cycles"},   {"time", "runtime_cycles"},
      {"runtime", "runtime_cycles"}, {"cycles", "runtime_cycles"},
      {"edp", "edp_pj_cycles"},      {"performance", "edp_pj_cycles"}};
  const auto meant = kMeant.find(name);
  if (meant != kMeant.end() && std::ranges::find(known, meant->second) != known.end()) return meant->second;
  const auto axis = std::ranges::find(known, "set_" + name);
  if (axis != known.end()) return *axis;
  return nearest(name, known);
}

InputError unknown_column(std::string_view command, std::string option, const std::string& name,
                          const std::vector<std::string>& known) {
  return bad_option(command, std::move(option), fmt::format("no column `{}`", shorten(name, 60)), one_of(name, known),
                    nearest_column(name, known));
}

std::filesystem::path find_sweep(const Library& library, const std::string& name) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (is_address(name))
    throw InputError(Diagnostic{name, 0, 0, "", "is in object storage", "a sweep file of this machine", ""});
  if (fs::is_regular_file(name, error)) return name;
  if (fs::is_directory(name, error)) throw InputError(Diagnostic{name, 0, 0, "", "is a folder", "a sweep file", ""});
  const fs::path folder = library.configs() / "sweeps";
  if (name.find('/') == std::string::npos && fs::is_regular_file(folder / (name + ".yaml"), error))
    return folder / (name + ".yaml");
  std::vector<std::string> known;
  for (const auto& entry : fs::directory_iterator(folder, error))
    if (entry.path().extension() == ".yaml") known.push_back(entry.path().stem().string());
  std::ranges::sort(known);
  throw InputError(Diagnostic{name, 0, 0, "", "no sweep of this name and no such file",
                              known.empty() ? "a file" : "a file or " + one_of(name, known), nearest(name, known)});
}

std::string shown(const Cell& cell) {
  if (const auto* real = std::get_if<double>(&cell)) return fmt::format("{:.6g}", *real);
  return to_text(cell);
}

nlohmann::ordered_json to_json(const Cell& cell) {
  return std::visit(
      [](const auto& value) -> nlohmann::ordered_json {
        if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::monostate>) {
          return nullptr;
        } else {
          return value;
        }
      },
      cell);
}

}  // namespace pliant
