# SPDX-License-Identifier: Apache-2.0
# Compiler and linker settings. Everything Pliant compiles links `pliant_options` privately.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
# The installed program finds its libraries where the build found them.
set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 12)
  message(FATAL_ERROR
    "Pliant needs g++ 12 or newer, found ${CMAKE_CXX_COMPILER_VERSION}. Pass -DCMAKE_CXX_COMPILER=g++-12.")
endif()

if(PLIANT_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  find_program(PLIANT_CCACHE_PROGRAM ccache)
  if(PLIANT_CCACHE_PROGRAM)
    # Paths are hashed relative to the source folder, so that clones share one cache.
    set(CMAKE_CXX_COMPILER_LAUNCHER "${CMAKE_COMMAND}" -E env
      "CCACHE_BASEDIR=${CMAKE_SOURCE_DIR}" CCACHE_NOHASHDIR=1 "CCACHE_SLOPPINESS=pch_defines,time_macros"
        "${PLIANT_CCACHE_PROGRAM}")
  endif()
endif()

add_library(pliant_options INTERFACE)
# No fast-math and no fused multiply-add: results are the same on x86-64 and arm64.
target_compile_options(pliant_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Wold-style-cast -ffp-contract=off
  "$<$<BOOL:${PLIANT_WERROR}>:-Werror>"
  $<$<BOOL:${PLIANT_NATIVE}>:-march=native>)

if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 and 13 raise false alarms inside std::string and std::optional after inlining (GCC bugs 105651, 105562),
  # different ones in each version. These stay visible, but do not stop CI; -Wrestrict of g++ 12 fires on nearly every
  # string concatenation and is off there.
  target_compile_options(pliant_options INTERFACE
    "$<$<BOOL:${PLIANT_WERROR}>:-Wno-error=maybe-uninitialized;-Wno-error=array-bounds>"
    "$<$<BOOL:${PLIANT_WERROR}>:-Wno-error=stringop-overflow;-Wno-error=restrict>")
  if(CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    target_compile_options(pliant_options INTERFACE -Wno-restrict)
  endif()
endif()
if(PLIANT_SANITIZE)
  # Stack traces need frame pointers.
  target_compile_options(pliant_options INTERFACE -fsanitize=${PLIANT_SANITIZE} -fno-omit-frame-pointer
    -fno-sanitize-recover=all)
  target_link_options(pliant_options INTERFACE -fsanitize=${PLIANT_SANITIZE})
  target_compile_definitions(pliant_options INTERFACE _GLIBCXX_ASSERTIONS)
endif()
# An index outside, an empty front(): the program ends there, and not with a number. Everywhere but in rooms that say
# FAST, where it would cost up to 17 % of a proof (exact_speed), unless there is a sanitizer.
add_library(pliant_checked INTERFACE)
target_compile_definitions(pliant_checked INTERFACE _GLIBCXX_ASSERTIONS)
# Code whose running time nobody notices. Under a sanitizer compiling it takes longer than running it.
set(PLIANT_COLD_OPTIONS "$<$<CONFIG:Release>:-O1>")
if(PLIANT_SANITIZE)
  set(PLIANT_COLD_OPTIONS -O0)
endif()
if(PLIANT_COVERAGE)
  target_compile_options(pliant_options INTERFACE --coverage -fprofile-update=atomic)
  target_link_options(pliant_options INTERFACE --coverage)
endif()
if(PLIANT_LTO)
  include(CheckIPOSupported)
  check_ipo_supported()
  set(CMAKE_INTERPROCEDURAL_OPTIMIZATION ON)
endif()
