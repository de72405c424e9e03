// SPDX-License-Identifier: Apache-2.0
#include "dse/studies/isolation_orders.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "dse/studies/flexibility_paper.h"
#include "dse/studies/solved_once.h"
#include "dse/studies/study_table.h"

namespace pliant {
namespace {

/// The order of InFlex-0100 (Sec. 6.3). The paper writes the outermost loop first.
constexpr std::string_view kOutputStationary = "YXKCRS";

/// Figure 9's column "Chosen", with the runtime beside it, InFlex-0100 = 1.
struct ChosenOrder {
  const char *design, *layer;
  std::string_view order;
  double printed;
};
constexpr std::array kChosen = {
    ChosenOrder{"PartFlex-0100", "L16", "KCRSYX", 0.82}, ChosenOrder{"FullFlex-0100", "L16", "CXYKRS", 0.80},
    ChosenOrder{"PartFlex-0100", "L21", "KCRSYX", 0.77}, ChosenOrder{"FullFlex-0100", "L21", "CKXYRS", 0.74},
    ChosenOrder{"PartFlex-0100", "L29", "KCRSYX", 1.00}, ChosenOrder{"FullFlex-0100", "L29", "KCXYRS", 0.997}};
/// The same for FullFlex-1111, whose tiles, parallel dims and shape are free beside the order.
constexpr std::array kChosenOfAll = {ChosenOrder{"FullFlex-1111", "L16", "YCKSXR", 0.002},
                                     ChosenOrder{"FullFlex-1111", "L21", "KCYRXS", 0.002},
                                     ChosenOrder{"FullFlex-1111", "L29", "KSYRXC", 0.0003}};
constexpr std::array<const char*, 3> kLayers = {"L16", "L21", "L29"};

/// The bandwidths of study_isolation, both directions together.
constexpr std::array<const char*, 12> kBandwidthsOfOrders = {"6.4",   "12.8", "25.6",  "51.2", "102.4", "128",
                                                             "204.8", "256",  "409.6", "512",  "819.2", kNoLimit};

/// Where all orders of a layer are priced: bound by bandwidth, and at the bandwidth of the study.
constexpr std::array<std::string_view, 2> kAllOrdersAt = {"102.4", kPaperBandwidth};

std::vector<std::string> dims_of(std::string_view order) {
  std::vector<std::string> dims;
  for (const char letter : order)  // K, Y and X of the paper are M, P and Q here
    dims.emplace_back(1, letter == 'K' ? 'M' : letter == 'Y' ? 'P' : letter == 'X' ? 'Q' : letter);
  return dims;
}

/// Layers of MnasNet under one bandwidth.
class FixedOrders {
 public:
  FixedOrders(const StudyContext& context, const std::string& bandwidth)
      : context_(context),
        network_(load_workload(context.library, "flexpaper_mnasnet")),
        reference_(
            load_accelerator(context.library, "flexref",
                             {{kBandwidthKeys[0], half_of(bandwidth)}, {kBandwidthKeys[1], half_of(bandwidth)}})) {}

  const Layer& layer(std::string_view name) const {
    return std::ranges::find_if(network_.layers, [&](const auto& one) { return one.layer.name == name; })->layer;
  }
  /// The fastest mapping of a class in which both memories that loop have this order and no other.
  double cycles(const char* flexibility, const char* name, std::string_view order) const {
    Accelerator fixed = choose_flexibility(context_.library, flexibility, reference_);
    const Layer& one = layer(name);
    Flexibility rules = fixed.flexibility_of(one);
    for (std::size_t l = 0; l < fixed.levels.size(); ++l)
      if (fixed.levels[l].name == "DRAM" || fixed.levels[l].name == "Buffer")
        rules.levels[l].order.allowed = {OrderPattern{dims_of(order), std::nullopt}};
    fixed.flexibility = std::move(rules);
    fixed.flexibility_for.clear();
    const SearchResult best =
        solve(context_, fixed, {.layer = one, .factorization = Factorization::kRubyS, .objective = Objective::kRuntime},
              solved_);
    if (!best.certified) throw StudyError(fmt::format("{} in the order {} is not proven", name, order));
    return best.value;
  }
  double beside_baseline(const char* flexibility, const char* name, std::string_view order) const {
    return cycles(flexibility, name, order) / cycles("InFlex-0000", name, kOutputStationary);
  }

 private:
  const StudyContext& context_;
  Workload network_;
  Accelerator reference_;
  SolvedOnce solved_;  ///< the baseline comes up beside every order
};

/// Every order of the dims that a layer has, the rest of the design as in InFlex: how many of them are as good as the
/// best ("many different orders will end up with the similar runtime").
void all_orders(const FixedOrders& fixed, const char* name, const std::string& bandwidth, StudyResult& result) {
  std::string letters;
  for (const char letter : std::string_view("CKRSXY")) {
    const int dim = fixed.layer(name).find_dim(dims_of(std::string(1, letter))[0]);
    if (dim >= 0 && fixed.layer(name).dims[static_cast<std::size_t>(dim)].size > 1) letters += letter;
  }
  std::vector<double> cycles;
  do cycles.push_back(fixed.cycles("InFlex-0000", name, letters));
  while (std::ranges::next_permutation(letters).found);
  const double least = std::ranges::min(cycles);
  const auto near = std::ranges::count_if(cycles, [&](double one) { return one <= 1.01 * least; });
  result.found(fmt::format("orders of {}{}", name, under(bandwidth)), static_cast<double>(cycles.size()));
  result.found(fmt::format("orders of {} within 1 % of the fastest{}", name, under(bandwidth)),
               static_cast<double>(near));
  result.found(fmt::format("slowest order of {} over the fastest{}", name, under(bandwidth)),
               std::ranges::max(cycles) / least);
}

}  // namespace

void chosen_orders(const StudyContext& context, StudyResult& result) {
  DataTable table = table_of({"bandwidth", "design", "layer", "order", "printed", "runtime"});
  for (const char* bandwidth : kBandwidthsOfOrders) {
    if (context.quick && std::string_view(bandwidth) != kPaperBandwidth) continue;
    const FixedOrders fixed(context, bandwidth);
    const auto add = [&](const ChosenOrder& one, const char* flexibility) {
      const double ours = fixed.beside_baseline(flexibility, one.layer, one.order);
      const bool paper = std::string_view(bandwidth) == kPaperBandwidth;
      result.found(fmt::format("{} {} runtime with the chosen {}{}", one.design, one.layer, one.order,
                               paper ? "" : under(bandwidth)),
                   ours);
      add_row(table, bandwidth_label(bandwidth), std::string(one.design), std::string(one.layer),
              std::string(one.order), one.printed, ours);
    };
    for (const ChosenOrder& one : kChosen) add(one, "InFlex-0000");
    for (const ChosenOrder& one : kChosenOfAll) add(one, "FullFlex-1011");
    if (context.quick || std::ranges::find(kAllOrdersAt, std::string_view(bandwidth)) == kAllOrdersAt.end()) continue;
    for (const char* name : kLayers) all_orders(fixed, name, bandwidth, result);
  }
  result.tables.emplace_back("chosen_orders", std::move(table));
}

}  // namespace pliant
