// A tour of the semantics that Sconce shares with PyTorch: devices and guards, streams that
// overlap, events that measure time, waits, priorities, and the TF32 settings.
//
// It runs on the GPU if there is one, else on two simulated devices, and prints which. Every
// printed statement is checked; one that fails makes the program exit with 1.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <sconce/sconce.hpp>
#include <string>
#include <vector>

namespace cc = sconce::cuda;
using std::chrono::milliseconds;

namespace {

int failures = 0;

void chapter(const char* title) { std::printf("\n%s\n", title); }

void claim(bool holds, const std::string& words) {
  std::printf("  [%s] %s\n", holds ? "ok" : "FAILED", words.c_str());
  failures += holds ? 0 : 1;
}

std::string ms(float milliseconds) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.1f ms", static_cast<double>(milliseconds));
  return text;
}

/// The GPU if there is one, else two simulated devices.
void choose_backend() {
  if (cc::is_available()) {
    sconce::init();
  } else {
    sconce::Options options;
    options.backend = sconce::Backend::Sim;
    options.sim_devices = 2;
    sconce::init(options);
  }
  const bool simulated = sconce::active_backend() == sconce::Backend::Sim;
  std::printf("Sconce %s on %d %s device(s):\n", sconce::version(), cc::device_count(),
              simulated ? "SIMULATED" : "CUDA");
  for (cc::DeviceIndex device = 0; device < cc::device_count(); ++device) {
    const auto [major, minor] = cc::get_device_capability(device);
    std::printf("  %s is a %s, compute capability %d.%d, %.1f GiB\n",
                cc::Device(device).str().c_str(), cc::get_device_name(device).c_str(), major, minor,
                static_cast<double>(cc::mem_get_info(device).total_bytes) / (1 << 30));
  }
}

void devices_and_guards() {
  chapter("Devices and guards");
  const cc::DeviceIndex last = cc::device_count() - 1;
  claim(cc::current_device() == 0, "a thread starts on device 0");
  {
    const cc::CUDAGuard guard(last);
    claim(cc::current_device() == last && guard.original_device() == cc::Device(0),
          "CUDAGuard(" + std::to_string(last) + ") makes that device current");
  }
  claim(cc::current_device() == 0, "and the end of its scope restores device 0");
  try {
    const cc::CUDAGuard guard(last);
    cc::set_device(cc::device_count());
    claim(false, "a device that does not exist is refused");
  } catch (const sconce::Error& error) {
    claim(error.status() == SCONCE_ERROR_INVALID_DEVICE && cc::current_device() == 0,
          "an exception passing a guard restores too: " + std::string(error.what()));
  }
  if (last > 0) {
    const cc::CUDAStream there = cc::getStreamFromPool(false, last);
    {
      const cc::CUDAStreamGuard guard(there);
      claim(cc::current_device() == last && cc::getCurrentCUDAStream() == there,
            "CUDAStreamGuard switches the stream and its device");
    }
    claim(cc::current_device() == 0 &&
              cc::getCurrentCUDAStream(last) == cc::getDefaultCUDAStream(last),
          "and restores both");
    cc::setCurrentCUDAStream(there);
    claim(cc::current_device() == 0, "setCurrentCUDAStream leaves the device alone");
    cc::setCurrentCUDAStream(cc::getDefaultCUDAStream(last));
  }
}

void pooled_streams() {
  chapter("Streams come from a pool of 32");
  const cc::CUDAStream first = cc::getStreamFromPool();
  bool all_differ = true;
  for (int i = 1; i < 32; ++i) {
    all_differ = all_differ && cc::getStreamFromPool() != first;
  }
  claim(all_differ, "the next 31 requests give other streams");
  claim(cc::getStreamFromPool() == first, "the 33rd gives the first again");
  claim(cc::getCurrentCUDAStream() == cc::getDefaultCUDAStream(),
        "the default stream is current until another is set");
}

// Whether something holds in one of ten tries: a busy host may be late with its side.
template <class Try>
bool in_one_of_ten(Try&& holds) {
  for (int attempt = 0; attempt < 10; ++attempt) {
    if (holds()) {
      return true;
    }
  }
  return false;
}

void events_time() {
  chapter("Events time");
  const cc::CUDAStream stream = cc::getStreamFromPool();
  cc::sleep(milliseconds(1), stream);
  stream.synchronize();
  cc::CUDAEvent start(cc::EventFlags::Timing);
  cc::CUDAEvent end(cc::EventFlags::Timing);
  claim(!start.isCreated() && start.query(), "an event is made when it is first recorded");
  float elapsed = 0;
  const bool is_early = in_one_of_ten([&] {
    start.record(stream);
    cc::sleep(milliseconds(50), stream);
    end.record(stream);
    const bool before_the_end = !end.query();
    end.synchronize();
    elapsed = start.elapsed_time(end);
    return before_the_end && elapsed < 500.0F;
  });
  claim(is_early, "recording does not wait");
  claim(elapsed >= 49.0F && elapsed < 500.0F, "50 ms of sleep on a stream: " + ms(elapsed));
  cc::CUDAEvent untimed;
  untimed.record(stream);
  untimed.synchronize();
  try {
    (void)start.elapsed_time(untimed);
    claim(false, "an event without timing cannot measure");
  } catch (const sconce::Error& error) {
    claim(true, "an event without timing cannot measure: " + std::string(error.what()));
  }
}

void streams_overlap() {
  chapter("Streams overlap");
  const std::vector<cc::CUDAStream> streams = {cc::getStreamFromPool(), cc::getStreamFromPool()};
  // The first use loads kernels, so it comes before the measurement.
  for (const cc::CUDAStream& stream : streams) {
    cc::sleep(milliseconds(1), stream);
  }
  cc::device_synchronize();

  const cc::CUDAStream judge = cc::getStreamFromPool();
  cc::CUDAEvent start(cc::EventFlags::Timing);
  cc::CUDAEvent end(cc::EventFlags::Timing);

  start.record(judge);
  cc::sleep(milliseconds(100), judge);
  cc::sleep(milliseconds(100), judge);
  end.record(judge);
  end.synchronize();
  const float one = start.elapsed_time(end);

  // Both start after one event, and a third stream waits for both, so that one clock measures both.
  float both = one;
  in_one_of_ten([&] {
    start.record(judge);
    for (const cc::CUDAStream& stream : streams) {
      stream.wait_event(start);
      cc::sleep(milliseconds(100), stream);
      judge.wait_stream(stream);
    }
    end.record(judge);
    end.synchronize();
    both = std::min(both, start.elapsed_time(end));
    return both < 150.0F;
  });
  claim(one >= 199.0F, "two sleeps of 100 ms on one stream: " + ms(one));
  claim(both >= 99.0F && both < 150.0F, "on two streams, at the same time: " + ms(both));
}

void waiting() {
  chapter("Streams wait for each other, not for the host");
  const cc::CUDAStream producer = cc::getStreamFromPool();
  const cc::CUDAStream consumer = cc::getStreamFromPool();
  bool is_held_back = false;
  const bool is_quick = in_one_of_ten([&] {
    cc::sleep(milliseconds(80), producer);
    const auto before = std::chrono::steady_clock::now();
    consumer.wait_stream(producer);
    const auto queued = std::chrono::steady_clock::now() - before;
    is_held_back = !consumer.query();
    consumer.synchronize();
    return queued < milliseconds(60) && is_held_back;
  });
  claim(is_quick, "wait_stream returns at once");
  claim(is_held_back, "the consumer is held back while the producer works");
  claim(producer.query(), "and runs once the producer has finished");

  // A wait is bound to the newest record at the time it is queued; a later record does not move it.
  const cc::CUDAStream slow = cc::getStreamFromPool();
  cc::CUDAEvent event;
  const bool stays = in_one_of_ten([&] {
    event.record(producer);
    event.block(consumer);
    cc::sleep(milliseconds(200), slow);
    event.record(slow);
    consumer.synchronize();
    const bool before_the_end = !slow.query();
    slow.synchronize();
    return before_the_end;
  });
  claim(stays, "recording an event again does not move waits that are queued");
}

void priorities() {
  chapter("Priorities");
  const auto [least, greatest] = cc::CUDAStream::priority_range();
  std::printf("  this device has %d (least) to %d (greatest)\n", least, greatest);
  claim(cc::getStreamFromPool(false).priority() == least, "streams have the least by default");
  claim(cc::getStreamFromPool(true).priority() == greatest,
        "getStreamFromPool(true) has the greatest priority");
}

void switches() {
  chapter("TF32 and other switches of the process");
  cc::Context& context = cc::globalContext();
  std::printf("  TF32 is %s for products, %s for convolutions at first\n",
              context.allowTF32CuBLAS() ? "on" : "off", context.allowTF32CuDNN() ? "on" : "off");
  context.setAllowTF32CuBLAS(false);
  claim(!context.allowTF32CuBLAS() &&
            context.float32MatmulPrecision() == cc::Float32MatmulPrecision::HIGHEST,
        "setAllowTF32CuBLAS(false) is precision \"highest\"");
  context.setAllowTF32CuDNN(false);
  claim(!context.allowTF32CuDNN(), "setAllowTF32CuDNN(false) is a switch of its own");
  context.setDeterministicCuDNN(true);
  context.setBenchmarkCuDNN(true);
  claim(context.deterministicCuDNN() && context.benchmarkCuDNN(), "so are cuDNN's others");
}

}  // namespace

int main() try {
  choose_backend();
  devices_and_guards();
  pooled_streams();
  events_time();
  streams_overlap();
  waiting();
  priorities();
  switches();
  std::printf("\n%s\n", failures == 0 ? "Every claim holds." : "SOME CLAIMS FAILED.");
  return failures == 0 ? 0 : 1;
} catch (const sconce::Error& error) {
  std::fprintf(stderr, "stopped by %s\n", error.what());
  return 1;
}
