// Calls of communicators that must not compile: each CASE_… is compiled alone and has to be refused
// with a message that says why. Without one the file compiles.
#include <sconce/sconce_all.hpp>

namespace dist = sconce::distributed;

void calls(const dist::Communicator& comm, const sconce::Tensor& tensor) {
  comm.all_reduce(tensor, dist::ReduceOp::SUM);
  comm.all_reduce(tensor, dist::ReduceOp::SUM, dist::async_op).wait();
  dist::group([&] { comm.send(tensor, 0); });
#if defined(CASE_discarded_work)
  comm.all_reduce(tensor, dist::ReduceOp::SUM, dist::async_op);
#elif defined(CASE_discarded_isend)
  comm.isend(tensor, 0);
#elif defined(CASE_flag_as_mode)
  comm.all_reduce(tensor, dist::ReduceOp::SUM, true);
#elif defined(CASE_unnamed_group)
  dist::GroupGuard();
#elif defined(CASE_copied_communicator)
  const dist::Communicator copy = comm;
#elif defined(CASE_number_as_operation)
  comm.all_reduce(tensor, 3);
#endif
}
