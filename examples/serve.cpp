// Answers requests with a compiled model of PyTorch, from several threads with batching.
//
//   serve MODEL.pt2 [REQUESTS [THREADS]]
//
// The model has one input whose first dimension is dynamic. Clients ask for single rows; each
// worker takes as many waiting requests as the model's largest batch, joins them, runs the model on
// a stream of its own, and gives each client its row of the result.
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
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using Row = std::vector<float>;

struct Request {
  Row row;
  std::promise<Row> result;
  std::chrono::steady_clock::time_point asked = std::chrono::steady_clock::now();
};

// Requests that wait. Workers take several at once.
class Queue {
 public:
  std::future<Row> ask(Row row) {
    Request request;
    request.row = std::move(row);
    std::future<Row> result = request.result.get_future();
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      waiting_.push_back(std::move(request));
    }
    changed_.notify_one();
    return result;
  }

  // Up to `most` requests; none once the queue is closed and empty.
  std::vector<Request> take(std::size_t most) {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [&] { return closed_ || !waiting_.empty(); });
    std::vector<Request> taken;
    while (!waiting_.empty() && taken.size() < most) {
      taken.push_back(std::move(waiting_.front()));
      waiting_.pop_front();
    }
    return taken;
  }

  void close() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      closed_ = true;
    }
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
  std::size_t width;
  std::size_t least;
  std::size_t most;
};

Shape shape_of(const sconce::torch::Model& model) {
  const sconce::torch::ModelInput input = model.input(0);
  if (model.num_inputs() != 1 || input.sizes.size() != 2 ||
      input.sizes[1].first != input.sizes[1].second) {
    throw std::runtime_error(
        "the example serves models of one matrix with a fixed number of columns");
  }
  const auto rows = input.sizes[0];
  return {static_cast<std::size_t>(input.sizes[1].first),
          static_cast<std::size_t>(std::max<std::int64_t>(rows.first, 1)),
          static_cast<std::size_t>(std::min<std::int64_t>(rows.second, 256))};
}

struct Figures {
  std::size_t batches = 0;
  std::size_t requests = 0;
  double waited_ms = 0;
};

// Runs the model on the rows of requests, filled up with zeros to the least batch that it takes.
void answer(const sconce::torch::Model& model, const Shape& shape, std::vector<Request>& requests) {
  const std::size_t rows = std::max(requests.size(), shape.least);
  std::vector<float> values(rows * shape.width, 0.0F);
  for (std::size_t at = 0; at < requests.size(); ++at) {
    std::copy(requests[at].row.begin(), requests[at].row.end(),
              values.begin() + static_cast<std::ptrdiff_t>(at * shape.width));
  }
  const std::int64_t sizes[2] = {static_cast<std::int64_t>(rows),
                                 static_cast<std::int64_t>(shape.width)};
  sconce_tensor_options place = SCONCE_TENSOR_OPTIONS_INIT;
  place.dtype = SCONCE_DTYPE_F32;
  place.device = model.device();
  sconce_tensor* handle = nullptr;
  sconce::detail::check(::sconce_tensor_from_values(values.data(), values.size() * sizeof(float),
                                                    sizes, 2, &place, &handle));
  const std::vector<sconce::Tensor> results = model.run({sconce::Tensor::adopt(handle)});
  const std::size_t width = static_cast<std::size_t>(results[0].numel()) / rows;
  std::vector<float> returned(rows * width);
  // Waits for this worker's stream alone.
  sconce::detail::check(::sconce_tensor_to_values(results[0].get(), returned.data(),
                                                  returned.size() * sizeof(float)));
  for (std::size_t at = 0; at < requests.size(); ++at) {
    const auto begin = returned.begin() + static_cast<std::ptrdiff_t>(at * width);
    requests[at].result.set_value(Row(begin, begin + static_cast<std::ptrdiff_t>(width)));
  }
}

void work(const sconce::torch::Model& model, const Shape& shape, Queue& queue, Figures& figures) {
  if (model.device() >= 0) {
    sconce_stream stream{};
    sconce::detail::check(::sconce_stream_get_from_pool(model.device(), 0, &stream));
    sconce::detail::check(::sconce_stream_set_current(stream));
  }
  for (std::vector<Request> requests = queue.take(shape.most); !requests.empty();
       requests = queue.take(shape.most)) {
    try {
      answer(model, shape, requests);
    } catch (...) {
      for (Request& request : requests) {
        request.result.set_exception(std::current_exception());
      }
    }
    const auto now = std::chrono::steady_clock::now();
    for (const Request& request : requests) {
      figures.waited_ms += std::chrono::duration<double, std::milli>(now - request.asked).count();
    }
    figures.requests += requests.size();
    figures.batches += 1;
  }
}

}  // namespace

int main(int count, char** arguments) try {
  if (count < 2) {
    std::puts("usage: serve MODEL.pt2 [REQUESTS [THREADS]]");
    return 0;
  }
  const std::size_t requests = count > 2 ? std::strtoul(arguments[2], nullptr, 10) : 2000;
  const std::size_t threads =
      count > 3 ? std::max(1UL, std::strtoul(arguments[3], nullptr, 10)) : 4;
  const sconce::torch::Model model(arguments[1]);
  const Shape shape = shape_of(model);
  Queue queue;
  std::vector<Figures> figures(threads);
  std::vector<std::thread> workers;
  const auto begin = std::chrono::steady_clock::now();
  for (std::size_t at = 0; at < threads; ++at) {
    workers.emplace_back(work, std::cref(model), std::cref(shape), std::ref(queue),
                         std::ref(figures[at]));
  }
  std::vector<std::future<Row>> results;
  for (std::size_t at = 0; at < requests; ++at) {
    results.push_back(queue.ask(Row(shape.width, static_cast<float>(at % 7) / 7.0F)));
  }
  queue.close();
  for (std::thread& worker : workers) {
    worker.join();
  }
  const double whole =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
  // Equal requests have equal results, whatever batch they were in.
  std::vector<Row> rows;
  for (std::future<Row>& result : results) {
    rows.push_back(result.get());
  }
  double apart = 0;
  for (std::size_t at = 7; at < rows.size(); ++at) {
    for (std::size_t column = 0; column < rows[at].size(); ++column) {
      apart = std::max(apart, std::abs(static_cast<double>(rows[at][column]) -
                                       static_cast<double>(rows[at % 7][column])));
    }
  }
  Figures all;
  for (const Figures& one : figures) {
    all.batches += one.batches;
    all.requests += one.requests;
    all.waited_ms += one.waited_ms;
  }
  const auto answered = static_cast<double>(all.requests);
  std::printf(
      "%zu requests in %zu batches from %zu threads: %.0f a second, %.2f ms from request to result "
      "on average\n",
      all.requests, all.batches, threads, answered * 1000 / whole,
      all.waited_ms / std::max(answered, 1.0));
  std::printf("equal requests differ by %g at most\n", apart);
  return apart < 1e-5 ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "serve: %s\n", error.what());
  return 1;
}
