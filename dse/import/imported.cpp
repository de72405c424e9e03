// SPDX-License-Identifier: Apache-2.0
#include "dse/import/imported.h"

#include <fmt/format.h>

#include <cctype>
#include <filesystem>

#include "core/input/cursor.h"

namespace pliant {
namespace {

/// More notes than anybody reads; the rest is counted in the last one.
constexpr std::size_t kMaxNotes = 200;

void add_note(std::vector<ImportNote>& notes, ImportNote note) {
  if (notes.size() < kMaxNotes) {
    notes.push_back(std::move(note));
  } else if (notes.size() == kMaxNotes) {
    notes.push_back({note.at, "", "and more of the same kind from here on", false});
  }
}

}  // namespace

std::string ImportNote::text() const {
  std::string text = at.file ? *at.file : "";
  if (at.line > 0) text += fmt::format(":{}", at.line);
  if (!key.empty()) text += fmt::format("{}{}", text.empty() ? "" : ": ", key);
  return fmt::format("{}{}{}", text, text.empty() ? "" : ": ", what);
}

void ImportLog::choice(const Position& at, std::string key, std::string what) {
  add_note(choices_, {at, std::move(key), std::move(what)});
}

void ImportLog::small_choice(const Position& at, std::string key, std::string what) {
  add_note(choices_, {at, std::move(key), std::move(what), true});
}

void ImportLog::first(const Position& at, std::string key, std::string what) {
  choices_.insert(choices_.begin(), {at, std::move(key), std::move(what)});
}

void ImportLog::unsupported(const Position& at, std::string key, std::string what, std::string expected) {
  if (lenient_) {
    add_note(left_out_, {at, std::move(key), std::move(what)});
    return;
  }
  if (expected.empty()) expected = "a file without it, or --lenient to leave it out";
  problems_.add(at, std::move(key), std::move(what), std::move(expected));
}

std::string import_name(std::string_view text, std::string_view otherwise) {
  constexpr std::size_t kLongest = 80;
  std::string name;
  for (const char c : text.substr(0, kLongest)) {
    const bool good = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-';
    if (good) {
      name += c;
    } else if (!name.empty() && name.back() != '_') {
      name += '_';
    }
  }
  while (!name.empty() && name.back() == '_') name.pop_back();
  if (name.empty()) return std::string(otherwise);
  if (!is_name(name)) name.insert(0, "_");
  return name;
}

std::string UniqueNames::operator()(const std::string& name) {
  int& uses = used_[name];
  if (++uses == 1) return name;
  // A name such as conv_2 may itself stand in the file.
  for (;; ++uses) {
    std::string next = fmt::format("{}_{}", name, uses);
    if (used_.emplace(next, 1).second) return next;
  }
}

std::string name_of_file(const SourceFile& file) {
  return import_name(std::filesystem::path(file.name).stem().string(), "imported");
}

Position position_in(const SourceFile& file, int line, int column) {
  return {std::make_shared<const std::string>(file.name), line, column};
}

}  // namespace pliant
