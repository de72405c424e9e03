// SPDX-License-Identifier: Apache-2.0
#include "dse/combinations/combinations.h"

#include <algorithm>
#include <array>
#include <vector>

#include "core/input/diagnostics.h"

namespace pliant {

namespace {

using enum Trait;
using Group = TraitGroup;

constexpr auto kTraits = std::to_array<TraitInfo>({
    {kMap, Group::kQuestions, "layer", "--layer"},
    {kWorkload, Group::kQuestions, "workload", "--workload"},
    {kNetwork, Group::kQuestions, "network", "--network"},
    {kFrontier, Group::kQuestions, "frontier", "--objective"},
    {kSweep, Group::kQuestions, "sweep", ""},
    {kDesign, Group::kQuestions, "design", ""},
    {kVerify, Group::kQuestions, "verify", ""},
    {kTimeloop, Group::kQuestions, "timeloop", ""},
    {kZigzag, Group::kQuestions, "zigzag", ""},
    {kC, Group::kQuestions, "c", ""},
    {kFlexion, Group::kQuestions, "flexion", ""},
    {kCount, Group::kQuestions, "count", ""},
    {kCommandLine, Group::kFaces, "command line", ""},
    {kPython, Group::kFaces, "Python", ""},
    {kExact, Group::kMappers, "exact", "--mapper"},
    {kLocal, Group::kMappers, "local", "--mapper"},
    {kGenetic, Group::kMappers, "genetic", "--mapper"},
    {kRandom, Group::kMappers, "random", "--mapper"},
    {kExhaustive, Group::kMappers, "exhaustive", "--mapper"},
    {kGoma, Group::kMappers, "goma", "--mapper"},
    {kPerfect, Group::kFactorizations, "pfm", "--factorization"},
    {kRubyS, Group::kFactorizations, "ruby-s", "--factorization"},
    {kRubyT, Group::kFactorizations, "ruby-t", "--factorization"},
    {kRuby, Group::kFactorizations, "ruby", "--factorization"},
    {kPadding, Group::kFactorizations, "padding", "--factorization"},
    {kPhysical, Group::kConventions, "physical", "--conventions"},
    {kTimeloopRules, Group::kConventions, "timeloop", "--conventions"},
    {kQuickflow, Group::kConventions, "quickflow", "--conventions"},
    {kRuntime, Group::kObjectives, "runtime", "--objective"},
    {kEnergy, Group::kObjectives, "energy", "--objective"},
    {kEdp, Group::kObjectives, "edp", "--objective"},
    {kEd2p, Group::kObjectives, "ed2p", "--objective"},
    {kPerfPerWatt, Group::kObjectives, "perf-per-watt", "--objective"},
    {kEdpOverUtilization, Group::kObjectives, "edp-over-utilization", "--objective"},
    {kGemm, Group::kLayers, "gemm", "--layer"},
    {kConv, Group::kLayers, "conv", "--layer"},
    {kStrided, Group::kLayers, "strided", "--layer"},
    {kDilated, Group::kLayers, "dilated", "--layer"},
    {kGrouped, Group::kLayers, "grouped", "--layer"},
    {kDepthwise, Group::kLayers, "depthwise", "--layer"},
    {kTransposed, Group::kLayers, "transposed", "--layer"},
    {kEinsum, Group::kLayers, "einsum", "--layer"},
    {kBits, Group::kOptions, "bits", ""},
    {kFinishedOnly, Group::kOptions, "no partial sums", ""},
    {kBus, Group::kOptions, "a bus", ""},
    {kPortsByRole, Group::kOptions, "ports by role", ""},
    {kNetworkEnergy, Group::kOptions, "networks with energy", ""},
    {kSystolic, Group::kOptions, "a systolic array", ""},
    {kLeakage, Group::kOptions, "leakage", ""},
    {kClock, Group::kOptions, "a clock", ""},
    {kBurst, Group::kOptions, "bursts", ""},
    {kPartition, Group::kOptions, "a partition", ""},
    {kClass, Group::kOptions, "a class", "--flexibility"},
    {kHints, Group::kOptions, "hints", ""},
    {kGap, Group::kOptions, "gap", "--gap"},
    {kBudget, Group::kOptions, "budget", "--budget"},
    {kThreads, Group::kOptions, "threads", "--threads"},
    {kSave, Group::kOptions, "save", "--save"},
    {kCertificate, Group::kOptions, "certificate", "--certificate"},
    {kPredict, Group::kOptions, "predict", "--predict"},
    {kUnrelated, Group::kOptions, "no graph", "--workload"},
    {kResidency, Group::kOptions, "residency", "--residency"},
    {kOutside, Group::kOptions, "residency off", "--residency"},
    {kTiles, Group::kOptions, "fused tiles", "--fusion"},
    {kInferences, Group::kOptions, "inferences", "--inferences"},
    {kDeadline, Group::kOptions, "deadline", "--deadline"},
    {kRemainders, Group::kOptions, "mappings with remainders", ""},
    {kPadded, Group::kOptions, "padded mappings", ""},
    {kSplitDims, Group::kOptions, "mappings with two loops over a dim at a level", ""},
    {kLegal, Group::kOptions, "legal mappings", "--legal"},
    {kServed, Group::kOptions, "served models", ""},
});

constexpr std::string_view kNetworkObjectives = "runtime, energy, edp, ed2p or perf-per-watt";
constexpr std::string_view kSayable = "something Timeloop can say";
constexpr std::string_view kWithGraph = "all layers of a workload with a `graph` or `chain: true`";

const Traits kOtherMappers{kLocal, kGenetic, kRandom, kExhaustive, kGoma};

}  // namespace

// What does not work. The first row that is met is told.
std::span<const Refusal> refusals() {
  static const std::vector<Refusal> all{
      {{kMap}, {kNetwork}, "of a single --layer", "a whole --workload"},
      {{kNetwork}, {kFrontier}, "several, for a network", "one of runtime, energy, edp, ed2p, perf-per-watt"},
      {{kWorkload}, {kFrontier}, "several, for a whole workload", "a single --layer"},
      // Single layers know no network.
      {{kMap, kFrontier}, {kInferences, kDeadline}, "of single layers", "a whole --workload"},
      {{kWorkload}, {kInferences, kDeadline}, "of single layers", "--network beside it"},
      // Sums have no utilization.
      {{kNetwork}, {kEdpOverUtilization}, "edp-over-utilization of a network", kNetworkObjectives},
      {{kResidency, kTiles, kInferences},
       {kEdpOverUtilization},
       "a network has no utilization of its own to minimise by",
       "no objective edp-over-utilization"},
      {{kFrontier},
       {kEdpOverUtilization},
       "edp-over-utilization beside others",
       "runtime, energy, edp, ed2p, perf-per-watt"},
      // What stays on chip is a question of who reads what.
      {{kOutside},
       {kInferences},
       "beside tensors that all live outside",
       "--residency on, and in a sweep file no `network: false`"},
      {{kUnrelated}, {kInferences}, "the workload does not say which layers read what", kWithGraph},
      {{kUnrelated}, {kResidency}, "the workload does not say which layers read what", kWithGraph},
      {{kUnrelated}, {kTiles}, "the workload does not say which layers read what", kWithGraph},
      {{kOutside}, {kTiles}, "beside tensors that all live outside", "no --residency off"},
      {{kTiles}, {kInferences}, "beside layers that pass tiles on", "--fusion whole"},
      {kOtherMappers, {kTiles}, "the mapper {} proves no bounds", "--mapper exact"},
      {{kTimeloopRules, kQuickflow},
       {kTiles},
       "what tiles move is counted by the physical conventions only",
       "--conventions physical"},
      // One file for one mapping, one proof.
      {{kNetwork}, {kSave}, "of a network", "a single --layer"},
      {{kInferences}, {kCertificate}, "no certificate can be written of {}", "a network without them"},
      {{kWorkload}, {kSave}, "of a whole workload", "a single --layer"},
      {{kFrontier}, {kSave}, "of a frontier", "a single --objective"},
      {{kWorkload, kFrontier}, {kCertificate}, "of several proofs", "a single --layer and objective"},
      {{kHints},
       {kCertificate},
       "the accelerator's hints leave mappings out of the proof",
       "an accelerator without `hints`"},
      // Only one mapper proves.
      {kOtherMappers, {kCertificate}, "the mapper {} proves nothing part by part", "--mapper exact"},
      {kOtherMappers, {kGap}, "mapper {} proves no gap", "the mapper exact"},
      {{kDesign}, kOtherMappers, "the mapper proves no bounds", "exact"},
      {{kFrontier}, {kGap}, "of a frontier", "a single --objective"},
      {{kNetwork, kFrontier}, {kPredict}, "of more than one layer at a time", "--layers and a single --objective"},
      {{kEdpOverUtilization}, {kPredict}, "a prediction has no utilization", "another --objective"},
      {kOtherMappers, {kPredict}, "the mapper {} proves nothing of predictions", "--mapper exact"},
      {{kPadding},
       {kLegal},
       "padded map-spaces are not counted this way",
       "a smaller layer, a stricter factorization rule, or no --legal"},
      {{kFinishedOnly},
       {kLegal},
       "where no partial sums are taken, tiles and orders depend on each other",
       "no --legal"},
      // GOMA's closed form is of matrix products, counted in words.
      {{kGoma},
       {kConv, kStrided, kDilated, kGrouped, kDepthwise, kTransposed, kEinsum},
       "the layer is no GEMM",
       "dims M, N and K"},
      {{kGoma},
       {kBits, kFinishedOnly, kNetworkEnergy, kSystolic},
       "GOMA's template has elements of one word, networks without energy and no systolic array",
       "the mapper exact"},
      // What Timeloop's files cannot say.
      {{kTimeloop}, {kPadded}, "a padded layer", kSayable},
      {{kTimeloop}, {kRemainders}, "bounds that do not multiply to the dim's size", kSayable},
      {{kTimeloop}, {kSplitDims}, "two loops over one dim", kSayable},
      {{kTimeloop}, {kBits}, "elements that are not as wide as words", kSayable},
      {{kTimeloop}, {kNetworkEnergy, kSystolic}, "a network with energy, or a systolic array", kSayable},
      {{kTimeloop}, {kLeakage}, "leakage of compute units, which Timeloop ignores", kSayable},
      {{kTimeloop}, {kPortsByRole}, "a port per tensor", kSayable},
  };
  return all;
}

// What a question has nothing to do with.
std::span<const Absence> absences() {
  using Some = std::vector<Trait>;
  const auto together = [](std::initializer_list<Some> sets) {
    Traits all;
    for (const Some& set : sets)
      for (const Trait one : set) all.add(one);
    return all;
  };
  const Some networks{kUnrelated, kResidency, kOutside, kTiles}, asked_of_networks{kInferences, kDeadline};
  const Some searches{kLocal,   kGenetic, kRandom, kExhaustive,  kGoma,
                      kRuntime, kEnergy,  kEd2p,   kPerfPerWatt, kEdpOverUtilization,
                      kGap,     kBudget,  kThreads};
  const Some exports{kPredict, kCertificate, kGap, kLegal, kServed};
  static const std::vector<Absence> all{
      {kNetwork, {kLegal, kServed}},
      {kMap, together({networks, {kLegal, kServed}})},
      {kFrontier, together({networks, {kLegal, kServed}})},
      {kWorkload, together({networks, {kLegal, kServed}})},
      {kSweep, {kSave, kPredict, kLegal}},
      {kDesign, {kSave, kCertificate, kPredict, kBudget, kGoma, kLegal}},
      {kVerify, together({networks, asked_of_networks, {kPredict, kSave, kCertificate, kLegal, kServed}})},
      {kTimeloop, together({networks, asked_of_networks, exports})},
      {kZigzag, together({networks, asked_of_networks, exports})},
      {kC, together({networks, asked_of_networks, exports})},
      {kFlexion, together({networks,
                           asked_of_networks,
                           searches,
                           {kPredict, kRubyS, kRubyT, kRuby, kPadding, kTimeloopRules, kQuickflow, kSave, kCertificate,
                            kLegal, kServed}})},
      {kCount, together({networks, asked_of_networks, searches, {kPredict, kSave, kCertificate, kServed}})},
  };
  return all;
}

std::span<const TraitInfo> all_traits() { return kTraits; }

const TraitInfo& info_of(Trait trait) { return kTraits[static_cast<std::size_t>(trait)]; }

std::optional<Trait> trait_named(TraitGroup group, std::string_view name) {
  const auto found =
      std::ranges::find_if(kTraits, [&](const TraitInfo& one) { return one.group == group && one.name == name; });
  return found == kTraits.end() ? std::nullopt : std::optional(found->trait);
}

Traits& Traits::add(TraitGroup group, std::string_view name) {
  const std::optional<Trait> found = trait_named(group, name);
  return found ? add(*found) : *this;
}

std::optional<Trait> Traits::first_of(const Traits& others) const {
  const std::bitset<kTraitCount> both = bits_ & others.bits_;
  for (std::size_t i = 0; i < kTraitCount; ++i)
    if (both.test(i)) return static_cast<Trait>(i);
  return std::nullopt;
}

std::optional<Refused> refused(const Traits& question) {
  for (const Refusal& row : refusals()) {
    const std::optional<Trait> beside = question.first_of(row.beside), offender = question.first_of(row.refused);
    if (!beside || !offender) continue;
    std::string what(row.what);
    if (const std::size_t at = what.find("{}"); at != std::string::npos) what.replace(at, 2, info_of(*beside).name);
    return Refused{*beside, *offender, std::move(what), std::string(row.instead)};
  }
  return std::nullopt;
}

void check_works(std::string_view command, const Traits& question, std::string_view option) {
  const std::optional<Refused> found = refused(question);
  if (!found) return;
  const std::string_view key = option.empty() ? info_of(found->refused).option : option;
  throw InputError(Diagnostic{std::string(command), 0, 0, std::string(key), found->what, found->instead, ""});
}

}  // namespace pliant
