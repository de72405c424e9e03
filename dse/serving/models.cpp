// SPDX-License-Identifier: Apache-2.0
#include "dse/serving/models.h"

#include <algorithm>
#include <filesystem>

#include "core/input/diagnostics.h"
#include "core/input/one_of.h"
#include "core/input/source_text.h"

namespace pliant::serving {

std::vector<std::string> model_names(const Library& library) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(library.configs() / "models", error))
    if (entry.path().extension() == ".json") names.push_back(entry.path().stem().string());
  std::ranges::sort(names);
  return names;
}

NamedModel load_model(const Library& library, std::string_view name_or_path) {
  std::filesystem::path file(name_or_path);
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error)) {
    const std::vector<std::string> known = model_names(library);
    if (std::ranges::find(known, name_or_path) == known.end())
      throw InputError(Diagnostic{std::string(name_or_path), 0, 0, "", "no model of this name and no such file",
                                  "a config.json or " + one_of(name_or_path, known), nearest(name_or_path, known)});
    file = library.configs() / "models" / (std::string(name_or_path) + ".json");
  }
  ImportLog log(false);
  const SourceFile source{file.string(), read_source(file)};
  const auto model = read_language_model(source, log);
  log.problems().throw_if_any();
  const std::string folder = file.parent_path().filename().string();
  const bool is_plain = file.stem() == "config" && !folder.empty();
  return {is_plain ? import_name(folder, "model") : name_of_file(source), *model};
}

}  // namespace pliant::serving
