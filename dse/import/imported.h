// SPDX-License-Identifier: Apache-2.0
// What an importer makes of another tool's files, and what it says about it. Nothing is dropped in silence: every
// choice the files did not make and everything that has no counterpart here becomes a note with its place.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/input/diagnostics.h"
#include "core/input/yaml_node.h"
#include "core/layer.h"

namespace pliant {

/// One file of the user, already read.
struct SourceFile {
  std::string name;  ///< as named by the user; stands in diagnostics
  std::string text;
};

/// A line of the report: a choice made, or (only with --lenient) something left out.
struct ImportNote {
  Position at;
  std::string key;
  std::string what;
  bool is_small = false;     ///< one of many that change little: counted, and listed on request
  std::string text() const;  ///< "file:line: key: what"
};

/// Gathers notes and problems while files are read.
class ImportLog {
 public:
  explicit ImportLog(bool lenient) : lenient_(lenient) {}

  Diagnostics& problems() { return problems_; }
  /// The file left it open, or says it in another way: this is what was taken.
  void choice(const Position& at, std::string key, std::string what);
  /// The same for one of many that change little.
  void small_choice(const Position& at, std::string key, std::string what);
  /// The same for what matters more than all others: it stands first.
  void first(const Position& at, std::string key, std::string what);
  /// Has no counterpart here: an error, or with --lenient left out and listed.
  void unsupported(const Position& at, std::string key, std::string what, std::string expected = "");
  const std::vector<ImportNote>& choices() const { return choices_; }
  const std::vector<ImportNote>& left_out() const { return left_out_; }

 private:
  bool lenient_;
  Diagnostics problems_;
  std::vector<ImportNote> choices_, left_out_;
};

/// A file in one of our formats, as text.
struct ImportedText {
  std::string name;  ///< of the accelerator, workload, layer or mapping; a good file name
  std::string yaml;
};

struct Imported {
  std::vector<ImportedText> accelerators;  ///< with their flexibility
  std::vector<Workload> workloads;
  std::vector<Layer> layers;           ///< of formats whose files describe one layer
  std::vector<ImportedText> mappings;  ///< for the one accelerator and the one layer of the same import
  std::vector<ImportNote> choices, left_out;
};

/// What the user asks for beyond the files.
struct ImportOptions {
  bool lenient = false;
  std::string name{};  ///< of the workload, instead of the file's
  Count prefill = 0;   ///< models: process so many tokens of a prompt; 0 = not asked
  Count decode = 0;    ///< models: one token after so many in the cache; 0 = not asked
  Count batch = 1;     ///< models: sequences at once
  /// Values of names that the files leave open: of templates; of ONNX models the sizes of dims.
  std::map<std::string, std::string> variables{};
};

/// Letters, digits, `_` and `-`, starting with a letter or `_`: other characters become `_`.
std::string import_name(std::string_view text, std::string_view otherwise);
/// Gives every name once; the second `conv` becomes `conv_2`.
class UniqueNames {
 public:
  std::string operator()(const std::string& name);

 private:
  std::map<std::string, int> used_;
};

/// The file's name without folder and extension, as a name.
std::string name_of_file(const SourceFile& file);
/// A position at the start of a line of a file.
Position position_in(const SourceFile& file, int line, int column = 1);

}  // namespace pliant
