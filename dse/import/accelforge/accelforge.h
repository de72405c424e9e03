// SPDX-License-Identifier: Apache-2.0
// AccelForge: `arch:` and `workload:` of its YAML files.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/input/cursor.h"
#include "dse/import/imported.h"

namespace pliant {

bool is_accelforge(const SourceFile& file);
void import_accelforge(const std::vector<SourceFile>& files, const ImportOptions& options, ImportLog& log,
                       Imported& imported);

namespace accelforge {

/// Bits of a value where no workload says.
inline constexpr int kDefaultBits = 8;

/// One index of a tensor: rank `H` is read at 2*p + r.
struct Index {
  std::string rank;
  std::vector<std::pair<std::string, Count>> terms;  ///< rank variable, coefficient
};

struct Access {
  std::string tensor;
  bool output = false;
  std::vector<Index> indices;
};

struct Einsum {
  std::string name;
  Position at;
  std::vector<Access> accesses;
  std::map<std::string, std::string> role_of;         ///< tensor -> input, weight or output, where the file says
  std::vector<std::pair<std::string, Count>> bounds;  ///< rank variable < bound
  bool product = true;                                ///< of its operands; else a sum, a copy or a function of one
};

/// "T[m, n] = A[m, k] * B[k, N: 2*n + r]"; nothing after noting what is wrong.
std::optional<Einsum> read_einsum_text(const Cursor& cursor, ImportLog& log);
/// "2*p + r".
std::optional<std::vector<std::pair<std::string, Count>>> read_index(const Cursor& cursor, std::string_view text,
                                                                     ImportLog& log);
/// "0 <= m < 128".
std::optional<std::pair<std::string, Count>> read_bound(const Cursor& cursor, std::string_view text, ImportLog& log);

std::optional<Workload> read_workload(const Cursor& workload, const std::string& name, ImportLog& log);
/// `variables` of the file; bits of a word.
std::optional<ImportedText> read_architecture(const Cursor& arch, const std::map<std::string, std::string>& variables,
                                              int word_bits, const std::string& name, ImportLog& log);

}  // namespace accelforge
}  // namespace pliant
