//! A bound on the nesting of a pickle's objects.
//!
//! The crate that reads pickles follows nested objects by recursion, so a pickle of some hundred
//! kilobytes could overflow the stack. This reader passes the bytes on and executes the pickle's
//! instructions beside it, keeping of each object only its *height*: 0 for text and numbers, for a
//! container one more than the highest object in it. It fails before the bytes that make an object
//! too high are passed on.
//!
//! The height of a container is final when the container goes into another one: Python's pickler
//! writes objects that way. Pickles that do otherwise could hide their height, and are refused:
//! those that change a container by way of the memo, refer to one that is not finished, or
//! duplicate one.

use std::collections::HashMap;
use std::io::{self, Read};

/// Snapshots have ten levels at most.
const HIGHEST: u16 = 100;

/// A reader of a pickle that fails when an object becomes too high.
pub(super) struct Shallow<R> {
    source: R,
    machine: Machine,
}

impl<R> Shallow<R> {
    pub(super) fn new(source: R) -> Shallow<R> {
        Shallow { source, machine: Machine::default() }
    }
}

impl<R: Read> Read for Shallow<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.source.read(buffer)?;
        self.machine.feed(&buffer[..count]).map_err(io::Error::other)?;
        Ok(count)
    }
}

/// An object on the pickle's stack.
#[derive(Clone, Copy)]
struct Object {
    height: u16,
    /// It may still grow: it is a container that is in no other one.
    grows: bool,
    memo: Option<u32>,
}

impl Object {
    const LEAF: Object = Object { height: 0, grows: false, memo: None };
}

/// What the next byte belongs to.
#[derive(Default)]
enum Expected {
    #[default]
    Opcode,
    /// Bytes of a number, the lowest first; what is done with it.
    Number { left: u32, read: u32, value: u64, then: Then },
    /// Bytes that are skipped, after which an object is complete.
    Skip(u64),
    /// Lines, and what is done after the last.
    Lines { left: u32, number: u64, then: Then },
    /// The rest is passed on unread: the pickle has ended, or the other reader will refuse it.
    Nothing,
}

#[derive(Clone, Copy)]
enum Then {
    Ignore,
    Leaf,
    Put,
    Get,
    /// The number is the count of bytes that follow.
    Skip,
    /// An instance of a class, made of the objects above the mark.
    Instance,
}

/// Executes a pickle's instructions.
#[derive(Default)]
struct Machine {
    expected: Expected,
    stack: Vec<Object>,
    /// The height of the stack at each mark.
    marks: Vec<usize>,
    /// Heights of finished objects; `None` for those that may still grow.
    memo: HashMap<u32, Option<u16>>,
}

type Outcome = Result<(), String>;

impl Machine {
    fn feed(&mut self, mut bytes: &[u8]) -> Outcome {
        while let Some((&byte, rest)) = bytes.split_first() {
            bytes = rest;
            match &mut self.expected {
                Expected::Nothing => return Ok(()),
                Expected::Opcode => self.execute(byte)?,
                Expected::Skip(left) => {
                    let more = (*left - 1).min(rest.len() as u64);
                    bytes = &rest[more as usize..];
                    *left -= 1 + more;
                    if *left == 0 {
                        self.expected = Expected::Opcode;
                        self.stack.push(Object::LEAF);
                    }
                }
                Expected::Number { left, read, value, then } => {
                    *value |= u64::from(byte) << (8 * *read);
                    (*left, *read) = (*left - 1, *read + 1);
                    if *left == 0 {
                        let (value, then) = (*value, *then);
                        self.finish(value, then)?;
                    }
                }
                Expected::Lines { left, number, then } => match byte {
                    b'\n' => {
                        *left -= 1;
                        if *left == 0 {
                            let (number, then) = (*number, *then);
                            self.finish(number, then)?;
                        }
                    }
                    b'0'..=b'9' => {
                        *number = number.wrapping_mul(10).wrapping_add(u64::from(byte - b'0'));
                    }
                    _ => {}
                },
            }
        }
        Ok(())
    }

    fn execute(&mut self, opcode: u8) -> Outcome {
        let number = |left, then| Expected::Number { left, read: 0, value: 0, then };
        let lines = |left, then| Expected::Lines { left, number: 0, then };
        self.expected = match opcode {
            0x80 => number(1, Then::Ignore),
            0x95 => number(8, Then::Ignore),
            b'K' => number(1, Then::Leaf),
            b'M' => number(2, Then::Leaf),
            b'J' => number(4, Then::Leaf),
            b'G' => number(8, Then::Leaf),
            b'q' => number(1, Then::Put),
            b'r' => number(4, Then::Put),
            b'h' => number(1, Then::Get),
            b'j' => number(4, Then::Get),
            b'U' | b'C' | 0x8c | 0x8a => number(1, Then::Skip),
            b'T' | b'B' | b'X' | 0x8b => number(4, Then::Skip),
            0x8d | 0x8e | 0x96 => number(8, Then::Skip),
            b'F' | b'I' | b'L' | b'S' | b'V' => lines(1, Then::Leaf),
            b'p' => lines(1, Then::Put),
            b'g' => lines(1, Then::Get),
            b'c' => lines(2, Then::Leaf),
            b'i' => lines(2, Then::Instance),
            _ => return self.execute_alone(opcode),
        };
        Ok(())
    }

    /// An instruction without an argument.
    fn execute_alone(&mut self, opcode: u8) -> Outcome {
        match opcode {
            // Each is of a container that is being filled, inside that of the mark before.
            b'(' if self.marks.len() > usize::from(HIGHEST) => return checked(HIGHEST).map(drop),
            b'(' => self.marks.push(self.stack.len()),
            b'N' | 0x88 | 0x89 => self.stack.push(Object::LEAF),
            b')' => return self.push(0, false),
            b']' | b'}' | 0x8f => return self.push(0, true),
            0x85..=0x87 => return self.push(usize::from(opcode - 0x84), false),
            b't' | 0x91 => return self.push_marked(false),
            b'l' | b'd' | b'o' => return self.push_marked(true),
            b'a' | b'b' => return self.add(1),
            b's' => return self.add(2),
            b'e' | b'u' | 0x90 => {
                let Some(mark) = self.marks.pop() else { return self.give_up() };
                return self.add(self.stack.len().saturating_sub(mark));
            }
            b'R' | 0x81 => return self.push(2, true),
            0x92 => return self.push(3, true),
            0x93 => {
                self.take(2);
                self.stack.push(Object::LEAF);
            }
            0x94 => return self.put(self.memo.len() as u32),
            b'0' if self.marks.last() == Some(&self.stack.len()) => drop(self.marks.pop()),
            b'0' => drop(self.stack.pop()),
            b'1' => {
                let Some(mark) = self.marks.pop() else { return self.give_up() };
                self.stack.truncate(mark);
            }
            b'2' => return Err(String::from("it duplicates an object, which no pickler does")),
            // The end, or an instruction that the other reader does not know either.
            _ => return self.give_up(),
        }
        Ok(())
    }

    fn finish(&mut self, number: u64, then: Then) -> Outcome {
        self.expected = Expected::Opcode;
        match then {
            Then::Ignore => {}
            Then::Leaf => self.stack.push(Object::LEAF),
            Then::Put => return self.put(number as u32),
            Then::Get => return self.get(number as u32),
            Then::Skip if number == 0 => self.stack.push(Object::LEAF),
            Then::Skip => self.expected = Expected::Skip(number),
            Then::Instance => return self.push_marked(true),
        }
        Ok(())
    }

    fn give_up(&mut self) -> Outcome {
        self.expected = Expected::Nothing;
        Ok(())
    }

    /// Removes the topmost objects, which become parts of another one; returns the greatest height.
    fn take(&mut self, count: usize) -> u16 {
        let mut highest = 0;
        for object in self.stack.drain(self.stack.len().saturating_sub(count)..) {
            highest = highest.max(object.height);
            if let Some(id) = object.memo {
                self.memo.insert(id, Some(object.height));
            }
        }
        highest
    }

    /// Pushes an object made of the topmost ones.
    fn push(&mut self, count: usize, grows: bool) -> Outcome {
        let height = checked(self.take(count))?;
        self.stack.push(Object { height, grows, memo: None });
        Ok(())
    }

    /// Pushes an object made of those above the mark.
    fn push_marked(&mut self, grows: bool) -> Outcome {
        let Some(mark) = self.marks.pop() else { return self.give_up() };
        self.push(self.stack.len().saturating_sub(mark), grows)
    }

    /// Adds the topmost objects to the one below them.
    fn add(&mut self, count: usize) -> Outcome {
        let height = checked(self.take(count))?;
        match self.stack.last_mut() {
            Some(object) if object.grows => object.height = object.height.max(height),
            Some(_) => return Err(String::from("it changes an object after it was finished")),
            None => return self.give_up(),
        }
        Ok(())
    }

    fn put(&mut self, id: u32) -> Outcome {
        let Some(object) = self.stack.last_mut() else { return self.give_up() };
        if object.grows {
            if object.memo.replace(id).is_some() {
                return Err(String::from("it memoizes an object twice"));
            }
            self.memo.insert(id, None);
        } else {
            self.memo.insert(id, Some(object.height));
        }
        Ok(())
    }

    fn get(&mut self, id: u32) -> Outcome {
        match self.memo.get(&id) {
            Some(Some(height)) => {
                self.stack.push(Object { height: *height, grows: false, memo: None });
                Ok(())
            }
            Some(None) => Err(String::from("it refers to an object that is not finished")),
            None => self.give_up(),
        }
    }
}

/// The height of an object whose highest part has the height `inner`.
fn checked(inner: u16) -> Result<u16, String> {
    if inner < HIGHEST {
        Ok(inner + 1)
    } else {
        Err(format!("its objects contain each other more than {HIGHEST} times"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pickle: &[u8]) -> Result<usize, String> {
        let mut bytes = Vec::new();
        // A few bytes at a time: arguments are cut anywhere.
        let mut source = Shallow::new(pickle);
        let mut piece = [0; 3];
        loop {
            match source.read(&mut piece).map_err(|error| error.to_string())? {
                0 => return Ok(bytes.len()),
                count => bytes.extend_from_slice(&piece[..count]),
            }
        }
    }

    fn refused(pickle: &[u8], words: &str) {
        let found = read(pickle).unwrap_err();
        assert!(found.contains(words), "{found}");
    }

    #[test]
    fn nesting_is_bounded_in_every_way_of_building_it() {
        let too_many = usize::from(HIGHEST);
        let words = "contain each other";
        // Tuples around a tuple; lists that are appended from the inside out; marks; the memo.
        let around = [&b"\x80\x04)"[..], &vec![0x85; too_many], b"."].concat();
        let appended = [vec![b']'; too_many + 1], vec![b'a'; too_many], vec![b'.']].concat();
        let marked = [vec![b'('; too_many + 1], vec![b'l'; too_many + 1], vec![b'.']].concat();
        let chained: Vec<u8> = (0..=too_many as u8)
            .flat_map(|id| match id {
                0 => vec![b')', b'q', 0, b'0'],
                id => vec![b'h', id - 1, 0x85, b'q', id, b'0'],
            })
            .collect();
        for pickle in [&around, &appended, &marked, &chained] {
            refused(pickle, words);
        }
        let allowed = [&b"\x80\x04)"[..], &vec![0x85; too_many - 1], b"."].concat();
        assert_eq!(read(&allowed), Ok(allowed.len()));
        let deep = [vec![b'('; 3_000_000], vec![b'l'; 3_000_000], vec![b'.']].concat();
        refused(&deep, words);
    }

    #[test]
    fn pickles_that_hide_their_height_are_refused() {
        refused(b"]q\x000]q\x01h\x00a", "not finished");
        refused(b"]q\x00]h\x00", "not finished");
        refused(b"(]q\x00th\x00]a", "after it was finished");
        refused(b"]2", "duplicates");
    }

    #[test]
    fn texts_and_numbers_are_passed_over_whatever_they_hold() {
        // Their bytes would be instructions otherwise.
        let text = [&b"\x80\x02]X\x04\x00\x00\x00((((aU\x02((aI12\naK(aV((((\nae."[..]].concat();
        assert_eq!(read(&text[..text.len() - 2]), Ok(text.len() - 2));
        let real = include_bytes!("protocol4.pickle");
        assert_eq!(read(real), Ok(real.len()));
    }
}
