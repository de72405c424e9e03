// SPDX-License-Identifier: Apache-2.0
#include "dse/answers/draw_chain.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "dse/answers/text_table.h"

namespace pliant {
namespace {

struct Strokes {
  std::string line, side, top_left, top_right, bottom_left, bottom_right, down, up, fork_left, fork_right, fork, times;
};
const Strokes kUnicode{"─", "│", "┌", "┐", "└", "┘", "┬", "┴", "╱", "╲", "│", "×"};
const Strokes kAscii{"-", "|", "+", "+", "+", "+", "+", "+", "/", "\\", "|", "x"};

std::string repeat(const std::string& piece, std::size_t times) {
  std::string text;
  for (std::size_t i = 0; i < times; ++i) text += piece;
  return text;
}

/// What stands inside a box, one line each.
std::vector<std::string> inside(const Level& level) {
  std::vector<std::string> lines;
  if (level.is_memory()) {
    const Memory& m = level.memory();
    std::string capacity = "unbounded";
    if (m.capacity_words) {
      capacity = fmt::format("{} x {} bit = {}", *m.capacity_words, m.word_bits,
                             readable_bytes(static_cast<double>(*m.capacity_words) * m.word_bits / 8));
    }
    if (m.buffers > 1) capacity += fmt::format(", {} buffers", m.buffers);
    lines.push_back(fmt::format("{}   keeps {}", level.name, kept_roles(m)));
    lines.push_back(capacity);
    const bool own = m.bandwidth_of != decltype(m.bandwidth_of){};
    const auto speed = [&](const std::optional<double>& words) {
      return words ? fmt::format("{:.4g}/cycle", *words) : std::string(own ? "a port per tensor" : "unlimited");
    };
    if (m.bus_words_per_cycle)
      lines.push_back(fmt::format("read {:.4g} pJ; write {:.4g} pJ; one bus, {}", m.read_pj, m.write_pj,
                                  speed(m.bus_words_per_cycle)));
    else
      lines.push_back(fmt::format("read {:.4g} pJ, {}; write {:.4g} pJ, {}", m.read_pj, speed(m.read_words_per_cycle),
                                  m.write_pj, speed(m.write_words_per_cycle)));
  } else {
    const Compute& c = level.compute();
    lines.push_back(level.name);
    lines.push_back(fmt::format("{:.4g} pJ per MAC, {:.4g} cycles", c.mac_pj, c.cycles_per_mac));
  }
  return lines;
}

std::string fork_text(const std::string& name, const Fanout& f, const Strokes& strokes) {
  std::string text = fmt::format("{}: {} rows {} {} cols", name, f.rows, strokes.times, f.cols);
  if (f.multicast) text += f.partial_multicast ? ", partial multicast" : ", multicast";
  if (f.reduction) text += ", reduction";
  if (f.systolic) text += fmt::format(", systolic ({} stay)", to_string(*f.systolic));
  return text;
}

}  // namespace

std::string kept_roles(const Memory& memory) {
  constexpr std::array<char, kRoles> kLetters{'I', 'W', 'O'};
  std::string text;
  for (std::size_t r = 0; r < kRoles; ++r) {
    if (r > 0) text += ' ';
    if (!memory.may_keep[r]) {
      text += '.';
    } else {
      text += memory.may_bypass[r] ? fmt::format("({})", kLetters[r]) : std::string(1, kLetters[r]);
    }
  }
  return text;
}

std::string draw_chain(const Accelerator& accelerator, bool ascii) {
  const Strokes& strokes = ascii ? kAscii : kUnicode;
  std::size_t width = 0;
  for (const Level& level : accelerator.levels) {
    if (level.is_fanout()) continue;
    for (const std::string& line : inside(level)) width = std::max(width, text_width(line));
  }
  width += 2;
  const std::size_t middle = width / 2;
  const std::string before = repeat(strokes.line, middle), after = repeat(strokes.line, width - middle - 1);

  std::string picture;
  for (std::size_t k = 0; k < accelerator.levels.size(); ++k) {
    const Level& level = accelerator.levels[k];
    if (level.is_fanout()) {
      picture += fmt::format("  {}{}{}{}   {}\n", std::string(middle, ' '), strokes.fork_left, strokes.fork,
                             strokes.fork_right, fork_text(level.name, level.fanout(), strokes));
      continue;
    }
    const bool first = k == 0, last = k + 1 == accelerator.levels.size();
    picture += fmt::format("  {}{}{}{}{}\n", strokes.top_left, before, first ? strokes.line : strokes.up, after,
                           strokes.top_right);
    const std::vector<std::string> lines = inside(level);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      picture += fmt::format("  {} {}{}{}", strokes.side, lines[i], std::string(width - 1 - text_width(lines[i]), ' '),
                             strokes.side);
      if (i == 0) picture += fmt::format("  {}{}", strokes.times, accelerator.instances(static_cast<int>(k)));
      picture += "\n";
    }
    picture += fmt::format("  {}{}{}{}{}\n", strokes.bottom_left, before, last ? strokes.line : strokes.down, after,
                           strokes.bottom_right);
  }
  return picture;
}

}  // namespace pliant
