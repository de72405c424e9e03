# SPDX-License-Identifier: Apache-2.0
# oneTBB as TBB::tbb. Under the thread sanitizer it is built here, instrumented: the installed one hides how its threads
# wait for each other, and every parallel loop would look like a race. FETCHCONTENT_SOURCE_DIR_ONETBB names a folder
# with its source where the build machine has no network.
if(PLIANT_SANITIZE MATCHES "thread")
  include(FetchContent)
  set(TBB_SANITIZE thread CACHE STRING "" FORCE)
  set(TBB_TEST OFF CACHE BOOL "" FORCE)
  set(TBB_STRICT OFF CACHE BOOL "" FORCE)
  set(TBBMALLOC_BUILD OFF CACHE BOOL "" FORCE)
  FetchContent_Declare(onetbb
    GIT_REPOSITORY https://github.com/oneapi-src/oneTBB.git
    GIT_TAG 0c0ff192a2304e114bc9e6557582dfba101360ff) # v2022.0.0
  FetchContent_MakeAvailable(onetbb)
else()
  find_package(TBB CONFIG REQUIRED)
endif()
