// Every collective call with every fault of every tensor that it takes, and with every order of
// elements in memory: a call is refused before anything is queued, naming the entry, or its result
// is right.
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "comm_support.hpp"

namespace {

using namespace sconce::cuda;
using namespace sconce::distributed;
using sconce::MemoryFormat;
using sconce::Tensor;
using support::on_ranks;

class CommArgumentsTest : public support::CommFixture {};

constexpr std::int32_t kRanks = 2;
constexpr std::int32_t kRoot = 1;

/// What a call takes for a parameter: one tensor of a rank's part, one of all parts, or a list of
/// parts.
enum class Shape { Part, Whole, List };

struct Parameter {
  const char* name;
  Shape shape;
  bool is_written;
  bool is_of_root = false;  // whether only the root passes it
};

/// The tensors of a call, by parameter; lists have several.
using Tensors = std::vector<std::vector<Tensor>>;

struct Form {
  const char* name;
  std::vector<Parameter> parameters;
  std::function<std::optional<Work>(const Communicator&, const Tensors&, bool)> call;
  /// The elements that a rank has in the parameter that is written, given those that each rank
  /// sends.
  std::function<Tensor(std::int32_t, const std::vector<Tensor>&)> result;
};

/// The call without a work, or with one.
#define SCONCE_FORM_CALL(expression)                                                     \
  [](const Communicator& comm, const Tensors& t, bool is_async) -> std::optional<Work> { \
    const auto call = [&](auto... mode) { return expression; };                          \
    if (is_async) {                                                                      \
      return call(async_op);                                                             \
    }                                                                                    \
    call();                                                                              \
    return std::nullopt;                                                                 \
  }

const std::vector<Form>& forms() {
  const auto sum = [](std::int32_t, const std::vector<Tensor>& sent) { return sent[0] + sent[1]; };
  const auto of_root = [](std::int32_t, const std::vector<Tensor>& sent) { return sent[kRoot]; };
  const auto joined = [](std::int32_t, const std::vector<Tensor>& sent) {
    return sconce::cat(sent);
  };
  // What is sent as a whole, or as a list, is all parts after each other.
  const auto part = [](const Tensor& sent, std::int32_t rank) {
    const std::int64_t rows = sent.size(0) / kRanks;
    return sent.narrow(0, rank * rows, rows);
  };
  const auto part_of_sum = [=](std::int32_t rank, const std::vector<Tensor>& sent) {
    return part(sent[0] + sent[1], rank);
  };
  const auto part_of_root = [=](std::int32_t rank, const std::vector<Tensor>& sent) {
    return part(sent[kRoot], rank);
  };
  const auto parts_of_all = [=](std::int32_t rank, const std::vector<Tensor>& sent) {
    return sconce::cat({part(sent[0], rank), part(sent[1], rank)});
  };
  static const std::vector<Form> all = {
      {"all_reduce",
       {{"tensor", Shape::Part, true}},
       SCONCE_FORM_CALL(comm.all_reduce(t[0][0], ReduceOp::SUM, mode...)),
       sum},
      {"reduce",
       {{"tensor", Shape::Part, true}},
       SCONCE_FORM_CALL(comm.reduce(t[0][0], kRoot, ReduceOp::SUM, mode...)),
       sum},
      {"broadcast",
       {{"tensor", Shape::Part, true}},
       SCONCE_FORM_CALL(comm.broadcast(t[0][0], kRoot, mode...)),
       of_root},
      {"all_gather_into_tensor",
       {{"output", Shape::Whole, true}, {"input", Shape::Part, false}},
       SCONCE_FORM_CALL(comm.all_gather_into_tensor(t[0][0], t[1][0], mode...)),
       joined},
      {"gather_single",
       {{"output", Shape::Whole, true, true}, {"input", Shape::Part, false}},
       SCONCE_FORM_CALL(
           comm.gather_single(t[0].empty() ? Tensor() : t[0][0], t[1][0], kRoot, mode...)),
       joined},
      {"scatter_single",
       {{"output", Shape::Part, true}, {"input", Shape::Whole, false, true}},
       SCONCE_FORM_CALL(
           comm.scatter_single(t[0][0], t[1].empty() ? Tensor() : t[1][0], kRoot, mode...)),
       part_of_root},
      {"reduce_scatter_tensor",
       {{"output", Shape::Part, true}, {"input", Shape::Whole, false}},
       SCONCE_FORM_CALL(comm.reduce_scatter_tensor(t[0][0], t[1][0], ReduceOp::SUM, mode...)),
       part_of_sum},
      {"all_to_all_single",
       {{"output", Shape::Whole, true}, {"input", Shape::Whole, false}},
       SCONCE_FORM_CALL(comm.all_to_all_single(t[0][0], t[1][0], {}, {}, mode...)),
       parts_of_all},
      {"all_gather",
       {{"tensor_list", Shape::List, true}, {"tensor", Shape::Part, false}},
       SCONCE_FORM_CALL(comm.all_gather(t[0], t[1][0], mode...)),
       joined},
      {"reduce_scatter",
       {{"output", Shape::Part, true}, {"input_list", Shape::List, false}},
       SCONCE_FORM_CALL(comm.reduce_scatter(t[0][0], t[1], ReduceOp::SUM, mode...)),
       part_of_sum},
      {"all_to_all",
       {{"output_tensor_list", Shape::List, true}, {"input_tensor_list", Shape::List, false}},
       SCONCE_FORM_CALL(comm.all_to_all(t[0], t[1], mode...)),
       parts_of_all},
      {"gather",
       {{"gather_list", Shape::List, true, true}, {"tensor", Shape::Part, false}},
       SCONCE_FORM_CALL(comm.gather(t[1][0], t[0], kRoot, mode...)),
       joined},
      {"scatter",
       {{"tensor", Shape::Part, true}, {"scatter_list", Shape::List, false, true}},
       SCONCE_FORM_CALL(comm.scatter(t[0][0], t[1], kRoot, mode...)),
       part_of_root},
  };
  return all;
}

/// Whether a rank passes a parameter.
bool is_passed(const Parameter& parameter, std::int32_t rank) {
  return !parameter.is_of_root || rank == kRoot;
}

/// The place of the parameter that sends; it is the one that is written if there is only one.
std::size_t sender(const Form& form) {
  std::size_t place = 0;
  while (place + 1 < form.parameters.size() && form.parameters[place].is_written) {
    ++place;
  }
  return place;
}

/// The sizes of a part, in which all orders of memory differ.
constexpr std::int64_t kRows = 2;
std::vector<std::int64_t> sizes_of(Shape shape, std::size_t dims) {
  std::vector<std::int64_t> sizes = {kRows, 3, 2, 4};
  if (dims == 5) {
    sizes.push_back(2);
  }
  if (shape == Shape::Whole) {
    sizes[0] *= kRanks;
  }
  return sizes;
}

/// What a rank sends in all, as the CPU has it.
Tensor sent_by(const Form& form, std::int32_t rank, std::size_t dims) {
  const Parameter& parameter = form.parameters[sender(form)];
  const auto sizes = sizes_of(parameter.shape == Shape::Part ? Shape::Part : Shape::Whole, dims);
  std::int64_t count = 1;
  for (const std::int64_t size : sizes) {
    count *= size;
  }
  const auto on_cpu = sconce::TensorOptions(sconce::device(sconce::kCPU)).dtype(sconce::kFloat);
  return (sconce::arange(count, on_cpu) + static_cast<float>(1000 * (rank + 1))).reshape(sizes);
}

/// The tensors that a rank passes, in an order of memory.
Tensors tensors_for(const Form& form, std::int32_t rank, std::size_t dims,
                    const std::function<MemoryFormat(std::size_t)>& format) {
  Tensors all;
  const Tensor sent = sent_by(form, rank, dims);
  for (std::size_t place = 0; place < form.parameters.size(); ++place) {
    const Parameter& parameter = form.parameters[place];
    auto& tensors = all.emplace_back();
    if (!is_passed(parameter, rank)) {
      continue;
    }
    const auto add = [&](const Tensor& values) {
      tensors.push_back(values.to(sconce::Device(sconce::kCUDA, static_cast<DeviceIndex>(rank)))
                            .contiguous(format(place)));
    };
    const bool is_sent = place == sender(form);
    if (parameter.shape == Shape::List) {
      for (std::int32_t entry = 0; entry < kRanks; ++entry) {
        const Tensor values =
            is_sent && sent.size(0) > kRows
                ? sent.narrow(0, entry * kRows, kRows)
                : sconce::zeros(sizes_of(Shape::Part, dims), sconce::device(sconce::kCPU));
        add(values);
      }
    } else {
      add(is_sent ? sent
                  : sconce::zeros(sizes_of(parameter.shape, dims), sconce::device(sconce::kCPU)));
    }
  }
  return all;
}

/// Checks the tensors that a rank has received.
void expect_result(const Form& form, std::int32_t rank, std::size_t dims, const Tensors& tensors,
                   const std::string& what) {
  std::size_t place = 0;
  while (!form.parameters[place].is_written) {
    ++place;
  }
  const bool is_result_of_root = std::string(form.name) == "reduce";
  if (!is_passed(form.parameters[place], rank) || (is_result_of_root && rank != kRoot)) {
    return;
  }
  std::vector<Tensor> sent;
  for (std::int32_t from = 0; from < kRanks; ++from) {
    sent.push_back(sent_by(form, from, dims));
  }
  const Tensor wanted = form.result(rank, sent).contiguous();
  std::vector<Tensor> parts;
  for (const Tensor& part : tensors[place]) {
    parts.push_back(part.to(sconce::Device(sconce::kCPU)).contiguous());
  }
  EXPECT_TRUE(support::same_bytes(sconce::cat(parts), wanted)) << what << " on rank " << rank;
}

void run_good(const Communicator& comm, const Form& form, const std::string& what) {
  const auto plain = [](std::size_t) { return MemoryFormat::Contiguous; };
  const Tensors tensors = tensors_for(form, comm.rank(), 4, plain);
  form.call(comm, tensors, false);
  expect_result(form, comm.rank(), 4, tensors, what);
}

TEST_F(CommArgumentsTest, ElementsArriveRightWhateverTheirOrderInMemory) {
  on_ranks(kRanks, [](const Communicator& comm) {
    for (const Form& form : forms()) {
      for (const std::size_t dims : {std::size_t{4}, std::size_t{5}}) {
        const auto last = dims == 4 ? MemoryFormat::ChannelsLast : MemoryFormat::ChannelsLast3d;
        // A bit for each parameter of each rank.
        const std::size_t count = form.parameters.size();
        for (std::size_t bits = 0; bits < (std::size_t{1} << (count * kRanks)); ++bits) {
          for (const bool is_async : {false, true}) {
            const auto format = [&](std::size_t place) {
              const auto bit = static_cast<std::size_t>(comm.rank()) * count + place;
              return (bits >> bit & 1) != 0 ? last : MemoryFormat::Contiguous;
            };
            const Tensors tensors = tensors_for(form, comm.rank(), dims, format);
            const auto work = form.call(comm, tensors, is_async);
            if (work) {
              work->wait();
            }
            expect_result(form, comm.rank(), dims, tensors,
                          std::string(form.name) + ", orders " + std::to_string(bits));
          }
        }
      }
    }
  });
}

/// A fault of the tensors that a parameter has; false if it has none of this kind.
struct Fault {
  const char* name;
  std::function<bool(const Form&, const Communicator&, Tensors&, std::size_t, std::size_t)> plant;
  const char* message;  // besides the entry
};

Tensor like(const Tensor& tensor, const sconce::TensorOptions& options) {
  return sconce::zeros(tensor.sizes(), options);
}

const std::vector<Fault>& faults() {
  static const std::vector<Fault> all = {
      {"undefined",
       [](const Form&, const Communicator&, Tensors& t, std::size_t place, std::size_t entry) {
         t[place][entry] = Tensor();
         return true;
       },
       ""},
      {"of the CPU",
       [](const Form&, const Communicator&, Tensors& t, std::size_t place, std::size_t entry) {
         t[place][entry] = t[place][entry].to(sconce::Device(sconce::kCPU));
         return true;
       },
       "host memory"},
      {"of pinned memory",
       [](const Form&, const Communicator&, Tensors& t, std::size_t place, std::size_t entry) {
         t[place][entry] =
             sconce::zeros(t[place][entry].sizes(),
                           sconce::TensorOptions(sconce::device(sconce::kCPU)).pinned_memory(true));
         return true;
       },
       "host memory"},
      {"of another device",
       [](const Form&, const Communicator& comm, Tensors& t, std::size_t place, std::size_t entry) {
         t[place][entry] =
             like(t[place][entry],
                  sconce::device(sconce::kCUDA, static_cast<DeviceIndex>(1 - comm.rank())));
         return true;
       },
       "the communicator works on cuda:"},
      {"of another type",
       [](const Form& form, const Communicator&, Tensors& t, std::size_t place, std::size_t entry) {
         t[place][entry] = t[place][entry].to(sconce::kInt);
         return form.parameters.size() > 1 && !t[1 - place].empty();
       },
       "must have the same type"},
      {"of every second element",
       [](const Form&, const Communicator&, Tensors& t, std::size_t place, std::size_t entry) {
         auto sizes = t[place][entry].sizes().vec();
         sizes.back() *= 2;
         t[place][entry] =
             sconce::zeros(sizes, t[place][entry].options()).slice(-1, 0, sizes.back(), 2);
         return true;
       },
       "Tensors must be contiguous"},
      {"transposed",
       [](const Form&, const Communicator&, Tensors& t, std::size_t place, std::size_t entry) {
         t[place][entry] = t[place][entry].transpose(0, 1);
         return true;
       },
       "Tensors must be contiguous"},
      {"expanded",
       [](const Form&, const Communicator&, Tensors& t, std::size_t place, std::size_t entry) {
         const auto sizes = t[place][entry].sizes().vec();
         t[place][entry] = sconce::zeros({1}, t[place][entry].options()).expand(sizes);
         return true;
       },
       "Tensors must be contiguous"},
      {"too large for this rank's own part",
       [](const Form& form, const Communicator& comm, Tensors& t, std::size_t place,
          std::size_t entry) {
         const bool is_own = form.parameters[place].shape == Shape::List
                                 ? static_cast<std::int32_t>(entry) == comm.rank()
                                 : form.parameters[place].shape == Shape::Part;
         auto sizes = t[place][entry].sizes().vec();
         sizes[1] += 1;
         t[place][entry] = sconce::zeros(sizes, t[place][entry].options());
         return form.parameters.size() > 1 && is_own && !t[1 - place].empty();
       },
       "elements"},
      {"in a list that is too short",
       [](const Form& form, const Communicator&, Tensors& t, std::size_t place, std::size_t entry) {
         t[place].pop_back();
         return form.parameters[place].shape == Shape::List && entry == 0;
       },
       "has 1 tensors, but there are 2 ranks"},
      {"in a list that is too long",
       [](const Form& form, const Communicator&, Tensors& t, std::size_t place, std::size_t entry) {
         t[place].push_back(t[place][0]);
         return form.parameters[place].shape == Shape::List && entry == 0;
       },
       "has 3 tensors, but there are 2 ranks"},
      {"the same as another entry that is written",
       [](const Form& form, const Communicator&, Tensors& t, std::size_t place, std::size_t entry) {
         const Parameter& parameter = form.parameters[place];
         if (parameter.shape == Shape::List) {
           t[place][entry] = t[place][1 - entry];
         }
         return parameter.shape == Shape::List && parameter.is_written;
       },
       "share memory"},
      {"one row beside another entry that is written",
       [](const Form& form, const Communicator&, Tensors& t, std::size_t place, std::size_t entry) {
         const Parameter& parameter = form.parameters[place];
         if (parameter.shape == Shape::List) {
           const auto sizes = t[place][0].sizes().vec();
           const Tensor both =
               sconce::zeros({sizes[0] + 1, sizes[1], sizes[2], sizes[3]}, t[place][0].options());
           t[place][entry] = both.narrow(0, 0, sizes[0]);
           t[place][1 - entry] = both.narrow(0, 1, sizes[0]);
         }
         return parameter.shape == Shape::List && parameter.is_written;
       },
       "share memory"},
      {"another rank's entry and this rank's own tensor",
       [](const Form& form, const Communicator& comm, Tensors& t, std::size_t place,
          std::size_t entry) {
         const bool is_others = form.parameters[place].shape == Shape::List &&
                                static_cast<std::int32_t>(entry) != comm.rank();
         if (is_others && !t[1 - place].empty()) {
           const std::size_t own = t[1 - place].size() > 1 ? 1 - entry : 0;
           t[place][entry] = t[1 - place][own];
         }
         return is_others && !t[1 - place].empty();
       },
       "share memory"},
  };
  return all;
}

TEST_F(CommArgumentsTest, EachFaultOfEachTensorIsRefusedBeforeAnythingIsQueued) {
  on_ranks(kRanks, [](const Communicator& comm) {
    const auto plain = [](std::size_t) { return MemoryFormat::Contiguous; };
    for (const Form& form : forms()) {
      for (std::size_t place = 0; place < form.parameters.size(); ++place) {
        const Parameter& parameter = form.parameters[place];
        for (std::size_t entry = 0; entry < (parameter.shape == Shape::List ? 2U : 1U); ++entry) {
          for (const Fault& fault : faults()) {
            for (const bool is_async : {false, true}) {
              if (!is_passed(parameter, comm.rank())) {
                continue;
              }
              Tensors tensors = tensors_for(form, comm.rank(), 4, plain);
              if (!fault.plant(form, comm, tensors, place, entry)) {
                continue;
              }
              std::string what = std::string(form.name) + ": " + parameter.name;
              what += parameter.shape == Shape::List ? "[" + std::to_string(entry) + "]" : "";
              what += std::string(" ") + fault.name;
              try {
                form.call(comm, tensors, is_async);
                ADD_FAILURE() << what << " was not refused";
              } catch (const sconce::Error& error) {
                EXPECT_TRUE(support::contains(error.what(), parameter.name)) << what;
                EXPECT_TRUE(support::contains(error.what(), fault.message)) << what;
              }
              // In a group, too, others' calls are made.
              group(
                  [&] { EXPECT_THROW(form.call(comm, tensors, is_async), sconce::Error) << what; });
            }
          }
        }
      }
      run_good(comm, form, std::string("after refusals, ") + form.name);
    }
  });
}

TEST_F(CommArgumentsTest, SendsAndReceivesHaveTheSameRules) {
  on_ranks(kRanks, [](const Communicator& comm) {
    const auto here = sconce::device(sconce::kCUDA);
    const std::int32_t peer = 1 - comm.rank();
    const Tensor sent = (sconce::arange(120, here) + 1000.0F * static_cast<float>(comm.rank()))
                            .reshape({2, 3, 4, 5});
    const Tensor wanted = sent + 1000.0F * static_cast<float>(peer - comm.rank());
    for (const auto from : {MemoryFormat::Contiguous, MemoryFormat::ChannelsLast}) {
      for (const auto to : {MemoryFormat::Contiguous, MemoryFormat::ChannelsLast}) {
        const Tensor received = sconce::zeros({2, 3, 4, 5}, here).contiguous(to);
        const Tensor later = sconce::zeros({2, 3, 4, 5}, here).contiguous(to);
        group([&] {
          comm.send(sent.contiguous(from), peer);
          comm.recv(received, peer);
        });
        Work work = group([&] {
          (void)comm.isend(sent.contiguous(from), peer);
          return comm.irecv(later, peer);
        });
        work.wait();
        EXPECT_TRUE(sconce::equal(received, wanted));
        EXPECT_TRUE(sconce::equal(later, wanted));
      }
    }
    const Tensor other = support::ones(peer);
    const Tensor host = sent.to(sconce::Device(sconce::kCPU));
    for (const Tensor& bad : {Tensor(), other, host, sent.transpose(0, 1), sent.select(3, 0)}) {
      for (const bool sends : {true, false}) {
        const sconce::Error error =
            support::error_of([&] { sends ? comm.send(bad, peer) : comm.recv(bad, peer); });
        EXPECT_TRUE(support::contains(error.what(), "tensor"));
      }
    }
    comm.barrier();
  });
}

TEST_F(CommArgumentsTest, WhatIsInItsPlaceAlreadyMayStayThere) {
  on_ranks(kRanks, [](const Communicator& comm) {
    for (const Form& form : forms()) {
      for (const auto format : {MemoryFormat::Contiguous, MemoryFormat::ChannelsLast}) {
        Tensors tensors = tensors_for(form, comm.rank(), 4, [&](std::size_t) { return format; });
        const auto own = static_cast<std::size_t>(comm.rank());
        bool has_list = false;
        for (std::size_t place = 0; place < form.parameters.size(); ++place) {
          if (form.parameters[place].shape == Shape::List && !tensors[place].empty()) {
            auto& others = tensors[1 - place];
            Tensor& mine = others[others.size() > 1 ? own : 0];
            // The one that is written becomes the one that is read.
            (form.parameters[place].is_written ? tensors[place][own] : mine) =
                form.parameters[place].is_written ? mine : tensors[place][own];
            has_list = true;
          }
        }
        form.call(comm, tensors, false);
        if (has_list) {
          expect_result(form, comm.rank(), 4, tensors, std::string("in place: ") + form.name);
        }
      }
    }
  });
}

TEST_F(CommArgumentsTest, ACommunicatorThatWasMovedFromIsRefused) {
  auto comms = Communicator::init_all({0, 1});
  const Communicator kept = std::move(comms[0]);
  const auto plain = [](std::size_t) { return MemoryFormat::Contiguous; };
  for (const Form& form : forms()) {
    const Tensors tensors = tensors_for(form, 0, 4, plain);
    EXPECT_TRUE(support::contains(
        support::error_of([&] { form.call(comms[0], tensors, false); }).what(), "comm"))
        << form.name;
  }
}

TEST_F(CommArgumentsTest, AWorkOfAChannelsLastTensorKeepsItAndItsCopy) {
  SCONCE_NEED_SIMULATOR();
  on_ranks(kRanks, [](const Communicator& comm) {
    const auto at = sconce::device(sconce::kCUDA);
    const CUDAStream stream = getStreamFromPool(false, static_cast<DeviceIndex>(comm.rank()));
    const CUDAStreamGuard guard(stream);
    for (int round = 0; round < 5; ++round) {
      Tensor image = sconce::ones({2, 3, 4, 5}, at).contiguous(MemoryFormat::ChannelsLast);
      const Tensor view = image.narrow(0, 0, 2);
      sleep(std::chrono::milliseconds(2), stream);
      image.mul_(3.0F);
      Work work = comm.all_reduce(image, ReduceOp::SUM, async_op);
      image.reset();
      // Memory that is freed is taken again at once.
      const Tensor other = sconce::zeros({2, 3, 4, 5}, at);
      work.wait();
      EXPECT_EQ(view.sum().item<float>(), 120.0F * 6.0F);
    }
  });
}

TEST_F(CommArgumentsTest, AChannelsLastTensorInAGraphIsCopiedAtEachReplay) {
  on_ranks(kRanks, [](const Communicator& comm) {
    const auto at = sconce::device(sconce::kCUDA);
    const Tensor image = sconce::ones({2, 3, 4, 5}, at).contiguous(MemoryFormat::ChannelsLast);
    comm.all_reduce(image);
    device_synchronize();
    CUDAGraph graph;
    {
      GraphGuard guard(graph, MempoolId{}, CaptureMode::ThreadLocal);
      comm.all_reduce(image);
      comm.all_reduce(image, ReduceOp::SUM, async_op).wait();
      guard.end();
    }
    graph.replay(getCurrentCUDAStream());
    graph.replay(getCurrentCUDAStream());
    EXPECT_EQ(image.sum().item<float>(), 120.0F * 32.0F);
  });
}

TEST_F(CommArgumentsTest, ARankCannotSendToItselfWhatItDoesNotReceive) {
  on_ranks(kRanks, [](const Communicator& comm) {
    const Tensor four = support::ones(comm.rank());
    const Tensor eight = support::ones(comm.rank(), {8});
    const auto refused = [&](const char* message, auto&& call) {
      const sconce::Error error = support::error_of(call);
      EXPECT_EQ(error.status(), SCONCE_ERROR_INVALID_ARGUMENT);
      EXPECT_TRUE(support::contains(error.what(), message));
    };
    const std::int32_t me = comm.rank();
    refused("sends 16 bytes to itself and receives nothing", [&] { comm.send(four, me); });
    refused("sends nothing to itself and receives 16", [&] { comm.recv(four, me); });
    refused("sends 16 bytes to itself and receives 32", [&] {
      group([&] {
        comm.send(four, me);
        comm.recv(eight, me);
      });
    });
    refused("recv_counts", [&] {
      const std::vector<std::size_t> counts = {1, 1};
      const std::vector<std::size_t> offsets = {0, 4};
      const std::vector<std::size_t> others = {me == 0 ? 2U : 1U, me == 0 ? 1U : 2U};
      comm.all_to_all(four.data_ptr(), counts, {0, 1}, eight.data_ptr(), others, offsets,
                      sconce::kFloat);
    });
    refused("the parts 0 and 1 of recv overlap", [&] {
      const std::vector<std::size_t> counts = {2, 2};
      comm.all_to_all(four.data_ptr(), counts, {0, 2}, eight.data_ptr(), counts, {0, 1},
                      sconce::kFloat);
    });
    refused("receives 6 elements from itself", [&] {
      const std::vector<std::int64_t> large = {6, 2};
      const std::vector<std::int64_t> small = {2, 6};
      comm.all_to_all_single(eight, sconce::ones({8}, sconce::device(sconce::kCUDA)),
                             me == 0 ? large : small, me == 0 ? small : large);
    });
    comm.all_reduce(four);
    EXPECT_EQ(four.sum().item<float>(), 8.0F);
  });
}

}  // namespace
