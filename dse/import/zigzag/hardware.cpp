// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/accelerator.h"
#include "core/input/source_text.h"
#include "core/input/units.h"
#include "dse/import/write_levels.h"
#include "dse/import/zigzag/zigzag.h"

namespace pliant {
namespace {

/// ZigZag says sizes in bits and leaves the width of a word to the workload; these are the widths of its examples. A
/// layer that says its own (operand_precision) takes shares of these words.
constexpr int kOperandBits = 8, kOutputBits = 16;
/// Memories beyond this many bits are main memory.
constexpr Count kMainMemoryBits = 8'000'000'000;

struct ZigzagMemory {
  std::string name;
  Position at;
  Memory memory;
  std::set<std::string> served;  ///< sides of the array that one instance serves
  bool stated = true;
};

class HardwareReader {
 public:
  HardwareReader(const Cursor& root, const Cursor* mapping, ImportLog& log)
      : root_(root), mapping_(mapping), log_(log) {}

  std::optional<ImportedText> read() {
    read_array();
    const auto memories = root_.require("memories", "memories by name, innermost first");
    if (!memories || !memories->expect_map("memories by name")) return std::nullopt;
    for (std::size_t i = 0; i < memories->node().entries.size(); ++i) {
      read_memory(memories->entry(i).key, memories->entries()[i]);
    }
    if (!log_.problems().empty() || memories_.empty()) return std::nullopt;
    build();
    if (mapping_ != nullptr) apply_mapping();
    if (!log_.problems().empty()) return std::nullopt;
    log_.choice(root_.node().at, "words",
                fmt::format("of {} bits, and {} in memories of outputs only", kOperandBits, kOutputBits));
    log_.choice(root_.node().at, "area", "in units of its own, not read");
    return write_imported_accelerator(accelerator_, unstated_, root_.node().at, log_);
  }

 private:
  void read_array() {
    const auto array = root_.require("operational_array", "dimensions and sizes");
    if (!array || !array->expect_map("dimensions and sizes")) return;
    if (const auto imc = array->find("is_imc"); imc && imc->node().text != "False" && imc->node().text != "false") {
      log_.unsupported(imc->node().at, imc->path(), "an in-memory-computing array");
    }
    const auto dims = array->require("dimensions", "a list"), sizes = array->require("sizes", "a list");
    if (!dims || !sizes || !dims->expect_list("a list of sides") || !sizes->expect_list("a list of sizes")) return;
    const auto names = dims->items(), numbers = sizes->items();
    if (names.size() != numbers.size()) return sizes->problem("as many sizes as dimensions are needed", "one each");
    for (std::size_t i = 0; i < names.size(); ++i) {
      const auto name = names[i].name();
      const auto size = numbers[i].count(1, Count{1} << 20);
      if (name && size) sides_.emplace_back(*name, *size);
    }
    const auto energy = array->find("unit_energy");
    if (energy && !energy->node().is_null()) mac_pj_ = energy->real();
  }

  void read_memory(const std::string& name, const Cursor& cursor) {
    if (!cursor.expect_map("a memory")) return;
    ZigzagMemory own;
    own.name = import_name(name, "memory");
    own.at = cursor.node().at;
    const std::set<std::string> operands = words(cursor, "operands"), served = words(cursor, "served_dimensions");
    own.served = served;
    own.memory.may_keep = {operands.contains("I1"), operands.contains("I2"), operands.contains("O")};
    const bool outputs_only = operands == std::set<std::string>{"O"};
    own.memory.word_bits = outputs_only ? kOutputBits : kOperandBits;
    const auto size = cursor.require("size", "bits");
    const Count bits = size ? size->count(1, Count{1} << 50).value_or(1) : 1;
    if (bits < kMainMemoryBits) own.memory.capacity_words = std::max<Count>(bits / own.memory.word_bits, 1);
    read_ports(cursor, own);
    memories_.push_back(std::move(own));
  }

  static std::set<std::string> words(const Cursor& cursor, const char* key) {
    std::set<std::string> all;
    const auto list = cursor.require(key, "a list");
    if (!list || list->node().is_null()) return all;
    for (const Cursor& item : list->items()) all.insert(item.text("a word").value_or(""));
    return all;
  }

  /// Costs are those of an access as wide as the port.
  void read_ports(const Cursor& cursor, ZigzagMemory& own) {
    double read_bits = 0, write_bits = 0;
    bool shared = false, apart = false;  // ports for both, ports for one
    const auto ports = cursor.find("ports");
    if (ports && ports->node().is_sequence()) {
      for (const Cursor& port : ports->items()) {
        if (!port.expect_map("a port")) continue;
        const auto width = port.find("bandwidth_max");
        const double bits = width ? width->positive_real().value_or(1) : 0;
        const std::string type = port.find("type") ? port.find("type")->node().text : "";
        if (type == "read" || type == "read_write") read_bits += type == "read" ? bits : bits / 2;
        if (type == "write" || type == "read_write") write_bits += type == "write" ? bits : bits / 2;
        shared |= type == "read_write";
        apart |= type == "read" || type == "write";
        widest_[own.name] = std::max(widest_[own.name], bits);
      }
    }
    const double word = own.memory.word_bits;
    if (shared && !apart) {
      own.memory.bus_words_per_cycle = (read_bits + write_bits) / word;
    } else {
      if (read_bits > 0) own.memory.read_words_per_cycle = read_bits / word;
      if (write_bits > 0) own.memory.write_words_per_cycle = write_bits / word;
    }
    if (shared && apart) {
      log_.choice(own.at, own.name, "a port for reads and writes beside others: half of its bandwidth for each");
    }
    const auto read = cursor.find("r_cost"), write = cursor.find("w_cost");
    const double wide = std::max(widest_[own.name], word);
    own.stated = read && write && !read->node().is_null() && !write->node().is_null();
    if (!own.stated) return;
    own.memory.read_pj = read->real().value_or(0) * word / wide;
    own.memory.write_pj = own.memory.update_pj = write->real().value_or(0) * word / wide;
  }

  Count size_of(const std::string& side) const {
    const auto found = std::ranges::find(sides_, side, &std::pair<std::string, Count>::first);
    return found == sides_.end() ? 1 : found->second;
  }

  /// A chain needs nested memories: each serves no more sides than the one outside it.
  void build() {
    accelerator_.name = root_.find("name") ? import_name(root_.find("name")->node().text, "hardware") : "hardware";
    accelerator_.description = "imported from ZigZag";
    std::ranges::reverse(memories_);  // outermost first
    std::ranges::stable_sort(memories_, std::greater{}, [](const ZigzagMemory& m) { return m.served.size(); });
    std::set<std::string> open;
    for (const auto& [side, size] : sides_) open.insert(side);
    // Main memory serves everything, whatever it says.
    memories_.front().served = open;
    for (ZigzagMemory& own : memories_) {
      for (const std::string& side : own.served) {
        if (!open.contains(side)) {
          log_.unsupported(own.at, own.name,
                           fmt::format("a memory that serves {} beside one that does not: not a chain", side));
          own.served = open;
          break;
        }
      }
      close_sides(open, own.served);
      open = own.served;
      if (!own.stated) unstated_.insert(static_cast<int>(accelerator_.levels.size()));
      accelerator_.levels.push_back({own.name, own.memory});
    }
    close_sides(open, {});
    Compute compute;
    compute.mac_pj = mac_pj_.value_or(0);
    if (!mac_pj_) unstated_.insert(static_cast<int>(accelerator_.levels.size()));
    accelerator_.levels.push_back({"MAC", compute});
    accelerator_.flexibility.levels.resize(accelerator_.levels.size());
    if (accelerator_.levels.size() > kMaxLevels)
      root_.problem("too many levels", fmt::format("at most {}", kMaxLevels));
  }

  /// A fanout for every side that is inside no longer served.
  void close_sides(const std::set<std::string>& outside, const std::set<std::string>& inside) {
    for (const std::string& side : outside) {
      if (inside.contains(side)) continue;
      Fanout fanout;
      fanout.cols = size_of(side);
      accelerator_.levels.push_back({side, fanout});
    }
  }

  /// The entry `default` of the mapping says which loops each side may hold.
  void apply_mapping() {
    if (!mapping_->expect_list("a list of mappings")) return;
    for (const Cursor& entry : mapping_->items()) {
      if (!entry.expect_map("a mapping")) continue;
      const auto name = entry.find("name");
      if (!name || name->node().text != "default") {
        log_.choice(entry.node().at, name ? shorten(name->node().text, 40) : "",
                    "a mapping of its own for some layers: not read, the default's loops hold for all");
        continue;
      }
      if (const auto order = entry.find("temporal_ordering"); order && !order->node().is_null()) {
        log_.unsupported(order->node().at, order->path(),
                         "an order of temporal loops that does not say where memories are");
      }
      for (const char* key : {"spatial_mapping", "spatial_mapping_hint"}) {
        const auto spatial = entry.find(key);
        if (spatial && spatial->node().is_map()) apply_spatial(*spatial);
      }
    }
  }

  void apply_spatial(const Cursor& spatial) {
    for (std::size_t i = 0; i < spatial.node().entries.size(); ++i) {
      const int level = accelerator_.find_level(spatial.entry(i).key);
      const Cursor list = spatial.entries()[i];
      if (level < 0) {
        list.problem("unknown side of the array", "one of operational_array.dimensions");
        continue;
      }
      Assignment assignment;
      for (const Cursor& item : list.items()) {
        const std::string text = item.text("LOOP, SIZE").value_or("");
        assignment.cols.push_back(dim_from_zigzag(text.substr(0, text.find(','))));
      }
      accelerator_.flexibility.levels[static_cast<std::size_t>(level)].parallel.assignments = {assignment};
      log_.choice(list.node().at, list.path(), "loops the side may hold; the sizes are left to the mapper");
    }
  }

  Cursor root_;
  const Cursor* mapping_;
  ImportLog& log_;
  std::vector<std::pair<std::string, Count>> sides_;
  std::vector<ZigzagMemory> memories_;
  std::map<std::string, double> widest_;
  std::optional<double> mac_pj_;
  std::set<int> unstated_;
  Accelerator accelerator_;
};

}  // namespace

std::optional<ImportedText> read_zigzag_hardware(const Cursor& root, const Cursor* mapping, ImportLog& log) {
  if (!root.expect_map("memories and operational_array")) return std::nullopt;
  return HardwareReader(root, mapping, log).read();
}

}  // namespace pliant
