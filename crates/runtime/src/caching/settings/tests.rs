//! The keys one by one, and what must hold for every text and every size.

use proptest::prelude::*;
use sconce_base::error::Status;

use super::PinnedSettings;
use super::Settings;
use super::keys::read;
use crate::caching::size_class::BLOCK_UNIT;

const MIB: usize = 1 << 20;

fn with(change: impl FnOnce(&mut Settings)) -> Settings {
    let mut settings = Settings::default();
    change(&mut settings);
    settings
}

fn with_pinned(change: impl FnOnce(&mut PinnedSettings)) -> Settings {
    with(|settings| change(&mut settings.pinned))
}

fn pages(settings: &mut Settings) {
    settings.expandable_segments = true;
}

/// Texts, and what they mean.
fn accepted() -> Vec<(&'static str, Settings)> {
    vec![
        ("", Settings::default()),
        (" , ", Settings::default()),
        ("max_split_size_mb:20", with(|s| s.max_split_bytes = 20 * MIB)),
        ("max_split_size_mb:512", with(|s| s.max_split_bytes = 512 * MIB)),
        ("max_split_size_mb:18446744073709551615", Settings::default()),
        (
            "max_split_size_mb:64,large_segment_size_mb:64",
            with(|s| {
                s.max_split_bytes = 64 * MIB;
                s.large_segment_bytes = 64 * MIB;
            }),
        ),
        (
            "max_split_size_mb:12,large_segment_size_mb:12",
            with(|s| {
                s.max_split_bytes = 12 * MIB;
                s.large_segment_bytes = 12 * MIB;
            }),
        ),
        ("max_non_split_rounding_mb:20", Settings::default()),
        ("max_non_split_rounding_mb:40", with(|s| s.max_non_split_rounding_bytes = 40 * MIB)),
        ("large_segment_size_mb:11", with(|s| s.large_segment_bytes = 11 * MIB)),
        ("large_segment_size_mb:1048576", with(|s| s.large_segment_bytes = 1 << 40)),
        ("roundup_power2_divisions:1", with(|s| s.roundup_divisions = [1; 16])),
        ("roundup_power2_divisions:8", with(|s| s.roundup_divisions = [8; 16])),
        (
            "roundup_power2_divisions:[64:8,128:2,256:4,>:1]",
            with(|s| s.roundup_divisions = [8, 8, 8, 8, 8, 8, 8, 2, 4, 1, 1, 1, 1, 1, 1, 1]),
        ),
        ("garbage_collection_threshold:0.75", with(|s| s.garbage_collection_threshold = 0.75)),
        ("per_process_memory_fraction:0", with(|s| s.per_process_memory_fraction = 0.0)),
        ("per_process_memory_fraction:0.5", with(|s| s.per_process_memory_fraction = 0.5)),
        ("per_process_memory_fraction:1", Settings::default()),
        ("policy:segments", Settings::default()),
        ("policy:pages", with(pages)),
        ("expandable_segments:True", with(pages)),
        ("expandable_segments:False", Settings::default()),
        ("expandable_segments:True,policy:segments", Settings::default()),
        ("policy:segments,expandable_segments:True", with(pages)),
        ("expandable_segments_reserve:0.5", Settings::default()),
        ("expandable_segments_reserve:40G", Settings::default()),
        ("expandable_segments_reserve_by_class:[a:0.5,b:8G]", Settings::default()),
        (
            "graph_capture_record_stream_reuse:True",
            with(|s| s.graph_capture_record_stream_reuse = true),
        ),
        ("backend:native", Settings::default()),
        ("backend:cudaMallocAsync", Settings::default()),
        ("throw_on_cudamalloc_oom:True", Settings::default()),
        ("release_lock_on_cudamalloc:True", with(|s| s.release_lock_on_cudamalloc = true)),
        ("release_lock_on_hipmalloc:True", with(|s| s.release_lock_on_cudamalloc = true)),
        ("pinned_use_cuda_host_register:True", with_pinned(|p| p.use_cuda_host_register = true)),
        ("pinned_use_hip_host_register:True", with_pinned(|p| p.use_cuda_host_register = true)),
        ("pinned_num_register_threads:1", Settings::default()),
        ("pinned_num_register_threads:128", with_pinned(|p| p.num_register_threads = 128)),
        ("pinned_use_background_threads:True", with_pinned(|p| p.use_background_threads = true)),
        ("pinned_reserve_segment_size_mb:1", with_pinned(|p| p.reserve_segment_size_mb = 1)),
        ("pinned_free_catch_all:True", with_pinned(|p| p.free_catch_all = true)),
        ("pinned_max_round_threshold_mb:64", with_pinned(|p| p.max_round_threshold_mb = 64)),
        ("pinned_max_cached_size_mb:0", with_pinned(|p| p.max_cached_size_mb = 0)),
        // Blanks, spare commas, repeated keys.
        ("max_split_size_mb:64,max_split_size_mb:32,", with(|s| s.max_split_bytes = 32 * MIB)),
        ("\t max_split_size_mb :\n64 ", with(|s| s.max_split_bytes = 64 * MIB)),
    ]
}

#[test]
fn every_key_is_read() {
    for (text, expected) in accepted() {
        let settings = Settings::parse(text).unwrap();
        assert_eq!(settings, Settings { text: text.to_owned(), ..expected }, "{text}");
    }
}

#[test]
fn refusals_name_the_key_the_value_and_the_rule() {
    for (text, parts) in [
        ("max_split_size_mb:19", ["`max_split_size_mb:19`", "not less than a large segment (20"]),
        (
            "max_split_size_mb:32,large_segment_size_mb:64",
            ["`max_split_size_mb:32`", "not less than a large segment"],
        ),
        ("max_split_size_mb:64abc", ["`max_split_size_mb:64abc`", "whole number"]),
        ("max_split_size_mb:-64", ["`max_split_size_mb:-64`", "whole number"]),
        ("max_split_size_mb:64.0", ["`max_split_size_mb:64.0`", "whole number"]),
        ("max_split_size_mb:[64:1]", ["`max_split_size_mb:[64:1]`", "whole number"]),
        ("max_non_split_rounding_mb:19", ["`max_non_split_rounding_mb:19`", "20 or more"]),
        ("large_segment_size_mb:10", ["`large_segment_size_mb:10`", "more than 10"]),
        ("large_segment_size_mb:1048577", ["`large_segment_size_mb:1048577`", "at most"]),
        ("roundup_power2_divisions:3", ["`roundup_power2_divisions:3`", "power of two"]),
        ("roundup_power2_divisions:0", ["`roundup_power2_divisions:0`", "1 is off"]),
        ("roundup_power2_divisions:[63:4]", ["`roundup_power2_divisions:[63:4]`", "[64:8"]),
        ("roundup_power2_divisions:[64:5]", ["`roundup_power2_divisions:[64:5]`", "0 (off)"]),
        ("garbage_collection_threshold:0", ["`garbage_collection_threshold:0`", "above 0"]),
        ("garbage_collection_threshold:1", ["`garbage_collection_threshold:1`", "below 1"]),
        ("garbage_collection_threshold:nan", ["`garbage_collection_threshold:nan`", "number"]),
        ("per_process_memory_fraction:1.1", ["`per_process_memory_fraction:1.1`", "0 to 1"]),
        ("per_process_memory_fraction:-0.1", ["`per_process_memory_fraction:-0.1`", "0 to 1"]),
        ("policy:page", ["`policy:page`", "segments or pages"]),
        ("expandable_segments:true", ["`expandable_segments:true`", "True or False"]),
        ("expandable_segments:1", ["`expandable_segments:1`", "True or False"]),
        ("expandable_segments_reserve:0", ["`expandable_segments_reserve:0`", "40G"]),
        ("expandable_segments_reserve:infG", ["`expandable_segments_reserve:infG`", "40G"]),
        ("expandable_segments_reserve_by_class:0.5", ["_by_class:0.5`", "a list"]),
        ("expandable_segments_reserve_by_class:[a:b]", ["_by_class:[a:b]`", "a list"]),
        ("graph_capture_record_stream_reuse:yes", ["stream_reuse:yes`", "True or False"]),
        ("backend:cuda", ["`backend:cuda`", "native or cudaMallocAsync"]),
        ("throw_on_cudamalloc_oom:0", ["`throw_on_cudamalloc_oom:0`", "True or False"]),
        ("release_lock_on_cudamalloc:0", ["`release_lock_on_cudamalloc:0`", "True or False"]),
        ("release_lock_on_hipmalloc:0", ["`release_lock_on_hipmalloc:0`", "True or False"]),
        ("pinned_use_cuda_host_register:0", ["cuda_host_register:0`", "True or False"]),
        ("pinned_use_hip_host_register:0", ["hip_host_register:0`", "True or False"]),
        ("pinned_num_register_threads:3", ["register_threads:3`", "a power of two"]),
        ("pinned_num_register_threads:0", ["register_threads:0`", "a power of two"]),
        ("pinned_num_register_threads:256", ["register_threads:256`", "at most 128"]),
        ("pinned_use_background_threads:0", ["background_threads:0`", "True or False"]),
        ("pinned_reserve_segment_size_mb:0", ["segment_size_mb:0`", "above 0"]),
        ("pinned_free_catch_all:0", ["`pinned_free_catch_all:0`", "True or False"]),
        ("pinned_max_round_threshold_mb:x", ["threshold_mb:x`", "whole number"]),
        ("pinned_max_cached_size_mb:-1", ["size_mb:-1`", "whole number"]),
        ("max_split_size:64", ["`max_split_size`", "max_split_size_mb"]),
        ("Max_split_size_mb:64", ["`Max_split_size_mb`", "there is no key"]),
        ("policy", ["`policy`", "has no value"]),
    ] {
        let error = Settings::parse(text).unwrap_err();
        assert_eq!(error.status(), Status::InvalidArgument);
        let message = error.message();
        for part in parts.into_iter().chain(["allocator configuration"]) {
            assert!(message.contains(part), "{text}: {message}");
        }
    }
}

#[test]
fn wishes_that_are_not_granted_are_noted_and_defaults_are_not() {
    for (text, about) in [
        ("expandable_segments_reserve:0.5", "expandable_segments_reserve"),
        ("backend:cudaMallocAsync", "backend"),
        ("throw_on_cudamalloc_oom:True", "throw_on_cudamalloc_oom"),
        ("release_lock_on_cudamalloc:True", "release_lock_on_cudamalloc"),
    ] {
        let notes = read(text).unwrap().notes;
        assert_eq!(notes.iter().map(|note| note.about).collect::<Vec<_>>(), [about], "{text}");
    }
    for text in [
        "",
        "max_split_size_mb:64,roundup_power2_divisions:4",
        "backend:native",
        "expandable_segments:True,expandable_segments:False",
        "expandable_segments:True,policy:pages",
        "throw_on_cudamalloc_oom:False,pinned_num_register_threads:2",
    ] {
        assert_eq!(read(text).unwrap().notes, [], "{text}");
    }
}

#[test]
fn only_divisions_above_one_make_rounding_more_than_plain() {
    let plain = |text: &str| Settings::parse(text).unwrap().rounds_plainly();
    assert!(plain(""));
    assert!(plain("roundup_power2_divisions:1"));
    assert!(plain("roundup_power2_divisions:[64:0,>:1]"));
    assert!(!plain("roundup_power2_divisions:2"));
    assert!(!plain("roundup_power2_divisions:[64:0,>:2]"));
}

fn divisions() -> impl Strategy<Value = Settings> {
    let power = prop_oneof![Just(0_u32), (0_u32..12).prop_map(|n| 1 << n), Just(1_u32 << 31)];
    prop::array::uniform16(power)
        .prop_map(|divisions| with(|settings| settings.roundup_divisions = divisions))
}

/// Sizes of every magnitude, with powers of two and their neighbours among them.
fn size() -> impl Strategy<Value = usize> {
    (0_u32..59, any::<usize>(), 0_usize..4).prop_map(|(power, random, kind)| {
        let whole = 1_usize << power;
        match kind {
            0 => whole,
            1 => whole + 1,
            2 => whole - 1,
            _ => whole | (random & (whole - 1)),
        }
    })
}

proptest! {
    #[test]
    fn a_rounded_size_holds_the_request_in_whole_units(settings in divisions(), bytes in size()) {
        let rounded = settings.round_size(bytes);
        prop_assert!(rounded >= bytes.max(1));
        prop_assert_eq!(rounded % BLOCK_UNIT, 0);
        prop_assert!(rounded <= bytes.next_power_of_two().max(BLOCK_UNIT));
        prop_assert_eq!(settings.round_size(rounded), rounded);
        if settings.rounds_plainly() {
            prop_assert!(rounded - bytes < BLOCK_UNIT || bytes == 0);
        }
    }

    #[test]
    fn a_larger_request_never_gets_less(settings in divisions(), a in size(), b in size()) {
        let (small, large) = (a.min(b), a.max(b));
        prop_assert!(settings.round_size(small) <= settings.round_size(large));
        prop_assert!(settings.round_size(small) <= settings.round_size(small + 1));
    }

    #[test]
    fn no_text_makes_the_reader_panic(text in any::<String>()) {
        let _ = Settings::parse(&text);
    }

    #[test]
    fn no_text_of_the_grammars_own_pieces_makes_the_reader_panic(
        pieces in prop::collection::vec(prop::sample::select(vec![
            "max_split_size_mb", "roundup_power2_divisions", "backend", "policy", ":", ":", ",",
            "[", "]", ">", "64", "8", "0", "-1", "99999999999999999999", "True", "0.5", " ", "é",
            "expandable_segments_reserve", "G", "pinned_num_register_threads",
        ]), 0..12)
    ) {
        let text = pieces.concat();
        match Settings::parse(&text) {
            Ok(settings) => prop_assert_eq!(settings.text, text),
            Err(error) => prop_assert!(error.message().starts_with("allocator configuration: ")),
        }
    }
}
