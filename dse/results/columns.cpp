// SPDX-License-Identifier: Apache-2.0
#include "dse/results/columns.h"

#include <array>

namespace pliant {
namespace {

constexpr std::array<ColumnInfo, 31> kLayers = {{
    {"design_id", "1", "place of the design in the full product of the sweep's axes"},
    {"flexibility", "", "flexibility as the sweep names it; own = the accelerator file's rules"},
    {"class", "", "bits T O P S of the flexibility in force"},
    {"factorization", "", "pfm, ruby-s, ruby-t, ruby or padding"},
    {"objective", "", "what the mapper minimises"},
    {"mapper", "", "the mapper that searched"},
    {"workload", "", "network"},
    {"layer_index", "1", "place of the layer in the workload, from 0"},
    {"layer", "", "name of the layer"},
    {"dims", "1", "sizes of the layer's dims"},
    {"count", "1", "how often the workload repeats the layer"},
    {"macs", "1", "multiply-accumulates of one repetition"},
    {"status", "", "solved, no_legal_mapping, nothing_found, invalid_design or failed"},
    {"reason", "", "why there is no mapping"},
    {"energy_pj", "pJ", "energy of one repetition"},
    {"runtime_cycles", "cycles", "cycles of one repetition"},
    {"compute_cycles", "cycles", "cycles if bandwidth were unlimited"},
    {"edp_pj_cycles", "pJ*cycles", "energy_pj * runtime_cycles"},
    {"utilization", "1", "share of the compute units' cycles that did useful MACs"},
    {"latency_s", "s", "runtime_cycles / clock; empty without a clock, as the next four"},
    {"energy_mj", "mJ", "energy of one repetition"},
    {"power_w", "W", "average power: energy / latency"},
    {"tops", "TOPS", "achieved, 1e12 operations per second; a MAC is two"},
    {"tops_per_w", "TOPS/W", "useful operations per pJ"},
    {"bound_by", "", "what limits the runtime: compute, or a memory's port"},
    {"energy_by_level", "pJ", "energy of every level, leakage included; the last is the compute level"},
    {"memories", "",
     "by memory, outermost first: instances, capacity_words and used_words of one, read_cycles, write_cycles, "
     "bus_cycles, "
     "leakage_pj, gb_per_s (both directions, all instances; empty without a clock), and by tensor reads, fills and "
     "updates (elements, all instances), words_read and words_written (of the memory) and energy_pj"},
    {"certificate", "",
     "value and lower_bound (of the objective), gap, certified, mappings_covered, evaluations, ended_by"},
    {"mapping", "",
     "by level, outermost first: temporal, rows and cols loops (dim, bound), kept tensors, padded sizes"},
    {"task_key", "", "content hash of the question; equal keys are the same task, solved once"},
    {"on_chip", "",
     "of a workload that is mapped as a network: tensors of the layer that stay on chip, and where (Inputs in SRAM, "
     "Outputs in SRAM (1 of 2) where that is so for one of two repetitions), or none; empty of layers. All else in the "
     "row, its certificate included, is of the layer by itself, with every tensor outside"},
}};

constexpr std::array<ColumnInfo, 73> kDesigns = {{
    {"design_id", "1", "place of the design in the full product of the sweep's axes"},
    {"flexibility", "", "flexibility as the sweep names it; own = the accelerator file's rules"},
    {"class", "", "bits T O P S of the flexibility in force"},
    {"factorization", "", "pfm, ruby-s, ruby-t, ruby or padding"},
    {"objective", "", "what is minimised: of the network, or of every layer by itself (mapped_as)"},
    {"mapper", "", "the mapper that searched"},
    {"workload", "", "network"},
    {"layers", "1", "layers of the workload in this sweep"},
    {"layers_without_mapping", "1", "layers for which no mapping was found"},
    {"macs", "1", "multiply-accumulates of the workload, repetitions included"},
    {"status", "",
     "solved; over_limit when the results break a constraint of the sweep; else the status of the first layer without "
     "a mapping"},
    {"reason", "", "the constraint, or that layer and why"},
    {"energy_pj", "pJ",
     "sum over layers and repetitions, of a network with its operators (mapped_as); empty when a layer has no mapping, "
     "as all up to max_gap"},
    {"runtime_cycles", "cycles", "the same sum"},
    {"edp_pj_cycles", "pJ*cycles", "energy_pj * runtime_cycles of the whole workload"},
    {"sum_layer_edp_pj_cycles", "pJ*cycles", "sum over layers and repetitions of each layer's own product"},
    {"utilization", "1", "share of the compute units' cycles that did useful MACs"},
    {"energy_by_level", "pJ",
     "what energy_pj is made of: every level, leakage included; the last is the compute level, with a vector unit's "
     "work"},
    {"latency_s", "s", "of one pass through the workload; empty without a clock, as the next nine"},
    {"energy_mj", "mJ", "of one pass"},
    {"power_w", "W", "average power: energy / latency"},
    {"chip_power_w", "W", "the part of power_w that the chip takes"},
    {"off_chip_power_w", "W",
     "the part that memories beside the chip take: those of a device table, and unbounded ones"},
    {"leakage_power_w", "W", "the part of both that leaks"},
    {"tops", "TOPS", "achieved, 1e12 operations per second; a MAC is two"},
    {"tops_per_w", "TOPS/W", "useful operations per pJ"},
    {"inferences_per_s", "1/s", "inferences of a pass (1 unless the workload says more, times the batch) / latency"},
    {"tokens_per_s", "1/s", "tokens of a pass / latency; empty where the workload does not say how many"},
    {"certified", "", "proven optimal: the network, or every layer's mapping"},
    {"max_gap", "1", "largest gap of a layer between value and proven lower bound, as a share of the value"},
    {"area_um2", "um2", "area of the design, flexibility included"},
    {"flexibility_area_um2", "um2", "the part of area_um2 that flexibility adds"},
    {"flexibility_area_from", "", "where the areas of flexibility come from; empty when nothing has an area"},
    {"area_by_component", "um2",
     "what area_um2 is made of: levels (all instances), flexibility by axis, and what belongs to no level"},
    {"array_rows", "1", "rows of the array; of several fanouts the product"},
    {"array_cols", "1", "columns of the array; of several fanouts the product"},
    {"compute_units", "1", "MAC units"},
    {"buffer_bits", "bit", "capacity of all on-chip memories, all instances"},
    {"clock_hz", "Hz", "of the accelerator; empty when it has none"},
    {"peak_tops", "TOPS", "every unit busy in every cycle"},
    {"h_f_t", "1", "hardware flexion of tile sizes (by volume), mean over layers and repetitions"},
    {"h_f_o", "1", "hardware flexion of loop orders"},
    {"h_f_p", "1", "hardware flexion of parallel dims"},
    {"h_f_s", "1", "hardware flexion of array shapes"},
    {"h_f", "1", "hardware flexion of the four axes together: mean of the layers' products"},
    {"w_f_t", "1", "workload flexion of tile sizes (by volume), mean over layers and repetitions"},
    {"w_f_o", "1", "workload flexion of loop orders"},
    {"w_f_p", "1", "workload flexion of parallel dims"},
    {"w_f_s", "1", "workload flexion of array shapes"},
    {"w_f", "1", "workload flexion of the four axes together: mean of the layers' products"},
    {"flexion_sets", "1", "by axis T, O, P, S: mean sizes of the sets C, A, W, A and W, C and W"},
    {"mapped_as", "",
     "network: energy and cycles are of the whole network, operators without MACs included, its tensors on chip where "
     "that is best; layers: of its layers with MACs, each by itself"},
    {"operators_energy_pj", "pJ",
     "the part of energy_pj that operators without MACs take; empty of layers, as all that follow"},
    {"operators_runtime_cycles", "cycles", "the part of runtime_cycles that they take"},
    {"loads_energy_pj", "pJ", "the part of energy_pj that loads weights which stay across inferences"},
    {"loads_runtime_cycles", "cycles", "the part of runtime_cycles that does"},
    {"weights_on_chip", "1", "layers whose weights stay across inferences, as often as they run"},
    {"outside_energy_pj", "pJ", "energy of the network's optimum with every tensor outside"},
    {"outside_runtime_cycles", "cycles", "cycles of that optimum"},
    {"whole_energy_pj", "pJ",
     "where layers may pass tiles on: energy of the optimum with tensors whole on chip or outside"},
    {"whole_runtime_cycles", "cycles", "cycles of that optimum"},
    {"tensors", "1", "tensors that the network makes and reads again"},
    {"tensors_on_chip", "1", "those of them that stay on chip"},
    {"tensors_in_tiles", "1", "those of them that are passed on there in tiles"},
    {"most_on_chip_bits", "bit", "what they take of the on-chip memories at once, at most"},
    {"residency_steps", "",
     "the run: node, count, energy_pj, runtime_cycles, outside_energy_pj and outside_runtime_cycles of all its "
     "repetitions, on_chip: level and words that tensors take there meanwhile, bound_by: what takes its time (empty of "
     "operators), and under: the loops around a layer that passes tiles on (empty of others)"},
    {"residency_tensors", "",
     "every tensor that is read again: the node that makes it, elements, from_step and to_step, the level where it "
     "lives (empty: outside), and whether it is passed on there in tiles"},
    {"ttft_s", "s", "of a served language model: time to the first token; empty of others, as the next five"},
    {"tpot_s", "s", "mean time of each further token"},
    {"served_tokens_per_s", "1/s", "tokens made / time from the start to the last of them"},
    {"tokens_per_j", "1/J", "tokens made / energy of prompts and decode steps"},
    {"serving_gap", "1", "largest gap of a phase between time (or energy) and proven lower bound"},
    {"largest_batch", "1", "sequences that fit into the memory beside the weights; empty where it has no limit"},
}};

}  // namespace

std::string_view to_string(TableKind table) { return table == TableKind::kLayers ? "layers" : "designs"; }

std::span<const ColumnInfo> column_infos(TableKind table) {
  if (table == TableKind::kLayers) return kLayers;
  return kDesigns;
}

}  // namespace pliant
