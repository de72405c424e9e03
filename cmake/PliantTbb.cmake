# SPDX-License-Identifier: Apache-2.0
# oneTBB as TBB::tbb. Under the thread sanitizer it is built here, instrumented: the installed one hides how its threads
# wait for each other, and every parallel loop would look like a race. Its source comes from the packages of the system
# as the library does, and is not downloaded by the build.
if(PLIANT_SANITIZE MATCHES "thread")
  set(PLIANT_TBB_SOURCE "$ENV{PLIANT_TBB_SOURCE}" CACHE PATH
      "folder with oneTBB's source, built instrumented under the thread sanitizer")
  if(NOT EXISTS "${PLIANT_TBB_SOURCE}/CMakeLists.txt")
    message(FATAL_ERROR "the thread sanitizer needs oneTBB's source: `apt-get source onetbb` (deb-src), then "
                        "PLIANT_TBB_SOURCE=FOLDER scripts/build tsan; got \"${PLIANT_TBB_SOURCE}\"")
  endif()
  set(TBB_SANITIZE thread CACHE STRING "" FORCE)
  set(TBB_TEST OFF CACHE BOOL "" FORCE)
  set(TBB_STRICT OFF CACHE BOOL "" FORCE)
  set(TBBMALLOC_BUILD OFF CACHE BOOL "" FORCE)
  add_subdirectory("${PLIANT_TBB_SOURCE}" onetbb EXCLUDE_FROM_ALL)
else()
  find_package(TBB CONFIG REQUIRED)
endif()
