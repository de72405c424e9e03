// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <tbb/enumerable_thread_specific.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <map>

#include "core/arithmetic.h"
#include "core/input/source_text.h"
#include "core/version.h"
#include "dse/mappers/library_versions.h"
#include "dse/results/columns.h"
#include "dse/results/content_hash.h"
#include "dse/results/library_versions.h"
#include "dse/sweep/design_space.h"
#include "dse/sweep/run_sweep.h"
#include "dse/sweep/source_hash.h"

namespace pliant {

SweepLayout layout_of(const Sweep& sweep, std::int64_t designs_raw) {
  // Enough parts that shards balance, rows enough that a file is worth its footer, and so few rows and designs that it
  // is written in a moment and memory stays flat, unless that made more files than a folder likes.
  constexpr std::int64_t kParts = 32, kMostParts = 4096, kLeastRows = 128, kMostRows = 16'384, kMostDesigns = 512;
  SweepLayout layout;
  layout.designs_raw = designs_raw;
  for (const Workload& workload : sweep.workloads) layout.layers += static_cast<std::int64_t>(workload.layers.size());
  const std::int64_t by_parts = ceil_div(designs_raw, kParts);
  const std::int64_t least = ceil_div(kLeastRows, layout.layers);
  const std::int64_t most =
      std::max({std::int64_t{1}, std::min(kMostRows / layout.layers, kMostDesigns), designs_raw / kMostParts});
  layout.designs_in_part = std::min(std::max(by_parts, least), most);
  layout.parts = ceil_div(designs_raw, layout.designs_in_part);
  return layout;
}

namespace {

/// The least and the largest value of every axis of numbers.
std::vector<std::optional<std::pair<double, double>>> axis_ends(const Sweep& sweep) {
  std::vector<std::optional<std::pair<double, double>>> ends;
  for (const auto& axis : sweep.cells) {
    for (std::size_t key = 0; !axis.empty() && key < axis.front().size(); ++key) {
      auto& end = ends.emplace_back();
      for (const auto& position : axis) {
        const auto* whole = std::get_if<std::int64_t>(&position[key]);
        const auto* real = std::get_if<double>(&position[key]);
        if (whole == nullptr && real == nullptr) continue;
        const double value = whole != nullptr ? static_cast<double>(*whole) : *real;
        end = end ? std::pair{std::min(end->first, value), std::max(end->second, value)} : std::pair{value, value};
      }
    }
  }
  return ends;
}

}  // namespace

Manifest make_manifest(const Sweep& sweep, const SweepLayout& layout, std::int64_t designs_allowed) {
  Manifest m;
  m.sweep_name = sweep.name;
  m.inputs = sweep.inputs;
  m.options = sweep.options();
  m.seed = sweep.seed;
  m.axes = sweep.columns;
  m.axis_ends = axis_ends(sweep);
  m.designs = designs_allowed;
  m.designs_raw = layout.designs_raw;
  m.designs_in_part = layout.designs_in_part;
  m.parts = layout.parts;
  m.layers = layout.layers;
  m.pliant_version = fmt::format("{}+{}", version(), source_hash());
  m.compiler = compiler_version();
  for (const auto& versions : {core_library_versions(), task_library_versions(), table_library_versions()})
    for (const LibraryVersion& library : versions) m.libraries.push_back({library.name, library.version});
  std::string all =
      fmt::format("dataset {}\npliant {}\nparts of {}\n", kTableSchema, m.pliant_version, layout.designs_in_part);
  for (const Manifest::Input& input : m.inputs) all += fmt::format("{} {} {}\n", input.what, input.name, input.sha256);
  m.sweep_sha256 = sha256(all);
  return m;
}

std::vector<bool> allowed_designs(const Library& library, const std::shared_ptr<const Sweep>& sweep, int threads,
                                  const OnPhase& on_phase, const std::stop_token& stop) {
  if (sweep->constraints.empty()) return {};
  const auto sizes = HardwareSizes::read(library, *sweep, on_phase, stop);
  DesignSpace whole(library, sweep);
  // One byte each: threads may not share a byte.
  const std::int64_t groups = whole.size() / whole.variants();
  std::vector<char> group_allowed(static_cast<std::size_t>(groups));
  Phase phase(on_phase, "counting the designs that meet the constraints", whole.size());
  tbb::enumerable_thread_specific<DesignSpace> spaces([&] { return DesignSpace(library, sweep, sizes); });
  tbb::task_arena arena(threads > 0 ? threads : tbb::task_arena::automatic);
  arena.execute([&] {
    tbb::parallel_for(tbb::blocked_range<std::int64_t>(0, groups, 1024), [&](const auto& range) {
      DesignSpace& space = spaces.local();
      for (std::int64_t g = range.begin(); g < range.end(); ++g)
        group_allowed[static_cast<std::size_t>(g)] =
            !stop.stop_requested() && space.allowed(g * whole.variants()) ? 1 : 0;
      phase.advance((range.end() - range.begin()) * whole.variants());
    });
  });
  std::vector<bool> allowed(static_cast<std::size_t>(whole.size()));
  for (std::int64_t i = 0; i < whole.size(); ++i)
    allowed[static_cast<std::size_t>(i)] = group_allowed[static_cast<std::size_t>(i / whole.variants())] != 0;
  return allowed;
}

InputError no_design_left(const Library& library, const std::shared_ptr<const Sweep>& sweep) {
  constexpr std::int64_t kLooked = 2000;  ///< designs, evenly spread
  DesignSpace space(library, sweep);
  const std::int64_t stride = std::max<std::int64_t>(1, space.size() / kLooked);
  std::vector<Diagnostic> all;
  for (const Constraint& constraint : sweep->constraints) {
    bool met = false;
    std::map<std::string, std::pair<double, double>> ranges;
    for (std::int64_t i = 0; i < space.size(); i += stride) {
      met = met || constraint.holds([&](const std::string& name) { return space.value(i, name); }) == true;
      for (const std::string& name : constraint.names()) {
        const auto value = space.value(i, name);
        if (!value) continue;
        auto& range = ranges.try_emplace(name, *value, *value).first->second;
        range = {std::min(range.first, *value), std::max(range.second, *value)};
      }
    }
    if (met) continue;
    std::vector<std::string> texts;
    for (const auto& [name, range] : ranges)
      texts.push_back(fmt::format("{} runs from {:.4g} to {:.4g}", name, range.first, range.second));
    all.push_back({"", 0, 0, "constraints",
                   fmt::format("no design meets `{}`; here {}", constraint.text(), join(texts, ", ")),
                   "a constraint that leaves designs", ""});
  }
  if (all.empty())
    all.push_back({"", 0, 0, "constraints", "no design meets all constraints, though each is met by some",
                   "constraints that leave designs", ""});
  for (Diagnostic& diagnostic : all) diagnostic.file = sweep->name;
  return InputError(all);
}

}  // namespace pliant
