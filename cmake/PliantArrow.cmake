# SPDX-License-Identifier: Apache-2.0
# Provides Arrow::arrow_shared and Parquet::parquet_shared, from
#   1. an installed Arrow and Parquet (Apache's packages, conda, Homebrew, newer distributions), or
#   2. the pyarrow wheel that scripts/setup puts into .venv, which ships the C++ headers and libraries for this use.
# PLIANT_ARROW picks one of them; `auto` tries them in this order.

set(PLIANT_ARROW auto CACHE STRING "Where Arrow comes from: auto, system or wheel")
set_property(CACHE PLIANT_ARROW PROPERTY STRINGS auto system wheel)
set(PLIANT_ARROW_MINIMUM 14)
set(PLIANT_ARROW_SOURCE "")

if(PLIANT_ARROW STREQUAL "auto" OR PLIANT_ARROW STREQUAL "system")
  find_package(Arrow CONFIG QUIET)
  find_package(Parquet CONFIG QUIET)
  if(Arrow_FOUND AND Parquet_FOUND AND TARGET Arrow::arrow_shared AND TARGET Parquet::parquet_shared)
    if(Arrow_VERSION VERSION_LESS PLIANT_ARROW_MINIMUM)
      message(FATAL_ERROR "Arrow ${Arrow_VERSION} in ${Arrow_DIR} is older than ${PLIANT_ARROW_MINIMUM}. "
        "Update it, or pass -DPLIANT_ARROW=wheel after running scripts/setup.")
    endif()
    set(PLIANT_ARROW_SOURCE "installed, ${Arrow_DIR}")
    set(PLIANT_ARROW_VERSION "${Arrow_VERSION}")
  endif()
endif()

if(NOT PLIANT_ARROW_SOURCE AND NOT PLIANT_ARROW STREQUAL "system")
  # -I: neither the user's site-packages nor PYTHONPATH may stand in for the pinned wheel.
  set(wheel_python "${CMAKE_SOURCE_DIR}/.venv/bin/python" -I)
  if(PLIANT_PYTHON_MODULE)
    set(wheel_python "${Python_EXECUTABLE}")
  endif()
  list(GET wheel_python 0 wheel_interpreter)
  if(EXISTS "${wheel_interpreter}")
    execute_process(
      COMMAND ${wheel_python} -c
        "import pyarrow; print(pyarrow.__version__, pyarrow.get_include(), pyarrow.get_library_dirs()[0], sep=';')"
      OUTPUT_VARIABLE wheel OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_VARIABLE wheel_error RESULT_VARIABLE wheel_result)
    if(wheel_result EQUAL 0)
      list(GET wheel 0 PLIANT_ARROW_VERSION)
      list(GET wheel 1 wheel_include)
      list(GET wheel 2 wheel_library_dir)
      foreach(package arrow parquet)
        # libarrow.so where create_library_symlinks() ran, else the versioned file the wheel holds.
        file(GLOB candidates "${wheel_library_dir}/lib${package}.so" "${wheel_library_dir}/lib${package}.so.*"
          "${wheel_library_dir}/lib${package}.dylib" "${wheel_library_dir}/lib${package}.[0-9]*.dylib")
        if(NOT candidates)
          message(FATAL_ERROR
            "The pyarrow wheel in ${wheel_library_dir} has no lib${package}. Remove .venv and run scripts/setup.")
        endif()
        list(GET candidates 0 wheel_${package}_library)
      endforeach()
      if(PLIANT_PYTHON_MODULE)
        pliant_private_arrow(wheel_arrow_library wheel_parquet_library)
      endif()
      add_library(Arrow::arrow_shared SHARED IMPORTED)
      set_target_properties(Arrow::arrow_shared PROPERTIES
        IMPORTED_LOCATION "${wheel_arrow_library}" INTERFACE_INCLUDE_DIRECTORIES "${wheel_include}")
      add_library(Parquet::parquet_shared SHARED IMPORTED)
      set_target_properties(Parquet::parquet_shared PROPERTIES
        IMPORTED_LOCATION "${wheel_parquet_library}" INTERFACE_LINK_LIBRARIES Arrow::arrow_shared)
      set(PLIANT_ARROW_SOURCE "pyarrow wheel in .venv")
      # An installation must outlive the .venv, so it takes the two libraries along; they need nothing else of the
      # wheel.
      file(GLOB PLIANT_ARROW_INSTALL_LIBRARIES
        "${wheel_library_dir}/libarrow.so.*" "${wheel_library_dir}/libparquet.so.*"
        "${wheel_library_dir}/libarrow.[0-9]*.dylib" "${wheel_library_dir}/libparquet.[0-9]*.dylib")
    else()
      message(STATUS "The Python in .venv has no usable pyarrow:\n${wheel_error}")
    endif()
  endif()
endif()

if(NOT PLIANT_ARROW_SOURCE)
  message(FATAL_ERROR
    "Pliant needs Apache Arrow and Parquet C++ (${PLIANT_ARROW_MINIMUM} or newer) and found neither an installed one "
    "nor the wheel in .venv (PLIANT_ARROW=${PLIANT_ARROW}).\n"
    "Run scripts/setup, or install Arrow and pass its place with -DCMAKE_PREFIX_PATH=...")
endif()
message(STATUS "Arrow ${PLIANT_ARROW_VERSION} (${PLIANT_ARROW_SOURCE})")
