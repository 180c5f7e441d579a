# Installs the libraries, the programs, the headers, the CMake package and the pkg-config files. Every path in them is
# relative to the file that holds it, so that the prefix can be moved.
include(CMakePackageConfigHelpers)

install(PROGRAMS "${SCONCE_SHARED_FILE}" DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT Runtime)
install(FILES "${SCONCE_LIBRARY_DIR}/${SCONCE_SONAME}" DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT Runtime)
install(FILES "${SCONCE_LIBRARY_DIR}/libsconce.so" "${SCONCE_STATIC_FILE}" DESTINATION "${CMAKE_INSTALL_LIBDIR}"
        COMPONENT Development)
if(SCONCE_TORCH)
  install(PROGRAMS "${SCONCE_TORCH_FILE}" DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT Torch)
  install(FILES "${SCONCE_LIBRARY_DIR}/${SCONCE_TORCH_SONAME}" "${SCONCE_LIBRARY_DIR}/libsconce_torch.so"
          DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT Torch)
endif()
install(
  DIRECTORY "${PROJECT_SOURCE_DIR}/include/sconce"
  DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
  COMPONENT Development
  FILES_MATCHING
  PATTERN "*.h"
  PATTERN "*.cuh"
  PATTERN "*.hpp")

if(SCONCE_TOOLS)
  install(PROGRAMS ${SCONCE_TOOLS} DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT Runtime)
endif()

set(sconce_package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/Sconce")
set(SCONCE_INSTALL_LIBDIR "${CMAKE_INSTALL_LIBDIR}")
set(SCONCE_INSTALL_INCLUDEDIR "${CMAKE_INSTALL_INCLUDEDIR}")
configure_package_config_file(
  "${CMAKE_CURRENT_LIST_DIR}/SconceConfig.cmake.in" "${PROJECT_BINARY_DIR}/package/SconceConfig.cmake"
  INSTALL_DESTINATION "${sconce_package_dir}"
  PATH_VARS SCONCE_INSTALL_LIBDIR SCONCE_INSTALL_INCLUDEDIR)
# While the version is 0.x, a minor release may break: only the same minor is compatible.
write_basic_package_version_file("${PROJECT_BINARY_DIR}/package/SconceConfigVersion.cmake"
                                 COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/package/SconceConfig.cmake"
              "${PROJECT_BINARY_DIR}/package/SconceConfigVersion.cmake"
        DESTINATION "${sconce_package_dir}" COMPONENT Development)

# ${pcfiledir} is <prefix>/<libdir>/pkgconfig: the way back up depends on how deep libdir is.
set(sconce_pkgconfig_dir "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
file(RELATIVE_PATH SCONCE_PREFIX_FROM_PKGCONFIG "${CMAKE_INSTALL_PREFIX}/${sconce_pkgconfig_dir}"
     "${CMAKE_INSTALL_PREFIX}")
list(TRANSFORM SCONCE_STATIC_DEPENDENCIES PREPEND "-l" OUTPUT_VARIABLE sconce_static_flags)
list(JOIN sconce_static_flags " " SCONCE_STATIC_FLAGS)
set(sconce_pkgconfig_files sconce sconce-static)
if(SCONCE_TORCH)
  list(APPEND sconce_pkgconfig_files sconce-torch sconce-torch-headers)
endif()
foreach(name IN LISTS sconce_pkgconfig_files)
  set(component Development)
  if(name MATCHES "^sconce-torch")
    set(component Torch)
  endif()
  configure_file("${CMAKE_CURRENT_LIST_DIR}/${name}.pc.in" "${PROJECT_BINARY_DIR}/package/${name}.pc" @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/package/${name}.pc" DESTINATION "${sconce_pkgconfig_dir}"
          COMPONENT ${component})
endforeach()
