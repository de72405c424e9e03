# SPDX-License-Identifier: Apache-2.0
# The hash of all sources that can change an answer becomes part of the program: keys of caches hold it, so that no
# answer of other code is taken for one of this code. It is made anew whenever one of them changes.

set(answering "")
foreach(folder core flex costmodel dse/audit dse/import dse/mappers dse/results dse/serving dse/sweep)
  file(GLOB_RECURSE sources RELATIVE "${CMAKE_SOURCE_DIR}" CONFIGURE_DEPENDS
       "${CMAKE_SOURCE_DIR}/${folder}/*.h" "${CMAKE_SOURCE_DIR}/${folder}/*.cpp")
  list(APPEND answering ${sources})
endforeach()
list(SORT answering)

set(answering_list "${CMAKE_BINARY_DIR}/generated/answering_sources.txt")
string(REPLACE ";" "\n" answering_text "${answering}")
file(CONFIGURE OUTPUT "${answering_list}" CONTENT "${answering_text}\n" @ONLY)
set(answering_source "${CMAKE_BINARY_DIR}/generated/source_hash.cpp")
list(TRANSFORM answering PREPEND "${CMAKE_SOURCE_DIR}/")
add_custom_command(OUTPUT "${answering_source}"
  COMMAND "${CMAKE_COMMAND}" "-DROOT=${CMAKE_SOURCE_DIR}" "-DLIST=${answering_list}" "-DOUT=${answering_source}"
    -P "${CMAKE_SOURCE_DIR}/cmake/hash_sources.cmake"
  DEPENDS "${CMAKE_SOURCE_DIR}/cmake/hash_sources.cmake" "${answering_list}" ${answering}
  COMMENT "Hashing the sources of answers" VERBATIM)
target_sources(pliant_dse_sweep PRIVATE "${answering_source}")
