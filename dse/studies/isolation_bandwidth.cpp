// SPDX-License-Identifier: Apache-2.0
#include "dse/studies/isolation_bandwidth.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "dse/studies/flexibility_paper.h"
#include "dse/studies/study_sweep.h"
#include "dse/studies/study_table.h"

namespace pliant {
namespace {

/// Printed and ours are taken to agree within this share, as in every comparison.
constexpr double kNear = 0.05;

/// A speedup that the paper prints, of one class over another on the whole of MnasNet.
struct PrintedSpeedup {
  const char* axis;
  const char* sweep;
  const char *slow, *fast;  ///< as the sweep calls them
  const char* quantity;     ///< as in published.csv
  double published;
};
constexpr std::array kPrinted = {
    PrintedSpeedup{"T: tile sizes", "study_isolation", "InFlex-0000", "FullFlex-1000",
                   "model speedup of FullFlex-1000 over InFlex", 4.8},
    PrintedSpeedup{"T: soft over hard partition", "study_isolation", "PartFlex-1000", "FullFlex-1000",
                   "model speedup of FullFlex-1000 over PartFlex-1000", 1.9},
    PrintedSpeedup{"O: loop order", "study_isolation", "InFlex-0000", "FullFlex-0100",
                   "model speedup of FullFlex-0100 over InFlex", 1.12},
    PrintedSpeedup{"P: parallel dims", "study_isolation", "InFlex-0000", "FullFlex-0010",
                   "model speedup of FullFlex-0010 over InFlex", 1.6},
    PrintedSpeedup{"P: over two pairs", "study_isolation", "PartFlex-0010", "FullFlex-0010",
                   "model speedup of FullFlex-0010 over PartFlex-0010", 1.3},
    PrintedSpeedup{"S: array shape", "study_shape", "FullFlex-1100", "FullFlex-1101",
                   "model speedup of FullFlex-0001 over InFlex", 1.05}};

std::string bandwidth_name(double bytes_per_cycle) {
  return fmt::format("{}", bytes_per_cycle) == kNoLimit ? "unlimited" : fmt::format("{}", bytes_per_cycle);
}

/// A panel for each speedup: ours over bandwidth, and the paper's with what is within 5 % of it.
Chart speedup_curves(DataTable table) {
  Chart chart{
      "bandwidth_curves", "Speedups of one axis on MnasNet over the bandwidth of the DRAM", {}, std::move(table)};
  nlohmann::ordered_json panels;
  for (const PrintedSpeedup& printed : kPrinted) panels.push_back(printed.axis);
  const auto y = [](const char* field) {
    return nlohmann::ordered_json{{"field", field},
                                  {"type", "quantitative"},
                                  {"scale", {{"type", "log"}, {"domain", {0.9, 20}}}},
                                  {"axis", {{"values", {1, 2, 5, 10, 20}}}},
                                  {"title", "speedup"}};
  };
  const auto beside = [](double share, const char* name) {
    return nlohmann::ordered_json{{"calculate", fmt::format("datum.published * {}", share)}, {"as", name}};
  };
  const nlohmann::ordered_json x = {{"field", "bytes_per_cycle"},
                                    {"type", "quantitative"},
                                    {"scale", {{"type", "log"}, {"nice", false}}},
                                    {"axis", {{"values", {10, 100, 1000}}, {"format", "d"}}},
                                    {"title", "bytes per cycle"}};
  chart.spec = {
      {"title", {{"subtitle", "line: ours, proven (right end: no limit); band: what the paper prints, within 5 %"}}},
      {"facet", {{"field", "axis"}, {"type", "nominal"}, {"sort", panels}, {"title", nullptr}}},
      {"columns", 3},
      {"spec",
       {{"width", 190},
        {"height", 140},
        {"transform", {beside(1 - kNear, "least"), beside(1 + kNear, "most")}},
        {"encoding", {{"x", x}}},
        {"layer",
         {{{"mark", {{"type", "area"}, {"color", "#E69F00"}, {"opacity", 0.55}}},
           {"encoding", {{"y", y("least")}, {"y2", {{"field", "most"}}}}}},
          {{"mark", {{"type", "line"}, {"point", {{"color", "#0072B2"}}}, {"color", "#0072B2"}}},
           {"encoding", {{"y", y("speedup")}}}}}}}}};
  return chart;
}

}  // namespace

void isolation_over_bandwidth(const StudyContext& context, StudyResult& result) {
  constexpr double kRightEnd = 3276.8;  // where the picture shows what no bandwidth limits
  std::map<std::string, Rows> designs;
  for (const char* sweep : {"study_isolation", "study_shape"})
    designs.emplace(sweep, run_study_sweep(context, sweep).designs);
  DataTable table = table_of({"bytes_per_cycle", "bandwidth", "axis", "quantity", "speedup", "published"});
  for (const PrintedSpeedup& printed : kPrinted) {
    const Rows& rows = designs.at(printed.sweep);
    int agree = 0;
    for (const std::string& half : rows.values(kHalfColumn)) {
      const std::string bandwidth = both_halves(half);
      const auto runtime = [&](const char* flexibility) {
        return rows.number({{kHalfColumn, half}, {"flexibility", flexibility}}, "runtime_cycles");
      };
      const double speedup = runtime(printed.slow) / runtime(printed.fast);
      const std::string name = bandwidth_name(std::stod(bandwidth));
      agree += std::abs(speedup / printed.published - 1) <= kNear ? 1 : 0;
      result.found(fmt::format("{}, {} bytes/cycle", printed.quantity, name), speedup);
      add_row(table, bandwidth == kNoLimit ? kRightEnd : std::stod(bandwidth), name, std::string(printed.axis),
              std::string(printed.quantity), speedup, printed.published);
    }
    result.found(fmt::format("bandwidths of twelve with {} within 5 % of print", printed.quantity), agree);
  }
  result.charts.push_back(speedup_curves(table));
  result.tables.emplace_back("bandwidth_curves", std::move(table));
}

void buffers_over_bandwidth(const StudyContext& context, StudyResult& result) {
  const SweepData data = run_study_sweep(context, "study_buffers", [&](Sweep& sweep) {
    if (!context.quick) return;
    keep_layers(sweep, {"L01", "L16"});
    keep_values(sweep, kBandwidthKeys[0], {kPaperHalf});
  });
  constexpr const char* kCapacity = "set_Buffer_capacity_words";
  constexpr const char *kLargest = "102400", *kSmall = "800";
  DataTable table = table_of({"bandwidth", "buffer_bytes", "design", "runtime"});
  nlohmann::ordered_json bandwidths;  // in the order of the sweep; a column would sort them as words
  for (const std::string& half : data.designs.values(kHalfColumn)) {
    const std::string bandwidth = both_halves(half);
    const auto runtime = [&](const std::string& bytes, const std::string& flexibility) {
      return data.designs.number({{kHalfColumn, half}, {kCapacity, bytes}, {"flexibility", flexibility}},
                                 "runtime_cycles");
    };
    const auto soft_gain = [&](const char* bytes) {
      return runtime(bytes, "PartFlex-1000") / runtime(bytes, "FullFlex-1000");
    };
    const std::string name = bandwidth_name(std::stod(bandwidth));
    bandwidths.push_back(name);
    for (const std::string& bytes : data.designs.values(kCapacity))
      for (const char* flexibility : {"PartFlex-1000", "FullFlex-1000"})
        add_row(table, name, std::stod(bytes), std::string(flexibility),
                runtime(bytes, flexibility) / runtime(kLargest, "FullFlex-1000"));
    if (context.quick) continue;
    const std::string at = bandwidth == kPaperBandwidth ? "" : fmt::format(", {} bytes/cycle", name);
    result.found("runtime with 6.4 KB over runtime with 100 KiB, FullFlex-1000" + at,
                 runtime("6400", "FullFlex-1000") / runtime(kLargest, "FullFlex-1000"));
    result.found("gain of soft over hard partition with 800 B over the gain with 100 KiB" + at,
                 soft_gain(kSmall) / soft_gain(kLargest));
    result.found("gain of soft over hard partition with 800 B" + at, soft_gain(kSmall));
  }
  Chart chart{"fig08_buffers", "Runtime against buffer size, tiles flexible", {}, std::move(table)};
  chart.spec = {
      {"mark", {{"type", "line"}, {"point", true}}},
      {"width", 180},
      {"encoding",
       {{"x",
         {{"field", "buffer_bytes"},
          {"type", "quantitative"},
          {"scale", {{"type", "log"}, {"nice", false}}},
          {"title", "buffer, bytes"}}},
        {"y", {{"field", "runtime"}, {"type", "quantitative"}, {"title", "runtime, FullFlex at 100 KiB = 1"}}},
        {"color", {{"field", "design"}, {"type", "nominal"}, {"title", nullptr}}},
        {"column", {{"field", "bandwidth"}, {"sort", bandwidths}, {"title", "DRAM, bytes per cycle"}}}}}};
  result.charts.push_back(std::move(chart));
}

}  // namespace pliant
