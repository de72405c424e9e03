// SPDX-License-Identifier: Apache-2.0
// Text-file cases: tests/cases/bad/KIND_what.{yaml,csv,txt} must be refused with exactly the diagnostics in the file of
// the same name that ends in .expected; tests/cases/ok/ must load and be written as there. KIND is accelerator,
// flexibility, technology, workload, layer, inline (a layer written in place) or mapping. Comment lines of a case may
// say `# set: KEY=VALUE`, `# accelerator: NAME` and `# layer: TEXT`. A new case needs no C++; PLIANT_RECORD_CASES=1
// writes the .expected files, to be read before they are committed.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/input/load.h"
#include "core/input/source_text.h"
#include "support/file_text.h"

namespace pliant {
namespace {

const std::filesystem::path kProject = PLIANT_SOURCE_DIR;

std::vector<std::string> headers(const std::string& text, const std::string& key) {
  std::vector<std::string> values;
  std::istringstream stream(text);
  const std::string prefix = "# " + key + ": ";
  for (std::string line; std::getline(stream, line);) {
    if (line.starts_with(prefix)) values.push_back(line.substr(prefix.size()));
  }
  return values;
}

std::string header(const std::string& text, const std::string& key, const std::string& otherwise) {
  const auto all = headers(text, key);
  return all.empty() ? otherwise : all.front();
}

/// Reads a case and gives what was understood, written out.
std::string read_case(const std::filesystem::path& file) {
  const Library library(kProject / "configs");
  const std::string name = file.filename().string();
  const std::string kind = name.substr(0, name.find('_'));
  const std::string text = text_of(file);
  std::vector<Setting> settings;
  for (const std::string& setting : headers(text, "set")) settings.push_back(parse_setting(setting));
  const auto accelerator = [&] { return load_accelerator(library, header(text, "accelerator", "eyeriss"), settings); };
  if (kind == "accelerator") return write_accelerator(load_accelerator(library, file.string(), settings));
  if (kind == "flexibility") return write_flexibility(load_flexibility(library, file.string(), accelerator()));
  if (kind == "workload") return write_workload(load_workload(library, file.string()));
  if (kind == "layer") return write_layer(load_layer(file));
  if (kind == "technology") return parse_technology_text(text, file.string()).description + "\n";
  if (kind == "inline") return write_layer(parse_layer(text.substr(0, text.find('\n')), "--layer"));
  if (kind == "mapping") {
    const Layer layer = parse_layer(header(text, "layer", "conv:M=8,C=4,P=6,Q=6,R=3,S=3"), "--layer");
    const Accelerator machine = accelerator();
    const MappingFile mapping = load_mapping(file, layer, machine);
    return write_mapping(layer, machine, mapping.mapping, mapping.factorization);
  }
  throw std::invalid_argument("no kind of case: " + kind);
}

/// Messages name files and count what is shipped; neither the folder of the checkout nor the count, which grows, may
/// show.
std::string without_folder(std::string text) {
  text = std::regex_replace(text, std::regex("one of [0-9]+, such as"), "one of <count>, such as");
  for (const std::filesystem::path& folder :
       {kProject / "tests" / "cases" / "bad", kProject / "tests" / "cases" / "ok", kProject}) {
    const std::string prefix = folder.string() + "/";
    for (std::size_t at = text.find(prefix); at != std::string::npos; at = text.find(prefix))
      text.erase(at, prefix.size());
  }
  return text;
}

std::vector<std::filesystem::path> cases(const std::string& folder) {
  std::vector<std::filesystem::path> all;
  for (const auto& entry : std::filesystem::directory_iterator(kProject / "tests" / "cases" / folder)) {
    // Sweeps are read by a layer above this one; tests/dse/sweep/sweep_file_test.cpp has their cases.
    if (entry.path().filename().string().starts_with("sweep_")) continue;
    if (entry.is_regular_file() && entry.path().extension() != ".expected") all.push_back(entry.path());
  }
  std::sort(all.begin(), all.end());
  return all;
}

void compare(const std::filesystem::path& file, const std::string& actual) {
  const std::filesystem::path expected = std::filesystem::path(file).replace_extension(".expected");
  if (std::getenv("PLIANT_RECORD_CASES") != nullptr) {
    std::ofstream(expected, std::ios::binary) << actual;
    return;
  }
  ASSERT_TRUE(std::filesystem::exists(expected)) << "there is no " << expected.filename() << "; it would hold:\n"
                                                 << actual;
  EXPECT_EQ(actual, text_of(expected)) << file.filename();
}

TEST(Cases, BadInputIsRefusedWithTheExpectedDiagnostics) {
  const auto all = cases("bad");
  EXPECT_GE(all.size(), 60U);
  RecordProperty("cases", static_cast<int>(all.size()));
  for (const std::filesystem::path& file : all) {
    SCOPED_TRACE(file.filename().string());
    try {
      const std::string understood = read_case(file);
      ADD_FAILURE() << "accepted as\n" << understood;
    } catch (const InputError& error) {
      compare(file, without_folder(error.what()) + "\n");
    }
  }
}

TEST(Cases, GoodInputIsUnderstoodAsExpected) {
  for (const std::filesystem::path& file : cases("ok")) {
    SCOPED_TRACE(file.filename().string());
    try {
      compare(file, read_case(file));
    } catch (const InputError& error) {
      ADD_FAILURE() << error.what();
    }
  }
}

}  // namespace
}  // namespace pliant
