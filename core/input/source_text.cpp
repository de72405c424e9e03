// SPDX-License-Identifier: Apache-2.0
#include "core/input/source_text.h"

#include <fmt/format.h>

#include <fstream>
#include <system_error>

#include "core/input/diagnostics.h"

namespace pliant {
namespace {

/// Length of the UTF-8 character at `at`, or 0 when the bytes are none.
std::size_t utf8_length(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(at);
  if (lead < 0x80) return 1;
  std::size_t length = 0;
  if (lead >= 0xC2 && lead <= 0xDF) {
    length = 2;
  } else if (lead >= 0xE0 && lead <= 0xEF) {
    length = 3;
  } else if (lead >= 0xF0 && lead <= 0xF4) {
    length = 4;
  } else {
    return 0;
  }
  if (at + length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(at + i) & 0xC0) != 0x80) return 0;
  }
  return length;
}

}  // namespace

std::string read_source(const std::filesystem::path& file) {
  const auto fail = [&](std::string what, std::string expected) {
    throw InputError(Diagnostic{file.string(), 0, 0, "", std::move(what), std::move(expected), ""});
  };
  std::error_code error;
  const auto status = std::filesystem::status(file, error);
  if (!std::filesystem::exists(status)) fail("no such file", "");
  if (std::filesystem::is_directory(status)) fail("is a folder", "a text file");
  if (!std::filesystem::is_regular_file(status)) fail("not a regular file", "a text file");
  const auto size = std::filesystem::file_size(file, error);
  if (!error && size > kMaxSourceBytes) {
    fail(fmt::format("{} bytes are too many", size), fmt::format("at most {} MiB", kMaxSourceBytes >> 20));
  }
  std::ifstream stream(file, std::ios::binary);
  if (!stream) fail("cannot be opened", "a readable file");
  std::string text;
  text.resize(static_cast<std::size_t>(size));
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (stream.bad()) fail("cannot be read", "a readable file");
  text.resize(static_cast<std::size_t>(stream.gcount()));
  return text;
}

void check_source_text(std::string_view text, std::string_view file) {
  if (text.size() > kMaxSourceBytes) {
    throw InputError(Diagnostic{std::string(file), 0, 0, "", fmt::format("{} bytes are too many", text.size()),
                                fmt::format("at most {} MiB", kMaxSourceBytes >> 20), ""});
  }
  int line = 1, column = 1;
  const auto fail = [&](std::string what) {
    throw InputError(Diagnostic{std::string(file), line, column, "", std::move(what), "a text file in UTF-8", ""});
  };
  for (std::size_t at = 0; at < text.size();) {
    const auto c = static_cast<unsigned char>(text[at]);
    const std::size_t length = utf8_length(text, at);
    if (length == 0) fail(fmt::format("the byte 0x{:02X} is not UTF-8", c));
    if ((c < 0x20 && c != '\n' && c != '\r' && c != '\t') || c == 0x7F) {
      fail(fmt::format("the control character 0x{:02X}", c));
    }
    at += length;
    if (c == '\n') {
      ++line;
      column = 1;
    } else {
      ++column;
    }
  }
}

std::string shorten(std::string_view text, std::size_t limit) {
  std::size_t end = 0;
  while (end < text.size()) {
    const std::size_t length = std::max<std::size_t>(utf8_length(text, end), 1);
    if (end + length > limit) break;
    end += length;
  }
  std::string shown(text.substr(0, end));
  for (char& c : shown) {
    if (static_cast<unsigned char>(c) < 0x20) c = ' ';
  }
  if (end < text.size()) shown += "...";
  return shown;
}

}  // namespace pliant
