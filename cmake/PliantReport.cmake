# SPDX-License-Identifier: Apache-2.0
# The files of dse/report/page and Vega's bundle become part of the program, so a report needs neither the source tree
# nor a network. The bundle comes from the vl-convert wheel that scripts/setup puts into .venv; PLIANT_PYTHON names
# another Python that has it.

set(PLIANT_PYTHON "${CMAKE_SOURCE_DIR}/.venv/bin/python" CACHE FILEPATH
  "A Python with vl-convert-python, for the build")
set(chart_python "${PLIANT_PYTHON}" -I)
if(PLIANT_PYTHON_MODULE)
  # pip's isolated build environment is one that `python -I` does not see.
  set(chart_python "${PLIANT_PYTHON}")
endif()
execute_process(COMMAND ${chart_python} -c "import vl_convert; print(vl_convert.__version__)"
  OUTPUT_VARIABLE vl_convert_version OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_VARIABLE vl_convert_error RESULT_VARIABLE
    vl_convert_result)
if(NOT vl_convert_result EQUAL 0)
  message(FATAL_ERROR
    "${PLIANT_PYTHON} has no vl-convert-python, which provides the charts of reports. Run scripts/setup, or pass "
    "-DPLIANT_PYTHON=<interpreter> with `pip install vl-convert-python`.\n${vl_convert_error}")
endif()
message(STATUS "vl-convert ${vl_convert_version} (charts)")

file(GLOB_RECURSE PLIANT_PAGE_FILES CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/dse/report/page/*")
set(PLIANT_RESOURCES_SOURCE "${CMAKE_BINARY_DIR}/generated/report_resources.cpp")
add_custom_command(OUTPUT "${PLIANT_RESOURCES_SOURCE}"
  COMMAND ${chart_python} "${CMAKE_SOURCE_DIR}/cmake/embed_files.py" "${PLIANT_RESOURCES_SOURCE}"
    "${CMAKE_SOURCE_DIR}/dse/report/page" ${PLIANT_PAGE_FILES}
  DEPENDS "${CMAKE_SOURCE_DIR}/cmake/embed_files.py" ${PLIANT_PAGE_FILES}
  COMMENT "Embedding the report's page" VERBATIM)
target_sources(pliant_dse_report PRIVATE "${PLIANT_RESOURCES_SOURCE}")
