//! Random fills in graphs draw the numbers that ordinary fills would draw.

use sconce::sconce_status::*;
use sconce::*;
use testkit::simulated::{generator, state};

use crate::support::*;

const N: usize = 1000;

#[test]
fn replays_and_ordinary_fills_draw_one_sequence() {
    let stream = current_stream();
    let (captured, plain) = (generator(11), generator(11));
    let memory = [allocate(4 * N), allocate(4 * N)];
    let fill = |address, generator| {
        ok(sconce_random_normal(address, N, SCONCE_DTYPE_F32, 0.0, 1.0, generator));
        ok(sconce_random_uniform(address, N / 2, SCONCE_DTYPE_F32, 0.0, 1.0, generator));
    };
    fill(memory[0], captured);
    fill(memory[1], plain);
    let graph = graph(false);
    ok(begin(graph, stream));
    fill(memory[0], captured);
    ok(sconce_graph_capture_end(graph));
    assert_eq!(state(captured), state(plain), "a capture drew something");
    let mut seen = Vec::new();
    for round in 0..6 {
        if round == 3 {
            fill(memory[0], captured);
        } else {
            ok(sconce_graph_replay(graph, stream));
        }
        fill(memory[1], plain);
        let drawn = read(memory[0], 4 * N);
        assert_eq!(drawn, read(memory[1], 4 * N), "round {round}");
        assert!(!seen.contains(&drawn), "round {round} repeats numbers");
        seen.push(drawn);
        assert_eq!(state(captured), state(plain));
    }
    // A seed that is set between replays counts.
    ok(sconce_generator_set_seed(captured, 5));
    ok(sconce_generator_set_seed(plain, 5));
    ok(sconce_graph_replay(graph, stream));
    fill(memory[1], plain);
    assert_eq!(read(memory[0], 4 * N), read(memory[1], 4 * N));
    ok(sconce_graph_destroy(graph));
    assert_eq!(sconce_generator_destroy(captured), SCONCE_OK);
}
