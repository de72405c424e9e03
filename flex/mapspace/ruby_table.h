// SPDX-License-Identifier: Apache-2.0
// Table I of the Ruby paper: sizes of the mapspaces of one dim over three slots (outer temporal P2, spatial P1, inner
// temporal P0), on 9 PEs with a scratchpad of 1024 words.
#pragma once

#include "core/big_count.h"
#include "core/layer.h"
#include "core/mapping.h"

namespace pliant {

inline constexpr Count kRubyTablePes = 9;
inline constexpr Count kRubyTableScratchpad = 1024;

/// What the authors' generator lists, repeats and don't-care entries included. PFM and Ruby-S give the printed value
/// at all five sizes (3, 64, 100, 1000, 4096), Ruby-T and Ruby at 3, 64 and 100. Sizes up to 100000 or so.
BigCount ruby_table_as_published(Count size, Factorization rule);

/// Each distinct mapping once: PFM and Ruby-S with P1 <= 9, Ruby-T and Ruby with P1 free as in the paper.
BigCount ruby_table_distinct(Count size, Factorization rule);

/// Ruby with P1 <= 9 as well: what fits the 9 PEs.
BigCount ruby_table_distinct_within_pes(Count size, Factorization rule);

}  // namespace pliant
