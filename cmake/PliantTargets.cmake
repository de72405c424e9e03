# SPDX-License-Identifier: Apache-2.0
# How a folder becomes a target. Sources are globbed: a new file needs no edit here.

# pliant_add_layer(<folder> [BELOW <folder>...] [PACKAGES <target>...] [PRIVATE <target>...])
#
# Makes the static library pliant_<folder> (slashes become underscores) of all .cpp files in the folder except main.cpp. Its only include directory holds one
# link, to that folder, so "core/layer.h" is found by core and by what links it, and "flex/..." is not found by core.
# BELOW and PACKAGES are passed on to dependents; PRIVATE packages are not.
# A folder without sources is an interface library: layers above can link it before it has any.
function(pliant_add_layer folder)
  cmake_parse_arguments(LAYER "" "" "BELOW;PACKAGES;PRIVATE" ${ARGN})
  string(REPLACE "/" "_" name "${folder}")
  set(target pliant_${name})

  set(include_dir "${CMAKE_BINARY_DIR}/include/${name}")
  get_filename_component(parent "${include_dir}/${folder}" DIRECTORY)
  file(MAKE_DIRECTORY "${parent}")
  if(NOT IS_SYMLINK "${include_dir}/${folder}")
    file(CREATE_LINK "${CMAKE_SOURCE_DIR}/${folder}" "${include_dir}/${folder}" SYMBOLIC)
  endif()

  set(below "")
  foreach(layer IN LISTS LAYER_BELOW)
    string(REPLACE "/" "_" layer "${layer}")
    list(APPEND below pliant_${layer})
  endforeach()

  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/${folder}/*.cpp")
  list(FILTER sources EXCLUDE REGEX "/main\\.cpp$")
  if(sources)
    add_library(${target} STATIC ${sources})
    target_include_directories(${target} PUBLIC "${include_dir}")
    target_link_libraries(${target} PUBLIC ${below} ${LAYER_PACKAGES} PRIVATE ${LAYER_PRIVATE} pliant_options)
  else()
    add_library(${target} INTERFACE)
    target_include_directories(${target} INTERFACE "${include_dir}")
    target_link_libraries(${target} INTERFACE ${below} ${LAYER_PACKAGES})
  endif()
endfunction()

# Every bench/*.cpp is a Google Benchmark program of the same name.
function(pliant_add_benchmarks folder)
  file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/${folder}/*.cpp")
  if(NOT sources)
    return()
  endif()
  find_package(benchmark REQUIRED)
  foreach(source IN LISTS sources)
    get_filename_component(name "${source}" NAME_WE)
    add_executable(${name} "${source}")
    target_link_libraries(${name} PRIVATE pliant_dse_cli pliant_options benchmark::benchmark benchmark::benchmark_main)
  endforeach()
endfunction()

# Every fuzz/*.cpp defines LLVMFuzzerTestOneInput and becomes a program of the same name.
function(pliant_add_fuzzers folder)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "The fuzz targets need clang; use the preset `fuzz`.")
  endif()
  file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/${folder}/*.cpp")
  foreach(source IN LISTS sources)
    get_filename_component(name "${source}" NAME_WE)
    add_executable(${name} "${source}")
    target_link_libraries(${name} PRIVATE pliant_dse_cli pliant_options)
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  endforeach()
endfunction()
