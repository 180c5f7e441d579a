// Answers requests with a compiled model of PyTorch, from several threads with batching.
//
//   serve MODEL.pt2 [REQUESTS [THREADS]]
//
// The model has one input, a matrix whose first dimension is dynamic. Clients ask for single rows;
// each worker takes as many waiting requests as the model's largest batch, joins them, runs the
// model on a stream of its own, and gives each client its row of the result.
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <exception>
#include <future>
#include <mutex>
#include <sconce/sconce.hpp>
#include <sconce/torch.hpp>
#include <stdexcept>
#include <utility>
#include <vector>

namespace {

using sconce::Tensor;
using sconce::torch::Model;
using Clock = std::chrono::steady_clock;

struct Request {
  Tensor row;
  std::promise<Tensor> result;
  Clock::time_point asked = Clock::now();
};

// Requests that wait. Workers take several at once.
class Queue {
 public:
  std::future<Tensor> ask(Tensor row) {
    const std::lock_guard<std::mutex> lock(mutex_);
    waiting_.push_back({std::move(row), {}});
    changed_.notify_one();
    return waiting_.back().result.get_future();
  }
  // Up to `most` requests; none once the queue is closed and empty.
  std::vector<Request> take(std::size_t most) {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [&] { return closed_ || !waiting_.empty(); });
    std::vector<Request> taken;
    for (; !waiting_.empty() && taken.size() < most; waiting_.pop_front()) {
      taken.push_back(std::move(waiting_.front()));
    }
    return taken;
  }
  void close() {
    const std::lock_guard<std::mutex> lock(mutex_);
    closed_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Request> waiting_;
  bool closed_ = false;
};

// What the model takes: rows of `width` numbers, from `least` to `most` of them.
struct Shape {
  explicit Shape(const Model& model) {
    const auto sizes = model.input(0).sizes;
    if (model.num_inputs() != 1 || sizes.size() != 2 || sizes[1].first != sizes[1].second) {
      throw std::runtime_error("the model must take one matrix with a fixed number of columns");
    }
    width = sizes[1].first;
    least = static_cast<std::size_t>(sizes[0].first);
    most = static_cast<std::size_t>(std::min<std::int64_t>(sizes[0].second, 256));
  }
  std::int64_t width;
  std::size_t least, most;
};

struct Figures {
  std::size_t batches = 0, requests = 0;
  std::chrono::duration<double, std::milli> waited{0};
};

// Runs the model on the rows of requests, filled up with zeros to the least batch that it takes.
void answer(const Model& model, const Shape& shape, std::vector<Request>& requests) {
  std::vector<Tensor> rows;
  for (const Request& request : requests) rows.push_back(request.row);
  while (rows.size() < shape.least) rows.push_back(sconce::zeros_like(rows[0]));
  Tensor batch = sconce::stack(rows);
  if (model.device() >= 0) batch = batch.to(sconce::Device(model.device()));
  // Waits for this worker's stream alone.
  const Tensor results = model.run({batch}).at(0).to(sconce::kCPU);
  for (std::size_t at = 0; at < requests.size(); ++at) {
    requests[at].result.set_value(results[static_cast<std::int64_t>(at)]);
  }
}

Figures work(const Model& model, const Shape& shape, Queue& queue) {
  sconce::cuda::OptionalCUDAStreamGuard guard;
  if (model.device() >= 0) guard.reset_stream(sconce::cuda::getStreamFromPool(0, model.device()));
  Figures figures;
  for (auto requests = queue.take(shape.most); !requests.empty();
       requests = queue.take(shape.most)) {
    try {
      answer(model, shape, requests);
    } catch (...) {
      for (Request& request : requests) request.result.set_exception(std::current_exception());
    }
    for (const Request& request : requests) figures.waited += Clock::now() - request.asked;
    figures.requests += requests.size();
    figures.batches += 1;
  }
  return figures;
}

}  // namespace

int main(int count, char** words) try {
  if (count < 2) throw std::runtime_error("usage: serve MODEL.pt2 [REQUESTS [THREADS]]");
  const long asked = count > 2 ? std::max(1L, std::atol(words[2])) : 2000;
  const long threads = count > 3 ? std::max(1L, std::atol(words[3])) : 4;
  const Model model(words[1]);
  const Shape shape(model);
  Queue queue;
  std::vector<std::future<Figures>> workers;
  const auto begin = Clock::now();
  for (long at = 0; at < threads; ++at) {
    workers.push_back(std::async(std::launch::async, [&] { return work(model, shape, queue); }));
  }
  std::vector<std::future<Tensor>> waiting;
  for (long at = 0; at < asked; ++at) {
    const double value = static_cast<double>(at % 7) / 7.0;
    waiting.push_back(queue.ask(sconce::full({shape.width}, value, sconce::kCPU)));
  }
  queue.close();
  Figures all;
  for (std::future<Figures>& worker : workers) {
    const Figures own = worker.get();
    all = {all.batches + own.batches, all.requests + own.requests, all.waited + own.waited};
  }
  const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();

  // Equal requests have equal results, whatever batch they were in.
  std::vector<Tensor> rows;
  double apart = 0;
  for (std::future<Tensor>& result : waiting) {
    rows.push_back(result.get());
    const Tensor& first = rows[(rows.size() - 1) % 7];
    apart = std::max(apart, (rows.back() - first).abs().max().item<double>());
  }
  const auto answered = static_cast<double>(all.requests);
  std::printf("%zu requests in %zu batches from %ld threads: %.0f a second, %.2f ms each\n",
              all.requests, all.batches, threads, answered / seconds,
              all.waited.count() / answered);
  std::printf("request %zu begins with %g\n", rows.size() - 1, rows.back()[0].item<double>());
  std::printf("equal requests differ by %g at most\n", apart);
  return apart < 1e-5 ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "serve: %s\n", error.what());
  return 1;
}
