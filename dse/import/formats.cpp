// SPDX-License-Identifier: Apache-2.0
#include "dse/import/formats.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <system_error>

#include "core/input/source_text.h"
#include "dse/import/accelforge/accelforge.h"
#include "dse/import/llm/llm.h"
#include "dse/import/onnx/onnx.h"
#include "dse/import/scalesim/scalesim.h"
#include "dse/import/timeloop/timeloop.h"
#include "dse/import/zigzag/zigzag.h"

namespace pliant {
namespace {

const ImportFormat* find_format(std::string_view name) {
  const auto found = std::ranges::find(import_formats(), name, &ImportFormat::name);
  return found == import_formats().end() ? nullptr : &*found;
}

InputError unknown_format(std::string_view name) {
  std::vector<std::string> known{"auto"};
  for (const ImportFormat& format : import_formats()) known.emplace_back(format.name);
  return InputError(Diagnostic{"pliant import", 0, 0, "FORMAT", fmt::format("unknown format `{}`", shorten(name, 40)),
                               "one of " + join(known), nearest(name, known)});
}

InputError not_recognised(const SourceFile& file) {
  std::vector<std::string> known;
  for (const ImportFormat& format : import_formats()) known.emplace_back(format.name);
  return InputError(
      Diagnostic{file.name, 0, 0, "", "not recognised as a file of another tool", "one of " + join(known), ""});
}

}  // namespace

const std::vector<ImportFormat>& import_formats() {
  static const std::vector<ImportFormat> all{
      {"timeloop", "Timeloop v4 YAML: architecture, problem, mapping, constraints, ERT, ART", is_timeloop,
       import_timeloop, true},
      {"onnx", "ONNX model: convolutions, matrix products, attention; weights are not loaded", is_onnx, import_onnx,
       true},
      {"zigzag", "ZigZag hardware, workload and mapping YAML", is_zigzag, import_zigzag},
      {"accelforge", "AccelForge architecture and workload YAML", is_accelforge, import_accelforge, true},
      {"scalesim", "SCALE-Sim topology CSV (convolutions, GEMMs) and .cfg", is_scalesim, import_scalesim},
      {"llm", "a language model's configuration JSON; --prefill or --decode", is_llm, import_llm},
  };
  return all;
}

const ImportFormat* recognise(const SourceFile& file) {
  const auto found =
      std::ranges::find_if(import_formats(), [&](const ImportFormat& format) { return format.recognises(file); });
  return found == import_formats().end() ? nullptr : &*found;
}

Imported import_sources(std::string_view format, const std::vector<SourceFile>& files, const ImportOptions& options) {
  // Files of one format belong together (an architecture and its problem), so they are read together.
  std::map<const ImportFormat*, std::vector<SourceFile>> by_format;
  const ImportFormat* asked = format == "auto" ? nullptr : find_format(format);
  if (format != "auto" && asked == nullptr) throw unknown_format(format);
  for (const SourceFile& file : files) {
    const ImportFormat* own = asked != nullptr ? asked : recognise(file);
    if (own == nullptr) throw not_recognised(file);
    by_format[own].push_back(file);
  }
  ImportLog log(options.lenient);
  Imported imported;
  for (const ImportFormat& each : import_formats()) {
    const auto own = by_format.find(&each);
    if (own != by_format.end()) each.read(own->second, options, log, imported);
  }
  log.problems().throw_if_any();
  imported.choices = log.choices();
  imported.left_out = log.left_out();
  return imported;
}

SourceFile read_import_source(const std::string& file) {
  // Models are as large as their weights; their reader skips these in the file.
  std::error_code error;
  if (is_onnx({file, ""}) && std::filesystem::is_regular_file(file, error)) return {file, ""};
  return {file, read_source(file)};
}

Imported import_files(std::string_view format, const std::vector<std::string>& files, const ImportOptions& options) {
  std::vector<SourceFile> sources;
  for (const std::string& file : files) sources.push_back(read_import_source(file));
  return import_sources(format, sources, options);
}

}  // namespace pliant
