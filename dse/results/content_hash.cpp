// SPDX-License-Identifier: Apache-2.0
#include "dse/results/content_hash.h"

#include <fmt/format.h>
#include <openssl/sha.h>

#include <array>

namespace pliant {

std::string sha256(std::string_view text) {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data());
  return fmt::format("{:02x}", fmt::join(digest, ""));
}

}  // namespace pliant
