# cmake -DFROM=<folder> -DTO=<folder> -DSHARED_NAME=<libsconce.so.1.2.3> -DSONAME=<libsconce.so.1>
#       -DTOOLS=<programs> -DTOOLS_TO=<folder> -P …
#
# Copies what cargo built under the installed names, touching nothing that has not changed.
file(MAKE_DIRECTORY "${TO}")
foreach(pair IN ITEMS "libsconce.so|${SHARED_NAME}" "libsconce.a|libsconce.a")
  string(REPLACE "|" ";" pair "${pair}")
  list(GET pair 0 from)
  list(GET pair 1 to)
  file(COPY_FILE "${FROM}/${from}" "${TO}/${to}" ONLY_IF_DIFFERENT)
endforeach()
file(CREATE_LINK "${SHARED_NAME}" "${TO}/${SONAME}" SYMBOLIC)
file(CREATE_LINK "${SONAME}" "${TO}/libsconce.so" SYMBOLIC)
if(TOOLS)
  file(MAKE_DIRECTORY "${TOOLS_TO}")
endif()
foreach(tool IN LISTS TOOLS)
  file(COPY_FILE "${FROM}/${tool}" "${TOOLS_TO}/${tool}" ONLY_IF_DIFFERENT)
endforeach()
