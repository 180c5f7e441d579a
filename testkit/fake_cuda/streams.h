// Streams and events. Part of fake_cuda.c.
//
// A destroyed stream stays known: a call that is handed one is counted in `fake_streams.dead_calls`
// and named on standard error, where a real driver would read freed memory. With
// `fake_streams.reuse` a new stream gets the handle of a destroyed one, and an id of its own.

enum { STREAM_CAPTURE_UNSUPPORTED = 900, MOST_STREAMS = 4096 };

// What tests read and set.
struct fake_streams {
  long dead_calls;  // calls that were handed a destroyed stream
  long reuse;       // handles of destroyed streams are given out again
  long spoiled;     // waits for a device one of whose streams was being captured
  char first[64];   // the first call that was handed a destroyed stream
};
struct fake_streams fake_streams;

static Stream* made[MOST_STREAMS];
static int streams_made;
static uint64_t last_id = 100;
static pthread_mutex_t streams_lock = PTHREAD_MUTEX_INITIALIZER;

// Notes a call that was handed a destroyed stream.
static void look(const Stream* stream, const char* call) {
  if ((uintptr_t)stream <= 2 || !stream->destroyed) return;
  pthread_mutex_lock(&streams_lock);
  if (!fake_streams.dead_calls++)
    snprintf(fake_streams.first, sizeof fake_streams.first, "%s", call);
  pthread_mutex_unlock(&streams_lock);
  fprintf(stderr, "fake driver: %s was handed the destroyed stream %p\n", call,
          (const void*)stream);
}
// A call that needs some context; one on a default stream needs it too.
static int lacks_context_for(Stream* stream, const char* call) {
  look(stream, call);
  return current() == NULL && ((uintptr_t)stream <= 2 || fake.strict);
}
#define lacks_context(stream) lacks_context_for(stream, __func__)
static Context* context_for(Stream* stream, const char* call) {
  look(stream, call);
  return (uintptr_t)stream <= 2 ? current() : stream->context;
}
#define context_of(stream) context_for(stream, __func__)

static Stream* new_stream(Context* context, unsigned flags, int priority) {
  pthread_mutex_lock(&streams_lock);
  Stream* stream = NULL;
  for (int i = 0; fake_streams.reuse && i < streams_made; i++)
    if (made[i]->destroyed) stream = made[i];
  if (!stream && streams_made < MOST_STREAMS)
    stream = made[streams_made++] = malloc(sizeof *stream);
  if (stream) *stream = (Stream){context, flags, priority, ++last_id, 0, 0};
  return pthread_mutex_unlock(&streams_lock), stream;
}
// Whether a stream of a context is being captured.
static int has_capture(const Context* context) {
  int found = 0;
  pthread_mutex_lock(&streams_lock);
  for (int i = 0; i < streams_made; i++)
    found |= made[i]->context == context && !made[i]->destroyed && made[i]->capturing;
  return pthread_mutex_unlock(&streams_lock), found;
}

// What the program does with streams of its own.
Stream* fake_stream_create(int device) { return new_stream(&contexts[device], 1, 0); }
void fake_stream_destroy(Stream* stream) { look(stream, __func__), stream->destroyed = 1; }
void fake_stream_capture(Stream* stream, int on) { look(stream, __func__), stream->capturing = on; }

API int cuCtxSynchronize(void) {
  if (!current()) return INVALID_CONTEXT;
  if (has_capture(current())) return fake_streams.spoiled++, STREAM_CAPTURE_UNSUPPORTED;
  return fake.synchronizes++, (int)fake.waiting;
}

API int cuStreamCreateWithPriority(Stream** stream, unsigned flags, int priority) {
  if (!current()) return INVALID_CONTEXT;
  return *stream = new_stream(current(), flags, priority), *stream ? OK : TRAP;
}
API int cuStreamDestroy_v2(Stream* stream) { return fake_stream_destroy(stream), (int)fake.code; }
API int cuStreamGetId(Stream* stream, unsigned long long* id) {
  if (lacks_context(stream)) return INVALID_CONTEXT;
  return *id = (uintptr_t)stream > 2 ? stream->id : (uintptr_t)stream + 1, OK;
}
API int cuStreamQuery(Stream* stream) {
  return lacks_context(stream) ? INVALID_CONTEXT : fake.pending ? NOT_READY : OK;
}
API int cuStreamSynchronize(Stream* stream) {
  return lacks_context(stream) ? INVALID_CONTEXT : (fake.synchronizes++, OK);
}
API int cuStreamWaitEvent(Stream* stream, Event* event, unsigned flags) {
  return lacks_context(stream) ? INVALID_CONTEXT : event && !flags ? OK : INVALID_VALUE;
}
API int cuStreamGetPriority(Stream* stream, int* priority) {
  if (lacks_context(stream)) return INVALID_CONTEXT;
  return *priority = (uintptr_t)stream > 2 ? stream->priority : 0, OK;
}
API int cuStreamIsCapturing(Stream* stream, int* status) {
  if (lacks_context(stream)) return *status = 0, INVALID_CONTEXT;
  return *status = (uintptr_t)stream > 2 && stream->capturing, OK;
}
// A capture has no graph: its stream stands for one.
API int cuStreamBeginCapture_v2(Stream* stream, int mode) {
  if (lacks_context(stream)) return INVALID_CONTEXT;
  return (unsigned)mode < 3 ? (fake_stream_capture(stream, 1), OK) : INVALID_VALUE;
}
API int cuStreamEndCapture(Stream* stream, void** graph) {
  if (lacks_context(stream)) return INVALID_CONTEXT;
  return fake_stream_capture(stream, 0), *graph = stream, OK;
}
API int cuLaunchHostFunc(Stream* stream, void (*function)(void*), void* user) {
  if (lacks_context(stream)) return INVALID_CONTEXT;
  return function(user), OK;
}

int callback_status;  // what callbacks are told, as after a failure
API int cuStreamAddCallback(Stream* stream, void (*function)(Stream*, int, void*), void* user,
                            unsigned flags) {
  if (lacks_context(stream)) return INVALID_CONTEXT;
  if (flags || ((uintptr_t)stream > 2 && stream->capturing)) return INVALID_VALUE;
  return function(stream, callback_status, user), OK;
}

API int cuEventCreate(Event** event, unsigned flags) {
  if (!current()) return INVALID_CONTEXT;
  *event = malloc(sizeof **event);
  return **event = (Event){current(), flags}, fake.words[0] = flags, OK;
}
API int cuEventDestroy_v2(Event* event) { return free(event), OK; }
API int cuEventRecord(Event* event, Stream* stream) {
  if (lacks_context(stream)) return INVALID_CONTEXT;
  const Context* context = (uintptr_t)stream <= 2 ? current() : stream->context;
  return fake.records++, context == event->context ? OK : INVALID_HANDLE;
}
API int cuEventQuery(Event* event) {
  if (fake.strict && !current()) return INVALID_CONTEXT;
  return fake.pending ? NOT_READY : event ? (int)fake.code : INVALID_VALUE;
}
API int cuEventSynchronize(Event* event) { return event ? OK : INVALID_VALUE; }
API int cuEventElapsedTime(float* ms, Event* start, Event* end) {
  return *ms = 1.5f, fake.pending ? NOT_READY : start && end ? OK : INVALID_VALUE;
}
