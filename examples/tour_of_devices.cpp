// A tour of tensors on devices: the first examples of the PyTorch page "CUDA semantics" in C++,
// line by line, with the place of each result.
//
// It runs on the GPUs if there are any, else on three simulated devices. Where the page uses device
// 1 or 2 and there is no such device, the last one stands for it. Every printed statement is
// checked; one that fails makes the program exit with 1.
#include <algorithm>
#include <cstdio>
#include <sconce/sconce_all.hpp>
#include <string>
#include <vector>

namespace cc = sconce::cuda;
using sconce::Device;
using sconce::kCPU;
using sconce::kCUDA;
using sconce::Tensor;

namespace {

int failures = 0;

void chapter(const char* title) { std::printf("\n%s\n", title); }

void claim(bool holds, const std::string& words) {
  std::printf("  [%s] %s\n", holds ? "ok" : "FAILED", words.c_str());
  failures += holds ? 0 : 1;
}

/// Prints a tensor, and checks where it is.
void lives(const char* name, const Tensor& tensor, Device expected) {
  const bool holds = tensor.device() == expected;
  const std::string text = sconce::to_string(tensor);
  std::printf("  [%s] %-2s on %-6s  %s\n", holds ? "ok" : "FAILED", name,
              tensor.device().str().c_str(), text.c_str());
  failures += holds ? 0 : 1;
}

/// The GPUs if there are any, else three simulated devices.
void choose_backend() {
  if (cc::is_available()) {
    sconce::init();
  } else {
    sconce::Options options;
    options.backend = sconce::Backend::Sim;
    options.sim_devices = 3;
    sconce::init(options);
  }
  const bool simulated = sconce::active_backend() == sconce::Backend::Sim;
  std::printf("Sconce %s on %d %s device(s)\n", sconce::version(), cc::device_count(),
              simulated ? "SIMULATED" : "CUDA");
}

/// A device of the page, or the last one if there are fewer.
cc::DeviceIndex at_most(cc::DeviceIndex index) { return std::min(index, cc::device_count() - 1); }

void where_tensors_live() {
  chapter("Where tensors live");
  const Device cuda(kCUDA);  // the current CUDA device
  const Device cuda0("cuda:0");
  const Device one(at_most(1));
  const Device two(at_most(2));

  const Tensor x = sconce::tensor({1.0, 2.0}, cuda0);
  lives("x", x, cuda0);
  const Tensor y = sconce::tensor({1.0, 2.0}, kCPU).cuda();
  lives("y", y, cuda0);
  {
    const cc::CUDAGuard guard(one.index());
    std::printf("  with device %d:\n", cc::current_device());
    const Tensor a = sconce::tensor({1.0, 2.0}, cuda);  // allocated on the current device
    lives("a", a, one);
    const Tensor b = sconce::tensor({1.0, 2.0}, kCPU).cuda();  // moved from the CPU
    lives("b", b, one);
    const Tensor b2 = sconce::tensor({1.0, 2.0}, kCPU).to(cuda);
    lives("b2", b2, one);
    const Tensor c = a + b;
    lives("c", c, one);
    const Tensor z = x + y;  // where the operands are, whatever the current device is
    lives("z", z, cuda0);
    const Tensor d = sconce::randn({2}, two);  // a device can be named within a guard, too
    lives("d", d, two);
    const Tensor e = sconce::ones({2}, kCPU).to(two);
    lives("e", e, two);
    const Tensor f = sconce::randn({2}, cuda0).cuda(two.index());
    lives("f", f, two);
  }
  claim(cc::current_device() == 0, "the guard made device 0 current again");
}

void devices_do_not_mix() {
  chapter("Operations on several devices are refused, copies are not");
  const Tensor near = sconce::ones({2}, Device(0));
  const Tensor far = sconce::full({2}, 5.0, Device(at_most(1)));
  if (near.device() == far.device()) {
    std::printf("  (needs two devices)\n");
    return;
  }
  try {
    (void)(near + far);
    claim(false, "x + y on two devices is refused");
  } catch (const sconce::Error& error) {
    claim(error.status() == SCONCE_ERROR_CROSS_DEVICE, error.what());
  }
  const Tensor moved = near + far.to(near.device());
  lives("s", moved, near.device());
  const Tensor copied = sconce::empty({2}, Device(0)).copy_(far);
  claim(copied.equal(sconce::full_like(copied, 5.0)), "copy_ crosses devices");
  const Tensor two = sconce::tensor(2.0, kCPU);
  lives("m", far * two, far.device());
  claim(true, "a tensor of the CPU without dimensions may meet those of a device");
}

void device_agnostic_code() {
  chapter("New tensors of the type and place of others");
  const Tensor host = sconce::zeros({3, 2}, sconce::device(kCPU).dtype(sconce::kDouble));
  const Tensor device = sconce::ones({1, 2}, sconce::device(at_most(1)).dtype(sconce::kHalf));
  lives("x", host.new_full({2}, 0.3), kCPU);
  lives("y", device.new_full({2}, 0.3), device.device());
  lives("l", device.new_tensor({1, 2, 3}), device.device());
  lives("o", sconce::ones_like(device), device.device());
  lives("z", sconce::zeros_like(host[0]), kCPU);
  claim(sconce::ones_like(device).dtype() == sconce::kHalf, "they have the type, too");
}

void pinned_memory() {
  chapter("Page-locked memory and copies that do not block");
  const Tensor page_locked = sconce::arange(4, sconce::device(kCPU).dtype(sconce::kFloat));
  claim(!page_locked.is_pinned() && page_locked.pin_memory().is_pinned(),
        "pin_memory returns a copy in page-locked memory");
  const Tensor source = page_locked.pin_memory();
  const Tensor there = source.cuda(0, /*non_blocking=*/true);
  lives("p", there, Device(0));
  const Tensor back = sconce::empty({4}, sconce::device(kCPU).pinned_memory(true));
  back.copy_(there * 10, /*non_blocking=*/true);
  cc::getCurrentCUDAStream(0).synchronize();  // before the host reads what was copied
  lives("q", back, kCPU);
  claim(back.equal(source * 10), "the copy arrived once its stream was done");
}

void streams_side_by_side() {
  chapter("Streams side by side");
  const cc::CUDAStream main_stream = cc::getCurrentCUDAStream();
  const cc::CUDAStream side = cc::getStreamFromPool();
  Tensor a = sconce::empty({100, 100}).fill_(1);
  side.wait_stream(main_stream);  // without it, the sum might begin before the fill has ended
  Tensor total;
  {
    const cc::CUDAStreamGuard guard(side);
    total = a.sum();
  }
  a.record_stream(side);  // the memory of a is not used again before the sum is done
  a.reset();
  main_stream.wait_stream(side);  // before the current stream reads the sum
  total.record_stream(main_stream);
  lives("t", total, Device(cc::current_device()));
  claim(total.item<float>() == 10000.0F, "the sum of one stream saw the fill of the other");
}

}  // namespace

int main() try {
  choose_backend();
  where_tensors_live();
  devices_do_not_mix();
  device_agnostic_code();
  pinned_memory();
  streams_side_by_side();
  std::printf("\n%s\n", failures == 0 ? "All statements hold." : "Some statements FAILED.");
  return failures == 0 ? 0 : 1;
} catch (const sconce::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
