// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>

namespace pliant::python {

/// A mapping that breaks limits; what() is their JSON, as `pliant eval --json` has it.
class IllegalMapping : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace pliant::python
