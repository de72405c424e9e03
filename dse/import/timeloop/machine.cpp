// SPDX-License-Identifier: Apache-2.0
#include "dse/import/timeloop/machine.h"

#include <fmt/format.h>

#include "core/input/source_text.h"
#include "core/input/units.h"

namespace pliant::timeloop {
namespace {

constexpr int kDefaultWordBits = 8;
constexpr Count kLargestMemoryBits = Count{1} << 50;

/// Reads one component's attributes.
class Attributes {
 public:
  Attributes(const Component& component, ImportLog& log) : component_(component), log_(log) {}

  /// The first of the attributes that is there.
  std::optional<double> number(std::initializer_list<const char*> keys) const {
    for (const char* key : keys) {
      const auto found = component_.attributes.find(key);
      if (found == component_.attributes.end() || found->second.empty()) continue;
      const auto parsed = parse_real(found->second);
      if (const double* value = std::get_if<double>(&parsed)) return *value;
      log_.problems().add(component_.at, fmt::format("{}.attributes.{}", component_.name, key),
                          fmt::format("`{}` is not a number", shorten(found->second, 40)), "a plain number");
    }
    return std::nullopt;
  }

  std::optional<Count> whole(std::initializer_list<const char*> keys) const {
    const auto value = number(keys);
    if (!value) return std::nullopt;
    if (*value < 1 || *value > static_cast<double>(kLargestMemoryBits)) {
      log_.problems().add(component_.at, fmt::format("{}.attributes.{}", component_.name, *keys.begin()),
                          fmt::format("{} is out of range", *value), "a whole number of at least 1");
      return std::nullopt;
    }
    return static_cast<Count>(*value);
  }

 private:
  const Component& component_;
  ImportLog& log_;
};

Memory build_memory(const Component& component, ImportLog& log, bool& stated) {
  const Attributes attributes(component, log);
  Memory memory;
  const Count word_bits =
      attributes.whole({"datawidth", "word-bits", "word_bits", "data_width"}).value_or(kDefaultWordBits);
  const Count width = attributes.whole({"width", "memory_width"}).value_or(word_bits);
  const auto depth = attributes.whole({"depth", "memory_depth", "entries"});
  memory.word_bits = static_cast<int>(std::min<Count>(word_bits, 1 << 16));
  // An access moves a row of words; Timeloop counts and charges rows.
  const Count block = attributes.whole({"block-size", "block_size"}).value_or(std::max<Count>(width / word_bits, 1));
  if (depth) {
    const auto words = checked_multiply(*depth, block);
    memory.capacity_words = words.value_or(kLargestMemoryBits);
  }
  if (component.type == "DRAM" || component.type == "dram") memory.capacity_words.reset();
  const double buffering = attributes.number({"multiple_buffering", "multiple-buffering"}).value_or(1);
  memory.buffers = static_cast<int>(std::max(buffering, 1.0));
  if (buffering != static_cast<double>(memory.buffers)) {
    log.unsupported(component.at, component.name, fmt::format("a multiple_buffering of {}", buffering),
                    "a whole number");
  }
  memory.read_words_per_cycle = attributes.number({"read_bandwidth"});
  memory.write_words_per_cycle = attributes.number({"write_bandwidth"});
  memory.bus_words_per_cycle = attributes.number({"shared_bandwidth", "rw_bandwidth", "bandwidth"});
  stated = !component.energy_pj.empty();
  const auto energy = [&](const char* action, double otherwise) {
    const auto found = component.energy_pj.find(action);
    return found == component.energy_pj.end() ? otherwise : found->second / static_cast<double>(block);
  };
  memory.read_pj = energy("read", 0);
  memory.write_pj = energy("write", memory.read_pj);
  memory.update_pj = energy("update", memory.write_pj);
  const auto leak = component.energy_pj.find("leak");
  memory.leak_pj_per_cycle = leak == component.energy_pj.end() ? 0 : leak->second;
  memory.area_um2 = component.area_um2.value_or(0);
  return memory;
}

/// A word of each tensor, at no cost. Timeloop compares what a network without storage brings with what it brought
/// before; only directly above a storage or a compute unit that is not under such a network does every MAC read a word.
Memory operand_latch() {
  Memory latch;
  latch.capacity_words = kMaxTensors;
  return latch;
}

Compute build_compute(const Component& component, ImportLog& log, bool& stated) {
  Compute compute;
  const auto energy = component.energy_pj.find("compute");
  const auto leak = component.energy_pj.find("leak");
  stated = energy != component.energy_pj.end();
  if (stated) compute.mac_pj = energy->second;
  if (leak != component.energy_pj.end() && leak->second != 0) {
    log.choice(component.at, component.name, "leakage of compute units is not charged, as in Timeloop");
  }
  compute.area_um2 = component.area_um2.value_or(0);
  return compute;
}

}  // namespace

Machine build_machine(const Architecture& architecture, ImportLog& log) {
  Machine machine;
  Accelerator& accelerator = machine.accelerator;
  accelerator.name = architecture.name;
  accelerator.description = "imported from Timeloop";
  accelerator.conventions = Conventions::timeloop();
  UniqueNames names;
  std::string outer;  // the component outside
  const auto add = [&](Level level) {
    accelerator.levels.push_back(std::move(level));
    return static_cast<int>(accelerator.levels.size()) - 1;
  };
  for (const Component& component : architecture.components) {
    if (component.x * component.y > 1) {
      Fanout fanout;
      fanout.rows = component.y;
      fanout.cols = component.x;
      const bool own_network = machine.places[outer].memory < 0;
      const std::string name = own_network ? outer : names(component.name + "_copies");
      machine.places[outer].fanout = add({name, fanout});
    }
    const std::string name = names(component.name);
    if (name != component.name) {
      log.problems().add(component.at, component.name, "a second component of this name", "a name of its own");
    }
    if (component.is_compute && machine.places[outer].memory < 0) {
      log.choice(component.at, component.name,
                 "under a network: as Timeloop counts, an operand that stays is not sent again, so a latch without "
                 "energy keeps it");
      machine.latch = add({names(component.name + "_latch"), operand_latch()});
    }
    Machine::Place place;
    bool stated = true;
    if (component.is_compute) {
      place.memory = add({name, build_compute(component, log, stated)});
    } else if (!component.is_network) {
      place.memory = add({name, build_memory(component, log, stated)});
    }
    if (!stated) machine.unstated.insert(place.memory);
    machine.places[component.name] = place;
    outer = component.name;
  }
  if (accelerator.levels.size() > kMaxLevels) {
    log.problems().add(architecture.components.front().at, "architecture",
                       fmt::format("{} levels", accelerator.levels.size()), fmt::format("at most {}", kMaxLevels));
  }
  accelerator.flexibility.levels.resize(accelerator.levels.size());
  if (machine.latch >= 0) {
    accelerator.flexibility.levels[static_cast<std::size_t>(machine.latch)].loops.dims = std::vector<std::string>{};
  }
  return machine;
}

}  // namespace pliant::timeloop
