// SPDX-License-Identifier: Apache-2.0
#include "core/input/load_accelerator.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>

#include "core/flexibility_class.h"
#include "core/input/accelerator_tree.h"
#include "core/input/conventions_block.h"
#include "core/input/cursor.h"
#include "core/input/element_bits.h"
#include "core/input/flexibility_block.h"
#include "core/input/keys.h"
#include "core/input/load_technology.h"
#include "core/input/logic_scaling.h"
#include "core/input/machine_parts.h"
#include "core/input/memory_scaling.h"
#include "core/input/number_limits.h"
#include "core/input/prediction_block.h"
#include "core/input/residents_block.h"
#include "core/input/source_text.h"
#include "core/input/units.h"

namespace pliant {
namespace {

constexpr int kMaxWordBits = 4096;
constexpr Count kMaxUnits = Count{1} << 40;

class AcceleratorReader {
 public:
  AcceleratorReader(TechnologyTables& tables, const AcceleratorTree& tree, Diagnostics& problems)
      : tables_(tables),
        tree_(tree),
        root_(tree.stages.back(), "", problems),
        named_(tables),
        scaling_(named_, tree),
        logic_(named_, tree),
        problems_(problems) {}

  Accelerator whole() {
    read_sizes();
    result_.flexibility = full_flexibility(result_);
    if (const auto c = root_.find("baseline"); c && chain_known_) read_baseline(*c, result_);
    if (const auto c = root_.find("partial"); c && chain_known_) read_partial(*c, result_);
    if (const auto c = root_.find("flexibility"); c && chain_known_) {
      read_flexibility(*c, keys::kFlexibility, result_);
    }
    return std::move(result_);
  }

  Accelerator sizes() {
    read_sizes();
    return std::move(result_);
  }

 private:
  /// Everything but its flexibility.
  void read_sizes() {
    if (!root_.only_keys(keys::kAccelerator, "an accelerator: a map with name and levels")) return;
    check_kind(root_, "accelerator");
    if (const auto c = root_.require("name", "the accelerator's name")) result_.name = c->name().value_or("");
    if (const auto c = root_.find("description")) result_.description = c->text().value_or("");
    if (const auto c = root_.find("word_bits")) word_bits_ = static_cast<int>(c->count(1, kMaxWordBits).value_or(16));
    if (const auto c = root_.find("bits")) result_.bits = read_element_bits(*c);
    if (const auto c = root_.find("technology")) technology_ = c->text("a technology table's name").value_or("");
    if (const auto c = root_.find("clock")) clock(*c);
    if (const auto c = root_.find("conventions")) read_conventions(*c, result_.conventions);
    if (const auto c = root_.require("levels", "a list of memories, fanouts and one compute level, outermost first"))
      levels(*c);
    area();
    if (const auto c = root_.find("vector")) result_.vector = read_vector_unit(*c);
    if (const auto c = root_.find("links")) result_.links = read_links(*c);
    if (const auto c = root_.find("prediction"); c && chain_known_) read_prediction(*c, result_);
    if (const auto c = root_.find("hints"); c && c->only_keys(keys::kHints)) {
      if (const auto value = c->find("min_utilization")) {
        result_.hints.min_utilization = value->real().value_or(0);
        if (result_.hints.min_utilization > 1) value->problem("more than 1", "a share from 0 to 1");
      }
    }
  }

  void clock(const Cursor& c) {
    const auto text = c.text("a frequency such as 1 GHz");
    if (!text) return;
    const Parsed<double> value = parse_hertz(*text);
    if (const auto* error = std::get_if<UnitError>(&value)) {
      c.problem(error->what, error->expected, error->did_you_mean);
    } else {
      result_.clock_hz = std::get<double>(value);
    }
  }

  void levels(const Cursor& list) {
    if (!list.expect_list("a list of levels, outermost first")) return;
    const std::vector<Cursor> items = list.items();
    if (items.empty()) return list.problem("no levels", "at least one memory and one compute level");
    if (items.size() > kMaxLevels)
      return list.problem(fmt::format("{} levels", items.size()), fmt::format("at most {}", kMaxLevels));
    const std::size_t before = problems_.size();
    chain_known_ = true;
    for (const Cursor& item : items) level(item);
    if (chain_known_) check_residents(items, result_.levels);
    if (chain_known_) check_chain(list, items, problems_.size() == before);
  }

  void level(const Cursor& item) {
    constexpr std::array<std::string_view, 3> kKinds{"memory", "fanout", "compute"};
    constexpr std::string_view kExpected = "memory: NAME, fanout: NAME or compute: NAME";
    chain_known_ &= item.expect_map(kExpected);
    if (!item.node().is_map()) return;
    std::vector<std::string_view> given;
    for (const std::string_view kind : kKinds) {
      if (item.node().find(kind) != nullptr) given.push_back(kind);
    }
    if (given.size() != 1) {
      chain_known_ = false;
      if (given.empty()) {
        // A misspelt kind is the likeliest reason.
        std::string near;
        for (const YamlEntry& entry : item.node().entries) {
          if (near.empty()) near = nearest(entry.key, to_words(kKinds));
        }
        return item.problem("a level without kind and name", std::string(kExpected), near);
      }
      return item.problem("a level of two kinds: " + join(given), std::string(kExpected));
    }
    Level level;
    const auto name = item.find(given[0])->name();
    if (name) {
      level.name = *name;
      if (result_.find_level(*name) >= 0) {
        item.find(given[0])->problem(fmt::format("a second level named {}", *name), "a name of its own");
      }
    } else {
      chain_known_ = false;
    }
    if (given[0] == "memory") {
      level.part = memory(item, level.name);
    } else if (given[0] == "fanout") {
      level.part = fanout(item);
    } else {
      level.part = logic_.read_compute(item, technology_, word_bits_, result_.clock_hz);
    }
    result_.levels.push_back(std::move(level));
  }

  Memory memory(const Cursor& c, const std::string& name) {
    c.only_keys(keys::kMemory);
    Memory m;
    m.word_bits = word_bits_;
    if (const auto value = c.find("word_bits"))
      m.word_bits = static_cast<int>(value->count(1, kMaxWordBits).value_or(16));
    if (const auto value = c.find("bits")) m.bits = read_memory_bits(*value);
    m.technology = technology_;
    if (const auto value = c.find("technology")) m.technology = value->text("a technology table's name").value_or("");
    if (const auto value = c.require("capacity", "a size such as 128KiB or 64Ki words, or unbounded")) {
      m.capacity_words = read_capacity(*value, m.word_bits);
    }
    if (const auto value = c.find("buffers")) m.buffers = static_cast<int>(value->count(1, 1024).value_or(1));
    if (m.capacity_words && *m.capacity_words < m.buffers && c.find("buffers")) {
      c.find("buffers")->problem(fmt::format("{} buffers in {} words", m.buffers, *m.capacity_words),
                                 "at least one word for each");
    }
    if (const auto value = c.find("keeps")) m.may_keep = roles(*value);
    if (const auto value = c.find("may_bypass")) {
      m.may_bypass = roles(*value);
      for (std::size_t r = 0; r < kRoles; ++r) {
        if (m.may_bypass[r] && !m.may_keep[r]) {
          value->problem(fmt::format("{} are not kept here", keys::kRoleNames[r]), "only what `keeps` lists");
        }
      }
    }
    const auto lives = c.find("resident");
    read_residents(c, lives ? roles(*lives) : std::array<bool, kRoles>{}, m);
    bandwidths(c, m);
    scaling_.read_costs(c, name, result_.clock_hz, m);
    if (m.off_chip && result_.clock_hz) device_bandwidth(c, m);
    return m;
  }

  std::array<bool, kRoles> roles(const Cursor& list) {
    std::array<bool, kRoles> set{};
    if (!list.expect_list("a list of inputs, weights, outputs")) return set;
    for (const Cursor& item : list.items()) {
      const auto role = item.choice(keys::kRoleNames);
      if (!role) continue;
      if (set[*role]) item.problem(fmt::format("{} is listed twice", keys::kRoleNames[*role]), "each once");
      set[*role] = true;
    }
    return set;
  }

  std::optional<double> bandwidth(const Cursor& c, int word_bits) {
    const auto text = c.text("words per cycle such as 4, 4 words/cycle or 16 bytes/cycle");
    if (!text) return std::nullopt;
    const Parsed<double> value = parse_words_per_cycle(*text, word_bits, result_.clock_hz);
    if (const auto* error = std::get_if<UnitError>(&value)) {
      c.problem(error->what, error->expected, error->did_you_mean);
      return std::nullopt;
    }
    const double rate = std::get<double>(value);
    if (rate >= kLeastPositiveReal && rate <= kMostReal) return rate;
    c.problem(fmt::format("{} is too {}", c.node().describe(), rate > kMostReal ? "large" : "small"),
              fmt::format("{:g} to {:g} words per cycle; leave the key out for an unlimited bandwidth",
                          kLeastPositiveReal, kMostReal));
    return std::nullopt;
  }

  /// One port for all tensors, or a map from roles to ports of their own.
  void ports(const Cursor& c, Memory& m, std::optional<double>& all, std::optional<double> Bandwidth::*own) {
    if (!c.node().is_map()) {
      all = bandwidth(c, m.word_bits);
      return;
    }
    if (!c.only_keys(keys::kRoleNames, "words per cycle, or a map from inputs, weights, outputs to words per cycle"))
      return;
    for (std::size_t r = 0; r < kRoles; ++r) {
      const auto value = c.find(keys::kRoleNames[r]);
      if (!value) continue;
      if (!m.may_keep[r])
        value->problem(fmt::format("{} are not kept here", keys::kRoleNames[r]), "only what `keeps` lists");
      m.bandwidth_of[r].*own = bandwidth(*value, m.word_bits);
    }
  }

  void bandwidths(const Cursor& c, Memory& m) {
    const auto shared = c.find("bandwidth"), read = c.find("read_bandwidth"), write = c.find("write_bandwidth");
    if (shared && (read || write)) {
      return shared->problem("bandwidth beside read_bandwidth or write_bandwidth",
                             "either one shared bandwidth or one for each direction");
    }
    if (shared) ports(*shared, m, m.bus_words_per_cycle, &Bandwidth::bus);
    if (read) ports(*read, m, m.read_words_per_cycle, &Bandwidth::read);
    if (write) ports(*write, m, m.write_words_per_cycle, &Bandwidth::write);
  }

  /// A memory device has the bandwidth of one device unless the file says otherwise.
  void device_bandwidth(const Cursor& c, Memory& m) {
    for (const char* key : {"bandwidth", "read_bandwidth", "write_bandwidth"})
      if (c.find(key)) return;
    const Technology* table = named_.get(c, m.technology);
    if (table == nullptr) return;
    const double bytes_per_cycle = table->off_chip->gb_per_s * 1e9 / *result_.clock_hz;
    m.bus_words_per_cycle = bytes_per_cycle * 8 / m.word_bits;
  }

  Fanout fanout(const Cursor& c) {
    c.only_keys(keys::kFanout);
    Fanout f;
    if (const auto value = c.find("rows")) f.rows = value->count(1, kMaxUnits).value_or(1);
    if (const auto value = c.find("cols")) f.cols = value->count(1, kMaxUnits).value_or(1);
    if (!c.find("rows") && !c.find("cols")) c.require("cols", "how many copies: rows, cols or both");
    const auto units = checked_multiply(f.rows, f.cols);
    if (!units || *units > kMaxUnits) {
      c.problem(fmt::format("{} x {} units are too many", f.rows, f.cols), fmt::format("at most {}", kMaxUnits));
      f.rows = f.cols = 1;
    }
    if (const auto value = c.find("multicast")) f.multicast = value->flag().value_or(true);
    if (const auto value = c.find("reduction")) read_reduction(*value, f);
    if (const auto value = c.find("partial_multicast")) {
      f.partial_multicast = value->flag().value_or(false);
      if (f.partial_multicast && !f.multicast) value->problem("partial_multicast without multicast", "multicast: true");
    }
    if (const auto value = c.find("pj_per_bit")) f.pj_per_bit = value->real().value_or(0);
    if (const auto value = c.find("systolic"))
      if (const auto role = value->choice(keys::kRoleNames)) f.systolic = static_cast<Role>(*role);
    if (const auto value = c.find("area_um2"))
      f.area_um2 = value->real().value_or(0) * logic_.area_since(*value, technology_);
    return f;
  }

  /// true, false, or sums by wires: always (both sides), rows, cols.
  static void read_reduction(const Cursor& value, Fanout& f) {
    const auto chosen = value.choice(keys::kReductions);
    if (!chosen) return;
    const std::string_view word = keys::kReductions[*chosen];
    f.reduction = word != "false";
    f.wired_sums = {word == "always" || word == "rows", word == "always" || word == "cols"};
  }

  void check_chain(const Cursor& list, const std::vector<Cursor>& items, bool levels_are_good) {
    const auto& levels = result_.levels;
    if (!levels.front().is_memory()) {
      items.front().problem("the outermost level is not a memory", "a memory (such as DRAM) first");
    }
    for (std::size_t i = 0; i + 1 < levels.size(); ++i) {
      if (levels[i].is_compute())
        items[i].problem("a compute level before the end of the chain", "exactly one, innermost");
    }
    if (!levels.back().is_compute()) {
      list.problem("a chain without compute at its end", "a last level compute: NAME");
    }
    Count units = 1;
    for (std::size_t i = 0; i < levels.size(); ++i) {
      if (levels[i].is_fanout()) {
        const auto product = checked_multiply(units, levels[i].fanout().units());
        if (!product || *product > kMaxUnits) {
          items[i].problem("the fanouts multiply to too many units", fmt::format("at most {}", kMaxUnits));
          return;
        }
        units = *product;
      } else if (levels[i].is_memory() && levels[i].memory().capacity_words) {
        const auto words = checked_multiply(units, *levels[i].memory().capacity_words);
        if (!words || *words >= kMaxCount) {
          items[i].problem("all copies together hold too many words", "fewer than 2^62");
        }
      }
    }
    if (!levels_are_good) return;
    for (std::size_t r = 0; r < kRoles; ++r) {
      const bool kept = std::ranges::any_of(
          levels, [&](const Level& level) { return level.is_memory() && level.memory().may_keep[r]; });
      if (!kept) list.problem(fmt::format("no memory keeps {}", keys::kRoleNames[r]), "at least one that does");
    }
  }

  /// Area that no level owns, and area of flexibility: from the file, else Table 3 of the flexibility paper scaled to
  /// this design. An accelerator without any area has none for flexibility either: nothing could be compared with it.
  void area() {
    const auto c = root_.find("area");
    if (c && !c->only_keys(keys::kArea)) return;
    if (const auto value = c ? c->find("base_um2") : std::nullopt)
      result_.base_area_um2 = value->real().value_or(0) * logic_.area_since(*value, technology_);
    const auto axes = c ? c->find("flexibility_um2") : std::nullopt;
    const auto from = c ? c->find("flexibility_from") : std::nullopt;
    if (from && !axes) from->problem("flexibility_from without flexibility_um2", "the areas it is about");
    if (axes && axes->only_keys(keys::kAxes, "{T: um2, O: um2, P: um2, S: um2}")) {
      for (std::size_t axis = 0; axis < keys::kAxes.size(); ++axis) {
        if (const auto value = axes->find(keys::kAxes[axis]))
          result_.flexibility_area_um2[axis] = value->real().value_or(0) * growth_since(value->node().stage, axis) *
                                               logic_.area_since(*value, technology_);
      }
      if (result_.flexibility_area_um2 != std::array<double, 4>{})
        result_.flexibility_area_from = from ? from->text().value_or("") : "the accelerator's file";
    } else if (!axes && chain_known_ && has_area()) {
      result_.flexibility_area_um2 =
          logic_.default_flexibility_area(root_, result_, technology_, result_.flexibility_area_from);
    }
  }

  bool has_area() const {
    return result_.base_area_um2 > 0 || std::ranges::any_of(result_.levels, [](const Level& level) {
             return (level.is_memory()   ? level.memory().area_um2
                     : level.is_fanout() ? level.fanout().area_um2
                                         : level.compute().area_um2) > 0;
           });
  }

  /// How much larger this design is than the one a stage described, in what the axis' area grows with.
  double growth_since(int stage, std::size_t axis) {
    if (static_cast<std::size_t>(stage) + 1 >= tree_.stages.size() || !chain_known_) return 1;
    const auto [described, is_new] = growth_at_.try_emplace(stage);
    if (is_new) {
      AcceleratorTree then;
      then.stages.assign(tree_.stages.begin(), tree_.stages.begin() + stage + 1);
      Diagnostics ignored;
      const Accelerator accelerator = AcceleratorReader(tables_, then, ignored).sizes();
      if (ignored.empty()) described->second = flexibility_growth(accelerator);
    }
    const double before = described->second[axis], now = flexibility_growth(result_)[axis];
    return before > 0 && now > 0 ? now / before : 1;
  }

  TechnologyTables& tables_;
  const AcceleratorTree& tree_;
  Cursor root_;
  NamedTables named_;
  MemoryScaling scaling_;
  LogicScaling logic_;
  Diagnostics& problems_;
  Accelerator result_;
  int word_bits_ = 16;
  std::string technology_;
  bool chain_known_ = false;
  std::map<int, std::array<double, 4>> growth_at_;  ///< by stage, for the four axes; zeros when it is no accelerator
};

}  // namespace

struct AcceleratorTemplate::Read {
  Read(const Library& library, std::string_view text, std::string_view name, const std::filesystem::path& directory)
      : file(name), tables(library), tree(read_accelerator_files(library, text, file, directory, problems)) {}

  Accelerator accelerator(const std::vector<Setting>& settings, Accelerator (AcceleratorReader::*part)()) {
    Diagnostics found = problems;
    const AcceleratorTree set = complete_accelerator_tree(tree, file, settings, found);
    AcceleratorReader reader(tables, set, found);
    Accelerator accelerator = (reader.*part)();
    found.throw_if_any();
    return accelerator;
  }

  std::string file;
  TechnologyTables tables;
  Diagnostics problems;  ///< of the files alone
  AcceleratorTree tree;
};

AcceleratorTemplate::AcceleratorTemplate(const Library& library, std::string_view name_or_path) {
  const std::filesystem::path file = library.find_accelerator(name_or_path);
  read_ = std::make_unique<Read>(library, read_source(file), file.string(), file.parent_path());
}

AcceleratorTemplate::AcceleratorTemplate(const Library& library, std::string_view text, std::string_view name)
    : read_(std::make_unique<Read>(library, text, name, std::filesystem::path(name).parent_path())) {}

AcceleratorTemplate::AcceleratorTemplate(AcceleratorTemplate&&) noexcept = default;
AcceleratorTemplate::~AcceleratorTemplate() = default;

Accelerator AcceleratorTemplate::with(const std::vector<Setting>& settings) {
  return read_->accelerator(settings, &AcceleratorReader::whole);
}

Accelerator AcceleratorTemplate::sizes_with(const std::vector<Setting>& settings) {
  return read_->accelerator(settings, &AcceleratorReader::sizes);
}

std::optional<std::vector<std::size_t>> AcceleratorTemplate::levels_reached(const std::vector<Setting>& settings,
                                                                            const Setting& more) const {
  YamlNode tree = read_->tree.stages.back();
  Diagnostics ignored;
  for (const Setting& setting : settings)
    apply_setting(tree, setting, static_cast<int>(read_->tree.stages.size()), ignored);
  return pliant::levels_reached(tree, more);
}

YamlNode AcceleratorTemplate::parameters(const std::vector<Setting>& settings) const {
  Diagnostics ignored;
  const AcceleratorTree tree = complete_accelerator_tree(read_->tree, read_->file, settings, ignored);
  const YamlNode* found = tree.stages.back().find("parameters");
  return found == nullptr ? YamlNode{} : *found;
}

Accelerator load_accelerator(const Library& library, std::string_view name_or_path,
                             const std::vector<Setting>& settings) {
  return AcceleratorTemplate(library, name_or_path).with(settings);
}

Accelerator parse_accelerator_text(const Library& library, std::string_view text, std::string_view name,
                                   const std::vector<Setting>& settings) {
  return AcceleratorTemplate(library, text, name).with(settings);
}

}  // namespace pliant
