// SPDX-License-Identifier: Apache-2.0
// Numbers as people write them: 131072, 128Ki, 1e6, 64 KiB, 8 words/cycle. Pure functions of the text; no positions.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "core/layer.h"

namespace pliant {

/// Readers keep every product of sizes below this, so sums and small multiples of counts fit as well.
inline constexpr Count kMaxCount = Count{1} << 62;

/// Why a text is not the wanted number.
struct UnitError {
  std::string what;      ///< "`12x` is not a whole number"
  std::string expected;  ///< may be empty
  std::string did_you_mean;
};

template <class T>
using Parsed = std::variant<T, UnitError>;

/// A whole number: decimal digits, `1e6`, `1.5e3`, with K M G T (decimal) or Ki Mi Gi Ti (binary). May be negative.
Parsed<Count> parse_count(std::string_view text);

/// A finite decimal number.
Parsed<double> parse_real(std::string_view text);

/// Words of a memory: a count, optionally with `words`, or bytes (`128KiB`, `64 KB`, `24 bytes`, `512 bits`), which
/// must be whole words of `word_bits`.
Parsed<Count> parse_words(std::string_view text, int word_bits);

/// Bytes: a size with its unit (`128KiB`, `64 KB`, `24 bytes`, `512 bits`), a whole number of bytes.
Parsed<Count> parse_bytes(std::string_view text);

/// Words per cycle: a number, or with `words/cycle`, `bytes/cycle` (`B/cycle`), `bits/cycle`; with a clock also bytes
/// or bits per second (`25.6 GB/s`, `200 Gbits/s`).
Parsed<double> parse_words_per_cycle(std::string_view text, int word_bits, std::optional<double> clock_hz = {});

/// A frequency above 0 with its unit: `1 GHz`, `800 MHz`, `32 kHz`, `5e8 Hz`.
Parsed<double> parse_hertz(std::string_view text);

/// A time with its unit, 0 or more: `3 us`, `1.5 ms`, `0 s`.
Parsed<double> parse_time(std::string_view text);

/// A power with its unit, 0 or more: `700 W`, `350 mW`.
Parsed<double> parse_watts(std::string_view text);

/// a * b, or nothing when it does not fit.
std::optional<Count> checked_multiply(Count a, Count b);
std::optional<Count> checked_add(Count a, Count b);

}  // namespace pliant
