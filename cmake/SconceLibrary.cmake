# The targets Sconce::sconce (shared), Sconce::sconce_static and, unless SCONCE_BUILD_TORCH is off, Sconce::torch
# (libsconce_torch), and the programs that come with them, from cargo or from SCONCE_PREBUILT_DIR.
#
# Either way both libraries are staged in <build>/lib under their installed names, so that a program of
# the build tree finds libsconce.so.0 by its soname as an installed one does; programs, which hold the
# library and need no other file, in <build>/bin. Cargo runs on every build and decides itself what is
# stale; files that have not changed are not staged again.

# The ABI number of the soname, from where build.rs has it.
file(STRINGS "${PROJECT_SOURCE_DIR}/build.rs" sconce_soname_line REGEX "-soname,libsconce" LIMIT_COUNT 1)
string(REGEX REPLACE ".*-soname,(libsconce\\.so\\.[0-9]+).*" "\\1" SCONCE_SONAME "${sconce_soname_line}")
if(NOT SCONCE_SONAME MATCHES "^libsconce\\.so\\.[0-9]+$")
  message(FATAL_ERROR "build.rs does not set a soname that cmake/SconceLibrary.cmake understands.")
endif()

set(SCONCE_LIBRARY_DIR "${PROJECT_BINARY_DIR}/lib")
set(SCONCE_SHARED_NAME "libsconce.so.${PROJECT_VERSION}")
set(SCONCE_SHARED_FILE "${SCONCE_LIBRARY_DIR}/${SCONCE_SHARED_NAME}")
set(SCONCE_STATIC_FILE "${SCONCE_LIBRARY_DIR}/libsconce.a")
set(SCONCE_TORCH_SONAME "libsconce_torch.so.0")
set(SCONCE_TORCH_NAME "libsconce_torch.so.${PROJECT_VERSION}")
set(SCONCE_TORCH_FILE "${SCONCE_LIBRARY_DIR}/${SCONCE_TORCH_NAME}")
set(SCONCE_TORCH "${SCONCE_BUILD_TORCH}")
set(SCONCE_TOOLS_DIR "${PROJECT_BINARY_DIR}/bin")
set(sconce_tools)
if(SCONCE_BUILD_TOOLS)
  set(sconce_tools sconce-replay)
endif()
# What `cargo rustc -- --print native-static-libs` lists for the static library, without gcc_s: the compiler adds that
# itself, or its static form for a program that is linked with -static.
set(SCONCE_STATIC_DEPENDENCIES util rt pthread m dl c)

if(SCONCE_PREBUILT_DIR)
  get_filename_component(sconce_artifact_dir "${SCONCE_PREBUILT_DIR}" ABSOLUTE)
  foreach(file IN ITEMS libsconce.so libsconce.a)
    if(NOT EXISTS "${sconce_artifact_dir}/${file}")
      message(FATAL_ERROR "SCONCE_PREBUILT_DIR=${SCONCE_PREBUILT_DIR} has no ${file}.")
    endif()
  endforeach()
  # A folder made for the runtime alone need not have the library for PyTorch's models.
  if(SCONCE_TORCH AND NOT EXISTS "${sconce_artifact_dir}/libsconce_torch.so")
    message(STATUS "Sconce: ${SCONCE_PREBUILT_DIR} has no libsconce_torch.so")
    set(SCONCE_TORCH OFF)
  endif()
  # A folder made for its libraries need not have the programs.
  foreach(tool IN LISTS sconce_tools)
    if(NOT EXISTS "${sconce_artifact_dir}/${tool}")
      message(STATUS "Sconce: ${SCONCE_PREBUILT_DIR} has no ${tool}")
      list(REMOVE_ITEM sconce_tools ${tool})
    endif()
  endforeach()
  set(sconce_cargo_command "")
  message(STATUS "Sconce: using the libraries in ${sconce_artifact_dir}")
else()
  find_program(SCONCE_CARGO cargo HINTS "$ENV{CARGO_HOME}/bin" "$ENV{HOME}/.cargo/bin"
               DOC "Rust's package manager")
  if(NOT SCONCE_CARGO)
    message(FATAL_ERROR "cargo was not found. Install Rust (https://rustup.rs), set SCONCE_CARGO to it, or "
                        "set SCONCE_PREBUILT_DIR to a folder with libsconce.so and libsconce.a.")
  endif()

  # An old cargo fails on the manifest with a message that does not name the cause.
  file(STRINGS "${PROJECT_SOURCE_DIR}/Cargo.toml" sconce_rust_line REGEX "^rust-version = " LIMIT_COUNT 1)
  string(REGEX REPLACE "^rust-version = \"([0-9.]+)\".*" "\\1" sconce_rust_minimum "${sconce_rust_line}")
  execute_process(
    COMMAND "${SCONCE_CARGO}" --version
    WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}"
    OUTPUT_VARIABLE sconce_cargo_version
    ERROR_VARIABLE sconce_cargo_error
    RESULT_VARIABLE sconce_cargo_result)
  if(NOT sconce_cargo_result EQUAL 0)
    message(FATAL_ERROR "${SCONCE_CARGO} does not run: ${sconce_cargo_error}"
                        "If it is rustup's, install a toolchain with: rustup default stable")
  endif()
  string(REGEX REPLACE "^cargo ([0-9.]+).*" "\\1" sconce_cargo_version "${sconce_cargo_version}")
  if(sconce_cargo_version VERSION_LESS sconce_rust_minimum)
    message(FATAL_ERROR
      "Sconce needs Rust ${sconce_rust_minimum} or newer; ${SCONCE_CARGO} is ${sconce_cargo_version}. Install a "
      "current one with rustup (https://rustup.rs): rustup update stable. To use another cargo, set SCONCE_CARGO.")
  endif()

  set(sconce_target_dir "${SCONCE_CARGO_TARGET_DIR}")
  if(NOT sconce_target_dir)
    set(sconce_target_dir "${PROJECT_BINARY_DIR}/cargo")
  endif()
  get_filename_component(sconce_target_dir "${sconce_target_dir}" ABSOLUTE)
  set(sconce_profile "${SCONCE_CARGO_PROFILE}")
  if(NOT sconce_profile)
    if(CMAKE_BUILD_TYPE STREQUAL "Debug")
      set(sconce_profile dev)
    else()
      set(sconce_profile release)
    endif()
  endif()
  # Cargo puts the profile dev into the folder debug, every other one into the folder of its name.
  if(sconce_profile STREQUAL "dev")
    set(sconce_artifact_dir "${sconce_target_dir}/debug")
  else()
    set(sconce_artifact_dir "${sconce_target_dir}/${sconce_profile}")
  endif()
  set(sconce_packages --package sconce --lib)
  if(SCONCE_TORCH)
    list(APPEND sconce_packages --package sconce-torch)
  endif()
  foreach(tool IN LISTS sconce_tools)
    list(APPEND sconce_packages --package ${tool} --bin ${tool})
  endforeach()
  set(sconce_cargo_command
      COMMAND "${SCONCE_CARGO}" build ${sconce_packages} --locked --profile "${sconce_profile}" --manifest-path
      "${PROJECT_SOURCE_DIR}/Cargo.toml" --target-dir "${sconce_target_dir}")
  message(STATUS "Sconce: ${SCONCE_CARGO} build --profile ${sconce_profile}")
endif()

set(SCONCE_TOOLS)
foreach(tool IN LISTS sconce_tools)
  list(APPEND SCONCE_TOOLS "${SCONCE_TOOLS_DIR}/${tool}")
endforeach()

set(sconce_torch_byproduct)
if(SCONCE_TORCH)
  set(sconce_torch_byproduct "${SCONCE_TORCH_FILE}")
endif()
add_custom_target(
  sconce_rust ALL
  ${sconce_cargo_command}
  COMMAND
    "${CMAKE_COMMAND}" "-DFROM=${sconce_artifact_dir}" "-DTO=${SCONCE_LIBRARY_DIR}"
    "-DSHARED_NAME=${SCONCE_SHARED_NAME}" "-DSONAME=${SCONCE_SONAME}" "-DTOOLS=${sconce_tools}"
    "-DTOOLS_TO=${SCONCE_TOOLS_DIR}" "-DTORCH=${SCONCE_TORCH}" "-DTORCH_NAME=${SCONCE_TORCH_NAME}"
    "-DTORCH_SONAME=${SCONCE_TORCH_SONAME}" -P
    "${PROJECT_SOURCE_DIR}/cmake/StageLibraries.cmake"
  BYPRODUCTS "${SCONCE_SHARED_FILE}" "${SCONCE_STATIC_FILE}" ${sconce_torch_byproduct} ${SCONCE_TOOLS}
  WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}"
  COMMENT "Building libsconce"
  USES_TERMINAL VERBATIM)

add_library(sconce SHARED IMPORTED GLOBAL)
set_target_properties(sconce PROPERTIES IMPORTED_LOCATION "${SCONCE_SHARED_FILE}" IMPORTED_SONAME "${SCONCE_SONAME}")

add_library(sconce_static STATIC IMPORTED GLOBAL)
set_target_properties(sconce_static PROPERTIES IMPORTED_LOCATION "${SCONCE_STATIC_FILE}")
target_link_libraries(sconce_static INTERFACE ${SCONCE_STATIC_DEPENDENCIES})

foreach(target IN ITEMS sconce sconce_static)
  target_include_directories(${target} INTERFACE "${PROJECT_SOURCE_DIR}/include")
  add_dependencies(${target} sconce_rust)
  add_library(Sconce::${target} ALIAS ${target})
endforeach()

if(SCONCE_TORCH)
  add_library(sconce_torch SHARED IMPORTED GLOBAL)
  set_target_properties(sconce_torch PROPERTIES IMPORTED_LOCATION "${SCONCE_TORCH_FILE}"
                                                IMPORTED_SONAME "${SCONCE_TORCH_SONAME}")
  target_link_libraries(sconce_torch INTERFACE sconce)
  add_dependencies(sconce_torch sconce_rust)
  add_library(Sconce::torch ALIAS sconce_torch)
  # The include paths of PyTorch, for extensions that were written for it.
  add_library(sconce_torch_headers INTERFACE)
  target_include_directories(sconce_torch_headers INTERFACE "${PROJECT_SOURCE_DIR}/include/sconce/torch_headers")
  target_link_libraries(sconce_torch_headers INTERFACE sconce_torch)
  add_library(Sconce::torch_headers ALIAS sconce_torch_headers)
endif()
