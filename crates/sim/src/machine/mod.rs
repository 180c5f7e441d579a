//! The machine: queues of operations, the order in which they run, and the threads that run them.
//!
//! What an operation does is behind the trait [`QueuedWork`](operation::QueuedWork). A file imports only files above
//! it in this table.
//!
//! | file | idea |
//! |---|---|
//! | `clock` | simulated time |
//! | `token` | numbers of streams; whether an operation has ended, and when |
//! | `operation` | queued operations and the work they do |
//! | `listener` | code that is called when operations are queued, started and finished |
//! | `graphs` | graphs: nodes with edges, and executable copies |
//! | `graph_text` | graphs as text |
//! | `captures` | streams whose work goes into a graph instead |
//! | `event` | events and their newest records |
//! | `queues` | the data of streams, devices and threads |
//! | `engine` | all queues of a simulator; how handles lead to streams and events |
//! | `schedule` | queueing, and when an operation may run |
//! | `launch` | the operations of a launched graph |
//! | `capture_rules` | the calls that captures forbid |
//! | `worker` | the threads that run operations |
//! | `manual` | operations that run one at a time, when a test says so |

pub(super) mod capture_rules;
pub(super) mod captures;
pub(super) mod clock;
pub(super) mod engine;
pub(super) mod event;
pub(super) mod graph_text;
pub(super) mod graphs;
pub(super) mod launch;
pub(super) mod listener;
pub(super) mod manual;
pub(super) mod operation;
pub(super) mod queues;
pub(super) mod schedule;
pub(super) mod token;
pub(super) mod worker;
