// SPDX-License-Identifier: Apache-2.0
#include "dse/results/task_result.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>

#include "core/enum_names.h"

namespace pliant {
namespace {

constexpr std::array<std::string_view, 5> kStatus = {"solved", "no_legal_mapping", "nothing_found", "invalid_design",
                                                     "failed"};

/// Values as they lie in memory, texts and lists after their lengths. A sweep writes one for every task, so this is not
/// text: JSON took a third of all that logging did.
class Packer {
 public:
  explicit Packer(std::string& bytes) : bytes_(bytes) { take_room(bytes.size()); }
  template <class Number>
  requires std::is_arithmetic_v<Number>
  void operator()(const Number& number) {
    if (left() < sizeof number) grow(sizeof number);
    std::memcpy(at_, &number, sizeof number);
    at_ += sizeof number;
  }
  void operator()(const std::string& text) {
    length(text.size());
    if (left() < text.size()) grow(text.size());
    at_ = std::ranges::copy(text, at_).out;
  }
  template <class Item>
  void list(const std::vector<Item>& items, auto each) {
    length(items.size());
    for (const Item& item : items) each(*this, item);
  }
  void finish() { bytes_.resize(used()); }

 private:
  void length(std::size_t size) { (*this)(static_cast<std::uint32_t>(size)); }
  std::size_t left() const { return static_cast<std::size_t>(end_ - at_); }
  std::size_t used() const { return static_cast<std::size_t>(at_ - bytes_.data()); }
  /// There is room ahead, so that most values are a store and nothing else.
  void grow(std::size_t size) {
    const std::size_t before = used();
    bytes_.resize(std::max(bytes_.capacity(), 2 * (before + size)));
    take_room(before);
  }
  void take_room(std::size_t used) {
    at_ = bytes_.data() + used;
    end_ = bytes_.data() + bytes_.size();
  }
  std::string& bytes_;
  char *at_ = nullptr, *end_ = nullptr;
};

/// Reads what Packer wrote, by the same calls.
class Unpacker {
 public:
  explicit Unpacker(std::string_view bytes) : left_(bytes) {}

  template <class Number>
  requires std::is_arithmetic_v<Number>
  void operator()(Number& number) {
    if (left_.size() < sizeof number) return fail();
    std::memcpy(&number, left_.data(), sizeof number);
    left_.remove_prefix(sizeof number);
  }
  void operator()(std::string& text) {
    const std::size_t size = length();
    text = left_.substr(0, size);
    left_.remove_prefix(size);
  }
  template <class Item>
  void list(std::vector<Item>& items, auto each) {
    items.resize(length());
    for (Item& item : items) each(*this, item);
  }
  /// Everything was there and nothing is left over.
  bool whole() const { return good_ && left_.empty(); }

 private:
  /// Nothing is so short that more items than bytes could follow.
  std::size_t length() {
    std::uint32_t size = 0;
    (*this)(size);
    if (size > left_.size()) fail();
    return good_ ? size : 0;
  }
  void fail() {
    good_ = false;
    left_ = {};
  }
  std::string_view left_;
  bool good_ = true;
};

void pack_enum(Packer& out, auto value) { out(static_cast<std::uint8_t>(value)); }
void pack_enum(Unpacker& in, auto& value) {
  std::uint8_t number = 0;
  in(number);
  value = static_cast<std::remove_reference_t<decltype(value)>>(number);
}

/// The fields in their order, for both directions: `Result` is const when they are written.
template <class Pack, class Result>
void pack(Pack& all, Result& r) {
  pack_enum(all, r.status);
  all(r.solve_seconds);
  all(r.evaluations);
  pack_enum(all, r.ended_by);
  all(r.mappings_covered);
  all(r.reason);
  all.list(r.mapping.levels, [](auto& out, auto& level) {
    out.list(level.temporal, [](auto& o, auto& loop) { o(loop.dim), o(loop.bound); });
    out.list(level.spatial, [](auto& o, auto& loop) { o(loop.dim), o(loop.bound), pack_enum(o, loop.side); });
    out(level.keeps);
  });
  all.list(r.mapping.padded, [](auto& out, auto& size) { out(size); });
  for (auto* number :
       {&r.energy_pj, &r.runtime_cycles, &r.compute_cycles, &r.utilization, &r.value, &r.lower_bound, &r.gap})
    all(*number);
  all(r.bound_by);
  all.list(r.energy_by_level, [](auto& out, auto& level) { out(level.level), out(level.energy_pj); });
  all.list(r.memories, [](auto& out, auto& m) {
    out(m.level);
    for (auto* number : {&m.instances, &m.capacity_words, &m.used_words, &m.read_cycles, &m.write_cycles, &m.bus_cycles,
                         &m.leakage_pj})
      out(*number);
    out.list(m.tensors, [](auto& o, auto& t) {
      o(t.tensor);
      for (auto* number : {&t.reads, &t.fills, &t.updates, &t.words_read, &t.words_written, &t.energy_pj}) o(*number);
    });
  });
  all(r.certified);
  all.list(r.network.steps, [](auto& out, auto& step) {
    for (auto* number : {&step.energy_pj, &step.runtime_cycles, &step.outside_energy_pj, &step.outside_runtime_cycles})
      out(*number);
    out.list(step.taken, [](auto& o, auto& room) { o(room.level), o(room.words); });
    out(step.bound_by), out(step.under);
  });
  all.list(r.network.tensors, [](auto& out, auto& tensor) {
    out(tensor.level), out(tensor.made_by), out(tensor.last_read), out(tensor.elements), out(tensor.tiles);
  });
  all.list(r.network.weights, [](auto& out, auto& weights) { out(weights.level), out(weights.step); });
  all(r.network.loads_energy_pj), all(r.network.loads_runtime_cycles);
  all(r.network.outside_energy_pj), all(r.network.outside_runtime_cycles);
  all(r.network.whole_energy_pj), all(r.network.whole_runtime_cycles);
}

}  // namespace

std::string_view to_string(TaskStatus status) { return kStatus[static_cast<std::size_t>(status)]; }

std::optional<TaskStatus> parse_task_status(std::string_view text) { return enum_of<TaskStatus>(kStatus, text); }

void append_task_result(const TaskResult& result, std::string& bytes) {
  Packer all(bytes);
  pack(all, result);
  all.finish();
}

std::optional<TaskResult> parse_task_result(std::string_view bytes) {
  TaskResult result;
  Unpacker all(bytes);
  pack(all, result);
  if (!all.whole() || static_cast<std::size_t>(result.status) >= kStatus.size() ||
      static_cast<std::size_t>(result.ended_by) >= kEndedByCount)
    return std::nullopt;
  return result;
}

}  // namespace pliant
