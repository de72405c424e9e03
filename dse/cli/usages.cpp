// SPDX-License-Identifier: Apache-2.0
#include "dse/cli/usages.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "dse/import/export/export.h"
#include "dse/import/formats.h"

namespace pliant {
namespace {

struct Usage {
  std::string_view command, text;
};

constexpr auto kUsages = std::to_array<Usage>({
    {"show", R"(usage: pliant show accelerator|workload|layer [NAME|FILE] [options]

Prints what was understood: every default filled in, every unit resolved. Without a name, lists the shipped ones.

examples:
  pliant show accelerator eyeriss
  pliant show accelerator eyeriss --set GlobalBuffer.capacity=64KiB --yaml
  pliant show workload resnet50
  pliant show layer conv1 --workload resnet50
  pliant show layer conv:M=64,C=3,P=112,Q=112,R=7,S=7,stride=2 --json

)"},
    {"map", R"(usage: pliant map --accelerator NAME|FILE --layer LAYER [options]
       pliant map --accelerator NAME|FILE --workload NAME|FILE [options]

Finds the best mapping and says what is proven about it: the loop nest, where energy and time go, what limits the
runtime. Without --layer it maps the whole workload. A workload that knows its graph is mapped as a network: each layer
has the mapping that serves the sums, and tensors stay on chip where that is best. Other workloads, and all with
--layers, are mapped layer by layer, one line each as it is done, and the totals. When nothing fits it names the limits
that conflict and the nearest miss, with exit code 3. Ctrl-C gives what was found so far, with exit code 130.

examples:
  pliant map --accelerator eyeriss --workload resnet50 --layer conv2_1b
  pliant map --accelerator eyeriss --workload resnet50 --objective runtime
  pliant map --accelerator eyeriss --workload resnet50 --layer conv2_1b --audit
  pliant map --accelerator eyeriss --workload resnet50 --layer conv2_1b --objective runtime,energy
  pliant map --accelerator simba --workload mobilenet_v2 --factorization ruby-s --gap 1%
  pliant map --accelerator eyeriss --workload resnet50 --layers
  pliant map --accelerator eyeriss --workload resnet50 --objective energy --deadline 4e7
  pliant map --accelerator npu --workload mobilenet_v2 --inferences 1000
  pliant map --accelerator h200 --layer gemm:M=4096,N=4096,K=4096 --factorization ruby-s --objective runtime --predict
  pliant map --accelerator simba --layer gemm:M=512,N=512,K=512 --save best.yaml
  pliant map --accelerator eyeriss --layer conv:M=64,C=64,P=56,Q=56,R=3,S=3 --factorization ruby-s --json
  pliant map --accelerator tpuv1 --workload vgg16 --mapper local --mapper-option beam=64 --budget 1s

)"},
    {"eval", R"(usage: pliant eval --accelerator NAME|FILE --layer LAYER --mapping FILE [options]

Prices one mapping: where energy and time go level by level, what bounds the runtime, how full each buffer is. The
mapping is checked first; an illegal one ends with every violated limit and exit code 3.

examples:
  pliant eval --accelerator eyeriss --workload resnet50 --layer conv1 --mapping mapping.yaml
  pliant eval --accelerator eyeriss --layer gemm:M=64,N=64,K=64 --mapping mapping.yaml --conventions timeloop --json

)"},
    {"serve", R"(usage: pliant serve MODEL --accelerator NAME|FILE [options]

What a language model costs to serve: time to the first token (TTFT), time for each further one (TPOT), tokens per
second and per joule, and the memory that weights and cache take. MODEL is a shipped name or a config.json. Every layer
gets its fastest mapping, and of those the one with the least energy; the bounds beside the answer hold for all
mappings.

examples:
  pliant serve llama3_2_1b --accelerator npu
  pliant serve llama3_2_1b --accelerator npu --prompt 1024 --output 131072 --kv-bits 4 --memory "8 GB"
  pliant serve llama3_2_1b --accelerator npu --prompt 8192 --chunk 512
  pliant serve mixtral_8x7b --accelerator npu --chips 4 --batches 4,8 --tpot 2s --links "{gb_per_s: 50, us: 1}"

)"},
    {"flexion", R"(usage: pliant flexion --accelerator NAME|FILE --workload NAME|FILE [--layer LAYER] [options]

How flexible an accelerator is, axis by axis: hardware flexion H-F = |A| / |C| and workload flexion W-F = |A and W| / |W|,
where C is what its resources allow, A what it can do, and W what the layer has. A workload has the mean of its layers.
Without --flexibility, an accelerator with a baseline is compared with itself: InFlex, PartFlex and FullFlex on each axis.

examples:
  pliant flexion --accelerator flexref --workload flexpaper_mnasnet
  pliant flexion --accelerator flexref --workload flexpaper_mnasnet --layer L16
  pliant flexion --accelerator flexref --flexibility PartFlex-1011 --layer gemm:M=512,N=512,K=512
  pliant flexion --accelerator eyeriss --workload resnet50 --layers
  pliant flexion --accelerator flexref --workload flexpaper_mnasnet --svg drawings

)"},
    {"count", R"(usage: pliant count --layer LAYER --accelerator NAME|FILE [options]
       pliant count --orders --layer LAYER
       pliant count --table ruby

Counts mappings, exactly. Without a mode: factor chains x loop orders x bypasses, before capacities and the joint
limits of fanouts; --legal applies every limit of the accelerator and its flexibility.

examples:
  pliant count --accelerator eyeriss --layer conv:M=64,C=64,P=56,Q=56,R=3,S=3
  pliant count --accelerator eyeriss --workload resnet50 --layer conv1 --factorization ruby-s
  pliant count --accelerator eyeriss --layer gemm:M=64,N=64,K=64 --legal
  pliant count --accelerator simba --layer gemm:M=512,N=512,K=512 --quickflow --json
  pliant count --orders --layer conv:M=64,C=64,P=56,Q=56,R=3,S=3
  pliant count --table ruby

)"},
    {"validate", R"(usage: pliant validate FILE [options]
       pliant validate --measured FILE --accelerator NAME|FILE [options]

Prices the mappings of a file of reference vectors and compares every number: Timeloop's (JSON lines, under the
conventions `timeloop`) or those of QuickFlow's model (one JSON object, under `quickflow`). With perfect factors nothing
is excused. With remainders a difference is excused only when the reference's number is the one its own bookkeeping is
predicted to yield; the reason names the habit. docs/model.md has the list.

With --measured the file is a table of kernels that were timed on a chip (JSON lines, CSV or Parquet; docs/silicon.md
names the columns). Each is mapped: the bound that no kernel beats is proven, and the prediction says what a good kernel
takes. Kernels that are faster than their bound come first, then errors by kind and size, a plain roofline beside them.
--fit finds figures of the prediction on one half of the kernels and judges them by the other half.

Exit code 0 when nothing differs without an excuse (no kernel is faster than its bound), else 1.

examples:
  pliant validate tests/data/oracle_perfect.jsonl
  pliant validate tests/data/oracle_imperfect.jsonl --excused
  pliant validate tests/data/quickflow_vectors.json --json
  pliant validate --measured configs/measured/h200.csv --accelerator h200 --fit overhead,achievable -o results/h200

)"},
    {"sweep", R"(usage: pliant sweep FILE [-o DIR] [options]
       pliant sweep --status -o DIR

Finds the best mapping of every layer on every design of a sweep file and writes two tables, DIR/layers and DIR/designs
(Parquet). The same command continues where a killed or interrupted one stopped. FILE is a file or a shipped name.

examples:
  pliant sweep demo -o results/demo
  pliant sweep my_sweep.yaml --dry-run
  pliant sweep my_sweep.yaml -o results/mine --shard 2/8
  pliant sweep demo -o results/demo --audit 10%
  pliant sweep demo -o results/demo --certificates 'design_id == 7' --certificates 'layer == conv2*'
  pliant sweep --status -o results/mine

)"},
    {"design", R"(usage: pliant design FILE [-o DIR] [options]

Finds the designs of a sweep file that no other beats in what its `minimize:` names, and proves it without mapping most
of them. Boxes of designs are bounded by an ideal design; only what could be on the frontier is mapped. DIR gets the
rows of the mapped designs, as a sweep writes them, and boxes.parquet with the bounds of all others. The same command
continues an interrupted one.

examples:
  pliant design area_edp -o results/area_edp
  pliant design space.yaml -o results/space --gap 1%
  pliant design space.yaml -o results/space --shard 0/8    # and 1/8 ... 7/8 elsewhere, then without --shard
  pliant verify results/space --sweep space.yaml --prove 100
  pliant design space.yaml -o results/space --certificate proof   # and: pliant audit proof

)"},
    {"import", R"(usage: pliant import FORMAT FILE... -o DIR [options]

Reads files of other tools and writes them in Pliant's formats, with a comment for every choice made. FORMAT is auto or
one of the list below. What has no counterpart here is an error with its place; --lenient leaves it out and lists it.

examples:
  pliant import scalesim topology.csv array.cfg -o out
  pliant import onnx model.onnx --dims h=224,w=224 -o out
  pliant import llm config.json --decode 32768 --batch 8 -o out
  pliant import accelforge arch.yaml workload.yaml --set BATCH_SIZE=1 -o out
  pliant map --accelerator array.cfg --workload topology.csv      # other commands take the files as they are

formats:
)"},
    {"export", R"(usage: pliant export FORMAT --accelerator NAME|FILE --layer LAYER --mapping FILE -o DIR

Writes a mapping for another tool, so that an optimum can be checked there. What the tool cannot say is an error.

examples:
  pliant export timeloop --accelerator eyeriss --workload resnet50 --layer conv1 --mapping best.yaml -o out
  pliant export c --accelerator eyeriss --layer gemm:M=64,N=64,K=64 --mapping best.yaml -o out

formats:
)"},
    {"study", R"(usage: pliant study list
       pliant study summary [-o DIR]
       pliant study NAME|all [--quick] [-o DIR] [options]

Reproduces a published evaluation: runs it, prints the published numbers beside ours, and writes the table (DIR/NAME.csv),
all points (Parquet) and the figures (DIR/NAME/figures, Vega-Lite). docs/studies has a page for each study.

examples:
  pliant study list
  pliant study area
  pliant study ruby-arrays -o results/studies --png
  pliant study all --quick -o /tmp/studies
  pliant study summary > docs/studies/summary.md

)"},
    {"pareto", R"(usage: pliant pareto DIR [--minimize COLUMNS] [--maximize COLUMNS] [options]

The designs of a dataset that no other design of their group is better than in every column named. With each group: the
hypervolume they dominate up to a reference point, and the knee, the design with the least sum of columns, each scaled
to 0..1 over the frontier. DIR is what `pliant sweep` wrote, or one Parquet file.

examples:
  pliant pareto results/demo --minimize area_um2,edp_pj_cycles
  pliant pareto results/demo --minimize runtime_cycles --maximize w_f --group-by workload,class
  pliant pareto results/demo --minimize area_um2,energy_mj --where 'latency_s <= 0.033' --where 'power_w <= 2'
  pliant pareto results/demo --minimize area_um2,edp_pj_cycles -o frontier.csv
  pliant pareto results/demo --uncertain 'DRAM.read_pj 30%, Buffer.* 20%'

)"},
    {"query", R"(usage: pliant query DIR [--where CONDITION]... [options]

Rows of a dataset: filtered, sorted, grouped, without other tools. DIR is what `pliant sweep` wrote, or one Parquet
file. A condition compares a column with a text (* stands for any characters) or calculates with columns of numbers;
all conditions must hold, and a row in which such a column is empty does not pass. results/README.md explains the columns.

examples:
  pliant query results/demo --where 'class == 1*11' --where 'area_um2 <= 8e5' --sort edp_pj_cycles --limit 5
  pliant query results/demo --group-by workload,class --aggregate 'count,min(edp_pj_cycles)'
  pliant query results/demo --group-by workload --sort edp_pj_cycles --limit 1         (the best of each workload)
  pliant query results/demo --table layers --where 'certificate.gap > 0' --select layer,class,certificate.gap
  pliant query results/demo --where 'energy_pj / macs < 2' -o efficient.csv

)"},
    {"report", R"(usage: pliant report DATASET [-o report.html] [--png DIR]

One HTML file of what a sweep found, from its dataset alone. It opens in a browser without a network:

  recommendation  which design to build and why, in words, for all workloads together or for one
  frontier        area against EDP, energy or runtime; filter, hover, click a design
  design          layer by layer, energy flow, area by component, utilization, roofline, mappings drawn
  compare         two to four designs side by side
  flexibility     what each of the 16 classes gains and costs on each workload; flexion, with the sets drawn to scale
  hardware        array shapes, buffer sizes, numbers of MAC units
  provenance      inputs, versions, how many layers are proven optimal

With --png every chart is a picture, a Vega-Lite specification and a CSV file of its points. docs/report.md explains them.

examples:
  pliant report out/demo -o report.html
  pliant report out/demo --png figures --scale 3

)"},
    {"audit", R"(usage: pliant audit FILE|DIR [--all | --sample N%] [options]

Checks a proof that `pliant map --certificate` wrote, or all that `pliant sweep --certificates` put into a folder, with
code that shares nothing with the mapper: the mapping is legal and has the value claimed; the parts cover the map-space,
which is counted again; no mapping of a part is below the part's lower bound. Small map-spaces are enumerated; larger
ones are checked choice by choice, by transfers that happen at least once and by a plain dynamic programme over nested
tiles. For a network all of that is done for every layer's proofs; then the auditor finds again where its tensors may
live, what room they take, and the shortest path over all of it. For a design search (`pliant design --certificate`) the
boxes must hold every design once, their bounds are proven again, and the frontier must follow. The audit names what it
could not check.

Exit code 0: everything asked for was checked and holds. 1: something is wrong. 4: nothing is wrong, but something could
not be decided.

examples:
  pliant map --accelerator eyeriss --workload resnet50 --layer conv2_1b --certificate proof.json
  pliant audit proof.json
  pliant audit proof.json --sample 10% --seed 7
  pliant audit results/demo/certificates
  pliant map --accelerator npu --workload mobilenet_v2 --certificate network.json
  pliant audit network.json
  pliant design inflexible_alexnet -o results/frontier --certificate results/frontier_proof
  pliant audit results/frontier_proof

)"},
    {"verify", R"(usage: pliant verify FILE [options]
       pliant verify DIR [--sweep FILE] [--prove N|all] [options]

Checks a result that `pliant map --json` wrote, trusting nothing in it: the mapping is judged by the legality checker
and priced again by the cost model; its claim is proven again by the auditor (see `pliant audit`), which enumerates a
small map-space and bounds the choices of a larger one. For a network (`map --network --json`) every mapping is judged
and priced again, the sums are formed again, and the lower bound is proven by another search. Exit code 1 when anything
differs.

Given the folder of a sweep's dataset, it checks every row: that it is there, that its mapping is legal and costs what
the row says, that the designs are the sums of their layers. A sample of the claims, or all, is proven again.

examples:
  pliant map --accelerator eyeriss --layer gemm:M=64,N=64,K=64 --json > best.json
  pliant verify best.json
  pliant verify results/demo --prove 100

)"},
    {"completion", R"usage(usage: pliant completion SHELL

Prints a script that completes commands, options and shipped names in bash, zsh or fish.

examples:
  eval "$(pliant completion bash)"                  # in ~/.bashrc
  source <(pliant completion zsh)                   # in ~/.zshrc, after compinit
  pliant completion fish | source                   # in ~/.config/fish/config.fish

)usage"},
    {"man", R"(usage: pliant man

Prints the manual page, which holds the options of every command.

example:
  pliant man | man -l -

)"},
});

/// What follows `formats:` where a command has several.
std::string formats_of(std::string_view command) {
  std::string text;
  if (command == "import")
    for (const ImportFormat& format : import_formats()) text += fmt::format("  {:<12} {}\n", format.name, format.reads);
  if (command == "export")
    for (const ExportFormat& format : export_formats())
      text += fmt::format("  {:<10} {}\n", format.name, format.writes);
  return text.empty() ? text : text + "\n";
}

/// "-o, --output TEXT (=results)".
std::string left_column(const OptionInfo& option) {
  std::string text = option.letter == '\0' ? "" : fmt::format("-{}, ", option.letter);
  text += fmt::format("--{}", option.name);
  if (option.kind != OptionKind::kFlag) text += fmt::format(" {}", placeholder(option.kind));
  if (!option.fallback.empty()) text += fmt::format(" (={})", option.fallback);
  return text;
}

}  // namespace

std::string options_text(std::string_view command) {
  constexpr std::size_t kWidth = 110, kMostLeft = 34;
  const std::vector<OptionInfo> options = options_of(command);
  std::size_t left = 0;
  for (const OptionInfo& option : options) left = std::max(left, std::min(left_column(option).size(), kMostLeft));
  std::string text = "options:\n";
  for (const OptionInfo& option : options) {
    std::string line = fmt::format("  {:<{}} ", left_column(option), left);
    const std::size_t start = left + 3;
    if (line.size() > start) {
      text += line.substr(0, line.size() - 1) + "\n";
      line.assign(start, ' ');
    }
    for (std::string_view rest = option.help; !rest.empty();) {
      const std::string_view word = rest.substr(0, rest.find(' '));
      rest.remove_prefix(std::min(word.size() + 1, rest.size()));
      if (line.size() + 1 + word.size() > kWidth) {
        text += line + "\n";
        line.assign(start, ' ');
      }
      line += fmt::format("{}{}", line.size() > start ? " " : "", word);
    }
    text += line + "\n";
  }
  return text;
}

std::string help_text(std::string_view command) {
  const auto found = std::ranges::find(kUsages, command, &Usage::command);
  const std::string usage = found == kUsages.end() ? "" : std::string(found->text);
  return usage + formats_of(command) + options_text(command);
}

}  // namespace pliant
