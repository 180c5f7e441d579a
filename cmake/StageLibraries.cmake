# cmake -DFROM=<folder> -DTO=<folder> -DSHARED_NAME=<libsconce.so.1.2.3> -DSONAME=<libsconce.so.1>
#       -DTOOLS=<programs> -DTOOLS_TO=<folder> -DTORCH=<ON|OFF> -DTORCH_NAME=<libsconce_torch.so.1.2.3>
#       -DTORCH_SONAME=<libsconce_torch.so.1> -P …
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
if(TORCH)
  file(COPY_FILE "${FROM}/libsconce_torch.so" "${TO}/${TORCH_NAME}" ONLY_IF_DIFFERENT)
  file(CREATE_LINK "${TORCH_NAME}" "${TO}/${TORCH_SONAME}" SYMBOLIC)
  file(CREATE_LINK "${TORCH_SONAME}" "${TO}/libsconce_torch.so" SYMBOLIC)
endif()
if(TOOLS)
  file(MAKE_DIRECTORY "${TOOLS_TO}")
endif()
foreach(tool IN LISTS TOOLS)
  file(COPY_FILE "${FROM}/${tool}" "${TOOLS_TO}/${tool}" ONLY_IF_DIFFERENT)
endforeach()
