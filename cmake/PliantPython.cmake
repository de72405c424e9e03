# SPDX-License-Identifier: Apache-2.0
# What a build of the Python package does differently: every object is position-independent, and the Python that builds
# provides vl-convert and Arrow's libraries, which the wheel takes along under names of its own.

set(CMAKE_POSITION_INDEPENDENT_CODE ON)
find_package(Python 3.10 REQUIRED COMPONENTS Interpreter Development.Module)
set(PLIANT_PYTHON "${Python_EXECUTABLE}" CACHE FILEPATH "" FORCE)

# The wheel's libparquet exports an OpenSSL of its own. A libcrypto.so that the module loads beside it would mix with
# that one, and Python's hashlib, which comes to use the same file, would crash. So SHA-256 is linked into the module.
set(OPENSSL_USE_STATIC_LIBS ON)

# pliant_private_arrow(<arrow> <parquet>): replaces the two libraries, variables with their paths, by copies that have
# names of their own. A pyarrow of any version in the same process then has its libraries, and Pliant has its own: the
# loader tells them apart by name, and Python loads modules so that they do not see each other's symbols.
function(pliant_private_arrow arrow parquet)
  find_program(PLIANT_PATCHELF patchelf REQUIRED)
  set(folder "${CMAKE_BINARY_DIR}/python/pliant")  # beside the module, as in the wheel
  set(copies "")
  foreach(package arrow parquet)
    get_filename_component(original "${${${package}}}" REALPATH)
    get_filename_component(original_name "${original}" NAME)
    set(copy "${folder}/libpliant_${package}.so")
    # Only when it is new: everything that links it would be linked again.
    if(NOT EXISTS "${copy}" OR NOT EXISTS "${copy}.from.${PLIANT_ARROW_VERSION}")
      file(MAKE_DIRECTORY "${folder}")
      configure_file("${original}" "${copy}" COPYONLY)
      file(CHMOD "${copy}" PERMISSIONS
        OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
      set(changes --set-soname "libpliant_${package}.so")
      if(package STREQUAL "parquet")
        list(APPEND changes --replace-needed "${arrow_name}" libpliant_arrow.so)
      endif()
      execute_process(COMMAND "${PLIANT_PATCHELF}" ${changes} "${copy}" COMMAND_ERROR_IS_FATAL ANY)
      file(TOUCH "${copy}.from.${PLIANT_ARROW_VERSION}")
    endif()
    set(${package}_name "${original_name}")
    list(APPEND copies "${copy}")
    set(${${package}} "${copy}" PARENT_SCOPE)
  endforeach()
  set(PLIANT_ARROW_PRIVATE_LIBRARIES ${copies} PARENT_SCOPE)
endfunction()
