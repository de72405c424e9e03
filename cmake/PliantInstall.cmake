# SPDX-License-Identifier: Apache-2.0
# cmake --install: the program with its configurations, and the library for find_package(Pliant).
#   bin/pliant  share/pliant/configs  include/pliant/  lib/libpliant_*.a  lib/cmake/Pliant/
# Arrow's libraries go to lib/pliant when they come from the wheel: an installation must outlive the .venv.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS pliant RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY configs DESTINATION ${CMAKE_INSTALL_DATADIR}/pliant OPTIONAL)
if(PLIANT_ARROW_INSTALL_LIBRARIES)
  install(FILES ${PLIANT_ARROW_INSTALL_LIBRARIES} DESTINATION ${CMAKE_INSTALL_LIBDIR}/pliant)
  file(RELATIVE_PATH library_dir "${CMAKE_INSTALL_FULL_BINDIR}" "${CMAKE_INSTALL_FULL_LIBDIR}/pliant")
  set_target_properties(pliant PROPERTIES
    INSTALL_RPATH "$<IF:$<PLATFORM_ID:Darwin>,@loader_path,$ORIGIN>/${library_dir}")
endif()

# Completion of shells and the manual page, printed by the program itself. (zsh reads the script where it starts.)
install(CODE "
  foreach(page
      \"share/bash-completion/completions/pliant|completion bash\"
      \"share/fish/vendor_completions.d/pliant.fish|completion fish\" \"share/man/man1/pliant.1|man\")
    string(REPLACE \"|\" \";\" page \"\${page}\")
    list(GET page 0 file)
    list(GET page 1 words)
    separate_arguments(words)
    get_filename_component(folder \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/\${file}\" DIRECTORY)
    file(MAKE_DIRECTORY \"\${folder}\")
    execute_process(COMMAND \"$<TARGET_FILE:pliant>\" \${words} RESULT_VARIABLE failed
                    OUTPUT_FILE \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/\${file}\")
    if(failed)
      message(FATAL_ERROR \"pliant \${words}: \${failed}\")
    endif()
  endforeach()")

# Rooms include each other as "core/layer.h", programs include <pliant/pliant.h>.
# Installed as Pliant::core, Pliant::dse_mappers, ...; the facade stands for the whole library.
set_target_properties(pliant_dse_api PROPERTIES EXPORT_NAME pliant)
get_property(layers GLOBAL PROPERTY PLIANT_LAYERS)
install(TARGETS ${layers} EXPORT PliantTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} ${CMAKE_INSTALL_INCLUDEDIR}/pliant)
install(DIRECTORY core flex costmodel dse DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/pliant
  FILES_MATCHING PATTERN "*.h" PATTERN "page" EXCLUDE)
install(FILES dse/api/pliant.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/pliant)
install(EXPORT PliantTargets NAMESPACE Pliant:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Pliant)

# The names of the wheel's libraries, for the imported targets of the installed package.
foreach(package arrow parquet)
  set(PLIANT_INSTALLED_${package} "")
  foreach(library IN LISTS PLIANT_ARROW_INSTALL_LIBRARIES)
    if(library MATCHES "/lib${package}\\.[^/]*$")
      get_filename_component(PLIANT_INSTALLED_${package} "${library}" NAME)
    endif()
  endforeach()
endforeach()
configure_package_config_file(cmake/PliantConfig.cmake.in "${CMAKE_BINARY_DIR}/PliantConfig.cmake"
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Pliant PATH_VARS CMAKE_INSTALL_DATADIR CMAKE_INSTALL_LIBDIR)
# Before 1.0 a minor version may change the interface.
write_basic_package_version_file("${CMAKE_BINARY_DIR}/PliantConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${CMAKE_BINARY_DIR}/PliantConfig.cmake" "${CMAKE_BINARY_DIR}/PliantConfigVersion.cmake"
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Pliant)
