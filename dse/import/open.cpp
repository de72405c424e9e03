// SPDX-License-Identifier: Apache-2.0
#include "dse/import/open.h"

#include <fmt/format.h>

#include <filesystem>
#include <optional>

#include "core/input/cursor.h"
#include "core/input/source_text.h"
#include "core/input/units.h"
#include "dse/import/formats.h"

namespace pliant {
namespace {

struct NamedFile {
  std::string file;
  ImportOptions options;
};

InputError wrong(std::string_view name, std::string what, std::string expected) {
  return InputError(Diagnostic{std::string(name), 0, 0, "", std::move(what), std::move(expected), ""});
}

/// Splits `config.json:prefill=4096,batch=8` or `workload.yaml:BATCH_SIZE=1`; nothing when the name is that of no file.
std::optional<NamedFile> named_file(std::string_view name) {
  std::error_code error;
  if (std::filesystem::is_regular_file(std::filesystem::path(name), error)) return NamedFile{std::string(name), {}};
  const std::size_t colon = name.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  NamedFile named{std::string(name.substr(0, colon)), {}};
  if (!std::filesystem::is_regular_file(named.file, error)) return std::nullopt;
  std::string_view rest = name.substr(colon + 1);
  while (!rest.empty()) {
    const std::string_view item = rest.substr(0, std::min(rest.find(','), rest.size()));
    rest.remove_prefix(std::min(item.size() + 1, rest.size()));
    const std::size_t equals = item.find('=');
    const std::string_view key = item.substr(0, std::min(equals, item.size()));
    Count* value = key == "prefill"  ? &named.options.prefill
                   : key == "decode" ? &named.options.decode
                   : key == "batch"  ? &named.options.batch
                                     : nullptr;
    const std::string_view text = equals == std::string_view::npos ? "" : item.substr(equals + 1);
    if (key == "name" && is_name(text)) {
      named.options.name = text;
      continue;
    }
    if (value == nullptr && !key.empty() && !text.empty()) {
      named.options.variables[std::string(key)] = text;
      continue;
    }
    const auto parsed = parse_count(text);
    const Count* count = std::get_if<Count>(&parsed);
    if (value == nullptr || count == nullptr || *count < 1) {
      throw wrong(name, fmt::format("`{}` after the file's name", shorten(item, 40)),
                  "prefill=N, decode=N, batch=N or name=NAME; of a template NAME=VALUE, of an ONNX model DIM=SIZE");
    }
    *value = *count;
  }
  return named;
}

/// The import of a file that is of another tool; nothing for our own formats and for names that are no files.
std::optional<Imported> import_foreign(std::string_view name) {
  const auto named = named_file(name);
  if (!named) return std::nullopt;
  const SourceFile source = read_import_source(named->file);
  const ImportFormat* format = recognise(source);
  if (format == nullptr) return std::nullopt;
  if (!format->has_variables && !named->options.variables.empty()) {
    throw wrong(name,
                fmt::format("`{}` after the name of a {} file", named->options.variables.begin()->first, format->name),
                "prefill=N, decode=N or batch=N of a language model");
  }
  return import_sources(format->name, {source}, named->options);
}

const ImportedText& only_accelerator(const Imported& imported, std::string_view name) {
  if (imported.accelerators.size() != 1) throw wrong(name, "describes no accelerator", "an architecture");
  return imported.accelerators.front();
}

}  // namespace

Accelerator open_accelerator(const Library& library, std::string_view name_or_path,
                             const std::vector<Setting>& settings) {
  const auto imported = import_foreign(name_or_path);
  if (!imported) return load_accelerator(library, name_or_path, settings);
  return parse_accelerator_text(library, only_accelerator(*imported, name_or_path).yaml, name_or_path, settings);
}

AcceleratorTemplate open_accelerator_template(const Library& library, std::string_view name_or_path) {
  const auto imported = import_foreign(name_or_path);
  if (!imported) return {library, name_or_path};
  return {library, only_accelerator(*imported, name_or_path).yaml, name_or_path};
}

Workload open_workload(const Library& library, std::string_view name_or_path) {
  auto imported = import_foreign(name_or_path);
  if (!imported) return load_workload(library, name_or_path);
  if (imported->workloads.size() == 1) return std::move(imported->workloads.front());
  if (imported->layers.size() == 1) {
    const Layer& layer = imported->layers.front();
    return {layer.name, "imported", {{layer, 1}}};
  }
  throw wrong(name_or_path, "describes no workload", "layers of a network");
}

}  // namespace pliant
