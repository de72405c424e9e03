// SPDX-License-Identifier: Apache-2.0
#include "dse/validation/vectors.h"

#include <fstream>

#include <nlohmann/json.hpp>

#include "core/input/load.h"
#include "dse/validation/quickflow_vectors.h"
#include "dse/validation/timeloop_vectors.h"

namespace pliant {

namespace {

using nlohmann::json;

[[noreturn]] void refuse(const std::filesystem::path& file, int line, const std::string& what) {
  throw InputError(Diagnostic{file.string(), line, line > 0 ? 1 : 0, "", what,
                              "JSON lines of Timeloop vectors, or one object with `vectors`", ""});
}

bool is_timeloop_record(const json& value) {
  return value.is_object() && value.contains("arch") && value.contains("results");
}

}  // namespace

ValidationResult validate_vectors(const std::filesystem::path& file, const std::filesystem::path& configs) {
  std::ifstream in(file);
  if (!in) refuse(file, 0, "cannot be read");
  ValidationResult result;
  std::string line;
  int number = 0;
  bool first = true;
  while (std::getline(in, line)) {
    ++number;
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    json record = json::parse(line, nullptr, false);
    try {
      if (first && !is_timeloop_record(record)) {  // not a record of its own: the whole file is one object
        in.clear();
        in.seekg(0);
        record = json::parse(in, nullptr, false);
        if (record.is_discarded()) refuse(file, 1, "not JSON");
        if (!record.is_object() || !record.contains("vectors")) refuse(file, 1, "not a file of reference vectors");
        validate_quickflow_vectors(record, Library(configs), result);
        return result;
      }
      if (record.is_discarded()) refuse(file, number, "not JSON");
      validate_timeloop_vector(record, result);
    } catch (const json::exception& error) {
      refuse(file, number, error.what());
    }
    first = false;
  }
  if (first) refuse(file, 0, "holds no vectors");
  return result;
}

}  // namespace pliant
