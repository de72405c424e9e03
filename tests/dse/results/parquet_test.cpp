// SPDX-License-Identifier: Apache-2.0
// The Arrow that CMake found, whichever it is, writes Parquet and reads it back.

#include <arrow/api.h>
#include <arrow/io/memory.h>
#include <gtest/gtest.h>
#include <parquet/arrow/reader.h>
#include <parquet/arrow/writer.h>

#include <memory>
#include <string>
#include <vector>

namespace {

// A table with a number and a text column.
arrow::Result<std::shared_ptr<arrow::Table>> example_table() {
  arrow::DoubleBuilder energies;
  ARROW_RETURN_NOT_OK(energies.AppendValues({1.5, 2.25, 1e18}));
  arrow::StringBuilder layers;
  ARROW_RETURN_NOT_OK(layers.AppendValues(std::vector<std::string>{"conv1", "", "größe"}));
  ARROW_ASSIGN_OR_RAISE(auto energy_column, energies.Finish());
  ARROW_ASSIGN_OR_RAISE(auto layer_column, layers.Finish());
  return arrow::Table::Make(
      arrow::schema({arrow::field("energy_pj", arrow::float64()), arrow::field("layer", arrow::utf8())}),
      {energy_column, layer_column});
}

arrow::Result<std::shared_ptr<arrow::Table>> through_parquet(const arrow::Table& table) {
  ARROW_ASSIGN_OR_RAISE(auto out, arrow::io::BufferOutputStream::Create());
  const auto properties = parquet::WriterProperties::Builder().compression(parquet::Compression::ZSTD)->build();
  ARROW_RETURN_NOT_OK(parquet::arrow::WriteTable(table, arrow::default_memory_pool(), out, 1024, properties));
  ARROW_ASSIGN_OR_RAISE(auto buffer, out->Finish());
  parquet::arrow::FileReaderBuilder builder;
  ARROW_RETURN_NOT_OK(builder.Open(std::make_shared<arrow::io::BufferReader>(buffer)));
  std::unique_ptr<parquet::arrow::FileReader> reader;
  ARROW_RETURN_NOT_OK(builder.Build(&reader));
  std::shared_ptr<arrow::Table> read;
  ARROW_RETURN_NOT_OK(reader->ReadTable(&read));
  return read;
}

TEST(Parquet, RoundTripsATable) {
  const auto written = example_table();
  ASSERT_TRUE(written.ok()) << written.status().ToString();
  const auto read = through_parquet(**written);
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  EXPECT_TRUE((*read)->Equals(**written)) << (*read)->ToString();
}

}  // namespace
