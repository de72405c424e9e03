// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dse/answers/arguments.h"
#include "dse/answers/face.h"

namespace pliant {

/// What every answer has at hand: what was asked, and who asks.
class Answering {
 protected:
  Answering(const Arguments& arguments, Face& face) : arguments_(arguments), face_(face) {}

  const Arguments& arguments_;
  Face& face_;
  std::ostream& out_ = face_.out;
  std::ostream& err_ = face_.err;
  const Library& library_ = face_.library;
};

}  // namespace pliant
