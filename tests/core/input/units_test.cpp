// SPDX-License-Identifier: Apache-2.0
#include "core/input/units.h"

#include <gtest/gtest.h>

namespace pliant {
namespace {

template <class T>
std::optional<T> value(const Parsed<T>& parsed) {
  return std::holds_alternative<T>(parsed) ? std::optional(std::get<T>(parsed)) : std::nullopt;
}

TEST(Units, WholeNumbers) {
  EXPECT_EQ(value(parse_count("131072")), 131072);
  EXPECT_EQ(value(parse_count("1e6")), 1'000'000);
  EXPECT_EQ(value(parse_count("1.5e3")), 1500);
  EXPECT_EQ(value(parse_count("1.5Ki")), 1536);
  EXPECT_EQ(value(parse_count("64K")), 64'000);
  EXPECT_EQ(value(parse_count("64 Ki")), 65'536);
  EXPECT_EQ(value(parse_count("-3")), -3);
  EXPECT_EQ(value(parse_count("9223372036854775807")), 9223372036854775807);
  EXPECT_EQ(value(parse_count("1000e-3")), 1);
  EXPECT_EQ(value(parse_count("0.000e99")), 0);
  for (const char* wrong :
       {"", "x", "1x", "1.5", "1e-1", "9223372036854775808", "1e19", "1e400", "1e-400", "0x10", "1_000", "8Ti Ti",
        "9007199254740992Ki", "1 2", "64KiB", ".", "e5", "--1", "1e99999999999"}) {
    EXPECT_FALSE(value(parse_count(wrong))) << wrong;
  }
}

TEST(Units, Sizes) {
  EXPECT_EQ(value(parse_words("128KiB", 16)), 65'536);
  EXPECT_EQ(value(parse_words("64Ki words", 8)), 65'536);
  EXPECT_EQ(value(parse_words("64 KB", 8)), 64'000);
  EXPECT_EQ(value(parse_words("24 bytes", 16)), 12);
  EXPECT_EQ(value(parse_words("512 bits", 16)), 32);
  EXPECT_EQ(value(parse_words("0.5KiB", 8)), 512);
  EXPECT_FALSE(value(parse_words("3 bytes", 16)));
  EXPECT_FALSE(value(parse_words("64kB", 16)));
  EXPECT_FALSE(value(parse_words("64 pJ", 16)));
  EXPECT_EQ(std::get<UnitError>(parse_words("64kib", 16)).did_you_mean, "64 KiB");
}

TEST(Units, Bytes) {
  EXPECT_EQ(value(parse_bytes("256KiB")), 262'144);
  EXPECT_EQ(value(parse_bytes("16 bits")), 2);
  for (const char* wrong : {"", "4096", "64Ki words", "3 bits", "KiB"})
    EXPECT_FALSE(value(parse_bytes(wrong))) << wrong;
}

TEST(Units, BitsAreNotTakenForBytes) {
  const auto meant = [](const char* text) { return std::get<UnitError>(parse_words(text, 8)).did_you_mean; };
  EXPECT_EQ(meant("2MBit"), "2 Mbits");
  EXPECT_EQ(meant("512 kbits"), "512 Kbits");
  EXPECT_EQ(value(parse_words("2 Mbits", 8)), 250'000) << "what is suggested is understood";
  EXPECT_EQ(meant("2MiBs"), "2 MiB");
}

TEST(Units, BandwidthsAndNumbers) {
  EXPECT_EQ(value(parse_words_per_cycle("8", 16)), 8);
  EXPECT_EQ(value(parse_words_per_cycle("8 words/cycle", 16)), 8);
  EXPECT_EQ(value(parse_words_per_cycle("16 bytes/cycle", 16)), 8);
  EXPECT_EQ(value(parse_words_per_cycle("12 bits/cycle", 8)), 1.5);
  EXPECT_FALSE(value(parse_words_per_cycle("16 GB/s", 16)));
  EXPECT_FALSE(value(parse_words_per_cycle("16 bytes", 16)));
  EXPECT_EQ(value(parse_real("1e-3")), 1e-3);
  EXPECT_EQ(value(parse_real("+.5")), .5);
  for (const char* wrong : {"nan", "inf", "1e999", "1 pJ", "", "1,5"}) EXPECT_FALSE(value(parse_real(wrong))) << wrong;
}

TEST(Units, FrequenciesAndBandwidthsPerSecond) {
  EXPECT_EQ(value(parse_hertz("1 GHz")), 1e9);
  EXPECT_EQ(value(parse_hertz("800MHz")), 8e8);
  EXPECT_EQ(value(parse_hertz("5e8 Hz")), 5e8);
  for (const char* wrong : {"", "1", "1 ghz", "-1 GHz", "0 Hz", "1e300 GHz", "GHz", "1 G"})
    EXPECT_FALSE(value(parse_hertz(wrong))) << wrong;
  // 25.6e9 bytes in 1e9 cycles are 25.6 bytes a cycle, of 8-bit words as many words; at half the clock twice as many.
  EXPECT_DOUBLE_EQ(*value(parse_words_per_cycle("25.6 GB/s", 8, 1e9)), 25.6);
  EXPECT_DOUBLE_EQ(*value(parse_words_per_cycle("25.6 GB/s", 16, 5e8)), 25.6);
  EXPECT_DOUBLE_EQ(*value(parse_words_per_cycle("1 GiB/s", 8, 1e9)), 1.073741824);
  EXPECT_DOUBLE_EQ(*value(parse_words_per_cycle("204.8 Gbits/s", 8, 1e9)), 25.6);
  EXPECT_FALSE(value(parse_words_per_cycle("25.6 Gwords/s", 8, 1e9)));
  EXPECT_FALSE(value(parse_words_per_cycle("25.6 GB/s", 8)));
}

TEST(Units, CheckedArithmetic) {
  EXPECT_EQ(checked_multiply(3'000'000'000, 3'000'000'000), 9'000'000'000'000'000'000);
  EXPECT_EQ(checked_multiply(4'000'000'000, 4'000'000'000), std::nullopt);
  EXPECT_EQ(checked_add(9223372036854775807, 1), std::nullopt);
}

}  // namespace
}  // namespace pliant
