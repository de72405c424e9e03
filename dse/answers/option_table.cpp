// SPDX-License-Identifier: Apache-2.0
#include "dse/answers/option_table.h"

#include <algorithm>
#include <array>

namespace pliant {
namespace {

using enum OptionKind;

constexpr std::string_view kFactorizations = "pfm, ruby-s, ruby-t, ruby or padding";
constexpr std::string_view kSet =
    "KEY=VALUE: a parameter (rows=8) or a level's key (GLB.capacity=64KiB) of the accelerator";
constexpr std::string_view kBudget =
    "time for one layer, or with --network for all, such as 1s; the best found by then counts";
constexpr std::string_view kGap =
    "such as 1%: end when no mapping can be better by more than this share of the value; exact only";
constexpr std::string_view kThreadsHelp = "threads; 0 = all cores; results do not depend on it";

constexpr auto kOptions = std::to_array<OptionInfo>({
    // What a search is about.
    {"accelerator", kText, "", "map eval flexion count export serve", "shipped name or file", "accelerator"},
    {"accelerator", kText, "", "validate", "with --measured: the chip, a shipped name or file"},
    {"workload", kText, "", "map eval flexion count show export", "shipped name or file", "workload"},
    {"layer", kText, "", "map",
     "a layer's name in the workload, a file, or a layer written in place; without it, all layers of the workload",
     "layer"},
    {"layer", kText, "", "eval flexion count export",
     "a layer's name in the workload, a file, or a layer written in place"},
    {"mapping", kText, "", "eval export", "mapping file (YAML, or the `mapping` of a JSON result)"},
    {"objective", kText, "edp", "map",
     "runtime, energy, edp, ed2p, perf-per-watt or edp-over-utilization; several (runtime,energy) for one layer give "
     "the mappings that none beats in all of them",
     "objective"},
    {"network", kFlag, "", "map",
     "of a whole workload: find the mappings whose sums of energy and cycles are best; the default where the workload "
     "knows its graph and the mapper is exact"},
    {"layers", kFlag, "", "map sweep design",
     "map every layer by itself, even where the workload knows its graph; in a sweep file `network: false`"},
    {"residency", kText, "on", "map",
     "of a network that knows its graph: on = tensors may stay on chip between layers; off = all "
     "live outside"},
    {"fusion", kText, "whole", "map",
     "of a network that knows its graph: whole = tensors stay on chip whole or live outside; tiles = layers may pass "
     "tiles to each other as well; off = all live outside"},
    {"predict", kFlag, "", "map",
     "also print what a good kernel takes, by the accelerator's `prediction` block; single layers only"},
    {"inferences", kWhole, "1", "map",
     "of a network that knows its graph: weights may stay on chip across this many inferences or decode "
     "steps; figures are those of one of them"},
    {"fusion", kText, "", "sweep design",
     "instead of the file's: whole or tiles, what layers of networks may pass to each other on chip", "fusion"},
    {"inferences", kWhole, "", "sweep design",
     "instead of the file's: weights of networks may stay on chip across this many inferences", "inferences"},
    {"deadline", kReal, "", "map", "cycles that a network may take"},
    {"factorization", kText, "pfm", "map count serve", kFactorizations, "factorization"},
    {"factorization", kText, "", "eval", "pfm, ruby-s, ruby-t, ruby or padding instead of the mapping's"},
    {"flexibility", kText, "", "map eval flexion count show serve",
     "a class (1011, PartFlex-1011), or a file or shipped name of rules that replace the accelerator's own",
     "flexibility"},
    {"conventions", kText, "", "map eval count serve",
     "physical, timeloop or quickflow instead of the accelerator's own", "conventions"},
    {"set", kTexts, "", "map eval flexion count show serve", kSet, "settings"},
    {"set", kTexts, "", "sweep design", "KEY=VALUE for every design, as in `set:`", "set"},
    {"set", kTexts, "", "import", "NAME=VALUE of a name that a template leaves open, such as BATCH_SIZE=1"},
    {"set", kTexts, "", "verify", "of a dataset: KEY=VALUE as the sweep had it"},
    {"set", kTexts, "", "pareto", "with --uncertain: KEY=VALUE as the sweep had it"},
    // How it searches.
    {"mapper", kText, "exact", "map", "exact, local, genetic, random, exhaustive or goma"},
    {"mapper", kText, "", "sweep", "instead of the file's", "mapper"},
    {"mapper-option", kTexts, "", "map", "NAME=VALUE, an option of that mapper"},
    {"budget", kDuration, "", "map", kBudget},
    {"budget", kDuration, "", "sweep", "time for one layer, such as 1s or 250ms, instead of the file's",
     "budget_seconds"},
    {"budget", kDuration, "", "verify", "time for the proof of one layer, such as 10s"},
    {"budget", kDuration, "", "audit", "time for the audit, such as 60s; 0 = no limit"},
    {"gap", kShare, "0", "map", kGap},
    {"gap", kShare, "", "sweep", "instead of the file's: such as 1%, how close to proven optimal is close enough",
     "gap"},
    {"seed", kWhole, "1", "map", "seed of the mappers that draw random numbers"},
    {"seed", kWhole, "1", "audit", "seed of the sample"},
    {"seed", kWhole, "", "sweep", "instead of the file's", "seed"},
    {"threads", kThreads, "1", "map audit verify serve", kThreadsHelp},
    {"threads", kThreads, "0", "sweep design study", kThreadsHelp},
    {"save", kText, "", "map", "write the mapping to this file; pliant eval reads it"},
    {"certificate", kText, "", "map", "write the proof to this file for pliant audit"},
    {"certificate", kText, "", "design", "write the proof to this folder for pliant audit"},
    {"audit", kFlag, "", "design",
     "write the proof (DIR/certificate) and check it as pliant audit does; exit codes as there"},
    {"audit", kFlag, "", "map", "check the proof as pliant audit does; exit code 1: wrong, 4: not decided"},
    // serve
    {"prompt", kWhole, "1024", "serve", "tokens of a prompt"},
    {"output", kWhole, "128", "serve", "tokens to generate"},
    {"batch", kWhole, "1", "serve", "sequences at once"},
    {"chunk", kWhole, "0", "serve", "tokens of a prompt to process at once; 0 = all of them"},
    {"contexts", kText, "", "serve",
     "also print a decode step with this many tokens in the cache; numbers, comma-separated"},
    {"weight-bits", kWhole, "", "serve", "bits of a parameter instead of the accelerator's"},
    {"kv-bits", kWhole, "", "serve", "bits of an element of the cache instead of the accelerator's"},
    {"skew", kReal, "0", "serve", "the r-th expert is asked for in proportion to r^-SKEW; 0 = all alike"},
    {"memory", kText, "", "serve", "memory of a chip, such as 16GiB, instead of the accelerator's"},
    {"objective", kText, "runtime", "serve", "runtime (and of the fastest mappings the least energy) or energy"},
    {"gap", kShare, "1%", "serve", "how far apart the bounds of a phase may be before more contexts are searched"},
    {"budget", kDuration, "1s", "serve",
     "time for one search of a layer; the gap tells what it leaves open; 0 = no limit"},
    {"tp", kWhole, "1", "serve", "chips that share every matrix"},
    {"pp", kWhole, "1", "serve", "stages of layers that follow one another"},
    {"ep", kWhole, "1", "serve", "groups of chips that divide experts and sequences"},
    {"links", kText, "", "serve",
     "links between chips, such as '{topology: switch, gb_per_s: 450, us: 2, pj_per_bit: 1}', instead of the "
     "accelerator's"},
    {"vector", kText, "", "serve", "unit for work without MACs, such as '{lanes: 512}', instead of the accelerator's"},
    {"chips", kWhole, "", "serve", "find and prove the best division over this many chips"},
    {"batches", kText, "", "serve",
     "with --chips: numbers of sequences, comma-separated, or all (1, 2, 4, ... that fit)"},
    {"ttft", kDuration, "", "serve", "with --chips: longest time to the first token, such as 200ms"},
    {"tpot", kDuration, "", "serve", "with --chips: longest time for each further token, such as 30ms"},
    // count
    {"legal", kFlag, "", "count", "count the legal mappings: every capacity, fanout and flexibility rule applied"},
    {"enumerate", kFlag, "", "count", "the same by listing and judging every mapping; small spaces only"},
    {"quickflow", kFlag, "", "count", "QuickFlow's formula: all orders of all dims, perfect factors over all levels"},
    {"orders", kFlag, "", "count", "loop orders of one memory that differ in reuse"},
    {"table", kText, "", "count", "ruby: Table I of the Ruby paper"},
    // flexion
    {"layers", kFlag, "", "flexion", "print every layer of the workload, not only the mean"},
    {"no-tuples", kFlag, "", "flexion", "leave out the tile axis counted over tuples, which takes most of the time"},
    {"svg", kText, "", "flexion", "folder for drawings of the sets to scale, one file for each axis"},
    // validate
    {"show", kWhole, "20", "validate", "print at most this many mismatches"},
    {"excused", kFlag, "", "validate", "also list the excused differences"},
    {"measured", kText, "", "validate", "a table of kernels that were timed: .jsonl, .csv or .parquet"},
    {"fit", kText, "", "validate",
     "with --measured: figures of the prediction to find on one half of the kernels, such as overhead,achievable"},
    {"exponentials", kReal, "0", "validate",
     "with --measured: exponentials that the chip does in a cycle, for attention; 0 = they take no time"},
    {"factorization", kText, "ruby-s", "validate", "with --measured: pfm, ruby-s, ruby-t, ruby or padding"},
    {"set", kTexts, "", "validate", "with --measured: KEY=VALUE of the accelerator"},
    {"seed", kWhole, "1", "validate", "with --fit: which half"},
    {"threads", kThreads, "0", "validate", "with --measured: kernels at a time; 0 = all cores"},
    {"output", kText, "", "validate", "with --measured: folder for the kernels and the charts", "", 'o'},
    {"png", kFlag, "", "validate", "with -o: draw the charts as pictures too (needs vl-convert)"},
    // sweep
    {"output", kText, "", "sweep design", "folder of the dataset (results/NAME)", "", 'o'},
    {"gap", kShare, "0", "design", "close a box when a design found is worse by at most this share, such as 1%"},
    {"dry-run", kFlag, "", "sweep",
     "print how many designs, layers and distinct tasks there are and estimate the time; write nothing"},
    {"status", kFlag, "", "sweep", "print how far a dataset is, all shards together"},
    {"shard", kText, "", "sweep design",
     "I/N: only every Nth part, I from 0 to N-1; auto: as the engine's array variables say (Slurm, AWS Batch, Grid "
     "Engine, LSF; without --shard too); auto/N where the engine says only I (PBS, Torque, Kubernetes)"},
    {"cache", kText, "", "sweep design", "folder of solved tasks, to share them between sweeps (DIR/cache)"},
    {"update", kFlag, "", "sweep design",
     "replace the rows of a dataset whose inputs have changed; tasks that did not change are reused"},
    {"certificates", kTexts, "", "sweep",
     "a condition on the layers table, as for query: write the proofs of its rows to DIR/certificates for pliant "
     "audit; "
     "may be given several times, all must hold"},
    {"audit", kText, "", "sweep",
     "a share of the rows, such as 10%: price all rows again and let the auditor prove these, evenly spread"},
    {"progress", kText, "", "sweep", "bar, lines, json or none (bar on a terminal, else lines)"},
    // study
    {"output", kText, "", "study", "folder (results/studies, with --quick results/studies_quick)", "", 'o'},
    {"quick", kFlag, "", "study", "run a part of each study, in seconds; its numbers are those of the whole study"},
    {"sampled", kFlag, "", "study",
     "also run searches that draw at random, as the papers did (minutes more); the rest is proven"},
    {"png", kFlag, "", "study", "draw the figures as pictures too (needs vl-convert)"},
    // pareto and query
    {"minimize", kText, "", "pareto", "columns, comma-separated (area_um2,edp_pj_cycles)"},
    {"maximize", kText, "", "pareto", "columns, comma-separated"},
    {"group-by", kText, "workload", "pareto",
     "columns, comma-separated; each group has its own frontier; none = one group"},
    {"reference", kText, "", "pareto",
     "reference point of the hypervolume, one number per column (the worst of each column in the group)"},
    {"table", kText, "designs", "pareto query", "designs or layers"},
    {"columns", kText, "", "pareto", "further columns to show"},
    {"uncertain", kText, "", "pareto",
     "figures known only roughly, such as 'DRAM.read_pj 30%, Buffer.* 20%': which designs stay on the frontier, priced "
     "again with their mappings"},
    {"remap", kFlag, "", "pareto", "with --uncertain: search the designs on a frontier again instead"},
    {"where", kTexts, "", "query", "a condition; may be given several times"},
    {"where", kTexts, "", "pareto",
     "a condition such as latency_s <= 0.033 that every design compared must meet; may be given several times"},
    {"plain", kFlag, "", "pareto query", "numbers with six digits in the unit of their column, not 0.38 mm2 or 1.2 mJ"},
    {"select", kText, "", "query", "columns, comma-separated; all = every one"},
    {"sort", kText, "", "query", "columns, comma-separated; a - before a column sorts it downwards"},
    {"group-by", kText, "", "query", "columns, comma-separated; --limit then holds for each group"},
    {"aggregate", kText, "", "query",
     "one row per group: count, min(COLUMN), max(COLUMN), mean(COLUMN), sum(COLUMN), comma-separated"},
    {"partial", kFlag, "", "pareto query report",
     "of an unfinished or damaged dataset, answer for the parts that are there and end with exit code 0"},
    {"output", kText, "", "pareto", "write the frontiers to a .parquet or .csv file", "", 'o'},
    {"output", kText, "", "query", "write the rows to a .parquet or .csv file", "", 'o'},
    {"limit", kWhole, "40", "pareto", "rows shown of each group; 0 = all"},
    {"limit", kWhole, "", "query", "rows; 0 = all (40 on the screen, all with -o and --json)"},
    // report
    {"output", kText, "", "report", "the page; default report.html, unless --png is given", "", 'o'},
    {"png", kText, "", "report", "folder for every chart as .png, .vl.json and .csv"},
    {"scale", kReal, "2", "report", "pixels of a picture per pixel of its specification"},
    {"layers", kWhole, "40000", "report",
     "the page holds the mappings of at most this many layers, designs on a frontier first; it says what was left out"},
    // audit
    {"all", kFlag, "", "audit", "check every choice (the default)"},
    {"sample", kText, "", "audit", "check a random share of every part, such as 10%"},
    {"limit", kWhole, "200000", "audit", "enumerate map-spaces of at most this many mappings"},
    // verify
    {"limit", kWhole, "2000000", "verify", "enumerate spaces of at most this many mappings"},
    {"sweep", kText, "", "verify",
     "of a dataset: the sweep file (found by its name: here, beside the dataset or shipped)"},
    {"sweep", kText, "", "pareto",
     "with --uncertain: the sweep file (found by its name: here, beside the dataset or shipped)"},
    {"prove", kText, "10", "verify", "of a dataset: how many rows to prove again, evenly spread, or all"},
    // import and export
    {"output", kText, "", "import", "folder for the files written; without it nothing is written", "", 'o'},
    {"output", kText, "", "export", "folder for the files written", "", 'o'},
    {"lenient", kFlag, "", "import", "leave out what has no counterpart here, and list it"},
    {"prefill", kWhole, "0", "import", "llm: process a prompt of this many tokens"},
    {"decode", kWhole, "0", "import", "llm: make one token with this many in the cache"},
    {"batch", kWhole, "1", "import", "llm: sequences at once; onnx: the first dim of an input that leaves it open"},
    {"name", kText, "", "import", "onnx, llm: name of the workload, instead of the model's or the file's"},
    {"dims", kText, "", "import", "onnx: sizes of dims that the model leaves open, such as h=224,w=224"},
    {"verbose", kFlag, "", "import", "list every choice, also those of little weight"},
    // How it answers.
    {"yaml", kFlag, "", "show", "print it as an input file with everything resolved"},
    {"json", kFlag, "",
     "show map serve eval flexion count validate sweep design import export study pareto query report audit verify",
     "print JSON (schema 3)"},
    {"ascii", kFlag, "", "show map eval", "draw with ASCII characters only"},
});

constexpr OptionInfo kHelp{"help", kFlag, "", "", "print this"};

bool takes(const OptionInfo& option, std::string_view command) {
  for (std::string_view left = option.commands; !left.empty();) {
    const std::size_t end = std::min(left.find(' '), left.size());
    if (left.substr(0, end) == command) return true;
    left.remove_prefix(std::min(end + 1, left.size()));
  }
  return false;
}

}  // namespace

std::span<const OptionInfo> option_table() { return kOptions; }

std::vector<OptionInfo> options_of(std::string_view command) {
  std::vector<OptionInfo> found;
  std::ranges::copy_if(kOptions, std::back_inserter(found), [&](const OptionInfo& o) { return takes(o, command); });
  found.push_back(kHelp);
  return found;
}

std::string_view json_key_of(std::string_view command, std::string_view option) {
  const auto found =
      std::ranges::find_if(kOptions, [&](const OptionInfo& o) { return o.name == option && takes(o, command); });
  return found == kOptions.end() ? std::string_view() : found->json_key;
}

std::string_view placeholder(OptionKind kind) {
  switch (kind) {
    case kFlag: return "";
    case kText:
    case kTexts: return "TEXT";
    case kWhole:
    case kThreads: return "N";
    case kReal: return "NUMBER";
    case kDuration: return "DURATION";
    case kShare: return "SHARE";
  }
  return "";
}

}  // namespace pliant
