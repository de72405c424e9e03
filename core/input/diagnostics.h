// SPDX-License-Identifier: Apache-2.0
// Bad input, located and explained: file:line:column: key.path: what is wrong; expected ...; did you mean ...
#pragma once

#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pliant {

struct YamlNode;

/// Where something was written. An override from the command line has no line: `file` is then the whole option, and
/// `setting` its key.
struct Position {
  std::shared_ptr<const std::string> file;
  int line = 0, column = 0;                         ///< 1-based
  std::shared_ptr<const std::string> setting = {};  ///< null in a file
};

struct Diagnostic {
  std::string file;
  int line = 0, column = 0;  ///< 1-based; 0 = no position (command line)
  std::string key;           ///< "levels[2].capacity"
  std::string what;          ///< "unknown key"
  std::string expected;      ///< "one of capacity, keeps, ..."; may be empty
  std::string did_you_mean;  ///< may be empty
  std::string setting = {};  ///< the key of the `--set` that it is about; empty for files and other options
  std::string text() const;  ///< one line, as above
};

/// Thrown by readers once per file (or include tree) with everything that is wrong in it.
class InputError : public std::runtime_error {
 public:
  explicit InputError(std::vector<Diagnostic> diagnostics);
  explicit InputError(Diagnostic diagnostic);
  const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }

 private:
  std::vector<Diagnostic> diagnostics_;
};

/// What was wrong, gathered while a file is read.
class Diagnostics {
 public:
  void add(const Position& at, std::string key, std::string what, std::string expected = "",
           std::string did_you_mean = "");
  void add(Diagnostic diagnostic);
  bool empty() const { return diagnostics_.empty(); }
  std::size_t size() const { return diagnostics_.size() + more_; }
  /// Enough was noted; what comes now is only counted, so readers need not word it.
  bool full() const;
  /// Throws everything noted, in the order of the file.
  void throw_if_any() const;
  /// An unknown key of this map seems to mean `key`, so a missing `key` is no news.
  void note_misspelt(const YamlNode& map, std::string key) { misspelt_.emplace(&map, std::move(key)); }
  bool is_misspelt(const YamlNode& map, const std::string& key) const { return misspelt_.contains({&map, key}); }

 private:
  std::vector<Diagnostic> diagnostics_;
  std::set<std::pair<const YamlNode*, std::string>> misspelt_;
  std::size_t more_ = 0;  ///< beyond the limit
};

/// The candidate nearest to a misspelt word (edit distance at most 2 or a third of its length), else the only one that
/// contains it, else "".
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace pliant
