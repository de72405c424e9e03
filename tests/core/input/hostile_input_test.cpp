// SPDX-License-Identifier: Apache-2.0
// Inputs made to exhaust a reader end quickly in an error that says why.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include "core/input/load.h"
#include "core/input/source_text.h"
#include "support/shipped_library.h"
#include "support/temporary_folder.h"

namespace pliant {
namespace {

std::string repeat(std::string_view piece, std::size_t times) {
  std::string text;
  text.reserve(piece.size() * times);
  for (std::size_t i = 0; i < times; ++i) text += piece;
  return text;
}

/// Everything that was said; fails when the reader accepts the text.
std::string refusal(const std::function<void()>& read) {
  std::string what = "accepted";
  try {
    read();
    ADD_FAILURE() << "accepted";
  } catch (const InputError& error) {
    what = error.what();
    EXPECT_LE(error.diagnostics().size(), 60U);
  }
  return what;
}

std::string accelerator_refusal(const std::string& text) {
  return refusal([&] { parse_accelerator_text(library(), text, "hostile.yaml"); });
}

TEST(HostileInput, Nesting) {
  for (const char* open : {"[", "{a: ", "- ", "? ", "[{a: "}) {
    SCOPED_TRACE(open);
    accelerator_refusal(repeat(open, 100'000));
    accelerator_refusal("name: " + repeat(open, 100'000));
  }
}

TEST(HostileInput, MoreThanAnyoneWrites) {
  accelerator_refusal(repeat("a: 1\n", 100'000));
  std::string keys, anchors = "a: &a [1]\n";
  for (int i = 0; i < 100'000; ++i) keys += "key" + std::to_string(i) + ": 1\n";
  for (int i = 0; i < 50'000; ++i) anchors += "b" + std::to_string(i) + ": *a\n";
  accelerator_refusal(keys);
  accelerator_refusal(anchors);
  accelerator_refusal("name: x\nlevels:\n" + repeat("  - {memory: A, capacity: 1, read_pj: 1}\n", 50'000));
  accelerator_refusal("name: " + repeat("x", 3'000'000));
}

TEST(HostileInput, ParametersThatMultiply) {
  const std::string big = "[" + repeat("1, ", 10'000) + "1]";
  const std::string text = "name: x\nparameters: {p: " + big + "}\nlevels: [" + repeat("$p, ", 10'000) + "$p]\n";
  EXPECT_NE(accelerator_refusal(text).find("the parameters expand to too many values"), std::string::npos);
}

TEST(HostileInput, SizeOfFilesAndWhatIsNoFile) {
  const TemporaryFolder temporary;
  const auto& folder = temporary.path();
  const auto large = folder / "large.yaml";
  std::ofstream(large).close();
  std::filesystem::resize_file(large, 100'000'000);  // sparse
  EXPECT_NE(refusal([&] { load_accelerator(library(), large.string()); }).find("100000000 bytes are too many"),
            std::string::npos);
  EXPECT_NE(refusal([&] { load_layer(large); }).find("100000000 bytes are too many"), std::string::npos);
  EXPECT_NE(refusal([&] { load_layer(folder); }).find("is a folder"), std::string::npos);
  EXPECT_NE(refusal([&] { load_layer(folder / "none.yaml"); }).find("no such file"), std::string::npos);
  EXPECT_NE(accelerator_refusal(std::string(kMaxSourceBytes + 1, ' ')).find("4194305 bytes are too many"),
            std::string::npos);
}

TEST(HostileInput, Tables) {
  refusal([] { parse_workload_text("name,M,N,K\n" + repeat("a,1,2,3\n", 20'000), "hostile.csv"); });
  refusal([] { parse_workload_text("name,M,N,K\n" + repeat("a,x,y,z\n", 20'000), "hostile.csv"); });
  refusal([] { parse_workload_text(repeat(",", 1'000'000), "hostile.csv"); });
  refusal([] { parse_workload_text("name,M,N,K\n\"" + repeat("a", 1'000'000), "hostile.csv"); });
}

TEST(HostileInput, InPlaceLayers) {
  refusal([] { parse_layer("conv:" + repeat("M=1,", 10'000), "--layer"); });
  refusal([] { parse_layer(repeat(":", 10'000), "--layer"); });
}

}  // namespace
}  // namespace pliant
