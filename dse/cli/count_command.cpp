// SPDX-License-Identifier: Apache-2.0
#include "dse/cli/count_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <ostream>

#include "core/legality.h"
#include "dse/cli/command_line.h"
#include "dse/cli/json_schema.h"
#include "dse/cli/task_options.h"
#include "flex/mapspace/count.h"
#include "flex/mapspace/enumerate.h"
#include "flex/mapspace/legal_count.h"
#include "flex/mapspace/orders.h"
#include "flex/mapspace/ruby_table.h"

namespace pliant {

namespace {

using nlohmann::ordered_json;

constexpr const char* kUsage = R"(usage: pliant count --layer LAYER --accelerator NAME|FILE [options]
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

)";

/// "57456", or "1075458121...000 (1.08e24)" with an approximation a person can compare.
std::string readable(const BigCount& count) {
  const std::string digits = count.str();
  if (digits.size() <= 6) return digits;
  return fmt::format("{} ({:.2e})", digits, count.convert_to<double>());
}

class CountCommand {
 public:
  CountCommand(const Arguments& arguments, std::ostream& out) : arguments_(arguments), out_(out) {}

  int run() {
    static constexpr std::array kModes{"legal", "enumerate", "quickflow", "orders", "table"};
    const auto given = std::count_if(kModes.begin(), kModes.end(), [this](const char* m) { return arguments_.has(m); });
    if (given > 1)
      throw arguments_.bad("", "several modes at once",
                           "at most one of --legal, --enumerate, --quickflow, --orders, --table");
    if (arguments_.has("table")) return ruby_table();
    layer_ = read_layer(arguments_);
    if (arguments_.has("orders")) return orders();
    read_accelerator();
    if (arguments_.has("quickflow")) return quickflow();
    if (arguments_.has("legal")) return legal();
    if (arguments_.has("enumerate")) return enumerate();
    return closed_form();
  }

 private:
  void read_accelerator() {
    accelerator_ = pliant::read_accelerator(arguments_);
    rule_ = read_factorization(*arguments_.text("factorization"), arguments_.command());
  }

  const Flexibility& flexibility() const { return accelerator_.flexibility_of(layer_); }
  bool as_json() const { return arguments_.has("json"); }

  ordered_json head(std::string_view what, const BigCount& count) const {
    ordered_json json;
    json["schema"] = kJsonSchema;
    json["what"] = what;
    json["count"] = count.str();
    json["layer"] = layer_.written_as.empty() ? layer_.name : layer_.written_as;
    if (!accelerator_.levels.empty()) {
      json["accelerator"] = accelerator_.name;
      json["factorization"] = to_string(rule_);
    }
    return json;
  }

  int finish(const ordered_json& json) {
    out_ << json.dump(2) << "\n";
    return 0;
  }

  int closed_form() {
    const MapSpaceSize size = map_space_size(layer_, accelerator_, flexibility(), rule_);
    if (as_json()) {
      ordered_json json = head("map-space", size.total());
      for (std::size_t d = 0; d < size.chains.size(); ++d)
        json["factor_chains"][layer_.dims[d].name] = size.chains[d].str();
      for (std::size_t k = 0; k < accelerator_.levels.size(); ++k) {
        if (!accelerator_.levels[k].is_memory()) continue;
        json["orders"][accelerator_.levels[k].name] = size.orders[k].str();
        json["bypasses"][accelerator_.levels[k].name] = size.bypasses[k].str();
      }
      return finish(json);
    }
    out_ << fmt::format("{:<16} {:>12}\n", "factor chains", to_string(rule_));
    for (std::size_t d = 0; d < size.chains.size(); ++d)
      out_ << fmt::format("  {:<14} {:>12}\n", fmt::format("{} = {}", layer_.dims[d].name, layer_.dims[d].size),
                          size.chains[d].str());
    out_ << fmt::format("{:<16} {:>12} {:>12}\n", "memories", "orders", "bypasses");
    for (std::size_t k = 0; k < accelerator_.levels.size(); ++k)
      if (accelerator_.levels[k].is_memory())
        out_ << fmt::format("  {:<14} {:>12} {:>12}\n", accelerator_.levels[k].name, size.orders[k].str(),
                            size.bypasses[k].str());
    out_ << "map-space, before capacities and the joint limits of fanouts\n  " << readable(size.total()) << "\n";
    return 0;
  }

  int legal() {
    const auto count = count_legal_mappings(layer_, accelerator_, flexibility(), rule_);
    if (!count)
      throw arguments_.bad("--legal",
                           rule_ == Factorization::kPadding ? "padded map-spaces are not counted this way"
                                                            : "this map-space has too many different tiles to walk",
                           "a smaller layer, a stricter factorization rule, or no --legal");
    if (as_json()) return finish(head("legal", *count));
    out_ << "legal mappings\n  " << readable(*count) << "\n";
    return 0;
  }

  int enumerate() {
    static constexpr Count kLargest = 20'000'000;
    const BigCount candidates = map_space_size(layer_, accelerator_, flexibility(), rule_).total();
    if (candidates > kLargest)
      throw arguments_.bad("--enumerate", fmt::format("{} candidates are too many to list", readable(candidates)),
                           fmt::format("at most {}", kLargest));
    Count visited = 0, legal = 0;
    for_each_mapping(layer_, accelerator_, flexibility(), rule_, [&](const Mapping& mapping) {
      ++visited;
      legal += check_legality(layer_, accelerator_, flexibility(), rule_, mapping).empty();
      return true;
    });
    if (as_json()) {
      ordered_json json = head("enumerated", legal);
      json["listed"] = std::to_string(visited);
      return finish(json);
    }
    out_ << "legal mappings, of " << visited << " listed\n  " << readable(legal) << "\n";
    return 0;
  }

  int quickflow() {
    const BigCount count = quickflow_map_space_size(layer_, accelerator_);
    if (as_json()) return finish(head("quickflow-formula", count));
    out_ << "QuickFlow's map-space size\n  " << readable(count) << "\n";
    return 0;
  }

  int orders() {
    const BigCount with = count_reuse_distinct_orders(layer_), without = count_reuse_distinct_orders(layer_, false);
    DimSet looping = 0;
    for (std::size_t d = 0; d < layer_.dims.size(); ++d)
      if (layer_.dims[d].size > 1) looping |= DimSet{1} << d;
    const BigCount all = count_orders(layer_, looping, {});
    if (as_json()) {
      ordered_json json = head("reuse-distinct-orders", with);
      json["without_halo_reuse"] = without.str();
      json["all_orders"] = all.str();
      return finish(json);
    }
    out_ << fmt::format("loop orders of one memory\n  {} differ in reuse ({} without halo reuse), of {}\n", with.str(),
                        without.str(), all.str());
    return 0;
  }

  int ruby_table() {
    const std::string name = *arguments_.text("table");
    if (name != "ruby") throw arguments_.bad("--table", fmt::format("unknown table `{}`", name), "ruby");
    static constexpr std::array<Count, 5> kSizes{3, 64, 100, 1000, 4096};
    static constexpr std::array kRules{Factorization::kPerfect, Factorization::kRubyS, Factorization::kRubyT,
                                       Factorization::kRuby};
    struct Section {
      const char *key, *title;
      BigCount (*count)(Count, Factorization);
    };
    static constexpr std::array<Section, 3> kSections{
        {{"as_published", "as the paper's generator lists them, repeats included (pfm, ruby-s: 9 PEs)",
          ruby_table_as_published},
         {"distinct", "each mapping once (pfm, ruby-s: 9 PEs; ruby-t, ruby: any spatial factor)", ruby_table_distinct},
         {"distinct_within_pes", "each mapping once, all on 9 PEs", ruby_table_distinct_within_pes}}};
    ordered_json json;
    json["schema"] = kJsonSchema;
    json["what"] = "ruby-table-1";
    json["sizes"] = kSizes;
    for (const Section& section : kSections) {
      if (!as_json()) {
        out_ << section.title << "\n" << fmt::format("  {:<8}", "D");
        for (const Count size : kSizes) out_ << fmt::format("{:>8}", size);
        out_ << "\n";
      }
      for (const Factorization rule : kRules) {
        std::vector<std::string> row;
        for (const Count size : kSizes) row.push_back(section.count(size, rule).str());
        json[section.key][std::string(to_string(rule))] = row;
        if (as_json()) continue;
        out_ << fmt::format("  {:<8}", to_string(rule));
        for (const std::string& count : row) out_ << fmt::format("{:>8}", count);
        out_ << "\n";
      }
    }
    return as_json() ? finish(json) : 0;
  }

  const Arguments& arguments_;
  std::ostream& out_;
  Layer layer_;
  Accelerator accelerator_;
  Factorization rule_ = Factorization::kPerfect;
};

}  // namespace

int count_command(const std::vector<std::string>& args, std::ostream& out, std::ostream& err) {
  const CommandLine line{"count", kUsage, 0};
  return run_command(line, args, out, err,
                     [&](const Arguments& arguments) { return CountCommand(arguments, out).run(); });
}

}  // namespace pliant
