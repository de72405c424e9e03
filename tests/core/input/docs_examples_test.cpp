// SPDX-License-Identifier: Apache-2.0
// Every complete example of docs/formats.md (a yaml block that starts with `pliant: KIND`, and every csv block) loads.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "core/input/load.h"

namespace pliant {
namespace {

std::vector<std::string> blocks(const std::string& language) {
  std::ifstream stream(std::filesystem::path(PLIANT_SOURCE_DIR) / "docs" / "formats.md");
  std::vector<std::string> found;
  bool inside = false;
  for (std::string line; std::getline(stream, line);) {
    if (line == "```" + language) {
      inside = true;
      found.emplace_back();
    } else if (line == "```") {
      inside = false;
    } else if (inside) {
      found.back() += line + "\n";
    }
  }
  return found;
}

void read_example(const std::string& kind, const std::string& text) {
  const Library library(std::filesystem::path(PLIANT_SOURCE_DIR) / "configs");
  if (kind == "accelerator") {
    parse_accelerator_text(library, text, "example.yaml");
  } else if (kind == "technology") {
    parse_technology_text(text, "example.yaml");
  } else if (kind == "layer") {
    parse_layer_text(text, "example.yaml");
  } else if (kind == "workload") {
    parse_workload_text(text, "example.yaml");
  } else if (kind == "mapping") {
    const Workload resnet = load_workload(library, "resnet50");
    parse_mapping_text(text, "example.yaml", resnet.find("conv1")->layer, load_accelerator(library, "eyeriss"));
  } else {
    FAIL() << "no reader for " << kind;
  }
}

TEST(DocsExamples, Load) {
  std::map<std::string, int> seen;
  const std::string tag = "pliant: ";
  for (const std::string& text : blocks("yaml")) {
    if (!text.starts_with(tag)) continue;
    const std::string kind = text.substr(tag.size(), text.find('\n') - tag.size());
    ++seen[kind];
    EXPECT_NO_THROW(read_example(kind, text)) << text;
  }
  for (const std::string& text : blocks("csv")) EXPECT_NO_THROW(parse_workload_text(text, "example.csv")) << text;
  EXPECT_GE(seen.size(), 5U);
}

/// The parts shown without their file: put into the page's own accelerator they load as well.
TEST(DocsExamples, PartsOfAnAcceleratorLoad) {
  const Library library(std::filesystem::path(PLIANT_SOURCE_DIR) / "configs");
  std::string whole;
  for (const std::string& text : blocks("yaml")) {
    if (whole.empty() && text.starts_with("pliant: accelerator")) whole = text;
  }
  int parts = 0;
  for (const std::string& text : blocks("yaml")) {
    if (!text.starts_with("flexibility:") && !text.starts_with("baseline:")) continue;
    ++parts;
    EXPECT_NO_THROW(parse_accelerator_text(library, whole + text, "example.yaml")) << text;
  }
  EXPECT_GE(parts, 2);
}

}  // namespace
}  // namespace pliant
