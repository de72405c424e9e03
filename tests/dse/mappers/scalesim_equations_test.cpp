// SPDX-License-Identifier: Apache-2.0
// Systolic arrays against the runtimes that the authors of SCALE-Sim publish (Samajdar et al., "A Systematic
// Methodology for Characterizing Scalability of DNN Accelerators using SCALE-Sim", ISPASS 2020, equations 1 to 4). An
// array of R rows and C columns takes
//
//   (2R + C + T - 2) * ceil(S_R / R) * ceil(S_C / C)
//
// where a dataflow spreads S_R over the rows, S_C over the columns and runs T in time:
//
//                        S_R                  S_C                T
//   output stationary    output pixels        filters            window of a filter
//   weight stationary    window of a filter   filters            output pixels
//   input stationary     window of a filter   output pixels      filters
//
// Convolutions become matrix products first, as SCALE-Sim lowers them.
#include <gtest/gtest.h>

#include <fmt/format.h>
#include <array>

#include "core/input/load.h"
#include "dse/mappers/mapper.h"

namespace pliant {
namespace {

Count ceil_over(Count a, Count b) { return (a + b - 1) / b; }

/// A matrix product: M = output pixels, N = filters, K = window.
struct Product {
  const char* name;
  Count filters, pixels, window;
};

struct Dataflow {
  const char* stationary;
  const char *rows, *cols;  ///< dims of the product
  Count Product::*sr;
  Count Product::*sc;
  Count Product::*t;
};

constexpr std::array<Dataflow, 3> kDataflows{{
    {"outputs", "M", "N", &Product::pixels, &Product::filters, &Product::window},
    {"weights", "K", "N", &Product::window, &Product::filters, &Product::pixels},
    {"inputs", "K", "M", &Product::window, &Product::pixels, &Product::filters},
}};

Count published(const Product& product, const Dataflow& flow, Count rows, Count cols) {
  return (2 * rows + cols + product.*flow.t - 2) * ceil_over(product.*flow.sr, rows) *
         ceil_over(product.*flow.sc, cols);
}

/// A window of a filter, pixels of the output: a convolution without padding.
Product lowered(const char* name, Count filters, Count channels, Count kernel, Count out) {
  return {name, filters, out * out, channels * kernel * kernel};
}

/// What stays is in a register of each unit, or in the unit without more.
Accelerator array(const Dataflow& flow, Count rows, Count cols, bool registers) {
  const std::string stays =
      registers
          ? fmt::format("  - {{memory: Register, capacity: 1 words, keeps: [{}], read_pj: 0.1}}\n", flow.stationary)
          : "";
  const std::string text = fmt::format(R"(
pliant: accelerator
name: systolic
levels:
  - {{memory: DRAM, capacity: unbounded, read_pj: 64}}
  - {{fanout: Array, rows: {}, cols: {}, systolic: {}}}
{}  - {{compute: MAC, mac_pj: 0.2}}
flexibility:
  parallel: {{Array: {{rows: [{}], cols: [{}]}}}}
)",
                                       rows, cols, flow.stationary, stays, flow.rows, flow.cols);
  return parse_accelerator_text(Library(PLIANT_SOURCE_DIR "/configs"), text, "systolic");
}

void compare_with_the_equations(bool registers) {
  // Of its topologies: convolutions of AlexNet, ResNet-50, GoogleNet and YOLO-tiny, and products of its GEMM files.
  const std::array<Product, 14> products{{lowered("alexnet conv1", 96, 3, 11, 55),
                                          lowered("alexnet conv2", 256, 96, 5, 27),
                                          lowered("alexnet conv3", 384, 256, 3, 13),
                                          lowered("resnet conv1", 64, 3, 7, 112),
                                          lowered("resnet 1x1", 64, 256, 1, 56),
                                          lowered("resnet 3x3", 512, 512, 3, 7),
                                          lowered("googlenet 5x5", 32, 16, 5, 28),
                                          lowered("yolo tiny", 125, 1024, 1, 13),
                                          {"fc 1000", 1000, 1, 2048},
                                          {"ncf", 256, 2048, 128},
                                          {"gnmt", 4096, 128, 2048},
                                          {"transformer", 512, 31999, 1024},
                                          {"deepspeech", 1024, 50, 16000},
                                          {"db", 35, 8457, 2560}}};
  const std::array<std::array<Count, 2>, 4> arrays{{{32, 32}, {12, 14}, {8, 128}, {128, 128}}};
  const auto exact = make_mapper("exact");
  for (const Product& product : products)
    for (const auto& [rows, cols] : arrays)
      for (const Dataflow& flow : kDataflows) {
        SCOPED_TRACE(fmt::format("{} on {} x {}, {} stay", product.name, rows, cols, flow.stationary));
        Task task;
        task.accelerator = array(flow, rows, cols, registers);
        task.layer = make_gemm(product.name, {.M = product.pixels, .N = product.filters, .K = product.window});
        task.flexibility = task.accelerator.flexibility_of(task.layer);
        task.factorization = Factorization::kRubyS;
        task.objective = Objective::kRuntime;
        const SearchResult found = run_mapper(*exact, task, {});
        ASSERT_TRUE(found.mapping.has_value());
        EXPECT_TRUE(found.certified);
        const auto expected = static_cast<double>(published(product, flow, rows, cols));
        EXPECT_NEAR(found.totals.cycles / expected, 1, 0.01) << found.totals.cycles << " and " << expected;
      }
}

TEST(SystolicArray, TakesWhatTheEquationsOfScaleSimSay) { compare_with_the_equations(true); }

TEST(SystolicArray, OfUnitsWithoutRegistersTakesTheSame) { compare_with_the_equations(false); }

}  // namespace
}  // namespace pliant
