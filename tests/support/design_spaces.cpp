// SPDX-License-Identifier: Apache-2.0
#include "support/design_spaces.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <map>

#include "core/workload_graph.h"
#include "dse/design/design_search.h"
#include "dse/results/data_table.h"
#include "dse/sweep/run_sweep.h"
#include "support/draw.h"

namespace pliant::tests {

namespace {

namespace fs = std::filesystem;

/// DRAM, buffer, array, registers, units: with or without bandwidths, leakage, technology tables and areas. `more`
/// draws widths, networks and systolic arrays.
std::string draw_accelerator(Draw& draw, Draw& more, bool clock) {
  const auto maybe = [&](double chance, const std::string& line) { return draw.chance(chance) ? line : std::string(); };
  std::string text = "pliant: accelerator\nname: small\nword_bits: 8\n";
  text += draw.chance(0.5) ? "technology: cmos_15nm\n" : "technology: generic\n";
  text += maybe(0.2, "conventions: timeloop\n");
  if (clock) text += "clock: 1 GHz\n";
  if (more.chance(0.3)) text += "bits: {inputs: 8, weights: 4, outputs: 8, partial_sums: 16}\n";
  text +=
      "parameters: {rows: 2, cols: 2, buffer: 64, tile_m: 2, tile_k: 2, order: [M, N, K, C, P], on_rows: [C], "
      "gemm_on_rows: [K], on_cols: [M]}\nlevels:\n";
  text += "  - memory: DRAM\n    capacity: unbounded\n    read_pj: 20\n";
  text += maybe(0.6, fmt::format("    bandwidth: {}\n", draw.from(1, 8)));
  text += "  - memory: Buffer\n    capacity: $buffer\n";
  text += maybe(0.4, "    read_pj: 1.5\n");
  text += maybe(0.4, fmt::format("    leak_pj_per_cycle: {}\n", draw.from(1, 3)));
  text +=
      maybe(0.3, fmt::format("    read_bandwidth: {}\n    write_bandwidth: {}\n", draw.from(1, 6), draw.from(1, 6)));
  text += maybe(0.3, "    may_bypass: [weights]\n");
  text += "  - fanout: PEs\n    rows: $rows\n    cols: $cols\n    area_um2: 50\n";
  text += maybe(0.2, "    multicast: false\n");
  static const std::vector<std::string> kRoles{"weights", "inputs", "outputs"};
  if (more.chance(0.3)) text += fmt::format("    pj_per_bit: {}\n", 0.05 * static_cast<double>(more.from(1, 6)));
  if (more.chance(0.25)) text += fmt::format("    systolic: {}\n", more.of(kRoles));
  if (more.chance(0.15))
    text += fmt::format("    reduction: {}\n", more.of(std::vector<std::string>{"rows", "always"}));
  text += "  - memory: Reg\n    read_pj: 0.1\n    area_um2: 12\n";
  text += more.chance(0.3) ? "    capacity: 8\n    buffers: 2\n" : "    capacity: 4\n";
  text += maybe(0.3, "    leak_pj_per_cycle: 0.02\n");
  text += fmt::format("  - compute: MAC\n    mac_pj: 0.3\n    area_um2: {}\n", draw.from(50, 400));
  text += maybe(0.3, "    leak_pj_per_cycle: 0.05\n");
  text += "area: {base_um2: 500, flexibility_um2: {T: 31, O: 160, P: 90, S: 20}}\n";
  text += "flexibility:\n  loops: {Reg: []}\n";
  text += maybe(0.5, "  parallel: {PEs: {max_dims_per_side: 1}}\n");
  text +=
      "baseline:\n  tiles: {Buffer: {fixed: {M: $tile_m, N: 2, K: $tile_k, C: $tile_k, P: 2}}}\n"
      "  orders: {DRAM: [$order], Buffer: [[K, C, M, N, P]]}\n"
      "  parallel: {PEs: {rows: $on_rows, cols: $on_cols}}\n  shape: {PEs: fixed}\n"
      "  gemm: {parallel: {PEs: {rows: $gemm_on_rows, cols: [N]}}}\n"
      "partial:\n  tiles: {Buffer: {partition: {inputs: 1, weights: 1, outputs: 1}}}\n"
      "  orders: {DRAM: [[M, N, K, C, P], [K, C, M, N, P]], Buffer: [[K, C, M, N, P], [N, M, P, K, C]]}\n"
      "  parallel: {PEs: [{rows: [C], cols: [M]}, {rows: [P], cols: [M]}]}\n  shape: {PEs: {block: [2, 1]}}\n"
      "  gemm: {parallel: {PEs: [{rows: [K], cols: [N]}, {rows: [M], cols: [N]}]}}\n";
  return text;
}

std::string draw_layer(Draw& draw) {
  if (draw.chance(0.6)) return fmt::format("gemm:M={},N={},K={}", draw.from(1, 6), draw.from(1, 6), draw.from(2, 8));
  return fmt::format("conv:M={},C={},P={},Q=1,R={},S=1", draw.from(1, 6), draw.from(1, 4), draw.from(1, 6),
                     draw.from(1, 2));
}

std::string list_of(const std::vector<std::string>& items) { return fmt::format("[{}]", fmt::join(items, ", ")); }

/// Ascending values; sometimes in no order.
std::vector<std::string> draw_values(Draw& draw, std::int64_t least, std::int64_t most, std::size_t count) {
  std::vector<std::int64_t> values;
  while (values.size() < count) {
    const std::int64_t value = draw.from(least, most);
    if (std::ranges::find(values, value) == values.end()) values.push_back(value);
  }
  if (!draw.chance(0.2)) std::ranges::sort(values);
  std::vector<std::string> texts;
  for (const std::int64_t value : values) texts.push_back(std::to_string(value));
  return texts;
}

struct Axes {
  std::string text;
  std::int64_t points = 1;
};

/// `wired`: with choices of what inflexible classes have wired in, before anything else takes the room.
Axes draw_axes(Draw& draw, Draw& more, std::int64_t most_points, bool wired) {
  Axes axes;
  const auto add = [&](const std::string& line, std::int64_t size) {
    if (axes.points * size > most_points) return;
    axes.text += "  - " + line + "\n";
    axes.points *= size;
  };
  const auto plain = [&](const std::string& key, std::int64_t least, std::int64_t most) {
    const auto size = static_cast<std::size_t>(draw.from(2, 4));
    add(fmt::format("{}: {}", key, list_of(draw_values(draw, least, most, size))), static_cast<std::int64_t>(size));
  };
  if (wired) {
    if (draw.chance(0.7)) plain("tile_m", 1, 5);
    if (draw.chance(0.5)) plain("tile_k", 1, 7);
    if (draw.chance(0.4)) add("order: [[M, N, K, C, P], [K, C, M, N, P], [P, K, N, C, M]]", 3);
    if (draw.chance(0.5)) add("zip: {on_rows: [[C], [P], []], gemm_on_rows: [[K], [], [M]]}", 3);
    if (draw.chance(0.3)) add("on_cols: [[M], [C]]", 2);
  }
  switch (draw.from(0, 3)) {
    case 0: add("shapes: {units: 12, rows: rows, cols: cols}", 6); break;
    case 1:
      add(fmt::format("zip: {{rows: {}, cols: {}}}", list_of(draw_values(draw, 1, 6, 3)),
                      list_of(draw_values(draw, 1, 6, 3))),
          3);
      break;
    default: plain("rows", 1, 6); plain("cols", 1, 6);
  }
  if (draw.chance(0.8)) plain("buffer", 24, 200);
  if (draw.chance(0.3)) plain("DRAM.bandwidth", 1, 9);
  if (draw.chance(0.15)) plain("Reg.capacity", 3, 9);
  if (draw.chance(0.15)) plain("MAC.mac_pj", 1, 4);
  if (draw.chance(0.1)) add("Buffer.read_pj: [1, 2.5]", 2);
  if (draw.chance(0.1)) add("Buffer.technology: [cmos_15nm, generic]", 2);
  if (more.chance(0.1)) add("PEs.pj_per_bit: [0.05, 0.4]", 2);
  if (more.chance(0.1)) add("bits: [8, 4]", 2);
  if (more.chance(0.05)) add("PEs.systolic: [weights, outputs]", 2);
  if (more.chance(0.1)) add("Buffer.reserved: [1 words, 7 words, 20 words]", 3);
  if (axes.text.empty()) add("cols: [1, 2, 3]", 3);
  return axes;
}

std::string draw_goals(Draw& draw, bool clock) {
  std::vector<std::string> columns = {"area_um2", "edp_pj_cycles", "energy_pj", "runtime_cycles"};
  if (clock) columns.insert(columns.end(), {"latency_s", "power_w"});
  std::vector<std::string> chosen;
  const auto count = static_cast<std::size_t>(draw.from(1, 3));
  if (draw.chance(0.6)) chosen = {"area_um2", "edp_pj_cycles"};
  while (chosen.size() < count) {
    const std::string& one = draw.of(columns);
    if (std::ranges::find(chosen, one) == chosen.end()) chosen.push_back(one);
  }
  std::string text = fmt::format("minimize: {}\n", list_of(chosen));
  const std::vector<std::string> mixes = {"geometric-mean", "worst", "mean"};
  if (draw.chance(0.5)) text += fmt::format("mix: {{of: {}}}\n", draw.of(mixes));
  return text;
}

/// Limits on sizes and on results.
std::string draw_constraints(Draw& draw, bool clock) {
  std::vector<std::string> chosen;
  const auto maybe = [&](double chance, std::string one) {
    if (draw.chance(chance)) chosen.push_back(std::move(one));
  };
  maybe(0.3, fmt::format("area_um2 <= {}", draw.from(2000, 9000)));
  maybe(0.2, "compute_units <= 16");
  maybe(0.3, fmt::format("runtime_cycles <= {}", draw.from(20, 400)));
  maybe(0.1, fmt::format("energy_pj <= {}", draw.from(2000, 20000)));
  maybe(0.1, fmt::format("edp_pj_cycles + 100*area_um2 <= {}", draw.from(1, 30) * 100'000));
  if (clock) {
    maybe(0.3, fmt::format("power_w <= {}", 0.001 * static_cast<double>(draw.from(5, 200))));
    maybe(0.3, fmt::format("inferences_per_s >= {}", draw.from(2, 50) * 1'000'000));
    maybe(0.2, fmt::format("tops_per_w >= {}", 0.001 * static_cast<double>(draw.from(5, 100))));
  }
  return chosen.empty() ? "" : fmt::format("constraints: {}\n", list_of(chosen));
}

}  // namespace

ScratchFolder::ScratchFolder(const std::string& name)
    : path_(fs::path(testing::TempDir()) / fmt::format("{}_{}", name, ::getpid())) {
  fs::create_directories(path_);
}

ScratchFolder::~ScratchFolder() {
  std::error_code error;
  fs::remove_all(path_, error);
}

RandomSpace random_space(const Library& library, std::uint64_t seed, const fs::path& folder,
                         std::int64_t most_designs) {
  Draw draw(seed), more(seed + 1'000'000'007);
  const bool clock = draw.chance(0.4);
  Draw unit(seed + 377);
  const bool vector = unit.chance(0.4), lanes_vary = vector && unit.chance(0.4);
  std::string accelerator = draw_accelerator(draw, more, clock);
  if (vector) accelerator += fmt::format("vector: {{lanes: {}, pj_per_op: 0.5}}\n", unit.from(1, 4));
  const fs::path file = folder / fmt::format("small_{}.yaml", seed);
  std::ofstream(file, std::ios::binary) << accelerator;
  const std::vector<std::string> flexibilities = {"all-16",
                                                  "[\"1111\", \"0110\", \"1010\", \"0000\"]",
                                                  "[\"1110\", \"0100\", InFlex-0000]",
                                                  "[own, \"1111\", \"0011\"]",
                                                  "[PartFlex-1111, PartFlex-1010, \"0101\", \"1101\"]",
                                                  "InFlex-0000",
                                                  "[\"0000\", \"0010\"]",
                                                  "[\"0100\", PartFlex-0101, \"1000\"]"};
  const std::vector<std::int64_t> designs_of_point = {16, 4, 3, 3, 4, 1, 2, 3};
  const auto classes = static_cast<std::size_t>(draw.from(0, static_cast<std::int64_t>(flexibilities.size()) - 1));
  const std::int64_t designs = designs_of_point[classes] * (lanes_vary ? 2 : 1);
  const Axes axes = draw_axes(draw, more, std::max<std::int64_t>(3, most_designs / designs), draw.chance(0.6));
  std::string text = fmt::format("accelerator: {}\nflexion: false\nworkloads:\n", file.string());
  const std::int64_t workloads = draw.from(1, 2);
  for (std::int64_t w = 0; w < workloads; ++w) {
    std::vector<std::string> layers;
    for (std::int64_t l = draw.from(1, 3); l > 0; --l) layers.push_back('"' + draw_layer(draw) + '"');
    text += fmt::format("  - {{name: net{}, layers: {}}}\n", w, list_of(layers));
  }
  text += "vary:\n" + axes.text;
  if (lanes_vary) text += "  - vector.lanes: [1, 3]\n";
  text += fmt::format("flexibility: {}\n", flexibilities[classes]);
  if (draw.chance(0.15)) text += "factorization: [pfm, ruby-s]\n";
  if (draw.chance(0.2)) text += "objective: [edp, energy]\n";
  text += draw_constraints(draw, clock);
  text += draw_goals(draw, clock);
  return {parse_sweep_text(library, text, "space"), text + accelerator};
}

RandomSpace random_served_space(const Library& library, std::uint64_t seed, const fs::path& folder,
                                std::int64_t most_designs) {
  Draw draw(seed + 277), more(seed + 1'000'000'277);
  std::string accelerator = draw_accelerator(draw, more, true);
  const bool vector = draw.chance(0.6), varied = vector && draw.chance(0.5);
  if (vector) accelerator += fmt::format("vector: {{lanes: {}, pj_per_op: 0.5}}\n", draw.from(1, 4));
  const fs::path file = folder / fmt::format("serving_{}.yaml", seed),
                 model = folder / fmt::format("llm_{}.json", seed);
  std::ofstream(file, std::ios::binary) << accelerator;
  std::ofstream(model, std::ios::binary) << fmt::format(
      R"({{"model_type": "llama", "hidden_size": {}, "num_hidden_layers": 2, "num_attention_heads": 2,
"num_key_value_heads": 1, "head_dim": {}, "intermediate_size": {}, "vocab_size": {}}})",
      draw.from(4, 8), 2 * draw.from(1, 3), draw.from(4, 9), draw.from(6, 12));
  const std::vector<std::string> classes = {"\"1111\"", "[\"1111\", \"0110\"]", "[own, \"1011\", \"0010\"]",
                                            "[PartFlex-1111, \"1101\"]"};
  const Axes axes = draw_axes(draw, more, std::max<std::int64_t>(3, most_designs / (varied ? 4 : 2)), false);
  std::string text = fmt::format(
      "accelerator: {}\nflexion: false\nnetwork: false\nworkloads:\n  - {{serve: {}, prompt: {}, output: {}, batch: "
      "{}, memory: {} bytes}}\nvary:\n{}",
      file.string(), model.string(), draw.from(2, 5), draw.from(2, 6), draw.chance(0.5) ? "2" : "[1, 3]",
      draw.from(1500, 6000), axes.text);
  if (varied) text += "  - vector.lanes: [1, 3]\n";
  text += fmt::format("flexibility: {}\n", draw.of(classes));
  if (draw.chance(0.3)) text += "factorization: [pfm, ruby-s]\n";
  if (draw.chance(0.3)) text += "objective: [runtime, energy]\n";
  const std::vector<std::string> least = {"area_um2", "ttft_s", "tpot_s", "edp_pj_cycles"};
  const std::vector<std::string> most = {"served_tokens_per_s", "tokens_per_j", "largest_batch"};
  text += fmt::format("minimize: [{}]\n", draw.chance(0.7)
                                              ? "area_um2, " + draw.of(std::vector(least.begin() + 1, least.end()))
                                              : draw.of(least));
  if (draw.chance(0.6)) text += fmt::format("maximize: [{}]\n", draw.of(most));
  if (draw.chance(0.4))
    text +=
        fmt::format("constraints: [ttft_s <= {} us, tokens_per_j >= {}]\n", draw.from(1, 20), draw.from(100, 10000));
  return {parse_sweep_text(library, text, "space"), text + accelerator};
}

void let_tensors_stay(RandomSpace& space, std::uint64_t seed) {
  Draw draw(seed + 77);
  for (Workload& workload : space.sweep.workloads) {
    const Count m = draw.from(1, 4), k = draw.from(2, 8), n = draw.from(1, 6), between = draw.from(1, 6);
    const std::string text = fmt::format(
        "name: {}\nlayers:\n  - {{layer: a, gemm: {{M: {}, N: {}, K: {}}}}}\n  - {{layer: b, gemm: {{M: {}, N: {}, K: "
        "{}}}}}\n"
        "  - {{layer: c, gemm: {{M: {}, N: {}, K: {}}}}}\n"
        "graph: [{{layer: a}}, {{layer: b, from: a}}, {{layer: c, from: b}}, {{op: add, name: sum, from: [a, c]}}]\n",
        workload.name, m, n, k, m, between, n, m, n, between);
    const Workload::Pass pass = workload.pass;
    workload = parse_workload_text(text, "net.yaml");
    workload.pass = pass;
    space.text += text;
  }
}

bool let_tiles_pass(RandomSpace& space, std::uint64_t seed) {
  if (space.text.find("conventions: timeloop") != std::string::npos) return false;
  Draw draw(seed + 177);
  for (Workload& workload : space.sweep.workloads) {
    const Count m = draw.from(2, 8), k = draw.from(1, 6), n = draw.from(2, 8), between = draw.from(1, 6);
    const std::string text = fmt::format(
        "name: {}\nlayers:\n  - {{layer: a, gemm: {{M: {}, N: {}, K: {}}}}}\n  - {{layer: b, gemm: {{M: {}, N: {}, K: "
        "{}}}}}\n"
        "  - {{layer: c, gemm: {{M: {}, N: {}, K: {}}}}}\n"
        "graph: [{{layer: a}}, {{layer: b, from: a}}, {{op: softmax, name: rows, online: true, from: b}}, "
        "{{layer: c, from: rows}}]\n",
        workload.name, m, n, k, m, between, n, m, n, between);
    const Workload::Pass pass = workload.pass;
    workload = parse_workload_text(text, "net.yaml");
    workload.pass = pass;
    space.text += text;
  }
  space.sweep.tiles = true;
  for (std::string& flexibility : space.sweep.flexibilities) {
    const auto named = looks_like_class(flexibility) ? parse_flexibility_class(flexibility) : std::nullopt;
    if (!named || named->degree == FlexibilityClass::Degree::kPartFlex || !draw.chance(0.7)) continue;
    FlexibilityClass with = *named;
    with.degree = FlexibilityClass::Degree::kFullFlex;
    with.fusion = true;
    const std::string name = with.name();
    if (std::ranges::find(space.sweep.flexibilities, name) == space.sweep.flexibilities.end()) flexibility = name;
  }
  space.text += fmt::format("tiles: {}\n", fmt::join(space.sweep.flexibilities, ", "));
  return true;
}

namespace {

/// The cycles of each design on its slowest workload, when mappings are the best for the objective.
std::map<std::int64_t, double> swept_cycles(const Library& library, Sweep sweep, Objective objective,
                                            const fs::path& folder) {
  sweep.objectives = {objective};
  SweepRunOptions options;
  options.dataset = folder / "free";
  options.threads = 1;
  fs::remove_all(options.dataset);
  run_sweep(library, sweep, options);
  std::vector<std::string> damaged;
  const DataTable table = read_table(options.dataset, TableKind::kDesigns, damaged);
  std::map<std::int64_t, double> slowest;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    const auto* cycles = std::get_if<double>(&table.find("runtime_cycles")->cells[row]);
    double& most = slowest[std::get<std::int64_t>(table.find("design_id")->cells[row])];
    most = std::max(most, cycles != nullptr ? *cycles : std::numeric_limits<double>::infinity());
  }
  return slowest;
}

}  // namespace

bool set_deadline(const Library& library, RandomSpace& space, const fs::path& folder) {
  Sweep& sweep = space.sweep;
  sweep.objectives = {Objective::kEnergy};
  sweep.result_limits.clear();
  sweep.constraints.clear();
  sweep.deadlines = false;
  sweep.goals->minimize = {{DesignMeasure::kArea, {}}, {DesignMeasure::kEnergy, {}}};
  const auto fastest = swept_cycles(library, sweep, Objective::kRuntime, folder);
  const auto thriftiest = swept_cycles(library, sweep, Objective::kEnergy, folder);
  double most = 0;
  std::size_t designs = 0;
  for (const auto& [at_limit, limit] : fastest) {
    if (std::isinf(limit)) continue;
    std::size_t binds = 0;
    for (const auto& [design, cycles] : fastest) binds += cycles <= limit && thriftiest.at(design) > limit ? 1 : 0;
    if (binds <= designs) continue;
    designs = binds;
    most = limit;
  }
  if (designs == 0) return false;
  const std::string limit = fmt::format("runtime_cycles <= {}", std::ceil(most));
  sweep.result_limits = {std::get<Constraint>(Constraint::parse(limit))};
  sweep.deadlines = true;
  for (Workload& workload : sweep.workloads)
    if (!workload.graph) workload.graph = unrelated_layers(workload);
  space.text += limit + "\n";
  return true;
}

std::vector<Point> swept_frontier(const Library& library, const Sweep& sweep, const fs::path& folder) {
  SweepRunOptions options;
  options.dataset = folder / "swept";
  options.threads = 1;
  fs::remove_all(options.dataset);
  try {
    run_sweep(library, sweep, options);
  } catch (const InputError&) {
    return {};  // no design meets the constraints
  }
  std::vector<std::string> damaged;
  const DataTable table = read_table(options.dataset, TableKind::kDesigns, damaged);
  std::map<std::int64_t, std::vector<std::size_t>> rows_of;
  for (std::size_t row = 0; row < table.rows(); ++row)
    rows_of[std::get<std::int64_t>(table.find("design_id")->cells[row])].push_back(row);
  const auto number = [&](std::string_view column, std::size_t row) {
    const Cell& cell = table.find(column)->cells[row];
    if (const auto* whole = std::get_if<std::int64_t>(&cell)) return static_cast<double>(*whole);
    const auto* value = std::get_if<double>(&cell);
    return value == nullptr ? std::nan("") : *value;
  };
  const DesignGoals& goals = *sweep.goals;
  std::vector<Point> points;
  for (const auto& [id, rows] : rows_of) {
    bool good = rows.size() == sweep.workloads.size();
    for (const std::size_t row : rows)
      good = good && std::get<std::string>(table.find("status")->cells[row]) == to_string(TaskStatus::kSolved);
    Point point;
    for (const DesignGoals::Goal& goal : goals.minimize) {
      double product = 1, worst = 0, sum = 0;
      for (const std::size_t row : rows) {
        const double value = column_value(goal.measure, number(column_of(goal.measure), row));
        product *= value;
        sum += value;
        worst = std::max(worst, value);
        good = good && !std::isnan(value);
      }
      const auto count = static_cast<double>(rows.size());
      const bool area = goal.measure == DesignMeasure::kArea;
      point.push_back(area                                    ? worst
                      : goals.mix == DesignGoals::Mix::kWorst ? worst
                      : goals.mix == DesignGoals::Mix::kMean  ? sum / count
                                                              : std::pow(product, 1 / count));
    }
    if (good) points.push_back(point);
  }
  std::vector<Point> frontier;
  if (!points.empty())
    for (const std::size_t k : non_dominated(points)) frontier.push_back(points[k]);
  return frontier;
}

std::vector<Point> proven_frontier(const Library& library, const Sweep& sweep, int threads) {
  DesignSearchOptions options;
  options.threads = threads;
  const DesignFrontier found = search_designs(library, sweep, options, nullptr);
  EXPECT_FALSE(found.interrupted);
  EXPECT_EQ(found.progress.decided, found.progress.designs);
  std::int64_t designs = 0;
  for (const ClosedBox& box : found.boxes) designs += box.designs;
  EXPECT_EQ(designs, found.progress.designs);
  std::vector<Point> frontier;
  for (const std::size_t k : found.frontier) frontier.push_back(found.opened[k].values);
  return frontier;
}

namespace {

/// Is there a point of these that is nowhere worse, rounding aside?
bool matched(const Point& point, const std::vector<Point>& by) {
  return std::ranges::any_of(by, [&](const Point& other) {
    for (std::size_t k = 0; k < point.size(); ++k)
      if (other[k] > point[k] * (1 + 1e-8)) return false;
    return true;
  });
}

}  // namespace

void expect_same_points(const std::vector<Point>& found, const std::vector<Point>& truth) {
  // Two designs that differ by rounding only may stand for each other, so neither set may beat the other.
  for (const Point& point : truth) EXPECT_TRUE(matched(point, found)) << testing::PrintToString(point);
  for (const Point& point : found) EXPECT_TRUE(matched(point, truth)) << testing::PrintToString(point);
}

}  // namespace pliant::tests
