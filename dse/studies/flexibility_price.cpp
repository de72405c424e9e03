// SPDX-License-Identifier: Apache-2.0
#include "dse/studies/flexibility_price.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "costmodel/report.h"
#include "dse/studies/study_table.h"
#include "dse/studies/study_task.h"

namespace pliant {
namespace {

/// flexref with accesses to its buffer that cost so many times as much.
Accelerator with_access_energy(Accelerator accelerator, double factor) {
  Memory& buffer = accelerator.levels[static_cast<std::size_t>(accelerator.find_level("Buffer"))].memory();
  buffer.read_pj *= factor;
  buffer.write_pj *= factor;
  buffer.update_pj *= factor;
  return accelerator;
}

/// The least energy of a layer over factors on accesses. Every mapping's is linear in the factor, so the least is
/// concave: between two factors it is nowhere below their chord. A mapping that is on the chord is the best there.
class LeastEnergy {
 public:
  struct Best {
    double pj = 0, cycles = 0;
    Mapping mapping;
  };
  /// `search` is asked when what is known does not decide.
  const Best& at(double factor, const Layer& layer, const Accelerator& with_factor,
                 const std::function<Best()>& search) {
    if (const auto known = known_.find(factor); known != known_.end()) return known->second;
    const auto above = known_.upper_bound(factor);
    if (above != known_.end() && above != known_.begin()) {
      const auto below = std::prev(above);
      const double part = (factor - below->first) / (above->first - below->first);
      const double chord = below->second.pj + part * (above->second.pj - below->second.pj);
      for (const Best& near : {below->second, above->second}) {
        const Totals totals = price(layer, with_factor, near.mapping).totals;
        if (totals.energy_pj <= chord * (1 + kRounding))
          return known_[factor] = {totals.energy_pj, totals.cycles, near.mapping};
      }
    }
    return known_[factor] = search();
  }

 private:
  static constexpr double kRounding = 1e-13;
  std::map<double, Best> known_;
};

/// Energies of MnasNet, mapped for energy, every layer proven.
class NetworkEnergy {
 public:
  explicit NetworkEnergy(const StudyContext& context) : context_(context) {
    for (Workload::Entry entry : load_workload(context.library, "flexpaper_mnasnet").layers) {
      macs_ += static_cast<double>(entry.layer.macs()) * static_cast<double>(entry.count);
      entry.layer.name.clear();
      const auto same = std::ranges::find(layers_, entry.layer, &Workload::Entry::layer);
      if (same == layers_.end())
        layers_.push_back(std::move(entry));
      else
        same->count += entry.count;
    }
  }

  double pj(const std::string& flexibility, double factor) { return of(flexibility, factor).pj; }
  /// With plain accesses; watts times the seconds of a cycle.
  double pj_per_cycle(const std::string& flexibility) { return of(flexibility, 1).pj / of(flexibility, 1).cycles; }
  double macs() const { return macs_; }

 private:
  struct Sums {
    double pj = 0, cycles = 0;
  };
  Sums of(const std::string& flexibility, double factor) {
    const Accelerator accelerator = with_access_energy(
        choose_flexibility(context_.library, flexibility, load_accelerator(context_.library, "flexref")), factor);
    std::vector<LeastEnergy>& least = least_[flexibility];
    least.resize(layers_.size());
    std::vector<Sums> all(layers_.size());
    for_each_task(
        context_, fmt::format("energy of {} with accesses x{:.3g}", flexibility, factor), all.size(),
        [&](std::size_t i, const StudyContext& alone) {
          const Workload::Entry& entry = layers_[i];
          const LeastEnergy::Best& best = least[i].at(factor, entry.layer, accelerator, [&] {
            const SearchResult found =
                solve(alone, accelerator,
                      {.layer = entry.layer, .factorization = Factorization::kRubyS, .objective = Objective::kEnergy});
            if (!found.certified) throw StudyError("a least energy is not proven");
            return LeastEnergy::Best{found.totals.energy_pj, found.totals.cycles, *found.mapping};
          });
          const auto count = static_cast<double>(entry.count);
          all[i] = {best.pj * count, best.cycles * count};
        });
    Sums sums;
    for (const Sums& one : all) {
      sums.pj += one.pj;
      sums.cycles += one.cycles;
    }
    return sums;
  }

  const StudyContext& context_;
  std::vector<Workload::Entry> layers_;  ///< equal ones once
  double macs_ = 0;
  std::map<std::string, std::vector<LeastEnergy>> least_;  ///< by flexibility and layer
};

/// The factor on accesses at which a flexible design needs as much as the inflexible one with plain accesses, to 1 % of
/// its energy. The least energy of all mappings is concave in the factor, so the chord from a factor below, through one
/// above, meets that energy above the answer and nearer to it.
double break_even(NetworkEnergy& energy, const std::string& flexibility, double inflexible) {
  constexpr double kNear = 1.01;
  const double low = 8, at_low = energy.pj(flexibility, low);
  double high = 64;
  while (energy.pj(flexibility, high) < inflexible) high *= 2;
  while (energy.pj(flexibility, high) > inflexible * kNear)
    high = low + (high - low) * (inflexible - at_low) / (energy.pj(flexibility, high) - at_low);
  return high;
}

}  // namespace

void flexibility_price(const StudyContext& context, const PartCosts& parts, StudyResult& result) {
  NetworkEnergy energy(context);
  DataTable table = table_of({"flexibility", "access_energy", "energy_over_inflex"});
  const double inflexible = energy.pj("InFlex-0000", 1);
  for (const char* flexibility : {"PartFlex-1000", "FullFlex-1000", "PartFlex-1111", "FullFlex-1111"}) {
    for (const double end : {1.0, 8.0}) energy.pj(flexibility, end);  // both ends decide much of what lies between
    for (const double factor : {1.0, 1.5, 2.0, 4.0, 8.0}) {
      const double over = energy.pj(flexibility, factor) / inflexible;
      add_row(table, std::string(flexibility), factor, over);
      result.found(fmt::format("energy of {} on MnasNet over InFlex, buffer accesses x{}", flexibility, factor), over);
    }
    result.found(fmt::format("buffer accesses of {} may cost so many times InFlex's, same energy", flexibility),
                 break_even(energy, flexibility, inflexible));
    result.found(fmt::format("multiplexers and address generators of {} may cost, same energy (pJ a MAC)", flexibility),
                 (inflexible - energy.pj(flexibility, 1)) / energy.macs());
  }
  result.found("average power of FullFlex-1111 on MnasNet over InFlex, both mapped for energy",
               energy.pj_per_cycle("FullFlex-1111") / energy.pj_per_cycle("InFlex-0000"));
  for (const auto& [which, pj] :
       {std::pair{"parts", parts.pj_per_mac}, {"parts and a Benes network", parts.most_pj_per_mac}})
    result.found(fmt::format("energy of FullFlex-1111 on MnasNet over InFlex, {} switching at every MAC", which),
                 (energy.pj("FullFlex-1111", 1) + pj * energy.macs()) / inflexible);
  Chart chart{"energy_price", "Energy of MnasNet when accesses to a flexible buffer cost more", {}, table};
  chart.spec = {
      {"mark", {{"type", "line"}, {"point", true}}},
      {"encoding",
       {{"x", {{"field", "access_energy"}, {"type", "quantitative"}, {"title", "energy of an access, times InFlex's"}}},
        {"y", {{"field", "energy_over_inflex"}, {"type", "quantitative"}, {"title", "energy, InFlex = 1"}}},
        {"color", {{"field", "flexibility"}, {"type", "nominal"}, {"title", nullptr}}}}}};
  result.charts.push_back(std::move(chart));
  result.tables.emplace_back("energy_price", std::move(table));
}

}  // namespace pliant
