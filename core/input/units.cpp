// SPDX-License-Identifier: Apache-2.0
#include "core/input/units.h"

#include <fmt/format.h>

#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>
#include <span>

#include "core/input/diagnostics.h"
#include "core/input/number_limits.h"
#include "core/input/source_text.h"

namespace pliant {
namespace {

constexpr std::size_t kShown = 40;

struct Multiple {
  std::string_view name;
  Count factor;
};
constexpr std::array<Multiple, 8> kMultiples{{{"Ki", Count{1} << 10},
                                              {"Mi", Count{1} << 20},
                                              {"Gi", Count{1} << 30},
                                              {"Ti", Count{1} << 40},
                                              {"K", 1'000},
                                              {"M", 1'000'000},
                                              {"G", 1'000'000'000},
                                              {"T", 1'000'000'000'000}}};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string_view trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

/// Length of the leading [+-]digits[.digits][e[+-]digits]; 0 when there is none.
std::size_t number_length(std::string_view text) {
  std::size_t i = 0;
  if (i < text.size() && (text[i] == '+' || text[i] == '-')) ++i;
  const std::size_t first = i;
  while (i < text.size() && is_digit(text[i])) ++i;
  std::size_t digits = i - first;
  if (i < text.size() && text[i] == '.') {
    const std::size_t point = i++;
    while (i < text.size() && is_digit(text[i])) ++i;
    digits += i - point - 1;
  }
  if (digits == 0) return 0;
  if (i < text.size() && (text[i] == 'e' || text[i] == 'E')) {
    std::size_t j = i + 1;
    if (j < text.size() && (text[j] == '+' || text[j] == '-')) ++j;
    const std::size_t exponent = j;
    while (j < text.size() && is_digit(text[j])) ++j;
    if (j > exponent) i = j;
  }
  return i;
}

enum class Exact { kYes, kFraction, kOverflow };

/// value = decimal text * factor, exactly, in whole numbers.
Exact exact_product(std::string_view number, Count factor, Count& value) {
  bool negative = false;
  if (number.front() == '+' || number.front() == '-') {
    negative = number.front() == '-';
    number.remove_prefix(1);
  }
  int exponent = 0;
  if (const auto e = number.find_first_of("eE"); e != std::string_view::npos) {
    std::string_view text = number.substr(e + 1);
    if (text.front() == '+') text.remove_prefix(1);
    const auto result = std::from_chars(text.data(), text.data() + text.size(), exponent);
    if (result.ec != std::errc{}) exponent = text.front() == '-' ? -1000 : 1000;
    number = number.substr(0, e);
  }
  // Digits without the point, leading and trailing zeros; the exponent then says where the point belongs.
  std::string digits;
  bool after_point = false;
  for (const char c : number) {
    if (c == '.') {
      after_point = true;
      continue;
    }
    digits += c;
    if (after_point && exponent > -100'000) --exponent;
  }
  while (!digits.empty() && digits.back() == '0') {
    digits.pop_back();
    ++exponent;
  }
  digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size()));
  if (digits.empty()) {
    value = 0;
    return Exact::kYes;
  }
  if (digits.size() > 19 || exponent > 18)
    return exponent < 0 && digits.size() > 19 ? Exact::kFraction : Exact::kOverflow;
  if (exponent < -40) return Exact::kFraction;
  __extension__ using Wide = __int128;
  Wide wide = 0;
  for (const char c : digits) wide = wide * 10 + (c - '0');
  wide *= factor;  // at most 1e19 * 2^40: fits
  const Wide most = std::numeric_limits<Count>::max();
  for (; exponent > 0; --exponent) {
    if (wide > most) return Exact::kOverflow;
    wide *= 10;
  }
  for (; exponent < 0; ++exponent) {
    if (wide % 10 != 0) return Exact::kFraction;
    wide /= 10;
  }
  if (wide > most) return Exact::kOverflow;
  value = static_cast<Count>(negative ? -wide : wide);
  return Exact::kYes;
}

UnitError not_exact(Exact why, std::string_view text) {
  if (why == Exact::kFraction) return {fmt::format("`{}` is not whole", shorten(text, kShown)), "a whole number", ""};
  return {fmt::format("`{}` is too large", shorten(text, kShown)), "at most 9223372036854775807", ""};
}

/// Splits "128 Ki words" into number, multiple and unit ("words"). False when it does not start with a number.
bool split(std::string_view text, std::string_view& number, Count& factor, std::string_view& unit) {
  text = trim(text);
  const std::size_t length = number_length(text);
  if (length == 0) return false;
  number = text.substr(0, length);
  std::string_view rest = trim(text.substr(length));
  factor = 1;
  for (const Multiple& multiple : kMultiples) {
    if (rest.substr(0, multiple.name.size()) == multiple.name) {
      factor = multiple.factor;
      rest = trim(rest.substr(multiple.name.size()));
      break;
    }
  }
  unit = rest;
  return true;
}

struct SizeUnit {
  std::string_view name;
  int bits;  ///< 0 = a word
};
constexpr std::array<SizeUnit, 8> kSizeUnits{
    {{"", 0}, {"words", 0}, {"word", 0}, {"B", 8}, {"bytes", 8}, {"byte", 8}, {"bits", 1}, {"bit", 1}}};

const SizeUnit* find_unit(std::string_view name) {
  for (const SizeUnit& unit : kSizeUnits) {
    if (unit.name == name) return &unit;
  }
  return nullptr;
}

std::string near_size_unit(std::string_view text, std::string_view number) {
  const std::string unit(trim(trim(text).substr(number.size())));
  // `2MBit` and `2mbits` are bits, however near their letters come to bytes.
  std::string lowered = unit;
  for (char& c : lowered) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (const std::size_t bits = lowered.rfind("bit"); bits != std::string::npos && bits + 4 >= lowered.size()) {
    std::string multiple = unit.substr(0, bits);
    if (!multiple.empty()) multiple[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(multiple[0])));
    return fmt::format("{} {}bits", number, multiple);
  }
  const std::vector<std::string> known{"KiB", "MiB", "GiB",   "KB",       "MB",       "GB",    "Ki",  "Mi",
                                       "Gi",  "B",   "words", "Ki words", "Mi words", "bytes", "bits"};
  const std::string near = nearest(unit, known);
  return near.empty() ? "" : fmt::format("{} {}", number, near);
}

}  // namespace

std::optional<Count> checked_multiply(Count a, Count b) {
  Count product = 0;
  if (__builtin_mul_overflow(a, b, &product)) return std::nullopt;
  return product;
}

std::optional<Count> checked_add(Count a, Count b) {
  Count sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) return std::nullopt;
  return sum;
}

Parsed<Count> parse_count(std::string_view text) {
  const UnitError wrong{fmt::format("`{}` is not a whole number", shorten(text, kShown)),
                        "a whole number such as 64, 4Ki or 1e6", ""};
  std::string_view number, unit;
  Count factor = 1, value = 0;
  if (!split(text, number, factor, unit)) return wrong;
  if (!unit.empty()) {
    if (find_unit(unit) != nullptr) {
      return UnitError{fmt::format("`{}` has the unit `{}`", shorten(text, kShown), unit), "a plain whole number", ""};
    }
    return wrong;
  }
  if (const Exact exact = exact_product(number, factor, value); exact != Exact::kYes) return not_exact(exact, text);
  return value;
}

Parsed<double> parse_real(std::string_view text) {
  text = trim(text);
  const std::size_t length = number_length(text);
  if (length == 0) {
    return UnitError{fmt::format("`{}` is not a number", shorten(text, kShown)), "a number such as 0.5 or 1e-3", ""};
  }
  if (length != text.size()) {
    return UnitError{fmt::format("`{}` is not a plain number", shorten(text, kShown)),
                     "a number in the unit of the key, without a unit of its own", ""};
  }
  if (text.front() == '+') text.remove_prefix(1);
  double value = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  // An exponent too small for a double is as good as zero only if someone meant it; nobody does.
  if (result.ec != std::errc{} || !std::isfinite(value)) {
    return UnitError{fmt::format("`{}` is out of range", shorten(text, kShown)), "a finite number", ""};
  }
  return value;
}

Parsed<Count> parse_words(std::string_view text, int word_bits) {
  constexpr std::string_view kExpected = "a size such as 4096, 64Ki words or 128KiB";
  std::string_view number, unit;
  Count factor = 1, value = 0;
  if (!split(text, number, factor, unit)) {
    return UnitError{fmt::format("`{}` is not a size", shorten(text, kShown)), std::string(kExpected), ""};
  }
  const SizeUnit* known = find_unit(unit);
  if (known == nullptr) {
    return UnitError{fmt::format("`{}` has an unknown unit", shorten(text, kShown)), std::string(kExpected),
                     near_size_unit(text, number)};
  }
  if (known->bits == 0) {
    if (const Exact exact = exact_product(number, factor, value); exact != Exact::kYes) return not_exact(exact, text);
    return value;
  }
  if (const Exact exact = exact_product(number, factor * known->bits, value); exact != Exact::kYes) {
    return not_exact(exact, text);
  }
  if (value % word_bits != 0) {
    return UnitError{fmt::format("`{}` is not a whole number of {}-bit words", shorten(text, kShown), word_bits),
                     "a multiple of the word size", ""};
  }
  return value / word_bits;
}

Parsed<Count> parse_bytes(std::string_view text) {
  std::string_view number, unit;
  Count factor = 1;
  const SizeUnit* known = split(text, number, factor, unit) ? find_unit(unit) : nullptr;
  if (known == nullptr || known->bits == 0)
    return UnitError{fmt::format("`{}` is not a size with a unit of bytes", shorten(text, kShown)),
                     "a size such as 128KiB", ""};
  return parse_words(text, 8);
}

namespace {

/// The number in front of a unit, and the unit.
Parsed<double> leading_real(std::string_view& text, const UnitError& otherwise) {
  text = trim(text);
  const std::size_t length = number_length(text);
  if (length == 0) return otherwise;
  const Parsed<double> number = parse_real(text.substr(0, length));
  text = trim(text.substr(length));
  return number;
}

/// Bits of `GB/s`, `MiB/s`, `Gbits/s`, ... without the number; 0 when it is no such unit.
double bits_per_second(std::string_view unit) {
  constexpr std::string_view kPerSecond = "/s";
  if (!unit.ends_with(kPerSecond)) return 0;
  unit.remove_suffix(kPerSecond.size());
  // Multiples as sizes have them; the number is ours to multiply.
  std::string_view number, size;
  Count factor = 1;
  const std::string one = fmt::format("1{}", unit);
  if (!split(one, number, factor, size)) return 0;
  const SizeUnit* known = find_unit(size);
  return known == nullptr || known->bits == 0 ? 0 : static_cast<double>(factor) * known->bits;
}

}  // namespace

Parsed<double> parse_words_per_cycle(std::string_view text, int word_bits, std::optional<double> clock_hz) {
  const std::string whole = shorten(text, kShown);
  const std::string expected = clock_hz ? "words per cycle such as 4, 16 bytes/cycle or 25.6 GB/s"
                                        : "words per cycle such as 4, 4 words/cycle or 16 bytes/cycle";
  std::string_view unit = text;
  const Parsed<double> number = leading_real(unit, {fmt::format("`{}` is not a bandwidth", whole), expected, ""});
  if (std::holds_alternative<UnitError>(number)) return number;
  const double value = std::get<double>(number);
  if (unit.empty()) return value;
  constexpr std::string_view kPerCycle = "/cycle";
  if (unit.size() > kPerCycle.size() && unit.ends_with(kPerCycle)) {
    const SizeUnit* known = find_unit(unit.substr(0, unit.size() - kPerCycle.size()));
    if (known != nullptr) return known->bits == 0 ? value : value * known->bits / word_bits;
  }
  if (const double bits = bits_per_second(unit); bits > 0) {
    if (clock_hz) return value * bits / *clock_hz / word_bits;
    return UnitError{fmt::format("`{}` is per second, and the accelerator has no clock", whole),
                     "`clock: 1 GHz` on the accelerator, or a bandwidth per cycle such as 16 bytes/cycle", ""};
  }
  return UnitError{fmt::format("`{}` has an unknown unit", whole), expected, ""};
}

namespace {

struct NamedUnit {
  std::string_view name;
  double factor;
};

/// A number with one of these units: "a frequency such as 1 GHz" is `such`.
Parsed<double> parse_quantity(std::string_view text, std::span<const NamedUnit> units, std::string_view what,
                              std::string_view such, double most, bool may_be_zero) {
  const std::string whole = shorten(text, kShown), expected = fmt::format("{} such as {}", what, such);
  std::string_view unit = text;
  const Parsed<double> number = leading_real(unit, {fmt::format("`{}` is not {}", whole, what), expected, ""});
  if (std::holds_alternative<UnitError>(number)) return number;
  const double value = std::get<double>(number);
  std::vector<std::string> known;
  for (const auto& [name, factor] : units) {
    known.emplace_back(name);
    if (unit != name) continue;
    const bool enough = value > 0 || (may_be_zero && value == 0);
    if (enough && value * factor <= most) return value * factor;
    return UnitError{
        fmt::format("`{}` is too small or too large", whole),
        enough ? fmt::format("at most {:g} {}", most, units.front().name) : fmt::format("{} above 0", what), ""};
  }
  const std::string near = unit.empty() ? "" : nearest(std::string(unit), known);
  return UnitError{fmt::format("`{}` has {}", whole, unit.empty() ? "no unit" : "an unknown unit"), expected,
                   near.empty() ? "" : fmt::format("{:g} {}", value, near)};
}

}  // namespace

Parsed<double> parse_hertz(std::string_view text) {
  constexpr std::array<NamedUnit, 4> kUnits{{{"Hz", 1}, {"kHz", 1e3}, {"MHz", 1e6}, {"GHz", 1e9}}};
  return parse_quantity(text, kUnits, "a frequency", "1 GHz or 800 MHz", kMostHertz, false);
}

Parsed<double> parse_time(std::string_view text) {
  constexpr std::array<NamedUnit, 4> kUnits{{{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}}};
  return parse_quantity(text, kUnits, "a time", "3 us", 1e6, true);
}

Parsed<double> parse_watts(std::string_view text) {
  constexpr std::array<NamedUnit, 4> kUnits{{{"W", 1}, {"mW", 1e-3}, {"uW", 1e-6}, {"kW", 1e3}}};
  return parse_quantity(text, kUnits, "a power", "700 W", 1e9, true);
}

}  // namespace pliant
