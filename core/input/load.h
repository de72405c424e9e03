// SPDX-License-Identifier: Apache-2.0
// Reading and writing the input files. Every problem is an InputError with positions; docs/formats.md is the reference.
#pragma once

#include "core/input/diagnostics.h"        // IWYU pragma: export
#include "core/input/inline_layer.h"       // IWYU pragma: export
#include "core/input/library.h"            // IWYU pragma: export
#include "core/input/load_accelerator.h"   // IWYU pragma: export
#include "core/input/load_flexibility.h"   // IWYU pragma: export
#include "core/input/load_layer.h"         // IWYU pragma: export
#include "core/input/load_mapping.h"       // IWYU pragma: export
#include "core/input/load_technology.h"    // IWYU pragma: export
#include "core/input/load_workload.h"      // IWYU pragma: export
#include "core/input/settings.h"           // IWYU pragma: export
#include "core/input/write_accelerator.h"  // IWYU pragma: export
#include "core/input/write_layer.h"        // IWYU pragma: export
#include "core/input/write_mapping.h"      // IWYU pragma: export
