//! The patterns of torch's notes on the streams of backward passes, on simulated devices that do nothing unless they
//! are stepped: with the streams stepped in every order of preference, the right patterns never show stale data, and
//! each wrong one does.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]
#![allow(unsafe_code, reason = "calls the C API")]

use sconce::sconce_status::*;
use sconce::*;
use testkit::last_message;
use testkit::places::{alone, default_stream, pooled, step_all};

use crate::support::{Graph, Handle, to};

pub(crate) fn current(stream: sconce_stream) {
    assert_eq!(sconce_stream_set_current(stream), SCONCE_OK);
}

pub(crate) fn wait(waiting: sconce_stream, waited: sconce_stream) {
    assert_eq!(sconce_stream_wait_stream(waiting, waited), SCONCE_OK, "{}", last_message());
}

/// One step of the most preferred stream that can go on, again and again.
pub(crate) fn step_by_preference(preference: &[sconce_stream]) {
    while preference.iter().any(|stream| {
        let mut stepped = false;
        // SAFETY: a good place.
        assert_eq!(unsafe { sconce_sim_step(*stream, &raw mut stepped) }, SCONCE_OK);
        stepped
    }) {}
}

/// Who is where: the streams of a pattern on one device.
#[derive(Clone, Copy)]
struct Streams {
    /// Of the two forward operations and the leaf.
    first: sconce_stream,
    second: sconce_stream,
    leaf: sconce_stream,
    /// Where the initial gradient is made.
    initial: sconce_stream,
    /// Current when the pass is called.
    caller: sconce_stream,
    /// Where the gradient is used.
    user: sconce_stream,
}

/// How a pattern orders its streams itself.
#[derive(Clone, Copy, Default)]
struct Waits {
    caller_for_initial: bool,
    user_for_caller: bool,
}

/// What the user's stream saw, with streams stepped by preference, and what it should see.
fn seen(streams: Streams, waits: Waits, preference: &[sconce_stream], value: f32) -> f32 {
    let source = Handle::of(SCONCE_DEVICE_CPU, true, value);
    let [initial, used] = [0, 1].map(|_| Handle::of(0, false, 0.0));
    let graph = Graph::new();
    current(streams.leaf);
    let leaf = graph.leaf(0);
    current(streams.first);
    let first = graph.copying(0, "first", to(leaf));
    current(streams.second);
    let second = graph.copying(0, "second", to(first));
    assert_eq!(sconce_sim_set_manual(true.into()), SCONCE_OK);
    current(streams.initial);
    initial.copy(&source);
    if waits.caller_for_initial {
        wait(streams.caller, streams.initial);
    }
    current(streams.caller);
    graph.run(&[(second, &initial)], false).unwrap();
    if waits.user_for_caller {
        wait(streams.user, streams.caller);
    }
    current(streams.user);
    used.copy(&graph.gradient(leaf));
    step_by_preference(preference);
    current(default_stream(0));
    assert_eq!(sconce_sim_set_manual(false.into()), SCONCE_OK);
    assert_eq!(sconce_device_synchronize(0), SCONCE_OK);
    used.read()
}

/// All orders of some streams.
pub(crate) fn orders(streams: &[sconce_stream]) -> Vec<Vec<sconce_stream>> {
    if streams.is_empty() {
        return vec![Vec::new()];
    }
    let mut all = Vec::new();
    for index in 0..streams.len() {
        let mut rest = streams.to_vec();
        let first = rest.remove(index);
        all.extend(orders(&rest).into_iter().map(|order| [vec![first], order].concat()));
    }
    all
}

/// How many orders of preference show stale data.
fn stale(streams: Streams, waits: Waits) -> usize {
    let named = [
        streams.first,
        streams.second,
        streams.leaf,
        streams.initial,
        streams.caller,
        streams.user,
    ];
    let mut distinct: Vec<sconce_stream> = Vec::new();
    for stream in named {
        if !distinct.iter().any(|known| known.id == stream.id) {
            distinct.push(stream);
        }
    }
    let mut value = 0.0;
    let orders = orders(&distinct);
    let mut is_stale = |order: &Vec<sconce_stream>| {
        // Another value each time: memory that is used again holds the last one.
        value += 1.0;
        seen(streams, waits, order, value) != value
    };
    orders.iter().filter(|order| is_stale(order)).count()
}

#[test]
fn gradients_may_be_used_on_the_stream_of_the_call() {
    let _alone = alone();
    let [one, two] = [pooled(0), pooled(0)];
    let all = |stream| Streams {
        first: stream,
        second: stream,
        leaf: stream,
        initial: stream,
        caller: stream,
        user: stream,
    };
    assert_eq!(stale(all(one), Waits::default()), 0);
    // A pass under a guard: what was recorded elsewhere runs there, and the guard's stream waits for it.
    assert_eq!(
        stale(Streams { caller: two, user: two, initial: two, ..all(one) }, Waits::default()),
        0
    );
}

#[test]
fn gradients_on_another_stream_need_a_wait() {
    let _alone = alone();
    let [one, two] = [pooled(0), pooled(0)];
    let streams =
        Streams { first: one, second: one, leaf: one, initial: one, caller: one, user: two };
    assert!(stale(streams, Waits::default()) > 0, "the missing wait does not show");
    assert_eq!(stale(streams, Waits { user_for_caller: true, ..Waits::default() }), 0);
}

#[test]
fn initial_gradients_of_a_side_stream_need_a_wait() {
    let _alone = alone();
    let [one, two] = [pooled(0), pooled(0)];
    let streams =
        Streams { first: one, second: one, leaf: one, initial: two, caller: one, user: one };
    assert!(stale(streams, Waits::default()) > 0, "the missing wait does not show");
    assert_eq!(stale(streams, Waits { caller_for_initial: true, ..Waits::default() }), 0);
}

#[test]
fn every_node_may_have_a_stream_of_its_own() {
    let _alone = alone();
    let [one, two, three, four] = [pooled(0), pooled(0), pooled(0), pooled(0)];
    let streams =
        Streams { first: one, second: two, leaf: three, initial: four, caller: four, user: four };
    assert_eq!(stale(streams, Waits::default()), 0);
    let leaf_elsewhere = Streams { leaf: default_stream(0), ..streams };
    assert_eq!(stale(leaf_elsewhere, Waits::default()), 0);
}

#[test]
fn a_consumer_waits_for_its_gradients_and_for_nothing_else() {
    let _alone = alone();
    let [one, two] = [pooled(0), pooled(0)];
    let gradients = [0, 1].map(|_| Handle::of(0, false, 1.0));
    let graph = Graph::new();
    current(one);
    let leaf_of_one = graph.leaf(0);
    let first = graph.copying(0, "first", to(leaf_of_one));
    current(two);
    let leaf_of_two = graph.leaf(0);
    let second = graph.copying(0, "second", to(leaf_of_two));
    assert_eq!(sconce_sim_set_manual(true.into()), SCONCE_OK);
    // Called on the default stream, which has done its work: each stream can go on without the other.
    current(default_stream(0));
    graph.run(&[(first, &gradients[0]), (second, &gradients[1])], false).unwrap();
    let seen = Handle::of(SCONCE_DEVICE_CPU, true, 0.0);
    current(two);
    seen.copy(&graph.gradient(leaf_of_two));
    // The default stream has nothing to do, and the other stream does nothing yet.
    step_all(default_stream(0));
    step_all(two);
    let found = seen.read();
    current(default_stream(0));
    assert_eq!(sconce_sim_set_manual(false.into()), SCONCE_OK);
    assert_eq!(sconce_device_synchronize(0), SCONCE_OK);
    assert_eq!(found, 1.0);
    assert_eq!(graph.gradient(leaf_of_one).read(), 1.0);
}
