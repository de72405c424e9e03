// SPDX-License-Identifier: Apache-2.0
// The rows of layers of one part: gathered as the columns of its Parquet file, with the schema of columns.h, as soon as
// they are known, so that of an answer nothing has to be kept and nothing has to be fetched from memory again.
#pragma once

#include <memory>
#include <string>

#include "dse/results/rows.h"

namespace pliant {

class LayerRows {
 public:
  LayerRows();
  ~LayerRows();
  LayerRows(LayerRows&& from) noexcept;  ///< which has no rows then
  LayerRows& operator=(LayerRows&& from) noexcept;

  void add(LayerRow row);
  /// The whole file; equal rows give equal bytes.
  std::string parquet(const Provenance& provenance) const;

 private:
  struct Leaves;
  std::unique_ptr<Leaves> leaves_;  ///< null = no rows
};

}  // namespace pliant
