// SPDX-License-Identifier: Apache-2.0
// The ledger of the proof: one row a bound, with its inequality, its function and its test. docs/dev/proof has the
// symbols and the arguments.
//
// The function that makes a bound passes it through at_least(), at_most() or sure() with the name of its row, which
// return it as it is. In a build with PLIANT_LEDGER a row can be switched off (PLIANT_WITHOUT=L3.2,L3.5: something
// weaker that needs no argument) or broken (PLIANT_BREAK=L3.2: something that does not hold). So a command shows that
// the test of every row can fail (scripts/break-bounds), and what every row is worth (bench/bounds.py).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace pliant::exact {

struct LedgerRow {
  std::string_view id, claim;  ///< the inequality, in the symbols of docs/dev/proof
  std::string_view function, test;
  std::string_view holds;  ///< factorizations and conventions; empty: all
};

inline constexpr std::array kLedger = std::to_array<LedgerRow>({
    {"L1.1", "T >= c * product over dims of ceil(D / s)", "least_steps", "Lemma.StepsOfAnUnrolling",
     "equal with perfect factors"},
    {"L2.1", "S to the MACs >= max(M / U, W)", "ChoiceBounds::ChoiceBounds", "Lemma.FloorOfAnUnrolling", ""},
    {"L2.2", "outside all fanouts S >= W, V >= W of every pair", "ChoiceBounds::energy_outside_fanouts",
     "Lemma.FloorOfAnUnrolling", ""},
    {"L2.3", "C >= words of L2.2 that a port carries / its bandwidth", "ChoiceBounds::cycles_outside_fanouts",
     "Lemma.FloorOfAnUnrolling", ""},
    {"L3.1", "S >= Q(p) * W and V >= A(c) * W", "Costs::least", "Lemma.EachTransferMovedOnce", ""},
    {"L3.2", "copies that work along a dim >= (b - 1) * r + 1, b the outermost bound and r the product of the others",
     "CertainCopies::count", "Lemma.EachTransferMovedOnce", "remainders"},
    {"L3.3", "copies of a sum <= product over dims that outputs do not use of min(s, D)", "Costs::count_sums",
     "Lemma.EachTransferMovedOnce", "remainders"},
    {"L3.4", "F(l) <= W * copies of a sum outside l; with windows times instances and points", "Costs::first_arrivals",
     "Lemma.EachTransferMovedOnce", ""},
    {"L3.5", "a * w - b * f >= a * W' - b * F + min(a, b) * max(0, F - W') where f <= min(w, F) and w >= W'",
     "cost_of_begun", "Lemma.SumsThatBeginAtACopyLeaveIt", "remainders; outputs with windows"},
    {"L3.6", "a * w - b * f >= s * w - (s - a + b) * F where f <= min(w, F), a - b <= s <= a",
     "Costs::no_more_firsts_than_words", "Lemma.EachTransferMovedOnce", "outputs with windows"},
    {"L3.7", "values that units need along a rank >= B * a + A * b - A * B, or k * a + A * (b - k) where B = 1",
     "NeededWindows::NeededWindows", "Lemma.UnitsAreBroughtWhatTheyWorkOn", "physical"},
    {"L3.8", "S >= share of windows that differ * values that units need", "NeededWindows::asked_for",
     "Lemma.UnitsAreBroughtWhatTheyWorkOn", "physical; perfect factors, Ruby-S"},
    {"L3.9", "a memory holds >= the words of tiles of one iteration", "ChoiceBounds::list_fitting",
     "Lemma.LeastOfAnUnrollingAndSharedCapacityOfAChoice", ""},
    {"L3.10", "Q(p) >= copies of p * units under networks that share no word of x", "Costs::asking_copies",
     "Lemma.UnitsUnderNetworksThatShareNothingAskEachForItself", ""},
    {"L3.11", "energy of a delivered bit >= sum over fanouts of their energy / children that share it further in",
     "Costs::network_pj", "Lemma.EachTransferMovedOnce", ""},
    {"L3.12", "words saved where an output is finished <= p - f, and 0 where units have parts of its sum",
     "Costs::finished_saves", "Lemma.EachTransferMovedOnce", ""},
    {"L3.13", "reduced copies of a word that work >= half of them for each bound above 1", "Costs::reduced_between",
     "Lemma.EachTransferMovedOnce", "quickflow"},
    {"L3.14", "S of an operand that stays >= words of the dims that move it * copies that work", "Costs::staying",
     "Lemma.EachTransferMovedOnce", "quickflow"},
    {"L4.1", "words across a border >= least over first loops and tiles that fit of W * rounds of unused dims",
     "SharedCapacity::at", "Lemma.SharedCapacityOfEnergyOfPortsAndOfBoth", ""},
    {"L4.2", "a tensor that passes comes again if its share of the tile overflows its own memory",
     "SharedCapacity::Tiles::comes_again", "PassingTensors.StayWhereTheMemoriesOfAllUnitsHoldThem", ""},
    {"L4.3", "words in an outer memory >= words of the tile * units between", "Tiling::fitting_outside",
     "Lemma.TilesThatJustFitIntoTheMemoryOutside", ""},
    {"L4.4", "pairs of a unit and a round >= product over dims of max(rounds, D / tile of a unit)",
     "SharedCapacity::Tiles::pairs", "Lemma.SharedCapacityOfEnergyOfPortsAndOfBoth", "remainders"},
    {"L4.5", "rounds outside a tile of n * inside >= D / (s * n)", "KnownGrowths::list_rounds",
     "Lemma.LeastOfAnUnrollingAndSharedCapacityOfAChoice", "Ruby, Ruby-T, padding"},
    {"L4.6", "rounds outside a memory >= ceil(left / units outside)", "KnownGrowths::list_reachable",
     "Lemma.LeastOfAnUnrollingAndSharedCapacityOfAChoice", "Ruby-S"},
    {"L4.7", "value >= least over the tiles of one memory of the objective of all functionals together",
     "least_of_border_tiles", "Lemma.TilesOfAMemoryThatOtherTensorsGoPast", "remainders"},
    {"L4.8", "a transfer inside the border comes again if what a unit works on overflows its memory",
     "BorderTiles::overflows_inside", "Lemma.LeastOfAnUnrollingAndSharedCapacityOfAChoice", "remainders"},
    {"L5.1", "S = W * R * unshared copies inside / shared copies outside, V = W * R * copies inside",
     "ChargeTables::perfect_words", "Lemma.WordsOfOneTransfer", "perfect factors"},
    {"L5.2", "repeats >= (ceil(R / shared) - 1) * counted units inside + those of the last", "fewest_iterations",
     "Lemma.WordsOfOneTransfer", "remainders"},
    {"L5.3", "counted units of the last tile >= the fewest that a chain of loops leaves", "fewest_iterations",
     "Lemma.WordsOfOneTransfer", "remainders"},
    {"L5.4", "repeats >= D * counted units / (tile * shared)", "ChargeTables::covering_repeats",
     "Lemma.WordsOfOneTransfer", "quickflow with remainders"},
    {"L5.5", "words of a short window >= its share of the tile * words of a full one",
     "WindowWords::short_last_windows", "Lemma.WordsOfOneTransfer", "remainders"},
    {"L5.6", "S >= words of a window * windows that differ, or the union where a network unites them",
     "WindowWords::side_by_side", "Lemma.TablesOfEnergyAndOfEveryPort", ""},
    {"L5.7", "V >= distinct values of the window that a run covers", "WindowWords::of_the_run",
     "Lemma.WordsOfOneTransfer", ""},
    {"L5.8", "S >= distinct values of all units' windows as one, where units split the dim of the slide",
     "WindowWords::past_neighbours", "Lemma.AWindowSlidesPastItsNeighbours", ""},
    {"L5.9", "words of all units >= distinct values of their windows as one, where windows have holes",
     "WindowWords::over_holes", "Lemma.WordsOfWindowsWithHoles", ""},
    {"L5.10", "words over all iterations and units of a dim >= distinct values over the dim",
     "WindowWords::divided_slide", "Lemma.ASlideThatGoesOnFurtherOutBringsEveryValueOnce", ""},
    {"L5.11", "S beyond a fanout further out >= least share of windows that differ, over all tiles under it",
     "WindowWords::at", "Lemma.WordsOfWindowsWithHoles", ""},
    {"L5.12", "share of operands asked for word by word >= least share of windows that differ", "window_sharing",
     "Lemma.UnitsShareWindowsUnderLoopsOfTheirOwn", ""},
    {"L5.13", "S to the MACs >= elements * product over unused dims of ceil(D / shared units)", "compute_words",
     "Lemma.EachTransferMovedOnce", ""},
    {"L5.14", "words = sum over tiles side by side, all full but the last", "WindowWords::one_by_one",
     "Lemma.WordsOfOneTransfer", "remainders"},
    {"L5.15", "words >= values of the whole rank, in every iteration of the other dims",
     "WindowWords::every_value_once", "Lemma.EveryValueOfAWindowComesOnce", ""},
    {"L5.16", "words under remembered displacements >= values of the whole rank",
     "WindowWords::remembered_displacements", "Lemma.WordsOfWindowsWithHoles", "timeloop"},
    {"L5.17", "words >= words of the slide * iterations further out that bring whole windows",
     "WindowWords::follow_slide", "Lemma.LoopsFurtherOutBringWholeWindowsUnlessTheDisplacementIsKnown",
     "timeloop, perfect factors"},
    {"L5.18", "windows coefficient * tile apart share nothing if that is >= 1 + sum of coefficient * (tile - 1)",
     "windows_apart", "Lemma.WordsOfWindowsWithHoles", "perfect factors"},
    {"L5.19", "an output is unfinished if loops or units over dims that sum are left outside",
     "ChargeTables::forbid_unfinished", "PartialSums.ExactAgreesWithEnumeration", "partial_sums: none"},
    {"L5.20", "a slide may be charged where it begins if moving its loops out is no worse", "WindowWords::WindowWords",
     "Lemma.UnitsDivideASlideThatGoesOn", ""},
    {"L6.1", "functional of every mapping of a choice >= last entry of its table", "Lattice::solve",
     "Lemma.TablesOfEnergyAndOfEveryPort", ""},
    {"L7.1", "functional of what follows an entry >= sum of L3.1 over pairs not charged", "Lattice::still_to_pay",
     "Lemma.TablesCutOffAtALimit", ""},
    {"L7.2", "what follows at the outermost memory >= least over first loops of what they move",
     "StepSearch::least_of_first_loop", "Lemma.TablesCutOffAtALimit", ""},
    {"L7.3", "value >= min(bound, limit at which tables were cut off)", "ChoiceSearch::run",
     "Lemma.BoundOfAChoiceThatWasCutOff", ""},
    {"L8.1", "C >= min(ceil(b), next multiple of c) where steps or a load reach b", "whole_cycles",
     "Lemma.RegionOfEnergyAndCycles", ""},
    {"L8.2", "E + slope * C >= E + slope * load of any port", "Region::cut", "Lemma.RegionOfEnergyAndCycles", ""},
    {"L9.1", "of spatial bounds that leave the same iterations the smallest is no worse",
     "SpatialBounds::SpatialBounds", "Lemma.ChoicesThatAreNotListed", "remainders"},
    {"L9.2",
     "units that never work make nothing better; of layouts with equal factors one that can stand wherever another is "
     "worth it will do",
     "Unroller::list_splits", "Lemma.ChoicesThatAreNotListed", "Ruby, Ruby-S"},
    {"L9.3", "mirrored unrollings have mirrored mappings of equal counts", "find_mirror",
     "Mirror.IsNotFoundWhereAnythingDoes", "remainders"},
    {"L9.4", "words along a batch dim are those of one iteration times the iterations", "find_batch_dim",
     "BatchDim.IsNotFoundWhereItsFactorsDiffer", ""},
    {"L9.5", "iterations of a batch dim of which memories outside hold all", "find_batch_dim",
     "BatchDim.FitsAsOftenAsMemoriesOutsideTheUnitsHoldAllOfIt", ""},
    {"L9.6", "of bounds in time that leave the same iterations the smallest is no worse", "ChainBuilder::ChainBuilder",
     "Certificates.AWiderBoundMaySaveACycleUnderDemandRatio", "Ruby, Ruby-T"},
    {"L9.7", "unrollings with equal units along unused dims cost a tensor without windows the same",
     "ChoiceBounds::ChoiceBounds", "Lemma.UnrollingsOfTheSameUnitsCostATensorWithoutWindowsTheSame", "perfect factors"},
    {"L9.8", "of unrollings of a network with equal products one that stands wherever another does is no worse",
     "only_products_count", "Lemma.UnrollingsOfANetworkWithEqualProducts", "several fanouts"},
    {"L10.1", "T to a final node = c * product over dims of its iterations in time", "Lattice::steps_to",
     "Lemma.BoundOfAChoiceThatWasCutOff", "Ruby-S"},
    {"L10.2", "a dim takes only iterations in time that leave nothing outside", "DurationChoices::of_dim",
     "Lemma.DurationsOfAnUnrolling", "Ruby-S"},
    {"L11.1", "C of a systolic array >= T + fixed fills", "Costs::port", "Lemma.EachTransferMovedOnce",
     "systolic arrays"},
    {"L11.2", "fills >= (shift + skew / words of a tile) * words delivered / copies", "Costs::charge_array",
     "Lemma.TablesOfEnergyAndOfEveryPort", "systolic arrays"},
    {"L12.1", "R of a group >= that of its largest tile", "GroupedChain::fill", "Lemma.TablesOfGroupsOfTiles",
     "Ruby, Ruby-T"},
    {"L12.2", "repeats of a group >= max((ceil(R / shared) - 1) * counted + 1, D * counted / (tile * shared))",
     "fewest_of_groups", "Lemma.UnitsThatMayBeIdleUnderGroups", "Ruby, Ruby-T"},
    {"L12.3", "words of a group * R >= least of it over its tiles", "WindowWords::least_of_group",
     "Lemma.WordsOfGroupsOfTiles", "Ruby, Ruby-T"},
    {"L12.4", "value >= least over paths of groups of their value in energy, ports and steps",
     "ChoiceSearch::least_of_paths", "Lemma.PathsOfGroups", "Ruby, Ruby-T"},
    {"L13.1", "T of a dim >= (ceil(n / U) - 1) * t + the last, n = ceil(D / (u t)) tiles of a memory", "fewest_steps",
     "Lemma.TablesWithoutSlowMappings", "Ruby"},
    {"L13.2", "T >= c * product over dims of the most that L13.1 says of the dim at a memory", "Boxes::slow_down",
     "Lemma.StepsOfAPath", "Ruby"},
    {"L14.1", "no mapping leaves no remainder where a fixed tile is no divisor", "ExactMapper::prove_parts",
     "Certificates.OfRememberedDisplacementsWithRemainders", "timeloop with remainders"},
    {"L15.1", "loops that move nothing pending come first at no cost", "StepSearch::place",
     "ExactMapper.EqualsExhaustiveWithSystolicArrays", ""},
    {"L16.1", "copies that work >= those of the factors decided", "DecidedWords::copies_of",
     "Lemma.FactorsThatAreDecided", ""},
    {"L16.2", "MACs that a word serves along an unused dim <= D / ceil(D / s)", "DecidedWords::copies_of",
     "Lemma.FactorsThatAreDecided", ""},
    {"L16.3", "units whose windows are equal <= product of a / (1 + sum of (a - 1))", "DecidedWords::sharing_windows",
     "Lemma.FactorsThatAreDecided", ""},
    {"L16.4", "copies of a sum that begin <= product of min(s, D) * units left", "DecidedWords::copies_of",
     "Lemma.FactorsThatAreDecided", ""},
    {"L16.5", "sum over T of b / s >= size of T * geometric mean of b / U^e", "DecidedWords::together",
     "Lemma.FactorsThatAreDecided", ""},
    {"L16.6", "C >= words of the innermost keepers / (bandwidth * instances)", "DecidedWords::port_cycles",
     "Lemma.FactorsThatAreDecided", ""},
    {"L16.7", "T >= c * product over dims of ceil(D / s) / units that are open", "DecidedFactors::iterations",
     "Lemma.FactorsThatAreDecided", "several fanouts"},
    {"L16.8", "a sum that begins where sums leave is read once more", "DecidedWords::energy",
     "Lemma.FactorsThatAreDecided", ""},
    {"L16.9", "what shares no more words by no more units costs no less", "DecidedFactors::find_frontier",
     "Lemma.WhatTheLastFanoutsShareAtBest", "several fanouts"},
    {"L16.10", "value >= floor of the last fanouts' factors with everything else open", "DecidedFactors::sharing",
     "Lemma.WhatTheLastFanoutsShareAtBest", "several fanouts"},
    {"L16.11", "value >= floor of the last fanouts' factors after all others", "DecidedFactors::least_of_each",
     "Lemma.FactorsThatAreDecided", "several fanouts"},
    {"L16.12", "value of what is not listed >= the least floor left out", "DecidedFactors::least_of_each",
     "UnrollingTree.WhatTheLastFanoutLeavesOutIsSaid", "several fanouts"},
    {"L16.13", "of f units in rows and columns f / 2 + 1 copies work, or more", "DecidedWords::copies_of",
     "Lemma.FactorsOfOneFanout", "remainders"},
    {"L16.14", "value >= floor of some factors of one fanout with everything else open", "FanoutFloors::least",
     "Lemma.FactorsOfOneFanout", ""},
    {"L16.15", "value >= L4.7 where open fanouts are loops in time, but begin U * F sums and serve S / U words",
     "InnermostNetwork::least", "Lemma.UnrollingsOfTheInnermostNetwork", "several fanouts, remainders"},
});

/// The name of a row, as an argument of a template; one that is not in the ledger does not compile.
struct RowName {
  template <std::size_t N>
  consteval RowName(const char (&name)[N]) {  // NOLINT(google-explicit-constructor): so that a literal will do
    static_assert(N <= sizeof(id));
    std::copy_n(name, N, id);
    if (std::ranges::find(kLedger, std::string_view(name), &LedgerRow::id) == kLedger.end()) throw "no such row";
  }
  char id[8]{};
};

enum class RowState : std::uint8_t { kOn, kOff, kBroken };

#ifdef PLIANT_LEDGER
RowState row_state(std::string_view id);  ///< by the environment
template <RowName row>
RowState state_of() {
  static const RowState known = row_state(row.id);
  return known;
}
#else
template <RowName>
constexpr RowState state_of() {
  return RowState::kOn;
}
#endif

/// A length from which on lists are cut, or come in parts. Tasks that can be enumerated have none so long; so in a
/// build with PLIANT_LEDGER the environment makes it a small one (PLIANT_FEW=1), for the campaign.
#ifdef PLIANT_LEDGER
std::size_t length(std::size_t usual, std::size_t few);
#else
constexpr std::size_t length(std::size_t usual, std::size_t) { return usual; }
#endif

/// A lower bound; something weaker that holds without the row.
template <RowName row>
constexpr double at_least(double bound, double weaker) {
  const RowState state = state_of<row>();
  return state == RowState::kOn ? bound : state == RowState::kOff ? weaker : bound > 0 ? 2 * bound : bound / 2;
}

/// An upper bound.
template <RowName row>
constexpr double at_most(double bound, double weaker) {
  const RowState state = state_of<row>();
  return state == RowState::kOn ? bound : state == RowState::kOff ? weaker : bound > 0 ? bound / 2 : 2 * bound;
}

/// Something that the proof may rely on where it is true.
template <RowName row>
constexpr bool sure(bool holds) {
  const RowState state = state_of<row>();
  return state == RowState::kOn ? holds : state == RowState::kBroken;
}

}  // namespace pliant::exact
