// SPDX-License-Identifier: Apache-2.0
// The compiler already refuses includes against core <- flex <- costmodel <- dse. This reads the sources themselves: it
// also sees what the compiler cannot, a system header used in the wrong folder and a library that prints.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace {

namespace fs = std::filesystem;

// As in CMakeLists.txt, outermost last. A file may include its own folder and those before it.
constexpr std::array<std::string_view, 10> kFolders = {"core",        "flex",        "costmodel", "dse/validation",
                                                       "dse/mappers", "dse/results", "dse/sweep", "dse/report",
                                                       "dse/studies", "dse/cli"};

// A package and the only files that may include it.
struct PackageRule {
  std::string_view package;
  std::regex headers;
  std::regex files;
};

const std::vector<PackageRule>& package_rules() {
  static const std::vector<PackageRule> rules = {
      {"yaml-cpp", std::regex("yaml-cpp/.*"), std::regex("core/input/yaml[^/]*")},
      {"oneTBB", std::regex("(oneapi/)?tbb(/.*|\\.h)"),
       std::regex("dse/(mappers|sweep)/.*|dse/studies/study_task.cpp")},
      {"Arrow", std::regex("(arrow|parquet)/.*"), std::regex("dse/(results|report)/.*")},
      {"Boost.Program_options", std::regex("boost/program_options.*"), std::regex("dse/cli/.*")},
  };
  return rules;
}

struct Source {
  std::string path;  // relative to the repository
  std::vector<std::string> lines;
};

const std::vector<Source>& sources() {
  static const std::vector<Source> all = [] {
    std::vector<Source> found;
    const fs::path root = PLIANT_SOURCE_DIR;
    for (const std::string_view top : {"core", "flex", "costmodel", "dse"}) {
      if (!fs::exists(root / top)) continue;
      for (const auto& entry : fs::recursive_directory_iterator(root / top)) {
        if (entry.path().extension() != ".h" && entry.path().extension() != ".cpp") continue;
        Source source{fs::relative(entry.path(), root).generic_string(), {}};
        std::ifstream in(entry.path());
        for (std::string line; std::getline(in, line);) source.lines.push_back(line);
        found.push_back(std::move(source));
      }
    }
    std::ranges::sort(found, {}, &Source::path);
    return found;
  }();
  return all;
}

// The position in kFolders, or -1 for a path in none of them.
int folder_of(std::string_view path) {
  for (std::size_t i = 0; i < kFolders.size(); ++i) {
    if (path.starts_with(kFolders[i]) && path.substr(kFolders[i].size()).starts_with('/')) return static_cast<int>(i);
  }
  return -1;
}

struct Include {
  const Source* source;
  std::size_t line;  // from 1
  std::string header;
  bool quoted;

  std::string where() const { return source->path + ":" + std::to_string(line) + ": includes " + header; }
};

std::vector<Include> includes() {
  static const std::regex directive(R"re(^\s*#\s*include\s*([<"])([^>"]+)[>"].*)re");
  std::vector<Include> found;
  for (const Source& source : sources()) {
    for (std::size_t i = 0; i < source.lines.size(); ++i) {
      std::smatch match;
      if (!std::regex_match(source.lines[i], match, directive)) continue;
      found.push_back({&source, i + 1, match[2], match[1] == "\""});
    }
  }
  return found;
}

TEST(Architecture, FindsTheSources) { EXPECT_GE(includes().size(), 10u); }

TEST(Architecture, EveryFileIsInAKnownFolder) {
  for (const Source& source : sources()) EXPECT_GE(folder_of(source.path), 0) << source.path;
}

TEST(Architecture, EveryFileNamesItsLicence) {
  for (const Source& source : sources()) {
    EXPECT_TRUE(!source.lines.empty() && source.lines[0] == "// SPDX-License-Identifier: Apache-2.0") << source.path;
  }
}

TEST(Architecture, OwnHeadersAreIncludedFromTheRoot) {
  for (const Include& include : includes()) {
    if (include.quoted) {
      EXPECT_GE(folder_of(include.header), 0) << include.where();
    }
  }
}

TEST(Architecture, LayersOnlyLookDown) {
  for (const Include& include : includes()) {
    const int target = folder_of(include.header);
    if (target >= 0) {
      EXPECT_LE(target, folder_of(include.source->path)) << include.where();
    }
  }
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

// Only the command line may write to the terminal or end the process.
TEST(Architecture, TheLibraryNeverPrintsNorExits) {
  static const std::regex forbidden(
      R"re((^|[^\w.:>])(std::)?(cout|cerr|clog|f?printf|puts|fputs|putchar|exit|_Exit|quick_exit|abort|terminate)\b\s*(\(|<<).*|.*fmt::print\b.*)re");
  for (const Source& source : sources()) {
    if (source.path.starts_with("dse/cli/")) continue;
    for (std::size_t i = 0; i < source.lines.size(); ++i) {
      const std::string code = source.lines[i].substr(0, source.lines[i].find("//"));
      EXPECT_FALSE(std::regex_search(code, forbidden)) << source.path << ":" << i + 1 << ": " << code;
    }
  }
}

}  // namespace
