// SPDX-License-Identifier: Apache-2.0
// What flexibility may cost in energy before it stops paying. The flexibility paper says that a soft partition
// "significantly increases" the energy of an access, and prints no figure; so the question is turned round.
#pragma once

#include "dse/studies/flexibility_overheads.h"

namespace pliant {

void flexibility_price(const StudyContext& context, const PartCosts& parts, StudyResult& result);

}  // namespace pliant
