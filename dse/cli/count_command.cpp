// SPDX-License-Identifier: Apache-2.0
#include "dse/cli/count_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/program_options.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>

#include "core/input/load.h"
#include "core/legality.h"
#include "dse/cli/command_line.h"
#include "dse/cli/shipped_configs.h"
#include "flex/mapspace/count.h"
#include "flex/mapspace/enumerate.h"
#include "flex/mapspace/legal_count.h"
#include "flex/mapspace/orders.h"
#include "flex/mapspace/ruby_table.h"

namespace pliant {

namespace {

namespace options = boost::program_options;
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

options::options_description described_options() {
  options::options_description all("options");
  auto add = all.add_options();
  add("layer", options::value<std::string>(), "a layer's name in the workload, a file, or a layer written in place");
  add("workload", options::value<std::string>(), "shipped name or file; where --layer finds names");
  add("accelerator", options::value<std::string>(), "shipped name or file");
  add("set", options::value<std::vector<std::string>>()->composing(), "KEY=VALUE, a parameter of the accelerator");
  add("flexibility", options::value<std::string>(), "a class such as PartFlex-1011, a shipped flexibility, or a file");
  add("conventions", options::value<std::string>(), "physical, timeloop or quickflow (tile footprints, for --legal)");
  add("factorization", options::value<std::string>()->default_value("pfm"), "pfm, ruby-s, ruby-t, ruby or padding");
  add("legal", "count the legal mappings: every capacity, fanout and flexibility rule applied");
  add("enumerate", "the same by listing and judging every mapping; small spaces only");
  add("quickflow", "QuickFlow's formula: all orders of all dims, perfect factors over all levels");
  add("orders", "loop orders of one memory that differ in reuse");
  add("table", options::value<std::string>(), "ruby: Table I of the Ruby paper");
  add("json", "print JSON (schema 1)");
  add("help", "print this");
  return all;
}

InputError bad_option(std::string key, std::string what, std::string expected = {}, std::string did_you_mean = {}) {
  return InputError(Diagnostic{.file = "pliant count",
                               .key = std::move(key),
                               .what = std::move(what),
                               .expected = std::move(expected),
                               .did_you_mean = std::move(did_you_mean)});
}

/// "57456", or "1075458121...000 (1.08e24)" with an approximation a person can compare.
std::string readable(const BigCount& count) {
  const std::string digits = count.str();
  if (digits.size() <= 6) return digits;
  return fmt::format("{} ({:.2e})", digits, count.convert_to<double>());
}

class CountCommand {
 public:
  CountCommand(const options::variables_map& values, std::ostream& out) : values_(values), out_(out) {}

  int run() {
    static constexpr std::array kModes{"legal", "enumerate", "quickflow", "orders", "table"};
    const auto given = std::count_if(kModes.begin(), kModes.end(), [this](const char* m) { return values_.count(m); });
    if (given > 1)
      throw bad_option("mode", "several modes at once",
                       "at most one of --legal, --enumerate, --quickflow, --orders, --table");
    if (values_.count("table")) return ruby_table();
    read_layer();
    if (values_.count("orders")) return orders();
    read_accelerator();
    if (values_.count("quickflow")) return quickflow();
    if (values_.count("legal")) return legal();
    if (values_.count("enumerate")) return enumerate();
    return closed_form();
  }

 private:
  std::string required(const char* name) const {
    if (!values_.count(name)) throw bad_option(std::string("--") + name, "missing", "see pliant count --help");
    return values_[name].as<std::string>();
  }

  void read_layer() {
    std::optional<Workload> workload;
    const std::string text = required("layer");
    if (values_.count("workload")) workload = load_workload(library(), values_["workload"].as<std::string>());
    layer_ = resolve_layer(text, workload ? &*workload : nullptr);
  }

  void read_accelerator() {
    std::vector<Setting> settings;
    if (values_.count("set")) {
      for (const std::string& text : values_["set"].as<std::vector<std::string>>()) {
        const std::size_t equals = text.find('=');
        if (equals == std::string::npos) throw bad_option("--set", fmt::format("`{}` has no `=`", text), "KEY=VALUE");
        settings.emplace_back(text.substr(0, equals), text.substr(equals + 1));
      }
    }
    accelerator_ = load_accelerator(library(), required("accelerator"), settings);
    if (values_.count("flexibility"))
      accelerator_ = choose_flexibility(library(), values_["flexibility"].as<std::string>(), accelerator_);
    if (values_.count("conventions")) {
      const std::string name = values_["conventions"].as<std::string>();
      const auto preset = Conventions::preset(name);
      if (!preset)
        throw bad_option("--conventions", fmt::format("unknown preset `{}`", name), "physical, timeloop or quickflow",
                         nearest(name, Conventions::preset_names()));
      accelerator_.conventions = *preset;
    }
    const std::string name = values_["factorization"].as<std::string>();
    const auto rule = parse_factorization(name);
    if (!rule)
      throw bad_option("--factorization", fmt::format("unknown rule `{}`", name),
                       "pfm, ruby-s, ruby-t, ruby or padding",
                       nearest(name, {"pfm", "ruby-s", "ruby-t", "ruby", "padding"}));
    rule_ = *rule;
  }

  static Library library() { return Library(shipped_configs().value_or("configs")); }
  const Flexibility& flexibility() const { return accelerator_.flexibility_of(layer_); }
  bool as_json() const { return values_.count("json") > 0; }

  ordered_json head(std::string_view what, const BigCount& count) const {
    ordered_json json;
    json["schema"] = 1;
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
      throw bad_option("--legal",
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
      throw bad_option("--enumerate", fmt::format("{} candidates are too many to list", readable(candidates)),
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
    const std::string name = values_["table"].as<std::string>();
    if (name != "ruby") throw bad_option("--table", fmt::format("unknown table `{}`", name), "ruby");
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
    json["schema"] = 1;
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

  const options::variables_map& values_;
  std::ostream& out_;
  Layer layer_;
  Accelerator accelerator_;
  Factorization rule_ = Factorization::kPerfect;
};

}  // namespace

int count_command(const std::vector<std::string>& args, std::ostream& out, std::ostream& err) {
  const CommandLine line{"pliant count", kUsage, described_options()};
  return run_command(line, args, out, err,
                     [&](const options::variables_map& values) { return CountCommand(values, out).run(); });
}

}  // namespace pliant
