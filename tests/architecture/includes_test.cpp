// SPDX-License-Identifier: Apache-2.0
// The compiler already refuses includes against core <- flex <- costmodel <- dse. This reads the sources themselves: it
// also sees what the compiler cannot, a system header used in the wrong folder and a library that prints.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "architecture/source_files.h"

namespace pliant::test {
namespace {

/// A room and every room that it may include, itself among them, as pliant_add_layer() in CMakeLists.txt says.
using Rooms = std::map<std::string, std::set<std::string>>;

const Rooms& rooms() {
  static const Rooms all = [] {
    static const std::regex layer(R"re(^pliant_add_layer\(([\w/]+)(.*)$)re");
    Rooms found;
    for (const std::string& line : read_lines(std::filesystem::path(PLIANT_SOURCE_DIR) / "CMakeLists.txt")) {
      std::smatch match;
      if (!std::regex_match(line, match, layer)) continue;
      std::set<std::string>& visible = found[match[1]];
      visible.insert(match[1]);
      std::istringstream words(match[2]);
      bool below = false;
      for (std::string word; words >> word;) {
        const bool keyword = word.find_first_of("abcdefghijklmnopqrstuvwxyz") == std::string::npos;
        if (keyword) {
          below = word == "BELOW";
          continue;
        }
        std::erase(word, ')');
        if (below) visible.insert(found.at(word).begin(), found.at(word).end());
      }
    }
    return found;
  }();
  return all;
}

// A package and the only files that may include it.
struct PackageRule {
  std::string_view package;
  std::regex headers;
  std::regex files;
};

const std::vector<PackageRule>& package_rules() {
  static const std::vector<PackageRule> rules = {
      {"yaml-cpp", std::regex("yaml-cpp/.*"),
       std::regex("core/input/yaml[^/]*|dse/audit/(yaml_block\\.h|own_\\w+\\.cpp)")},
      {"oneTBB", std::regex("(oneapi/)?tbb(/.*|\\.h)"),
       std::regex("dse/(audit|design|mappers|measured|sweep)/.*|dse/studies/study_task.cpp")},
      {"Arrow", std::regex("(arrow|parquet)/.*"), std::regex("dse/(results|report)/.*")},
      {"OpenSSL", std::regex("openssl/.*"), std::regex("dse/results/.*")},
      {"protobuf", std::regex("google/protobuf/.*"), std::regex("dse/import/onnx/.*")},
      {"Boost.Program_options", std::regex("boost/program_options.*"), std::regex("dse/answers/arguments.cpp")},
  };
  return rules;
}

/// "" for a path in no room.
std::string room_of(std::string_view path) {
  for (const auto& [room, visible] : rooms()) {
    if (path.starts_with(room) && path.substr(room.size()).starts_with('/')) return room;
  }
  return "";
}

struct Include {
  const SourceFile* source;
  std::size_t line;  // from 1
  std::string header;
  bool quoted;

  std::string where() const { return source->path + ":" + std::to_string(line) + ": includes " + header; }
};

std::vector<Include> includes() {
  static const std::regex directive(R"re(^\s*#\s*include\s*([<"])([^>"]+)[>"].*)re");
  std::vector<Include> found;
  for (const SourceFile& source : library_sources()) {
    for (std::size_t i = 0; i < source.lines.size(); ++i) {
      std::smatch match;
      if (!std::regex_match(source.lines[i], match, directive)) continue;
      found.push_back({&source, i + 1, match[2], match[1] == "\""});
    }
  }
  return found;
}

TEST(Architecture, FindsTheSourcesAndTheRooms) {
  EXPECT_GE(includes().size(), 1000u);
  ASSERT_TRUE(rooms().contains("dse/cli"));
  EXPECT_EQ(rooms().at("flex"), (std::set<std::string>{"core", "flex"}));
  EXPECT_GE(rooms().at("dse/cli").size(), 10u);
}

TEST(Architecture, EveryFileIsInARoom) {
  for (const SourceFile& source : library_sources()) EXPECT_NE(room_of(source.path), "") << source.path;
}

TEST(Architecture, EveryFileNamesItsLicence) {
  for (const SourceFile& source : library_sources()) {
    EXPECT_TRUE(!source.lines.empty() && source.lines[0] == "// SPDX-License-Identifier: Apache-2.0") << source.path;
  }
}

TEST(Architecture, OwnHeadersAreIncludedFromTheRoot) {
  for (const Include& include : includes()) {
    if (include.quoted) {
      EXPECT_NE(room_of(include.header), "") << include.where();
    }
  }
}

TEST(Architecture, RoomsOnlyLookDown) {
  for (const Include& include : includes()) {
    const std::string target = room_of(include.header), own = room_of(include.source->path);
    if (!target.empty() && !own.empty()) {
      EXPECT_TRUE(rooms().at(own).contains(target)) << include.where();
    }
  }
}

// A proof is checked by code that the prover has no part in: neither its map-space nor what it derives of a problem.
TEST(Architecture, TheAuditorKnowsNothingOfTheMappers) {
  static const std::regex allowed("(core|costmodel|dse/audit)/.*");
  int seen = 0;
  for (const Include& include : includes()) {
    if (!include.quoted || !include.source->path.starts_with("dse/audit/")) continue;
    ++seen;
    EXPECT_TRUE(std::regex_match(include.header, allowed)) << include.where();
    EXPECT_NE(include.header, "core/affine.h") << include.where();  // it counts values of indices by itself
    EXPECT_NE(include.header, "costmodel/problem.h") << include.where();
  }
  EXPECT_GT(seen, 0);
}

TEST(Architecture, PackagesStayInTheirFiles) {
  for (const Include& include : includes()) {
    for (const PackageRule& rule : package_rules()) {
      if (std::regex_match(include.header, rule.headers)) {
        EXPECT_TRUE(std::regex_match(include.source->path, rule.files))
            << include.where() << " (" << rule.package << ")";
      }
    }
  }
}

/// Faces stand beside each other on what they share: nothing else knows the command line.
TEST(Architecture, TheCommandLineIsNobodysLibrary) {
  static const std::regex of_cli(R"re(^\s*#\s*include\s*"dse/cli/.*)re");
  std::size_t seen = 0;
  for (const SourceFile& source :
       files_under({"core", "flex", "costmodel", "dse", "python", "bench", "fuzz", "examples"}, {".h", ".cpp"})) {
    ++seen;
    if (source.path.starts_with("dse/cli/")) continue;
    for (const std::string& line : source.lines)
      EXPECT_FALSE(std::regex_match(line, of_cli)) << source.path << ": " << line;
  }
  EXPECT_GT(seen, 600u);
}

// Only the command line may write to the terminal or end the process.
TEST(Architecture, TheLibraryNeverPrintsNorExits) {
  static const std::regex forbidden(
      R"re((^|[^\w.:>])(std::)?(cout|cerr|clog|f?printf|puts|fputs|putchar|exit|_Exit|quick_exit|abort|terminate)\b\s*(\(|<<)|fmt::print\b)re");
  for (const SourceFile& source : library_sources()) {
    if (source.path.starts_with("dse/cli/")) continue;
    for (std::size_t i = 0; i < source.lines.size(); ++i) {
      const std::string code = source.lines[i].substr(0, source.lines[i].find("//"));
      EXPECT_FALSE(std::regex_search(code, forbidden)) << source.path << ":" << i + 1 << ": " << code;
    }
  }
}

/// Inside the exact mapper a room includes itself and those that it stands on.
TEST(Includes, RoomsOfTheProofFollowIt) {
  const std::map<std::string, std::set<std::string>> below = {
      {"task", {}},
      {"chain", {"task"}},
      {"words", {"task", "chain"}},
      {"choices", {"task", "chain", "words"}},
      {"bounds", {"task", "chain", "words", "choices"}},
      {"lattice", {"task", "chain", "words"}},
      {"search", {"task", "chain", "words", "choices", "bounds", "lattice"}},
  };
  static const std::regex inside(R"re(^#include "dse/mappers/exact/(\w+)/.*)re");
  std::size_t seen = 0;
  for (const SourceFile& file : library_sources()) {
    std::smatch match;
    const bool proof = file.path.starts_with("dse/mappers/exact/");
    const std::string rest = proof ? file.path.substr(std::string("dse/mappers/exact/").size()) : "";
    const std::string room = rest.substr(0, rest.find('/'));
    for (const std::string& line : file.lines) {
      if (!std::regex_match(line, match, inside)) continue;
      ++seen;
      const bool allowed = !proof ? file.path.starts_with("dse/mappers/")
                                  : rest == room || match[1] == room || below.at(room).contains(match[1]);
      EXPECT_TRUE(allowed) << file.path << ": " << line;
    }
  }
  EXPECT_GT(seen, 100u);
}

}  // namespace
}  // namespace pliant::test
