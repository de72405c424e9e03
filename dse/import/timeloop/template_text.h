// SPDX-License-Identifier: Apache-2.0
// The plain part of Jinja that Timeloop's own files use: {{include_text('file')}} on a line of its own.
#pragma once

#include "core/input/yaml_node.h"
#include "dse/import/imported.h"

namespace pliant {

/// The file's YAML with tags, merge keys and included texts; positions are those of the file each line came from.
YamlNode parse_template(const SourceFile& file, ImportLog& log);

}  // namespace pliant
