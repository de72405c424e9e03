// SPDX-License-Identifier: Apache-2.0
// Bad input, located and explained: file:line:column: key.path: what is wrong; expected ...; did you mean ...
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace pliant {

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

/// The candidate nearest to a misspelt word (edit distance at most 2 or a third of its length), else the only one that
/// contains it, else "".
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace pliant
