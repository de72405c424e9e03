// SPDX-License-Identifier: Apache-2.0
#include "support/combination_cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <map>

#include "support/draw.h"

namespace pliant::tests {

namespace {

namespace fs = std::filesystem;
using enum Trait;

/// Not factors: GOMA has a template of its own, what a mapping is like follows from the search, faces are compared by
/// tests/python, and served models have tests of their own.
const Traits kNoFactors{kGoma, kRemainders, kPadded, kSplitDims, kLegal, kServed, kCommandLine, kPython};

std::vector<CombinationFactor> make_factors() {
  std::vector<CombinationFactor> all;
  const std::map<TraitGroup, std::string> groups{
      {TraitGroup::kQuestions, "question"},           {TraitGroup::kMappers, "mapper"},
      {TraitGroup::kFactorizations, "factorization"}, {TraitGroup::kConventions, "conventions"},
      {TraitGroup::kObjectives, "objective"},         {TraitGroup::kLayers, "layer"}};
  for (const auto& [group, name] : groups) {
    CombinationFactor& factor = all.emplace_back(CombinationFactor{name, {}});
    for (const TraitInfo& one : all_traits())
      if (one.group == group && !kNoFactors.has(one.trait)) factor.values.emplace_back(one.trait);
  }
  for (const TraitInfo& one : all_traits()) {
    if (one.group != TraitGroup::kOptions || kNoFactors.has(one.trait) || one.trait == kOutside) continue;
    CombinationFactor factor{std::string(one.name), {std::nullopt, one.trait}};
    if (one.trait == kResidency) factor.values.emplace_back(kOutside);
    all.push_back(std::move(factor));
  }
  return all;
}

bool work_together(const std::optional<Trait>& one, const std::optional<Trait>& other) {
  if (!one || !other) return true;
  if (refused({*one, *other})) return false;
  return std::ranges::none_of(absences(), [&](const Absence& row) {
    return (row.question == *one && row.traits.has(*other)) || (row.question == *other && row.traits.has(*one));
  });
}

/// The layer `a` of the kind asked for, and `b`, which can read what it makes.
struct TwoLayers {
  std::string a, b;
};

TwoLayers draw_layers(const Traits& traits, Draw& draw) {
  const Count out = draw.from(2, 3), in = draw.from(2, 3), plane = draw.from(3, 4);
  const auto conv = [&](const std::string& more, Count channels, Count made, Count planes) {
    return TwoLayers{
        fmt::format("conv: {{M: {}, C: {}, P: {}, Q: 1, R: 2, S: 1{}}}", channels, in * (channels / made), plane, more),
        fmt::format("conv: {{M: 2, C: {}, P: {}, Q: 1}}", channels, planes)};
  };
  if (traits.has(kStrided)) return conv(", stride: 2", out, out, plane);
  if (traits.has(kDilated)) return conv(", dilation: 2", out, out, plane);
  if (traits.has(kGrouped)) return conv(", groups: 2", 2 * out, out, plane);
  if (traits.has(kTransposed))
    return conv(", stride_p: 2, stride_q: 1, transposed: true", out, out, 2 * (plane - 1) + 2);
  if (traits.has(kDepthwise))
    return {fmt::format("depthwise: {{C: {}, P: {}, Q: 1, R: 2, S: 1}}", out, plane),
            fmt::format("conv: {{M: 2, C: {}, P: {}, Q: 1}}", out, plane)};
  if (traits.has(kConv)) return conv("", out, out, plane);
  if (traits.has(kEinsum))
    return {fmt::format("einsum: {{dims: {{M: {}, P: {}, R: 2}}, tensors: [{{name: Out, role: outputs, projection: [M, "
                        "P]}}, {{name: X, role: inputs, projection: [M, \"2*P+R\"]}}, {{name: W, role: weights, "
                        "projection: [R]}}]}}",
                        out, plane),
            fmt::format("gemm: {{M: {}, N: 2, K: {}}}", out, plane)};
  return {fmt::format("gemm: {{M: {}, N: {}, K: {}}}", out, plane, draw.from(2, 5)),
          fmt::format("gemm: {{M: {}, N: 2, K: {}}}", out, plane)};
}

std::string draw_accelerator(const CombinationCase& one, Draw& draw) {
  const auto when = [&](Trait trait, const std::string& line) { return one.has(trait) ? line : std::string(); };
  std::string text = "pliant: accelerator\nname: small\nword_bits: 8\n";
  text += fmt::format("conventions: {}\n", one.word(TraitGroup::kConventions));
  text += when(kClock, "clock: 1 GHz\n");
  text += when(kBits, "bits: {inputs: 8, weights: 4, outputs: 8, partial_sums: 16}\n");
  text += when(kHints, "hints: {min_utilization: 0.3}\n");
  text += "parameters: {cols: 2}\nlevels:\n  - memory: DRAM\n    capacity: unbounded\n    read_pj: 20\n";
  text += when(kBus, fmt::format("    bandwidth: {}\n", draw.from(1, 4)));
  text += fmt::format("  - memory: Buffer\n    capacity: {}\n    read_pj: 2\n    area_um2: 400\n", draw.from(24, 48));
  text += when(kFinishedOnly, "    bits: {partial_sums: none}\n");
  text += draw.chance(0.3) ? "    may_bypass: [weights]\n" : "";
  text += when(kPortsByRole, "    read_bandwidth: {inputs: 2, weights: 1}\n    write_bandwidth: {outputs: 1}\n");
  text += when(kLeakage, "    leak_pj_per_cycle: 0.5\n");
  text += "  - fanout: PEs\n    rows: 2\n    cols: $cols\n    area_um2: 50\n";
  text += when(kNetworkEnergy, "    pj_per_bit: 0.05\n");
  static const std::vector<std::string> kRoleWords{"weights", "inputs", "outputs"};
  text += when(kSystolic, fmt::format("    systolic: {}\n", draw.of(kRoleWords)));
  text += "  - memory: Reg\n    capacity: 8\n    read_pj: 0.1\n    area_um2: 12\n";
  text += "  - compute: MAC\n    mac_pj: 0.3\n    area_um2: 100\n";
  text += when(kLeakage, "    leak_pj_per_cycle: 0.05\n");
  text += "area: {base_um2: 500, flexibility_um2: {T: 31, O: 160, P: 90, S: 20}}\nflexibility:\n";
  // Rules of tiles are for classes whose tiles are free.
  static const std::vector<std::string> kClasses{"0000", "0110", "PartFlex-1111", "1000", "1011", "1111"};
  // With orders that bring partial sums nothing fits where none are taken.
  const Count first = one.has(kFinishedOnly) ? 5 : one.has(kPartition) || one.has(kBurst) ? 3 : 0;
  text += when(kClass, fmt::format("  class: \"{}\"\n", kClasses[static_cast<std::size_t>(draw.from(first, 5))]));
  text += "  loops: {Reg: []}\n";
  std::string tiles = when(kPartition, "partition: {inputs: 2, weights: 1, outputs: 2}");
  if (one.has(kBurst)) tiles += (tiles.empty() ? "" : ", ") + std::string("burst: 2");
  if (!tiles.empty()) text += fmt::format("  tiles: {{Buffer: {{{}}}}}\n", tiles);
  text +=
      "baseline:\n  tiles: {Buffer: {fixed: {M: 2, N: 2, K: 2, C: 2, P: 2, R: 2}}}\n"
      "  orders: {DRAM: [[M, N, K, C, P, R]], Buffer: [[K, C, M, N, P, R]]}\n"
      "  parallel: {PEs: {rows: [C], cols: [M]}}\n  shape: {PEs: fixed}\n"
      "  gemm: {parallel: {PEs: {rows: [K], cols: [N]}}}\n  einsum: {parallel: {PEs: {rows: [M], cols: [P]}}}\n"
      "  depthwise: {parallel: {PEs: {rows: [C], cols: [P]}}}\n"
      "partial:\n  tiles: {Buffer: {partition: {inputs: 1, weights: 1, outputs: 1}}}\n"
      "  orders: {DRAM: [[M, N, K, C, P], [K, C, M, N, P]], Buffer: [[K, C, M, N, P], [N, M, P, K, C]]}\n"
      "  parallel: {PEs: [{rows: [C], cols: [M]}, {rows: [P], cols: [M]}]}\n  shape: {PEs: {block: [2, 1]}}\n"
      "  gemm: {parallel: {PEs: [{rows: [K], cols: [N]}, {rows: [M], cols: [N]}]}}\n"
      "  depthwise: {parallel: {PEs: [{rows: [C], cols: [P]}, {rows: [P], cols: [C]}]}}\n"
      "  einsum: {parallel: {PEs: [{rows: [M], cols: [P]}, {rows: [P], cols: [M]}]}}\n";
  return text;
}

/// Few draws: quality is not what is tested.
std::vector<std::string> mapper_options(const CombinationCase& one) {
  if (one.has(kGenetic)) return {"population=8", "generations=6"};
  if (one.has(kRandom)) return {"victory=60", "tries=4000"};
  if (one.has(kLocal)) return {"effort=2000"};
  return {};
}

std::string draw_sweep(const CombinationCase& one) {
  std::string text =
      fmt::format("pliant: sweep\nname: small\naccelerator: {}\nworkloads: [{}]\nvary: {{cols: [1, 2]}}\n",
                  one.file("accelerator.yaml"),
                  one.has(kServed) ? "{serve: llama3_2_1b, prompt: 4, output: 2}" : one.file("workload.yaml"));
  text += fmt::format("factorization: {}\nobjective: {}\n", one.word(TraitGroup::kFactorizations),
                      one.word(TraitGroup::kObjectives));
  std::string options;
  for (const std::string& option : mapper_options(one))
    options += fmt::format("{}{}: {}", options.empty() ? "" : ", ", option.substr(0, option.find('=')),
                           option.substr(option.find('=') + 1));
  text += fmt::format("mapper: {{name: {}, options: {{{}}}}}\n", one.word(TraitGroup::kMappers), options);
  if (one.has(kGap)) text += "gap: 0.05\n";
  if (one.has(kBudget)) text += "budget_seconds: 1000000\n";
  text += fmt::format("network: {}\n", one.has(kResidency) || one.has(kInferences) || one.has(kTiles));
  if (one.has(kInferences)) text += "inferences: 3\n";
  if (one.has(kTiles)) text += "fusion: tiles\n";
  if (one.has(kDesign)) text += "minimize: [area_um2, edp_pj_cycles]\n";
  return text;
}

}  // namespace

const std::vector<CombinationFactor>& combination_factors() {
  static const std::vector<CombinationFactor> all = make_factors();
  return all;
}

const CoveringArray& combinations(int strength) {
  static std::map<int, CoveringArray> known;
  const auto found = known.find(strength);
  if (found != known.end()) return found->second;
  std::vector<int> sizes;
  for (const CombinationFactor& factor : combination_factors()) sizes.push_back(static_cast<int>(factor.values.size()));
  const auto value = [](int factor, int v) {
    return combination_factors()[static_cast<std::size_t>(factor)].values[static_cast<std::size_t>(v)];
  };
  return known[strength] = covering_array(
             sizes, strength, [&](int f, int v, int g, int w) { return work_together(value(f, v), value(g, w)); });
}

Traits traits_of(const Row& row) {
  Traits traits;
  for (std::size_t f = 0; f < row.size(); ++f)
    if (const auto trait = combination_factors()[f].values[static_cast<std::size_t>(row[f])]) traits.add(*trait);
  return traits;
}

std::string names_of(const Traits& traits) {
  std::string text;
  for (const TraitInfo& one : all_traits())
    if (traits.has(one.trait)) text += fmt::format("{}{}", text.empty() ? "" : ", ", one.name);
  return text;
}

std::string CombinationCase::word(TraitGroup group) const {
  for (const TraitInfo& one : all_traits())
    if (one.group == group && has(one.trait)) return std::string(one.name);
  return {};
}

std::vector<std::string> CombinationCase::map_words(bool whole_workload) const {
  std::vector<std::string> words{"map", "--accelerator", file("accelerator.yaml"), "--workload", file("workload.yaml")};
  const auto add = [&](std::initializer_list<std::string> more) { words.insert(words.end(), more); };
  if (!whole_workload) add({"--layer", "a"});
  if (whole_workload && question != kNetwork) add({"--layers"});
  add({"--conventions", word(TraitGroup::kConventions), "--factorization", word(TraitGroup::kFactorizations)});
  add({"--objective", question != kFrontier             ? word(TraitGroup::kObjectives)
                      : traits.has(kEdpOverUtilization) ? "runtime,edp-over-utilization"
                                                        : "runtime,energy"});
  add({"--mapper", word(TraitGroup::kMappers)});
  for (const std::string& option : mapper_options(*this)) add({"--mapper-option", option});
  if (has(kGap)) add({"--gap", "5%"});
  if (has(kBudget)) add({"--budget", "1h"});
  if (has(kThreads)) add({"--threads", "2"});
  if (question == kNetwork) add({"--network"});
  if (has(kOutside) || has(kResidency)) add({"--residency", has(kResidency) ? "on" : "off"});
  if (has(kTiles)) add({"--fusion", "tiles"});
  if (has(kInferences)) add({"--inferences", "3"});
  if (has(kPredict)) add({"--predict", "--set", "clock=1 GHz", "--set", "prediction.overhead=1 us"});
  return words;
}

std::vector<std::string> CombinationCase::question_words() const {
  const auto with = [](std::vector<std::string> words, const std::vector<std::string>& more) {
    words.insert(words.end(), more.begin(), more.end());
    return words;
  };
  if (question == kSweep || question == kDesign) {
    std::vector<std::string> words{question == kSweep ? "sweep" : "design",
                                   file("sweep.yaml"),
                                   "-o",
                                   file("data"),
                                   "--threads",
                                   has(kThreads) ? "2" : "1"};
    if (question == kSweep) words = with(words, {"--progress", "none"});
    if (question == kSweep && has(kCertificate)) words = with(words, {"--certificates", "layer_index >= 0"});
    if (question == kDesign && has(kGap)) words = with(words, {"--gap", "5%"});
    return words;
  }
  if (question == kTimeloop || question == kZigzag || question == kC)
    return {"export",
            word(TraitGroup::kQuestions),
            "--accelerator",
            file("accelerator.yaml"),
            "--workload",
            file("workload.yaml"),
            "--layer",
            "a",
            "--mapping",
            file("best.yaml"),
            "-o",
            file("out")};
  if (question == kFlexion)
    return {"flexion", "--accelerator", file("accelerator.yaml"), "--workload", file("workload.yaml"), "--no-tuples"};
  if (question == kCount)
    return {"count",
            "--accelerator",
            file("accelerator.yaml"),
            "--workload",
            file("workload.yaml"),
            "--layer",
            "a",
            "--factorization",
            word(TraitGroup::kFactorizations),
            "--conventions",
            word(TraitGroup::kConventions)};
  std::vector<std::string> words = map_words(question == kWorkload || question == kNetwork);
  if (has(kSave)) words = with(words, {"--save", file("best.yaml")});
  if (has(kCertificate)) words = with(words, {"--certificate", file("proof.json")});
  return words;
}

std::vector<std::string> CombinationCase::refused_words() const {
  std::vector<std::string> words = question_words();
  if (has(kDeadline)) words.insert(words.end(), {"--deadline", "1e9"});
  if (has(kLegal)) words.insert(words.end(), {"--legal"});
  return words;
}

std::string CombinationCase::sweep_within(double cycles) const {
  return sweep + fmt::format("constraints: [runtime_cycles <= {}]\n", cycles);
}

namespace {

/// Any question with these two traits: the first value of everything else that the two do not rule out.
Traits question_with(Trait one, Trait other) {
  const auto group = [](Trait trait) { return info_of(trait).group; };
  Traits traits{one, other};
  for (const Trait usual : {kExact, kPerfect, kPhysical, kEnergy, kGemm})
    if (group(one) != group(usual) && group(other) != group(usual)) traits.add(usual);
  if (group(one) == TraitGroup::kQuestions || group(other) == TraitGroup::kQuestions) return traits;
  if (one == kResidency || other == kResidency) return traits.add(kSweep);
  const bool network = Traits{kInferences, kDeadline, kUnrelated, kOutside}.first_of(traits).has_value();
  return traits.add(other == kLegal ? kCount : network ? kNetwork : kMap);
}

}  // namespace

std::vector<Traits> refused_questions() {
  const Traits elsewhere{kRemainders, kPadded, kSplitDims, kUnrelated};
  std::vector<Traits> all;
  for (const Refusal& row : refusals())
    for (const TraitInfo& beside : all_traits())
      for (const TraitInfo& offender : all_traits()) {
        if (!row.beside.has(beside.trait) || !row.refused.has(offender.trait)) continue;
        if (elsewhere.has(offender.trait) || elsewhere.has(beside.trait)) continue;
        if ((beside.trait == kGoma && offender.trait != kGap) || offender.group == TraitGroup::kQuestions) continue;
        all.push_back(question_with(beside.trait, offender.trait));
      }
  return all;
}

CombinationCase make_case(const Traits& traits, std::uint64_t seed, const fs::path& folder) {
  CombinationCase one;
  one.seed = seed;
  one.traits = traits;
  one.folder = folder;
  for (const TraitInfo& info : all_traits())
    if (info.group == TraitGroup::kQuestions && traits.has(info.trait)) one.question = info.trait;
  Draw draw(seed);
  const TwoLayers layers = draw_layers(traits, draw);
  one.accelerator = draw_accelerator(one, draw);
  one.workload = fmt::format("pliant: workload\nname: net\nlayers:\n  - {{layer: a, {}}}\n  - {{layer: b{}, {}}}\n",
                             layers.a, traits.has(kUnrelated) ? "" : ", from: a", layers.b);
  one.sweep = draw_sweep(one);
  fs::create_directories(folder);
  std::ofstream(one.file("accelerator.yaml"), std::ios::binary) << one.accelerator;
  std::ofstream(one.file("workload.yaml"), std::ios::binary) << one.workload;
  std::ofstream(one.file("sweep.yaml"), std::ios::binary) << one.sweep;
  return one;
}

}  // namespace pliant::tests
