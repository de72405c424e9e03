// SPDX-License-Identifier: Apache-2.0
// Pictures of specifications and drawings, by vl-convert in a Python process of its own.
#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

namespace pliant {

/// No Python with vl-convert, or a specification it refuses.
class RenderError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// $PLIANT_PYTHON; else .venv of the source tree that the program was built in; else python3.
std::string find_chart_python();

/// Makes NAME.png beside each NAME.vl.json or NAME.svg. `python` empty: find_chart_python().
void render_png(const std::vector<std::filesystem::path>& files, double scale, const std::string& python = "");

}  // namespace pliant
