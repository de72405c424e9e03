// SPDX-License-Identifier: Apache-2.0
#include "dse/results/library_versions.h"

#include <arrow/config.h>
#include <openssl/crypto.h>
#include <parquet/properties.h>

namespace pliant {

std::vector<LibraryVersion> table_library_versions() {
  // Parquet names itself "parquet-cpp-arrow version 23.0.1".
  std::string parquet = parquet::default_writer_properties()->created_by();
  parquet.erase(0, parquet.find_last_of(' ') + 1);
  return {{"Arrow", arrow::GetBuildInfo().version_string},
          {"OpenSSL", OpenSSL_version(OPENSSL_VERSION_STRING)},
          {"Parquet", parquet}};
}

}  // namespace pliant
