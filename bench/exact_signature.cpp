// SPDX-License-Identifier: Apache-2.0
// The signature of the exact mapper: a hash of what it answers on 1,000 fixed tasks. All factorizations, the three
// presets of conventions, every kind of layer and objective, shipped designs and random ones of one to three fanouts.
// Counted are values, lower bounds, priced mappings, why each search ended, and how many choices what closed.
//
//     build/release/bin/exact_signature           # from the root: the hash, after a line of sums
//     build/release/bin/exact_signature --each    # a line for each task before it, for comparing two builds
//     build/ledger/bin/exact_signature --effort   # the same with looks at the clock and CPU milliseconds (no part of
//                                                 # the hash): what bounds are worth (bench/bounds.py)
//
// Searches are limited by how often they look at a clock that moves with every look, so they end at the same place on
// every machine. A commit that changes the hash says so and why.
#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/input/load.h"
#include "dse/mappers/mapper.h"

namespace {

using namespace pliant;

constexpr int kTasks = 1000;

/// Looks at the clock that a search may take: most are proven long before.
constexpr double kLooks = 20'000;

class CountedClock final : public Clock {
 public:
  double wall_seconds() const override { return static_cast<double>(++looks_); }
  double cpu_seconds() const override { return 0; }

 private:
  mutable std::uint64_t looks_ = 0;
};

/// Numbers that follow from a seed alone (SplitMix64).
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : state_(seed) {}
  Count from(Count least, Count most) {
    state_ += 0x9E3779B97F4A7C15ULL;
    std::uint64_t x = state_;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
    x ^= x >> 31;
    return least + static_cast<Count>(x % static_cast<std::uint64_t>(most - least + 1));
  }
  bool chance(int percent) { return from(1, 100) <= percent; }

 private:
  std::uint64_t state_;
};

Layer draw_layer(Draw& draw, int kind) {
  const auto size = [&](Count most) { return draw.from(1, most); };
  if (kind == 0) return make_gemm("gemm", {.M = size(64), .N = size(64), .K = size(64)});
  if (kind == 1)
    return parse_layer_text(fmt::format("layer: einsum\neinsum:\n  dims: {{A: {}, B: {}, C: {}, D: {}}}\n  tensors:\n"
                                        "    - {{name: X, role: inputs, projection: [A, B]}}\n"
                                        "    - {{name: Y, role: weights, projection: [B, C, D]}}\n"
                                        "    - {{name: Z, role: outputs, projection: [A, C + 2*D]}}\n",
                                        size(12), size(12), size(12), draw.from(1, 3)),
                            "einsum.yaml");
  ConvShape shape{
      .M = size(24), .C = size(24), .P = size(14), .Q = size(14), .R = draw.from(1, 3), .S = draw.from(1, 3)};
  if (kind == 3) shape.stride_p = shape.stride_q = draw.from(2, 3);
  if (kind == 4) shape.dilation_r = shape.dilation_s = draw.from(2, 3);
  if (kind == 5) {
    shape.groups = draw.from(2, 4);
    shape.M *= shape.groups;
    shape.C *= shape.groups;
  }
  if (kind == 6) shape.groups = shape.M = shape.C = draw.from(2, 32);
  if (kind == 7) {
    shape.transposed = true;
    shape.stride_p = shape.stride_q = 2;
  }
  return make_conv("conv", shape);
}

Memory draw_memory(Draw& draw, double pj, std::optional<Count> capacity) {
  Memory memory;
  memory.capacity_words = capacity;
  memory.read_pj = memory.write_pj = memory.update_pj = pj;
  if (draw.chance(40)) memory.read_words_per_cycle = static_cast<double>(draw.from(1, 32));
  if (draw.chance(30)) memory.write_words_per_cycle = static_cast<double>(draw.from(1, 32));
  if (draw.chance(20)) memory.leak_pj_per_cycle = 0.5;
  for (std::size_t r = 0; capacity && r < kRoles; ++r) memory.may_bypass[r] = draw.chance(20);
  return memory;
}

/// DRAM, one or two memories with a capacity, and one to three fanouts between and inside them.
Accelerator draw_accelerator(Draw& draw, int preset) {
  Accelerator accelerator;
  accelerator.name = "drawn";
  accelerator.conventions = *Conventions::preset(Conventions::preset_names()[static_cast<std::size_t>(preset)]);
  const auto fanout = [&](const char* name) {
    Fanout units;
    units.rows = draw.chance(50) ? draw.from(2, 8) : 1;
    units.cols = draw.from(2, 8);
    units.multicast = !draw.chance(15);
    units.reduction = !draw.chance(15);
    accelerator.levels.push_back({name, units});
  };
  accelerator.levels.push_back({"DRAM", draw_memory(draw, 100, std::nullopt)});
  const Count fanouts = draw.from(1, 3);
  if (fanouts == 3) fanout("Chips");
  accelerator.levels.push_back({"Buffer", draw_memory(draw, 6, draw.from(256, 16'384))});
  if (fanouts >= 2) fanout("Cores");
  if (draw.chance(50)) accelerator.levels.push_back({"Local", draw_memory(draw, 2, draw.from(64, 1024))});
  fanout("PEs");
  accelerator.levels.push_back({"Reg", draw_memory(draw, 0.5, draw.from(3, 64))});
  accelerator.levels.push_back({"MAC", Compute{0.5}});
  accelerator.flexibility.levels.resize(accelerator.levels.size());
  return accelerator;
}

Task draw_task(const Library& library, int i) {
  static constexpr std::array kShipped = {"eyeriss",      "simba",       "flexref",     "npu",
                                          "gemmini",      "tpuv1",       "ruby_toy_16", "timeloop_eyeriss_like",
                                          "chip_eyeriss", "goma_eyeriss"};
  Draw draw(static_cast<std::uint64_t>(i));
  Task task;
  task.layer = draw_layer(draw, i % 8);
  task.accelerator = i % 3 == 0 ? load_accelerator(library, kShipped[static_cast<std::size_t>(i / 3) % kShipped.size()])
                                : draw_accelerator(draw, i / 8 % 3);
  task.flexibility = task.accelerator.flexibility_of(task.layer);
  task.factorization = static_cast<Factorization>(draw.from(0, 4));
  task.objective = static_cast<Objective>(draw.from(0, 5));
  return task;
}

std::string line_of(int i, const Task& task, const SearchResult& result) {
  std::array<std::uint64_t, 5> closed{};  // choices by what closed them
  for (const audit::Part& part : result.parts)
    closed[static_cast<std::size_t>(part.closed_by)] += part.choices.value_or(part.members.size());
  return fmt::format("{} {} {} value {:.10g} bound {:.10g} priced {} {} closed {} {} {} {} {}\n", i,
                     to_string(task.factorization), to_string(task.objective), result.value, result.lower_bound,
                     result.evaluations, to_string(result.ended_by), closed[0], closed[1], closed[2], closed[3],
                     closed[4]);
}

}  // namespace

int main(int count, char** words) {
  const std::string_view word = count > 1 ? words[1] : "";
  const bool effort = word == "--effort", each = effort || word == "--each";
  const Library library("configs");
  const std::unique_ptr<Mapper> exact = make_mapper("exact");
  std::uint64_t hash = 0xCBF29CE484222325ULL, priced = 0;
  int certified = 0, infeasible = 0;
  const double started = real_clock().cpu_seconds();
  for (int i = 0; i < kTasks; ++i) {
    const Task task = draw_task(library, i);
    const CountedClock clock;
    SearchOptions options;
    options.clock = &clock;
    options.budget.seconds = kLooks;
    options.record_parts = true;
    const double before = real_clock().cpu_seconds();
    const SearchResult result = exact->search(task, options);
    const std::string line = line_of(i, task, result);
    if (effort)
      fmt::print("{:.0f} looks, {:.3f} ms: ", clock.wall_seconds(), 1e3 * (real_clock().cpu_seconds() - before));
    if (each) fmt::print("{}", line);
    for (const char c : line) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3ULL;
    certified += result.certified;
    infeasible += result.infeasible;
    priced += result.evaluations;
  }
  fmt::print("{} tasks: {} certified, {} infeasible, {} mappings priced, {:.0f} CPU s\nsignature {:016x}\n", kTasks,
             certified, infeasible, priced, real_clock().cpu_seconds() - started, hash);
}
