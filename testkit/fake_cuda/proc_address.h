// cuGetProcAddress of the fake: each function under its plain name, at the version that brought its
// prototype. Where the driver has an older or a newer prototype under the same name, a trap stands
// there: asking for the wrong version shows as a call that answers TRAP.

static int trap(void) { return TRAP; }

#define ROW(name, version, function) \
  { name, version, (void*)(function) }
static const struct {
  const char* name;
  int version;
  void* function;
} rows[] = {
    ROW("cuInit", 2000, cuInit),
    ROW("cuGetErrorName", 6000, cuGetErrorName),
    ROW("cuDeviceGetCount", 2000, cuDeviceGetCount),
    ROW("cuDeviceGet", 2000, cuDeviceGet),
    ROW("cuDeviceGetName", 2000, cuDeviceGetName),
    ROW("cuDeviceGetAttribute", 2000, cuDeviceGetAttribute),
    ROW("cuDeviceTotalMem", 2000, trap),
    ROW("cuDeviceTotalMem", 3020, cuDeviceTotalMem_v2),
    ROW("cuDeviceGetUuid", 9020, trap),
    ROW("cuDeviceGetUuid", 11040, cuDeviceGetUuid_v2),
    ROW("cuDeviceGetPCIBusId", 4010, cuDeviceGetPCIBusId),
    ROW("cuDeviceCanAccessPeer", 4000, cuDeviceCanAccessPeer),
    ROW("cuCtxEnablePeerAccess", 4000, cuCtxEnablePeerAccess),
    ROW("cuDevicePrimaryCtxRetain", 7000, cuDevicePrimaryCtxRetain),
    ROW("cuDevicePrimaryCtxGetState", 7000, cuDevicePrimaryCtxGetState),
    ROW("cuCtxGetCurrent", 4000, cuCtxGetCurrent),
    ROW("cuCtxSetCurrent", 4000, cuCtxSetCurrent),
    ROW("cuCtxGetDevice", 2000, cuCtxGetDevice),
    ROW("cuCtxSynchronize", 2000, cuCtxSynchronize),
    ROW("cuCtxSynchronize", 13000, trap),
    ROW("cuCtxGetStreamPriorityRange", 5050, cuCtxGetStreamPriorityRange),
    ROW("cuThreadExchangeStreamCaptureMode", 10010, cuThreadExchangeStreamCaptureMode),
    ROW("cuMemGetInfo", 2000, trap),
    ROW("cuMemGetInfo", 3020, cuMemGetInfo_v2),
    ROW("cuMemAlloc", 2000, trap),
    ROW("cuMemAlloc", 3020, cuMemAlloc_v2),
    ROW("cuMemFree", 2000, trap),
    ROW("cuMemFree", 3020, cuMemFree_v2),
    ROW("cuMemHostAlloc", 2020, cuMemHostAlloc),
    ROW("cuMemFreeHost", 2000, cuMemFreeHost),
    ROW("cuMemHostRegister", 4000, trap),
    ROW("cuMemHostRegister", 6050, cuMemHostRegister_v2),
    ROW("cuMemHostUnregister", 4000, cuMemHostUnregister),
    ROW("cuPointerGetAttributes", 7000, cuPointerGetAttributes),
    ROW("cuMemGetAddressRange", 2000, trap),
    ROW("cuMemGetAddressRange", 3020, cuMemGetAddressRange_v2),
    ROW("cuMemGetAllocationGranularity", 10020, cuMemGetAllocationGranularity),
    ROW("cuMemAddressReserve", 10020, cuMemAddressReserve),
    ROW("cuMemAddressFree", 10020, cuMemAddressFree),
    ROW("cuMemCreate", 10020, cuMemCreate),
    ROW("cuMemRelease", 10020, cuMemRelease),
    ROW("cuMemRetainAllocationHandle", 11000, cuMemRetainAllocationHandle),
    ROW("cuMemMap", 10020, cuMemMap),
    ROW("cuMemUnmap", 10020, cuMemUnmap),
    ROW("cuMemSetAccess", 10020, cuMemSetAccess),
    ROW("cuMemExportToShareableHandle", 10020, cuMemExportToShareableHandle),
    ROW("cuMemImportFromShareableHandle", 10020, cuMemImportFromShareableHandle),
    ROW("cuStreamCreateWithPriority", 5050, cuStreamCreateWithPriority),
    ROW("cuStreamDestroy", 2000, trap),
    ROW("cuStreamDestroy", 4000, cuStreamDestroy_v2),
    ROW("cuStreamQuery", 2000, cuStreamQuery),
    ROW("cuStreamSynchronize", 2000, cuStreamSynchronize),
    ROW("cuStreamWaitEvent", 3020, cuStreamWaitEvent),
    ROW("cuStreamGetId", 12000, cuStreamGetId),
    ROW("cuStreamGetPriority", 5050, cuStreamGetPriority),
    ROW("cuStreamIsCapturing", 10000, cuStreamIsCapturing),
    ROW("cuStreamBeginCapture", 10000, trap),
    ROW("cuStreamBeginCapture", 10010, cuStreamBeginCapture_v2),
    ROW("cuStreamEndCapture", 10000, cuStreamEndCapture),
    ROW("cuLaunchHostFunc", 10000, cuLaunchHostFunc),
    ROW("cuStreamAddCallback", 5000, cuStreamAddCallback),
    ROW("cuEventCreate", 2000, cuEventCreate),
    ROW("cuEventDestroy", 2000, trap),
    ROW("cuEventDestroy", 4000, cuEventDestroy_v2),
    ROW("cuEventRecord", 2000, cuEventRecord),
    ROW("cuEventQuery", 2000, cuEventQuery),
    ROW("cuEventSynchronize", 2000, cuEventSynchronize),
    ROW("cuEventElapsedTime", 2000, cuEventElapsedTime),
    ROW("cuMemcpyAsync", 4000, cuMemcpyAsync),
    ROW("cuMemcpyPeerAsync", 4000, cuMemcpyPeerAsync),
    ROW("cuMemcpy2DAsync", 2000, trap),
    ROW("cuMemcpy2DAsync", 3020, cuMemcpy2DAsync_v2),
    ROW("cuMemsetD2D8Async", 3020, cuMemsetD2D8Async),
    ROW("cuMemsetD8Async", 3020, cuMemsetD8Async),
    ROW("cuModuleLoadDataEx", 2010, cuModuleLoadDataEx),
    ROW("cuModuleUnload", 2000, cuModuleUnload),
    ROW("cuModuleGetFunction", 2000, cuModuleGetFunction),
    ROW("cuLaunchKernel", 4000, cuLaunchKernel),
    ROW("cuFuncGetAttribute", 2020, cuFuncGetAttribute),
    ROW("cuFuncSetAttribute", 9000, cuFuncSetAttribute),
    ROW("cuFuncGetParamInfo", 12040, cuFuncGetParamInfo),
    ROW("cuOccupancyMaxActiveBlocksPerMultiprocessor", 6050,
        cuOccupancyMaxActiveBlocksPerMultiprocessor),
    ROW("cuOccupancyMaxPotentialBlockSize", 6050, cuOccupancyMaxPotentialBlockSize),
    ROW("cuLaunchCooperativeKernel", 9000, cuLaunchCooperativeKernel),
    ROW("cuLaunchKernelEx", 11060, cuLaunchKernelEx),
    ROW("cuIpcGetMemHandle", 4010, cuIpcGetMemHandle),
    ROW("cuIpcOpenMemHandle", 4010, trap),
    ROW("cuIpcOpenMemHandle", 11000, cuIpcOpenMemHandle_v2),
    ROW("cuIpcCloseMemHandle", 4010, cuIpcCloseMemHandle),
    ROW("cuIpcGetEventHandle", 4010, cuIpcGetEventHandle),
    ROW("cuIpcOpenEventHandle", 4010, cuIpcOpenEventHandle),
};

static void* find(const char* name, int version, uint64_t flags) {
  void* found = NULL;
  if (flags != 1) fake.bad_flags++;  // anything but the legacy default stream
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
    if (!strcmp(rows[i].name, name) && strcmp(name, MISSING) && rows[i].version <= version)
      found = rows[i].function;
  return found;
}

#if defined EXPORT_SYMBOLS
void* fake_find(const char* name) { return find(name, 13000, 1); }
#elif defined PROC_ADDRESS_V1
int cuGetProcAddress(const char* name, void** function, int version, uint64_t flags) {
  *function = find(name, version, flags);
  return *function ? OK : NOT_FOUND;
}
#else
int cuGetProcAddress_v2(const char* name, void** function, int version, uint64_t flags,
                        int* status) {
  *function = find(name, version, flags);
  *status = *function ? 0 : 1;
  return OK;
}
#endif
