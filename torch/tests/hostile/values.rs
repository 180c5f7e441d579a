//! Arguments as descriptions: random ones that go together, and hostile ones in the place of one of them.

use super::kinds::Kind;

/// Numbers that look random and are the same in each run.
#[derive(Clone, Debug)]
pub(crate) struct Cases(u64);

impl Cases {
    pub(crate) fn new(seed: u64) -> Cases {
        Cases(seed ^ 0x2545_f491_4f6c_dd1d)
    }

    pub(crate) fn below(&mut self, count: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (word ^ (word >> 31)) as usize % count.max(1)
    }

    pub(crate) fn one<T: Clone>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())].clone()
    }

    fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }
}

/// How the elements of a tensor lie in memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Order {
    Contiguous,
    /// The first dimension fastest.
    Reversed,
    /// The last dimension with gaps.
    Stepped,
    /// The first dimension repeated.
    Expanded,
    /// Behind an element that belongs to no tensor.
    Behind,
}

/// The elements of a tensor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Filling {
    /// 0, 1, 2 and so on, modulo a number.
    Count(u32),
    /// One value.
    All(f64),
}

/// What a handle stands for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Handle {
    Tensor,
    Undefined,
    Null,
    Released,
    /// A number that was never a handle.
    Garbage,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TensorCase {
    pub(crate) handle: Handle,
    /// c10's number.
    pub(crate) dtype: i32,
    pub(crate) sizes: Vec<i64>,
    pub(crate) order: Order,
    pub(crate) filling: Filling,
    pub(crate) is_on_device: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Case {
    None,
    Tensor(TensorCase),
    Int(i64),
    Float(f64),
    Bool(bool),
    Complex(f64, f64),
    Code(i32),
    Device(i32, i32),
    Text(&'static [u8]),
    /// Whether there is one.
    Generator(bool),
    List(Vec<Case>),
    /// A list whose count is said to be another: in C, never more than the array has.
    Miscounted(Vec<Case>, i64),
    /// Whether there is a place.
    Out(bool),
}

const F32: i32 = 6;
/// c10's numbers of types, of which some have few operations.
const DTYPES: [i32; 22] =
    [6, 7, 5, 15, 0, 1, 2, 3, 4, 11, 9, 10, 27, 28, 29, 8, 23, 24, 25, 26, 44, 45];
/// Numbers that are sizes, indices, dimensions, counts or none of these.
const INTS: [i64; 27] = [
    0,
    1,
    -1,
    2,
    -2,
    3,
    -3,
    4,
    5,
    7,
    -7,
    8,
    16,
    31,
    32,
    33,
    63,
    64,
    65,
    1 << 31,
    -(1 << 31),
    1 << 33,
    1 << 47,
    1 << 62,
    i64::MAX,
    i64::MIN,
    i64::MIN + 1,
];
const FLOATS: [f64; 14] = [
    0.0,
    1.0,
    -1.0,
    0.5,
    2.0,
    -0.0,
    1e-300,
    1e300,
    9.3e18,
    -9.3e18,
    f64::NAN,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::MAX,
];
const TEXTS: [&[u8]; 30] = [
    b"sum",
    b"mean",
    b"prod",
    b"amax",
    b"amin",
    b"none",
    b"tanh",
    b"constant",
    b"reflect",
    b"replicate",
    b"circular",
    b"left",
    b"right",
    b"L",
    b"U",
    b"reduced",
    b"complete",
    b"r",
    b"gelu",
    b"relu",
    b"max",
    b"gelsd",
    b"gels",
    b"linear",
    b"floor",
    b"trunc",
    b"ij",
    b"",
    b"\xff\xfe\0\x01",
    b"a text that no operation knows, and which is longer than any that one does",
];

/// Whether there would be memory for so many elements: with AddressSanitizer it is not limited.
fn is_allocated(count: i64) -> bool {
    super::watch::is_sanitized() && (17..1 << 40).contains(&count)
}

/// What the tensors of a call have in common.
pub(crate) struct Family {
    dtype: i32,
    shapes: Vec<Vec<i64>>,
    order: Order,
}

impl Family {
    pub(crate) fn new(cases: &mut Cases) -> Family {
        let dtype = if cases.one_in(3) { cases.one(&DTYPES[..12]) } else { F32 };
        let size = cases.one(&[2, 3, 4, 8, 16]);
        let shapes: Vec<Vec<i64>> = match cases.below(10) {
            0 => vec![vec![size, size]],
            1 => vec![vec![2, size, size]],
            2 => vec![vec![2, 4, size, size]],
            3 => vec![vec![size]],
            4 => vec![vec![2, 2, 4, 8, 8]],
            5 => vec![vec![size, size], vec![size]],
            6 => vec![vec![2, 4, 8], vec![4], vec![2, 4]],
            7 => vec![vec![]],
            8 => vec![vec![2, 4, size, size], vec![4, 4, 1, 1], vec![4]],
            _ => (0..3)
                .map(|_| (0..cases.below(5)).map(|_| cases.one(&[1, 2, 3, 4])).collect())
                .collect(),
        };
        let order = if cases.one_in(4) { Order::Reversed } else { Order::Contiguous };
        Family { dtype, shapes, order }
    }

    fn tensor(&self, cases: &mut Cases) -> TensorCase {
        // Indices are integers, masks truth values.
        let dtype = match cases.below(8) {
            0 | 1 => 4,
            2 => cases.one(&[3, 11, 6, 7]),
            _ => self.dtype,
        };
        let filling = match cases.below(4) {
            0 => Filling::All(cases.one(&[0.0, 1.0])),
            1 => Filling::Count(2),
            _ => Filling::Count(7),
        };
        let sizes = cases.one(&self.shapes);
        TensorCase {
            handle: Handle::Tensor,
            dtype,
            sizes,
            order: self.order,
            filling,
            is_on_device: false,
        }
    }

    /// An argument of a kind that may go together with others of the family.
    pub(crate) fn case(&self, kind: &Kind, cases: &mut Cases) -> Case {
        match kind {
            Kind::Tensor => Case::Tensor(self.tensor(cases)),
            Kind::Int => Case::Int(cases.one(&[0, 1, 2, -1, 1, 2, 3, 4, 8])),
            Kind::Float => Case::Float(cases.one(&[0.0, 1.0, 0.5, 2.0])),
            Kind::Bool => Case::Bool(cases.one_in(2)),
            Kind::Scalar => match cases.below(4) {
                0 => Case::Float(cases.one(&[0.0, 1.0, 0.5])),
                1 => Case::Bool(true),
                _ => Case::Int(cases.one(&[0, 1, 2, 4])),
            },
            Kind::Code => Case::Code(if cases.one_in(2) { self.dtype } else { 0 }),
            Kind::Device => Case::Device(0, -1),
            Kind::Text => Case::Text(cases.one(&TEXTS)),
            Kind::Generator => Case::Generator(cases.one_in(2)),
            Kind::Optional(inner) => {
                if cases.one_in(2) {
                    Case::None
                } else {
                    self.case(inner, cases)
                }
            }
            Kind::List(inner, count) => {
                let count = count.unwrap_or_else(|| cases.below(5));
                if **inner == Kind::Int && cases.one_in(3) {
                    // Sizes of a tensor of the family.
                    return Case::List(
                        cases.one(&self.shapes).into_iter().map(Case::Int).collect(),
                    );
                }
                Case::List((0..count).map(|_| self.case(inner, cases)).collect())
            }
            Kind::Out(_) => Case::Out(true),
        }
    }
}

/// The hostile values that an argument of a kind may have instead, each of which is another axis. `now` is the value in a
/// call that succeeds.
pub(crate) fn hostile(kind: &Kind, now: &Case, cases: &mut Cases) -> Vec<Case> {
    match (kind, now) {
        (Kind::Tensor, Case::Tensor(tensor)) => {
            tensors(tensor, cases).into_iter().map(Case::Tensor).collect()
        }
        (Kind::Tensor, _) => vec![],
        (Kind::Int, _) => {
            INTS.iter().filter(|number| !is_allocated(**number)).copied().map(Case::Int).collect()
        }
        (Kind::Float, _) => FLOATS.map(Case::Float).to_vec(),
        (Kind::Bool, _) => vec![Case::Bool(true), Case::Bool(false)],
        (Kind::Scalar, _) => {
            let mut all = vec![Case::Bool(true), Case::Complex(1.0, -2.0), Case::Int(0)];
            all.extend([i64::MIN, i64::MAX, -1, 300, 1 << 40].map(Case::Int));
            all.extend(FLOATS.map(Case::Float));
            all
        }
        (Kind::Code, _) => {
            let mut all = DTYPES.map(Case::Code).to_vec();
            all.extend([-1, 12, 99, i32::MIN, i32::MAX].map(Case::Code));
            all
        }
        (Kind::Device, _) => {
            [(0, 0), (0, 7), (1, -1), (1, 0), (1, 99), (1, -2), (1, -3), (13, 0), (-1, i32::MIN)]
                .map(|(kind, index)| Case::Device(kind, index))
                .to_vec()
        }
        (Kind::Text, _) => TEXTS.map(Case::Text).to_vec(),
        (Kind::Generator, _) => vec![Case::Generator(false), Case::Generator(true)],
        (Kind::Optional(inner), Case::None) => {
            let some = Family::new(cases).case(inner, cases);
            let mut all = hostile(inner, &some, cases);
            all.push(some);
            all
        }
        (Kind::Optional(inner), now) => {
            let mut all = hostile(inner, now, cases);
            all.push(Case::None);
            all
        }
        (Kind::List(inner, _), Case::List(now)) => lists(inner, now, cases),
        (Kind::List(..), _) => vec![Case::List(vec![])],
        (Kind::Out(_), _) => vec![Case::Out(false)],
    }
}

fn lists(inner: &Kind, now: &[Case], cases: &mut Cases) -> Vec<Case> {
    let mut all = vec![Case::List(vec![])];
    let of_nothing = Family::new(cases).case(inner, cases);
    let last = now.last().unwrap_or(&of_nothing).clone();
    for longer in [1, 2, 5, 12, 62] {
        let mut list = now.to_vec();
        list.resize((now.len() + longer).min(63), last.clone());
        all.push(Case::List(list));
    }
    if let Some((_, shorter)) = now.split_last() {
        all.push(Case::List(shorter.to_vec()));
        all.push(Case::List(now[..1].to_vec()));
    }
    for count in [-1, i64::MIN, 0, 1] {
        all.push(Case::Miscounted(now.to_vec(), count));
    }
    for at in 0..now.len() {
        for other in hostile(inner, &now[at], cases) {
            let mut list = now.to_vec();
            list[at] = other;
            all.push(Case::List(list));
        }
    }
    for other in hostile(inner, &last, cases) {
        all.push(Case::List(vec![other; now.len().max(1)]));
    }
    all
}

fn tensors(now: &TensorCase, cases: &mut Cases) -> Vec<TensorCase> {
    let mut all = Vec::new();
    for handle in [Handle::Undefined, Handle::Null, Handle::Released, Handle::Garbage] {
        all.push(TensorCase { handle, ..now.clone() });
    }
    for dtype in DTYPES {
        all.push(TensorCase { dtype, ..now.clone() });
    }
    let mut shapes = vec![vec![], vec![0], vec![1], vec![3, 0], vec![1; 7], vec![2; 9], vec![33]];
    shapes.push([now.sizes.as_slice(), &[1]].concat());
    shapes.push([&[1], now.sizes.as_slice()].concat());
    shapes.push([&[2], now.sizes.as_slice()].concat());
    if let Some((_, rest)) = now.sizes.split_first() {
        shapes.push(rest.to_vec());
        shapes.push(now.sizes[..rest.len()].to_vec());
        shapes.push(now.sizes.iter().rev().copied().collect());
    }
    for at in 0..now.sizes.len() {
        for size in [0, 1, now.sizes[at] + 1, now.sizes[at] * 2, 5] {
            let mut sizes = now.sizes.clone();
            sizes[at] = size;
            shapes.push(sizes);
        }
    }
    all.extend(shapes.into_iter().map(|sizes| TensorCase { sizes, ..now.clone() }));
    for order in
        [Order::Contiguous, Order::Reversed, Order::Stepped, Order::Expanded, Order::Behind]
    {
        all.push(TensorCase { order, ..now.clone() });
        let sizes = [now.sizes.as_slice(), &[1]].concat();
        all.push(TensorCase { order, sizes, ..now.clone() });
    }
    for value in [-1.0, 1.0, 63.0, 1e9, -1e18, 9.2e18, f64::NAN, f64::INFINITY] {
        all.push(TensorCase { filling: Filling::All(value), ..now.clone() });
        // The same as indices.
        all.push(TensorCase { filling: Filling::All(value), dtype: 4, ..now.clone() });
    }
    all.push(TensorCase { filling: Filling::Count(1000), ..now.clone() });
    let filling = Filling::All(cases.one(&[0.0, 0.0, 1.0]));
    all.push(TensorCase { is_on_device: true, filling, ..now.clone() });
    all
}
