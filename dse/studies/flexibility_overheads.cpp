// SPDX-License-Identifier: Apache-2.0
#include "dse/studies/flexibility_overheads.h"

#include <fmt/format.h>

#include "core/flexibility_class.h"
#include "costmodel/area.h"
#include "costmodel/reconfiguration.h"
#include "dse/studies/flexibility_paper.h"
#include "dse/studies/flexibility_parts.h"
#include "dse/studies/future_designs.h"
#include "dse/studies/study_sweep.h"
#include "dse/studies/study_table.h"

namespace pliant {
namespace {

/// configs/technology/cmos_15nm.yaml: area of a bit, and a 16-bit access to the smallest memory.
constexpr double kBitUm2 = 0.21, kBitPj = 0.135 / 16;
/// A configuration bus as wide as a control register usually is.
constexpr double kBusBits = 32;

/// Bits of an axis that switch when a PE does a MAC: its own part of what stands in every PE.
double switching_bits(const std::vector<FlexibilityPart>& parts, Axis axis, double units) {
  double bits = 0;
  for (const FlexibilityPart& part : parts)
    if (part.axis == axis && std::string_view(part.name).ends_with("of the PEs")) bits += part.bits / units;
  return bits;
}

}  // namespace

PartCosts parts_by_the_node(const StudyContext& context, StudyResult& result) {
  const Accelerator reference = load_accelerator(context.library, "flexref");
  const double base = component_area_um2(reference).total();
  const std::vector<FlexibilityPart> parts = flexibility_parts(reference);
  const auto units = static_cast<double>(reference.macs_units());
  PartCosts costs;
  for (const Axis axis : kTableAxes) {
    const double area = kBitUm2 * part_bits(parts, axis), pj = kBitPj * switching_bits(parts, axis, units);
    result.found(fmt::format("{}: parts at the node's area of a bit (um2)", axis_name(axis)), area);
    result.found(fmt::format("{}: energy of the parts, every bit switching (pJ a MAC)", axis_name(axis)), pj);
    costs.area_percent += 100 * area / base;
    costs.pj_per_mac += pj;
  }
  result.found("FullFlex overhead, parts at the node's area of a bit (%)", costs.area_percent);
  result.found("energy of all parts, every bit switching (pJ a MAC)", costs.pj_per_mac);
  for (const DistributionNetwork& network : distribution_networks(reference)) {
    const double area = kBitUm2 * network.bits, pj = kBitPj * network.bits_on_the_way;
    result.found(fmt::format("distribution by a {}: area (um2)", network.name), area);
    result.found(fmt::format("FullFlex overhead with a {} (%)", network.name), costs.area_percent + 100 * area / base);
    result.found(fmt::format("distribution by a {}: energy (pJ a MAC)", network.name), pj);
    costs.most_pj_per_mac = costs.pj_per_mac + pj;
  }
  return costs;
}

void reconfiguration_share(const StudyContext& context, StudyResult& result) {
  const Accelerator reference = load_accelerator(context.library, "flexref");
  for (const char* name : {"FullFlex-1000", "FullFlex-0100", "FullFlex-0010", "FullFlex-0001", "FullFlex-1111"}) {
    const Accelerator design = apply_class(reference, *parse_flexibility_class(name));
    const ConfigurationBits bits = configuration_bits(design, design.flexibility, 6);
    result.found(fmt::format("configuration of {} for a convolution, written once (bits)", name), bits.total_shared());
    result.found(fmt::format("configuration of {} for a convolution, PE by PE (bits)", name), bits.total_each());
  }
  const Rows designs =
      run_study_sweep(
          context, "study_future_proofing",
          [&](Sweep& sweep) {
            sweep.accelerators = {"flexref"};
            sweep.flexibilities = {"FullFlex-1111"};
            for (const char* key : kBandwidthKeys) sweep.settings.push_back({key, kPaperHalf});
            if (context.quick)
              std::erase_if(sweep.workloads, [](const Workload& w) { return w.name != "flexpaper_ncf"; });
          },
          "reconfiguration")
          .designs;
  DataTable table = table_of({"network", "configuration", "share_percent"});
  for (const FutureNetwork& network : kFutureNetworks) {
    if (!designs.has({{"workload", network.workload}})) continue;
    const double cycles = designs.number({{"workload", network.workload}}, "runtime_cycles");
    double shared = 0, each = 0, layers = 0;
    for (const Workload::Entry& entry : load_workload(context.library, network.workload).layers) {
      const auto count = static_cast<double>(entry.count);
      const ConfigurationBits bits = configuration_bits(reference, reference.flexibility_of(entry.layer),
                                                        static_cast<int>(entry.layer.dims.size()));
      layers += count;
      shared += count * reconfiguration_cycles(bits.total_shared(), kBusBits);
      each += count * reconfiguration_cycles(bits.total_each(), kBusBits);
    }
    result.found(fmt::format("{}: layers", network.name), layers);
    result.found(fmt::format("{}: cycles of FullFlex-1111", network.name), cycles);
    result.found(fmt::format("{}: configurations over runtime, written once (%)", network.name), 100 * shared / cycles);
    result.found(fmt::format("{}: configurations over runtime, PE by PE (%)", network.name), 100 * each / cycles);
    add_row(table, std::string(network.name), std::string("written once"), 100 * shared / cycles);
    add_row(table, std::string(network.name), std::string("PE by PE"), 100 * each / cycles);
  }
  if (context.quick) return;
  Chart chart{"reconfiguration", "Configurations between layers beside the runtime of all layers", {}, table};
  chart.spec = {{"mark", {{"type", "point"}, {"filled", true}, {"size", 90}}},
                {"width", 420},
                {"encoding",
                 {{"y", {{"field", "network"}, {"type", "nominal"}, {"sort", nullptr}, {"title", nullptr}}},
                  {"x",
                   {{"field", "share_percent"},
                    {"type", "quantitative"},
                    {"scale", {{"type", "log"}}},
                    {"title", "of the runtime, %"}}},
                  {"color",
                   {{"field", "configuration"},
                    {"type", "nominal"},
                    {"sort", {"written once", "PE by PE"}},
                    {"title", "configuration"}}}}}};
  result.charts.push_back(std::move(chart));
  result.tables.emplace_back("reconfiguration", std::move(table));
}

}  // namespace pliant
