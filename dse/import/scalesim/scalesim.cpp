// SPDX-License-Identifier: Apache-2.0
#include "dse/import/scalesim/scalesim.h"

#include <algorithm>
#include <cctype>
#include <string>

namespace pliant {
namespace {

bool is_configuration(const SourceFile& file) { return file.text.find("[architecture_presets]") != std::string::npos; }

/// The first line in small letters without blanks, quotes and tabs-as-separators.
std::string header_of(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  std::string header;
  for (const char c : text.substr(0, std::min(text.find('\n'), text.size()))) {
    if (c == '\t') header += ',';
    if (std::isspace(static_cast<unsigned char>(c)) == 0) {
      header += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  return header;
}

bool is_topology(const SourceFile& file) {
  const std::string header = header_of(file.text);
  if (header.find("ifmap") != std::string::npos && header.find("filter") != std::string::npos) return true;
  // `name,M,N,K` is a layer table of ours; SCALE-Sim calls the first column "Layer", "Layer Name" or "L".
  return header.starts_with("l") && header.find(",m,n,k") != std::string::npos;
}

}  // namespace

bool is_scalesim(const SourceFile& file) { return is_configuration(file) || is_topology(file); }

void import_scalesim(const std::vector<SourceFile>& files, const ImportOptions&, ImportLog& log, Imported& imported) {
  for (const SourceFile& file : files) {
    if (is_configuration(file)) {
      imported.accelerators.push_back(read_scalesim_configuration(file, log));
    } else {
      imported.workloads.push_back(read_scalesim_topology(file, log));
    }
  }
}

}  // namespace pliant
