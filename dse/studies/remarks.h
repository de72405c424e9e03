// SPDX-License-Identifier: Apache-2.0
// What we say about published values, from configs/studies/remarks.csv: whether the paper gives enough to demand the
// printed number, and where ours differs, what we tried.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/input/load.h"
#include "dse/studies/published.h"

namespace pliant {

struct Remark {
  enum class Status : std::uint8_t {
    kExact,      ///< the setting is printed and a rule gives the number: ours must be exact
    kOpen,       ///< a part of the setting is not printed; ours is under a setting of our own
    kUnchecked,  ///< what would decide it is not printed, or is not ours to run
    kInput,      ///< the printed number went into ours, so that ours has it says nothing
    kFitted,     ///< something that is not printed was chosen so that numbers like this one come out
    kSkipped,    ///< it could be checked, and was not attempted
  };
  std::string study, figure, quantity;  ///< patterns: `*` stands for any text
  Status status = Status::kOpen;
  std::string text;  ///< what we tried, or what is not printed
};

/// InputError with the line that is wrong.
std::vector<Remark> load_remarks(const Library& library);
std::vector<Remark> parse_remarks(std::string_view text, std::string_view name);

/// The first that fits; one that is open and says nothing when none does.
const Remark& remark_on(const PublishedValue& value, const std::vector<Remark>& remarks);

/// Does `text` fit `pattern`, in which `*` stands for any text?
bool fits(std::string_view pattern, std::string_view text);

}  // namespace pliant
