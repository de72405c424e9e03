// SPDX-License-Identifier: Apache-2.0
#include "dse/cli/dataset_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "core/input/source_text.h"

namespace pliant {

InputError bad_option(const std::string& command, std::string what, std::string expected, std::string did_you_mean) {
  return InputError(Diagnostic{command, 0, 0, "", std::move(what), std::move(expected), std::move(did_you_mean)});
}

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

TableKind table_named(const std::string& command, const std::string& word) {
  if (word == "designs") return TableKind::kDesigns;
  if (word == "layers") return TableKind::kLayers;
  throw bad_option(command, fmt::format("unknown table `{}`", word), "designs or layers",
                   nearest(word, {"designs", "layers"}));
}

void require_dataset(const std::string& command, const std::filesystem::path& dataset) {
  std::error_code error;
  if (!std::filesystem::exists(dataset, error))
    throw bad_option(command, fmt::format("there is no {}", dataset.string()), "the folder that `pliant sweep` wrote");
}

InputError unknown_column(const std::string& command, const std::string& name, const std::vector<std::string>& known) {
  return bad_option(command, fmt::format("no column `{}`", name), "one of " + join(known), nearest(name, known));
}

std::filesystem::path find_sweep(const Library& library, const std::string& name) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (fs::is_regular_file(name, error)) return name;
  const fs::path folder = library.configs() / "sweeps";
  if (name.find('/') == std::string::npos && fs::is_regular_file(folder / (name + ".yaml"), error))
    return folder / (name + ".yaml");
  std::vector<std::string> known;
  for (const auto& entry : fs::directory_iterator(folder, error))
    if (entry.path().extension() == ".yaml") known.push_back(entry.path().stem().string());
  std::ranges::sort(known);
  throw InputError(Diagnostic{name, 0, 0, "", "no sweep of this name and no such file",
                              known.empty() ? "a file" : "a file or one of " + join(known), nearest(name, known)});
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
