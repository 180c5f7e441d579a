//! Peers of a store's server that send any bytes, in any pieces.

#![no_main]

use sconce_compute::store::dialogue::Dialogue;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let mut dialogue = Dialogue::default();
    // The greeting: a kind and a number. Without it no peer gets further.
    const GREETING: [u8; 5] = [0, 0xce, 0xf7, 0x85, 0x3c];
    for peer in 0..3 {
        dialogue.send(peer, &GREETING, 0);
    }
    let mut rest = bytes;
    while let [head, length, tail @ ..] = rest {
        let (piece, after) = tail.split_at(usize::from(*length).min(tail.len()));
        let peer = u64::from(head & 3);
        if head & 0x80 == 0 {
            dialogue.send(peer, piece, usize::from(head >> 2 & 0x1f) * 16);
        } else {
            dialogue.close(peer);
        }
        rest = after;
    }
});
