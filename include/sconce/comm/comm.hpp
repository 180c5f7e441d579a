/// \file
/// Communicators: ranks that compute together, each with a device.
#ifndef SCONCE_COMM_COMM_HPP
#define SCONCE_COMM_COMM_HPP

#include <sconce/c/comm.h>
#include <sconce/c/library.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <sconce/comm/base.hpp>
#include <sconce/comm/store.hpp>
#include <sconce/cuda/device.hpp>
#include <sconce/detail/comm_arguments.hpp>
#include <sconce/tensor/tensor.hpp>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace sconce {
inline namespace v0 {
namespace distributed {

/// A communicator and its calls with tensors, with the names and the order of arguments of
/// `torch.distributed`. Tensors must be on the communicator's device, and contiguous in one of the
/// memory formats. Elements are sent in the order of the dimensions, so a channels-last tensor of
/// one rank may meet a contiguous one of another rank; a channels-last tensor is copied to
/// temporary memory before and after the call. The work of a call with `async_op` keeps its tensors
/// until `wait` is called.
///
/// Tensors are checked before anything is queued, and the message names the argument and the entry
/// of the list. A call that is refused leaves the communicator usable.
///
/// A call with a list of tensors is a group of calls that send one tensor each. A call with one
/// tensor for all ranks is a single call of NCCL, and faster.
class [[nodiscard]] Communicator : public detail::TensorCommunicator {
 public:
  /// The current device.
  static constexpr std::int32_t kCurrentDevice = -1;

  /// Makes one rank. All ranks must call this function with the same id, each on its own thread or
  /// in its own process. Blocks until all have called. Corresponds to
  /// `torch::cuda::nccl::comm_init_rank`.
  /// \throws Error `SCONCE_ERROR_TIMEOUT` if not all have called
  static Communicator init_rank(const UniqueId& id, std::int32_t world_size, std::int32_t rank,
                                std::int32_t device = kCurrentDevice,
                                const CommOptions& options = {}) {
    sconce_comm_id bytes;
    std::copy(id.bytes.begin(), id.bytes.end(), std::begin(bytes.bytes));
    const sconce_comm_config config = options.get();
    return made([&](sconce_comm** comm) {
      return ::sconce_comm_init_rank(&bytes, world_size, rank, device, &config, comm);
    });
  }
  /// Makes one rank of a communicator whose ranks share a store. All ranks must call this function
  /// with the same name, which can be used again afterwards. Blocks until all have called.
  /// Corresponds to `torch.distributed.init_process_group` with a store.
  /// \throws Error `SCONCE_ERROR_TIMEOUT` if not all have called; the message names the missing
  ///   ones
  static Communicator init_store(const Store& store, const std::string& name,
                                 std::int32_t world_size, std::int32_t rank,
                                 std::int32_t device = kCurrentDevice,
                                 const CommOptions& options = {}) {
    const sconce_comm_config config = options.get();
    return made([&](sconce_comm** comm) {
      return ::sconce_comm_init_store(store.get(), name.c_str(), world_size, rank, device, &config,
                                      comm);
    });
  }
  /// Makes all ranks in this process: rank i works on the i-th device. A thread that makes calls
  /// for several ranks must make them in a `group`.
  static std::vector<Communicator> init_all(const std::vector<std::int32_t>& devices,
                                            const CommOptions& options = {}) {
    const sconce_comm_config config = options.get();
    std::vector<sconce_comm*> handles(devices.size());
    std::vector<Communicator> all;
    all.reserve(devices.size());
    detail::check(::sconce_comm_init_all(devices.data(), static_cast<std::int32_t>(devices.size()),
                                         &config, handles.data()));
    for (sconce_comm* handle : handles) {
      all.push_back(Communicator(handle));
    }
    return all;
  }
  /// Takes over a handle of the C API.
  SCONCE_NODISCARD_CTOR explicit Communicator(sconce_comm* comm)
      : detail::TensorCommunicator(comm) {}

  /// Splits the communicator: ranks that pass the same color form a new communicator, in the order
  /// of their keys. All ranks must call this method; a negative color keeps the rank out of all new
  /// communicators. Blocks until all have called. Corresponds to `torch.distributed.split_group`.
  [[nodiscard]] std::optional<Communicator> split(std::int32_t color, std::int32_t key = 0,
                                                  const CommOptions& options = {}) const {
    const sconce_comm_config config = options.get();
    sconce_comm* comm = nullptr;
    detail::check(::sconce_comm_split(get(), color, key, &config, &comm));
    return comm == nullptr ? std::nullopt : std::optional<Communicator>(Communicator(comm));
  }

  using CommunicatorBase::all_reduce;
  using CommunicatorBase::broadcast;
  using CommunicatorBase::gather;
  using CommunicatorBase::recv;
  using CommunicatorBase::reduce;
  using CommunicatorBase::reduce_scatter;
  using CommunicatorBase::scatter;
  using CommunicatorBase::send;

  /// Reduces a tensor of all ranks in place; every rank has the result.
  template <class Mode = SyncOp>
  typename Mode::Result all_reduce(const Tensor& tensor, ReduceOp op = ReduceOp::SUM,
                                   Mode mode = {}) const {
    Data data = arguments().tensor("tensor", tensor, Use::Both);
    return single<Mode>({&data}, [&] {
      return all_reduce(data.address, data.address, data.count, data.dtype, op, mode);
    });
  }
  /// Reduces a tensor of all ranks; rank `dst` has the result in place.
  template <class Mode = SyncOp>
  typename Mode::Result reduce(const Tensor& tensor, std::int32_t dst, ReduceOp op = ReduceOp::SUM,
                               Mode mode = {}) const {
    Data data = arguments().tensor("tensor", tensor, Use::Both);
    return single<Mode>({&data}, [&] {
      return reduce(data.address, data.address, data.count, data.dtype, dst, op, mode);
    });
  }
  /// Sends the tensor of rank `src` to those of the others.
  template <class Mode = SyncOp>
  typename Mode::Result broadcast(const Tensor& tensor, std::int32_t src, Mode mode = {}) const {
    Data data = arguments().tensor("tensor", tensor, Use::Both);
    return single<Mode>({&data}, [&] {
      return broadcast(data.address, data.address, data.count, data.dtype, src, mode);
    });
  }
  /// Sends a tensor to rank `dst`. Sends and receives that depend on each other must be in one
  /// `group`.
  template <class Mode = SyncOp>
  typename Mode::Result send(const Tensor& tensor, std::int32_t dst, Mode mode = {}) const {
    Data data = arguments().tensor("tensor", tensor, Use::Read);
    return single<Mode>({&data},
                        [&] { return send(data.address, data.count, data.dtype, dst, mode); });
  }
  /// Receives a tensor from rank `src`.
  template <class Mode = SyncOp>
  typename Mode::Result recv(const Tensor& tensor, std::int32_t src, Mode mode = {}) const {
    Data data = arguments().tensor("tensor", tensor, Use::Write);
    return single<Mode>({&data},
                        [&] { return recv(data.address, data.count, data.dtype, src, mode); });
  }
  /// `send` with `async_op`.
  [[nodiscard]] Work isend(const Tensor& tensor, std::int32_t dst) const {
    return send(tensor, dst, async_op);
  }
  /// `recv` with `async_op`.
  [[nodiscard]] Work irecv(const Tensor& tensor, std::int32_t src) const {
    return recv(tensor, src, async_op);
  }

  /// Gathers the tensors of all ranks in one tensor, in the order of the ranks.
  /// \throws Error `SCONCE_ERROR_INVALID_ARGUMENT` unless it has `size()` times as many elements
  template <class Mode = SyncOp>
  typename Mode::Result all_gather_into_tensor(const Tensor& output, const Tensor& input,
                                               Mode mode = {}) const {
    Data to = arguments().tensor("output", output, Use::Write);
    Data from = arguments().tensor("input", input, Use::Read);
    arguments().parts(to, from);
    return single<Mode>({&to, &from}, [&] {
      return all_gather(from.address, to.address, from.count, from.dtype, mode);
    });
  }
  /// Gathers the tensors of all ranks in one tensor of rank `dst`, in the order of the ranks; the
  /// other ranks pass an undefined one. Corresponds to `torchcomms`' `gather_single`.
  template <class Mode = SyncOp>
  typename Mode::Result gather_single(const Tensor& output, const Tensor& input, std::int32_t dst,
                                      Mode mode = {}) const {
    Data from = arguments().tensor("input", input, Use::Read);
    Data to;
    if (arguments().is_at(dst, "output", output.defined())) {
      to = arguments().tensor("output", output, Use::Write);
      arguments().parts(to, from);
    }
    return single<Mode>({&to, &from}, [&] {
      return gather(from.address, to.address, from.count, from.dtype, dst, mode);
    });
  }
  /// Sends parts of a tensor of rank `src` to the ranks, in their order; the other ranks pass an
  /// undefined one. Corresponds to `torch.distributed.scatter` of one tensor's chunks.
  template <class Mode = SyncOp>
  typename Mode::Result scatter_single(const Tensor& output, const Tensor& input, std::int32_t src,
                                       Mode mode = {}) const {
    Data to = arguments().tensor("output", output, Use::Write);
    Data from;
    if (arguments().is_at(src, "input", input.defined())) {
      from = arguments().tensor("input", input, Use::Read);
      arguments().parts(from, to);
    }
    return single<Mode>({&to, &from}, [&] {
      return scatter(from.address, to.address, to.count, to.dtype, src, mode);
    });
  }
  /// Reduces a tensor of all ranks; rank r receives part r of the result.
  /// \throws Error `SCONCE_ERROR_INVALID_ARGUMENT` unless the input has `size()` times as many
  /// elements
  template <class Mode = SyncOp>
  typename Mode::Result reduce_scatter_tensor(const Tensor& output, const Tensor& input,
                                              ReduceOp op = ReduceOp::SUM, Mode mode = {}) const {
    Data to = arguments().tensor("output", output, Use::Write);
    Data from = arguments().tensor("input", input, Use::Read);
    arguments().parts(from, to);
    return single<Mode>({&to, &from}, [&] {
      return reduce_scatter(from.address, to.address, to.count, to.dtype, op, mode);
    });
  }
  /// Sends a part of the input to each rank and receives one from each. Sizes are those of the
  /// first dimension; without them the parts are equal.
  /// \throws Error `SCONCE_ERROR_INVALID_ARGUMENT` if the sizes are not those of the tensors
  template <class Mode = SyncOp>
  typename Mode::Result all_to_all_single(const Tensor& output, const Tensor& input,
                                          const std::vector<std::int64_t>& output_split_sizes = {},
                                          const std::vector<std::int64_t>& input_split_sizes = {},
                                          Mode mode = {}) const {
    Data to = arguments().tensor("output", output, Use::Write);
    Data from = arguments().tensor("input", input, Use::Read);
    arguments().same_type(to, from);
    const Splits sent = arguments().splits(from, input_split_sizes);
    const Splits received = arguments().splits(to, output_split_sizes);
    arguments().same_own_part(received, sent);
    return single<Mode>({&to, &from}, [&] {
      return all_to_all(from.address, sent.counts, sent.offsets, to.address, received.counts,
                        received.offsets, to.dtype, mode);
    });
  }

  /// Gathers the tensors of all ranks in a list of tensors; their sizes may differ from rank to
  /// rank. As for all calls with lists, all tensors of the call have one type, and those that the
  /// call writes share no memory, except that this rank's own tensor may be its entry of the list.
  template <class Mode = SyncOp>
  typename Mode::Result all_gather(const std::vector<Tensor>& tensor_list, const Tensor& tensor,
                                   Mode mode = {}) const {
    std::vector<Data> mine = {arguments().tensor("tensor", tensor, Use::Read)};
    std::vector<Data> all = arguments().list("tensor_list", tensor_list, Use::Write);
    arguments().same_type(all, mine[0]);
    arguments().same_count(all, mine[0]);
    arguments().separate(all, mine);
    return grouped<Mode>(all, mine, [&](auto&& add) {
      for (std::int32_t from = 0; from < size(); ++from) {
        const Data& to = all[static_cast<std::size_t>(from)];
        add([&] {
          return broadcast(from == rank() ? mine[0].address : to.address, to.address, to.count,
                           to.dtype, from, mode);
        });
      }
    });
  }
  using CommunicatorBase::all_gather;
  /// Reduces the tensors of a list of all ranks; rank r receives the r-th result. Sizes may differ
  /// from rank to rank.
  template <class Mode = SyncOp>
  typename Mode::Result reduce_scatter(const Tensor& output, const std::vector<Tensor>& input_list,
                                       ReduceOp op = ReduceOp::SUM, Mode mode = {}) const {
    std::vector<Data> mine = {arguments().tensor("output", output, Use::Write)};
    std::vector<Data> all = arguments().list("input_list", input_list, Use::Read);
    arguments().same_type(all, mine[0]);
    arguments().same_count(all, mine[0]);
    arguments().separate(mine, all);
    return grouped<Mode>(all, mine, [&](auto&& add) {
      for (std::int32_t dst = 0; dst < size(); ++dst) {
        const Data& from = all[static_cast<std::size_t>(dst)];
        add([&] {
          return reduce(from.address, dst == rank() ? mine[0].address : from.address, from.count,
                        from.dtype, dst, op, mode);
        });
      }
    });
  }
  /// Sends the r-th tensor of a list to rank r and receives one from each rank.
  template <class Mode = SyncOp>
  typename Mode::Result all_to_all(const std::vector<Tensor>& output_tensor_list,
                                   const std::vector<Tensor>& input_tensor_list,
                                   Mode mode = {}) const {
    std::vector<Data> to = arguments().list("output_tensor_list", output_tensor_list, Use::Write);
    std::vector<Data> from = arguments().list("input_tensor_list", input_tensor_list, Use::Read);
    arguments().same_type(to, from[0]);
    arguments().same_type(from, to[0]);
    arguments().same_count(to, from[static_cast<std::size_t>(rank())]);
    arguments().separate(to, from);
    return grouped<Mode>(to, from, [&](auto&& add) {
      for (std::int32_t peer = 0; peer < size(); ++peer) {
        const auto index = static_cast<std::size_t>(peer);
        add([&] {
          return send(from[index].address, from[index].count, from[index].dtype, peer, mode);
        });
        add([&] { return recv(to[index].address, to[index].count, to[index].dtype, peer, mode); });
      }
    });
  }
  using CommunicatorBase::all_to_all;
  /// Gathers the tensors of all ranks in a list of rank `dst`; the other ranks pass an empty one.
  template <class Mode = SyncOp>
  typename Mode::Result gather(const Tensor& tensor, const std::vector<Tensor>& gather_list,
                               std::int32_t dst = 0, Mode mode = {}) const {
    std::vector<Data> mine = {arguments().tensor("tensor", tensor, Use::Read)};
    std::vector<Data> all;
    if (arguments().is_at(dst, "gather_list", !gather_list.empty())) {
      all = arguments().list("gather_list", gather_list, Use::Write);
      arguments().same_type(all, mine[0]);
      arguments().same_sizes(all, mine[0]);
      arguments().separate(all, mine);
    }
    return grouped<Mode>(all, mine, [&](auto&& add) {
      add([&] { return send(mine[0].address, mine[0].count, mine[0].dtype, dst, mode); });
      for (const Data& to : all) {
        add([&] { return recv(to.address, to.count, to.dtype, to.index, mode); });
      }
    });
  }
  /// Sends the r-th tensor of a list of rank `src` to rank r; the other ranks pass an empty list.
  template <class Mode = SyncOp>
  typename Mode::Result scatter(const Tensor& tensor, const std::vector<Tensor>& scatter_list,
                                std::int32_t src = 0, Mode mode = {}) const {
    std::vector<Data> mine = {arguments().tensor("tensor", tensor, Use::Write)};
    std::vector<Data> all;
    if (arguments().is_at(src, "scatter_list", !scatter_list.empty())) {
      all = arguments().list("scatter_list", scatter_list, Use::Read);
      arguments().same_type(all, mine[0]);
      arguments().same_sizes(all, mine[0]);
      arguments().separate(mine, all);
    }
    return grouped<Mode>(all, mine, [&](auto&& add) {
      for (const Data& from : all) {
        add([&] { return send(from.address, from.count, from.dtype, from.index, mode); });
      }
      add([&] { return recv(mine[0].address, mine[0].count, mine[0].dtype, src, mode); });
    });
  }

 private:
  template <class Make>
  static Communicator made(Make&& make) {
    sconce_comm* comm = nullptr;
    detail::check(make(&comm));
    return Communicator(comm);
  }
};

/// A process of a job, and its rank of the communicator of all processes.
struct ProcessGroup {
  Job job;            ///< the numbers of this process, and the store
  Communicator comm;  ///< of all processes, one rank each
};

/// Joins the job that RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT and LOCAL_RANK describe, as
/// `torchrun` and `scripts/launch` set them, and makes the communicator of all processes. The rank
/// works on the device with the index LOCAL_RANK, or on the only device, unless `device` names
/// another. Corresponds to `torch.distributed.init_process_group("nccl")`.
/// \throws Error `SCONCE_ERROR_INVALID_STATE` if a variable is missing, `SCONCE_ERROR_TIMEOUT` if
///   another process does not join, `SCONCE_ERROR_INVALID_DEVICE` if there are too few devices
[[nodiscard]] inline ProcessGroup init_process_group(
    const CommOptions& options = {}, std::optional<std::int32_t> device = std::nullopt,
    Store::Milliseconds timeout = Store::kDefaultTimeout) {
  Job job = join_job(timeout);
  const std::int32_t devices = cuda::device_count();
  const std::int32_t index = device.value_or(devices == 1 ? 0 : job.local_rank);
  if (index >= devices) {
    throw Error(SCONCE_ERROR_INVALID_DEVICE,
                "this process has LOCAL_RANK " + std::to_string(job.local_rank) +
                    ", but there are " + std::to_string(devices) +
                    " devices; start fewer processes on this machine, or pass a device");
  }
  Communicator comm = Communicator::init_store(job.store, "process_group", job.world_size, job.rank,
                                               index, options);
  return {std::move(job), std::move(comm)};
}

}  // namespace distributed
}  // namespace v0
}  // namespace sconce

#endif  // SCONCE_COMM_COMM_HPP
