//! PTX as the library holds it: registers and labels are named by how recently they were named before, so that
//! similar code is similar text, which compresses to a third. `scripts/packed_ptx.py` packs.
//!
//! A name is its kind (`%r`, `%rd`, `%rs`, `%f`, `%fd`, `%p` or `$L`) and `!` for one that is new in the function, or
//! how many others of the kind have been named since it was. A form feed begins a function.

/// The kinds of names, longer ones first where one begins as another.
const KINDS: [&[u8]; 7] = [b"%rs", b"%rd", b"%r", b"%fd", b"%f", b"%p", b"$L"];

/// PTX with numbered names; `None` if the packed form is damaged.
pub(super) fn unpack(packed: &[u8]) -> Option<Vec<u8>> {
    let mut text = Vec::with_capacity(packed.len() + packed.len() / 4);
    // Of each kind the numbers that are named, the most recent one last.
    let mut recent: [Vec<u32>; KINDS.len()] = Default::default();
    let mut rest = packed;
    while let Some(plain) = rest.iter().position(|byte| matches!(byte, b'%' | b'$' | b'\x0c')) {
        text.extend_from_slice(&rest[..plain]);
        rest = &rest[plain..];
        if rest[0] == b'\x0c' {
            recent.iter_mut().for_each(Vec::clear);
            rest = &rest[1..];
        } else if let Some((kind, place, length)) = name(rest) {
            let known = &mut recent[kind];
            let number = match place {
                Some(place) => known.remove(known.len().checked_sub(place + 1)?),
                None => known.len() as u32 + 1,
            };
            known.push(number);
            text.extend_from_slice(KINDS[kind]);
            text.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
            rest = &rest[length..];
        } else {
            text.push(rest[0]);
            rest = &rest[1..];
        }
    }
    text.extend_from_slice(rest);
    Some(text)
}

/// The kind of the name that the text begins with, its place among the recent ones unless it is new, and its length.
fn name(text: &[u8]) -> Option<(usize, Option<usize>, usize)> {
    let (kind, after) = KINDS
        .iter()
        .enumerate()
        .find_map(|(kind, start)| Some((kind, text.strip_prefix(*start)?)))?;
    let start = text.len() - after.len();
    if after.first() == Some(&b'!') {
        return Some((kind, None, start + 1));
    }
    let digits = after.iter().take(9).take_while(|byte| byte.is_ascii_digit()).count();
    let place = std::str::from_utf8(&after[..digits]).ok()?.parse().ok()?;
    Some((kind, Some(place), start + digits))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_count_from_one_in_each_function_and_recent_ones_come_back() {
        let packed = "\x0c.entry a\nadd %r!, %r!, %rd!;\nmov %r1, %tid.x;\nbra $L!;\nadd %r1, %r0, %r1;\n\
            .reg .b32 %r<3>;\n\x0c.func b\nmov %p!, %r!; $L!:\n";
        let text = ".entry a\nadd %r1, %r2, %rd1;\nmov %r1, %tid.x;\nbra $L1;\nadd %r2, %r2, %r1;\n\
            .reg .b32 %r<3>;\n.func b\nmov %p1, %r1; $L1:\n";
        assert_eq!(String::from_utf8(unpack(packed.as_bytes()).unwrap()).unwrap(), text);
    }

    #[test]
    fn a_name_that_was_never_given_is_damage() {
        for packed in ["%r0", "%r!%r1", "%r!\x0c%r0", "$L!$L999999999"] {
            assert_eq!(unpack(packed.as_bytes()), None, "{packed}");
        }
    }

    #[test]
    fn what_is_no_name_stays() {
        for text in ["", "%", "$", "%tid.x %ctaid.y", "%r<12>;", "100%", "$str"] {
            assert_eq!(unpack(text.as_bytes()).unwrap(), text.as_bytes());
        }
    }
}
