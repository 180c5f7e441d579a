# sconce_sanitize_target(<target>): the sanitizers that SCONCE_SANITIZE names.
function(sconce_sanitize_target target)
  if(SCONCE_SANITIZE)
    target_compile_options(${target} PRIVATE "-fsanitize=${SCONCE_SANITIZE}" -fno-omit-frame-pointer
                                             -fno-sanitize-recover=all)
    target_link_options(${target} PRIVATE "-fsanitize=${SCONCE_SANITIZE}")
  endif()
endfunction()

# sconce_configure_target(<target>): warnings and sanitizers for our own tests and examples. Users of the
# library get none of it.
function(sconce_configure_target target)
  target_compile_options(
    ${target}
    PRIVATE -Wall -Wextra -Wpedantic -Wshadow -Wconversion
            $<$<COMPILE_LANGUAGE:CXX>:-Wsign-conversion -Wold-style-cast -Wnon-virtual-dtor>
            $<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes -Wmissing-prototypes>)
  if(SCONCE_WARNINGS_AS_ERRORS)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
  sconce_sanitize_target(${target})
  set_target_properties(
    ${target}
    PROPERTIES C_STANDARD 99
               C_STANDARD_REQUIRED ON
               C_EXTENSIONS OFF
               CXX_STANDARD 17
               CXX_STANDARD_REQUIRED ON
               CXX_EXTENSIONS OFF
               # The library's target is imported, and headers of imported targets cause no warnings otherwise.
               NO_SYSTEM_FROM_IMPORTED ON)
endfunction()
