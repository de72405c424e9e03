// SPDX-License-Identifier: Apache-2.0
// The former name, until dse/import uses the new one.
#pragma once

#include "core/input/yaml_text.h"
