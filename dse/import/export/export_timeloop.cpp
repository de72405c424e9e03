// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "core/input/diagnostics.h"
#include "core/input/source_text.h"
#include "core/input/yaml_text.h"
#include "dse/combinations/combinations.h"
#include "dse/import/export/export.h"

namespace pliant {
namespace {

[[noreturn]] void cannot_say(const std::string& key, const std::string& what) {
  throw InputError(Diagnostic{"pliant export timeloop", 0, 0, key, what, "something Timeloop can say", ""});
}

/// What the table of combinations says of it.
void refuse(Trait trait, const std::string& key) {
  check_works("pliant export timeloop", {Trait::kTimeloop, trait}, key);
}

class TimeloopWriter {
 public:
  explicit TimeloopWriter(const MappedLayer& mapped)
      : layer_(mapped.layer), accelerator_(mapped.accelerator), mapping_(mapped.mapping) {}

  std::vector<WrittenFile> write() {
    if (!mapping_.padded.empty()) refuse(Trait::kPadded, "mapping");
    check_perfect();
    check_widths();
    const std::size_t inner = accelerator_.levels.size() - 2;
    if (accelerator_.levels[inner].is_fanout() && accelerator_.levels[inner].fanout().units() > 1) {
      cannot_say(accelerator_.levels[inner].name,
                 "copies of compute units alone: Timeloop would keep operands in the network");
    }
    return {{"architecture.yaml", architecture()},
            {"problem.yaml", problem()},
            {"mapping.yaml", mapping()},
            {"ERT.yaml", energies()},
            {"ART.yaml", areas()}};
  }

 private:
  void check_perfect() const {
    for (std::size_t d = 0; d < layer_.dims.size(); ++d) {
      Count product = 1;
      for (const LevelMapping& level : mapping_.levels) {
        for (const Loop& loop : level.temporal) product *= loop.dim == static_cast<int>(d) ? loop.bound : 1;
        for (const SpatialLoop& loop : level.spatial) product *= loop.dim == static_cast<int>(d) ? loop.bound : 1;
      }
      if (product != layer_.dims[d].size) refuse(Trait::kRemainders, layer_.dims[d].name);
    }
  }

  /// One width for all words of a memory.
  void check_widths() const {
    for (std::size_t l = 0; l < accelerator_.levels.size(); ++l) {
      if (!accelerator_.levels[l].is_memory()) continue;
      const int level = static_cast<int>(l), word = accelerator_.levels[l].memory().word_bits;
      for (int x = 0; x < static_cast<int>(layer_.tensors.size()); ++x)
        if (accelerator_.element_bits(level, layer_, x) != word || accelerator_.held_bits(level, layer_, x) != word)
          refuse(Trait::kBits, accelerator_.levels[l].name);
    }
  }

  std::string architecture() const {
    std::string text = fmt::format("architecture:\n  version: 0.4\n  nodes:\n  - !Container\n    name: {}\n",
                                   yaml_text(accelerator_.name));
    for (const Level& level : accelerator_.levels) {
      if (level.is_fanout()) {
        const Fanout& f = level.fanout();
        if (!f.multicast || !f.reduction || f.partial_multicast)
          cannot_say(level.name, "a network without multicast or reduction, or with partial multicast");
        if (f.pj_per_bit > 0) refuse(Trait::kNetworkEnergy, level.name);
        if (f.systolic) refuse(Trait::kSystolic, level.name);
        text += fmt::format("  - !Container\n    name: {}\n    spatial: {{meshX: {}, meshY: {}}}\n",
                            yaml_text(level.name), f.cols, f.rows);
        continue;
      }
      text += fmt::format("  - !Component\n    name: {}\n", yaml_text(level.name));
      text += level.is_compute() ? compute(level) : memory(level);
    }
    return text;
  }

  static std::string compute(const Level& level) {
    if (level.compute().cycles_per_mac != 1) cannot_say(level.name, "a MAC that takes other than one cycle");
    if (level.compute().leak_pj_per_cycle != 0) refuse(Trait::kLeakage, level.name);
    return "    class: intmac\n";
  }

  static std::string memory(const Level& level) {
    const Memory& m = level.memory();
    std::vector<std::string> attributes;
    if (m.capacity_words) attributes.push_back(fmt::format("depth: {}", *m.capacity_words));
    attributes.push_back(fmt::format("width: {0}, datawidth: {0}", m.word_bits));
    if (m.buffers != 1) attributes.push_back(fmt::format("multiple_buffering: {}", m.buffers));
    if (m.bandwidth_of != decltype(m.bandwidth_of){}) refuse(Trait::kPortsByRole, level.name);
    if (m.bus_words_per_cycle)
      attributes.push_back(fmt::format("shared_bandwidth: {}", yaml_number(*m.bus_words_per_cycle)));
    if (m.read_words_per_cycle)
      attributes.push_back(fmt::format("read_bandwidth: {}", yaml_number(*m.read_words_per_cycle)));
    if (m.write_words_per_cycle)
      attributes.push_back(fmt::format("write_bandwidth: {}", yaml_number(*m.write_words_per_cycle)));
    return fmt::format("    class: {}\n    attributes: {}\n", m.capacity_words ? "storage" : "DRAM",
                       yaml_map(attributes));
  }

  std::string problem() const {
    std::vector<std::string> names, sizes;
    for (const Dim& dim : layer_.dims) {
      names.push_back(yaml_text(dim.name));
      sizes.push_back(fmt::format("{}: {}", yaml_text(dim.name), dim.size));
    }
    std::string text =
        fmt::format("problem:\n  version: 0.4\n  shape:\n    name: {}\n    dimensions: {}\n    data_spaces:\n",
                    yaml_text(layer_.name), yaml_list(names));
    for (const Tensor& tensor : layer_.tensors) {
      std::vector<std::string> ranks;
      for (const Rank& rank : tensor.ranks) {
        std::vector<std::string> terms;
        for (const Term& term : rank.terms) {
          const std::string name = yaml_text(layer_.dims[static_cast<std::size_t>(term.dim)].name);
          terms.push_back(term.coefficient == 1 ? fmt::format("[{}]", name)
                                                : fmt::format("[{}, {}]", name, term.coefficient));
        }
        ranks.push_back(yaml_list(terms));
      }
      text += fmt::format("    - name: {}\n      projection: {}\n{}", yaml_text(tensor.name), yaml_list(ranks),
                          tensor.is_output() ? "      read_write: true\n" : "");
    }
    return text + fmt::format("  instance: {}\n", yaml_map(sizes));
  }

  /// "factors: [...]" and "permutation: [...]", innermost first, for loops given outermost first.
  std::string nest(const std::string& level, const std::vector<std::pair<int, Count>>& loops) const {
    std::vector<Count> bounds(layer_.dims.size(), 1);
    std::vector<std::string> order, factors;
    for (auto loop = loops.rbegin(); loop != loops.rend(); ++loop) {
      const auto d = static_cast<std::size_t>(loop->first);
      if (bounds[d] != 1) refuse(Trait::kSplitDims, fmt::format("{}: {}", level, layer_.dims[d].name));
      bounds[d] = loop->second;
      order.push_back(yaml_text(layer_.dims[d].name));
    }
    for (std::size_t d = 0; d < bounds.size(); ++d) {
      factors.push_back(fmt::format("{}={}", layer_.dims[d].name, bounds[d]));
      const std::string name = yaml_text(layer_.dims[d].name);
      if (std::ranges::find(order, name) == order.end()) order.push_back(name);
    }
    return fmt::format("    factors: {}\n    permutation: {}\n", yaml_list(factors), yaml_list(order));
  }

  std::string mapping() const {
    std::string text = "mapping:\n";
    for (std::size_t k = 0; k < accelerator_.levels.size(); ++k) {
      const Level& level = accelerator_.levels[k];
      const LevelMapping& own = mapping_.levels[k];
      if (level.is_memory()) {
        std::vector<std::pair<int, Count>> loops;
        for (const Loop& loop : own.temporal) {
          if (loop.bound > 1) loops.emplace_back(loop.dim, loop.bound);
        }
        text += fmt::format("  - target: {}\n    type: temporal\n{}", yaml_text(level.name), nest(level.name, loops));
        text += dataspaces(level.name, own.keeps);
      } else if (level.is_fanout()) {
        text += spatial(level, own);
      }
    }
    return text;
  }

  std::string dataspaces(const std::string& name, TensorSet keeps) const {
    std::vector<std::string> keep, bypass;
    for (std::size_t x = 0; x < layer_.tensors.size(); ++x) {
      ((keeps >> x & 1U) != 0 ? keep : bypass).push_back(yaml_text(layer_.tensors[x].name));
    }
    return fmt::format("  - target: {}\n    type: dataspace\n    keep: {}\n    bypass: {}\n", yaml_text(name),
                       yaml_list(keep), yaml_list(bypass));
  }

  /// Timeloop's front end calls the copies of X inter_X_spatial. Columns are its X, which comes first in a permutation.
  std::string spatial(const Level& level, const LevelMapping& own) const {
    if (level.fanout().units() == 1) return "";
    std::vector<std::pair<int, Count>> loops;
    std::size_t on_x = 0;
    for (const Side side : {Side::kRows, Side::kCols}) {
      for (const SpatialLoop& loop : own.spatial) {
        if (loop.side != side || loop.bound == 1) continue;
        loops.emplace_back(loop.dim, loop.bound);
        on_x += side == Side::kCols ? 1 : 0;
      }
    }
    return fmt::format("  - target: inter_{}_spatial\n    type: spatial\n{}    split: {}\n", level.name,
                       nest(level.name, loops), on_x);
  }

  std::string energies() const {
    std::string text = "ERT:\n  version: 0.4\n  tables:\n";
    for (const Level& level : accelerator_.levels) {
      if (level.is_fanout()) continue;
      text +=
          fmt::format("  - name: {}\n    actions:\n", yaml_text(fmt::format("{}.{}", accelerator_.name, level.name)));
      const auto action = [&](std::string_view name, double energy) {
        text += fmt::format("    - {{name: {}, energy: {}}}\n", name, yaml_number(energy));
      };
      if (level.is_compute()) {
        action("compute", level.compute().mac_pj);
        continue;
      }
      action("read", level.memory().read_pj);
      action("write", level.memory().write_pj);
      action("update", level.memory().update_pj);
      action("leak", level.memory().leak_pj_per_cycle);
    }
    return text;
  }

  std::string areas() const {
    std::string text = "ART:\n  version: 0.4\n  tables:\n";
    for (const Level& level : accelerator_.levels) {
      if (level.is_fanout()) continue;
      const double area = level.is_compute() ? level.compute().area_um2 : level.memory().area_um2;
      text += fmt::format("  - {{name: {}, area: {}}}\n",
                          yaml_text(fmt::format("{}.{}", accelerator_.name, level.name)), yaml_number(area));
    }
    return text;
  }

  const Layer& layer_;
  const Accelerator& accelerator_;
  const Mapping& mapping_;
};

}  // namespace

std::vector<WrittenFile> export_timeloop(const MappedLayer& mapped) { return TimeloopWriter(mapped).write(); }

}  // namespace pliant
