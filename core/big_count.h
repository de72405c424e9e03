// SPDX-License-Identifier: Apache-2.0
// Sizes of map-spaces: whole numbers without an upper limit.
#pragma once

#include <boost/multiprecision/cpp_int.hpp>

namespace pliant {

using BigCount = boost::multiprecision::cpp_int;

}  // namespace pliant
