// SPDX-License-Identifier: Apache-2.0
#include "dse/answers/face.h"

#include <ostream>
#include <utility>

namespace pliant {

Face::Face(std::ostream& out_stream, std::ostream& err_stream, Library shipped)
    : out(out_stream), err(err_stream), library(std::move(shipped)) {}

std::stop_token Face::begin_work(std::string_view, double) { return {}; }
void Face::begin_layer(const std::string&, std::size_t) {}
void Face::show(const Progress&) {}
void Face::show(const SweepProgress&) {}
void Face::show(const PhaseProgress&) {}
void Face::working(const std::function<std::string()>&) {}
void Face::note(const std::string& text) { err << text << "\n"; }

}  // namespace pliant
