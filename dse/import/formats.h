// SPDX-License-Identifier: Apache-2.0
// The formats of other tools, one row each: its name, its reader, how a file of it is recognised.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/input/load.h"
#include "dse/import/imported.h"

namespace pliant {

struct ImportFormat {
  std::string_view name;   ///< as on the command line
  std::string_view reads;  ///< one line of --help
  /// True when the file is of this format and not one of ours.
  bool (*recognises)(const SourceFile& file);
  /// Notes what is wrong in the log; the caller throws.
  void (*read)(const std::vector<SourceFile>& files, const ImportOptions& options, ImportLog& log, Imported& imported);
  bool has_variables = false;  ///< its files have names that stand for values
};

const std::vector<ImportFormat>& import_formats();

/// The format of a file, or nullptr for our own formats and unknown ones.
const ImportFormat* recognise(const SourceFile& file);

/// Reads the files, all of one format ("auto" = recognised file by file); InputError with everything that is wrong.
Imported import_files(std::string_view format, const std::vector<std::string>& files, const ImportOptions& options);
/// The same for texts in memory.
Imported import_sources(std::string_view format, const std::vector<SourceFile>& files, const ImportOptions& options);

/// The file's bytes, text or not; InputError when there is none or it is too large for its kind.
SourceFile read_import_source(const std::string& file);

}  // namespace pliant
