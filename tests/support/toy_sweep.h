// SPDX-License-Identifier: Apache-2.0
// A small sweep with everything in it: equal layers, a layer that fits nowhere, a design that contradicts itself.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

namespace pliant {

inline constexpr const char* kToySweep = R"(pliant: sweep
name: toy
accelerator: flexref
workloads:
  - name: first
    layers: ["conv:M=16,C=8,P=7,Q=7,R=3,S=3", "gemm:M=12,N=20,K=16", "conv:M=16,C=8,P=7,Q=7,R=3,S=3"]
  - name: second
    layers: ["gemm:M=12,N=20,K=16", "conv:M=6,C=4,P=5,Q=5,R=1,S=1,stride=2"]
vary:
  - rows: [2, 16]
    cols: [4, 8, 32]
  - Buffer.capacity: [40, 4Ki]
flexibility: ["0000", "1011", PartFlex-1111]
factorization: [pfm, ruby-s]
objective: [edp, runtime]
constraints: rows*cols <= 256
)";

/// Every file of a dataset's parts by its path in it, byte for byte.
inline std::map<std::string, std::string> dataset_files(const std::filesystem::path& dataset) {
  std::map<std::string, std::string> files;
  for (const char* table : {"layers", "designs", "checksums"}) {
    for (const auto& entry : std::filesystem::directory_iterator(dataset / table)) {
      std::ostringstream text;
      text << std::ifstream(entry.path(), std::ios::binary).rdbuf();
      files[std::string(table) + "/" + entry.path().filename().string()] = text.str();
    }
  }
  return files;
}

}  // namespace pliant
