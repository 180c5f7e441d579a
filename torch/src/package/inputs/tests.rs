use super::*;

/// The function that checks an input, as PyTorch writes it: its conditions, and its type.
fn check(index: usize, name: &str, dtype: &str, conditions: &[&str]) -> String {
    let conditions =
        conditions.iter().map(|it| format!("    if ({}) {{\n    }}\n", it.replace('@', name)));
    format!(
        "AOTI_NOINLINE static void check_input_{index}(\n    AtenTensorHandle* input_handles\n) {{\n    int32_t \
         {name}_expected_dtype = aoti_torch_dtype_{dtype}();\n    auto {name}_size = {name}.sizes();\n{}    int32_t \
         {name}_expected_device_type = 0;\n}}\n",
        conditions.collect::<String>()
    )
}

/// The beginning of a run: names of inputs, and statements.
fn run(inputs: &[&str], statements: &[&str]) -> String {
    let taken = inputs.iter().enumerate();
    let taken = taken.map(|(at, name)| format!("    auto {name} = std::move(inputs[{at}]);\n"));
    let statements = statements.iter().map(|statement| format!("    {statement}\n"));
    format!(
        "static bool other() {{\nif (9 != b_size[4]) {{\n}}\n}}\nvoid AOTInductorModel::run_impl(\n) {{\n{}{}}}\n",
        taken.collect::<String>(),
        statements.collect::<String>()
    )
}

/// An assertion of PyTorch 2.15.
fn asserted(name: &str, sizes: &str, strides: &str) -> String {
    format!(
        "if (_check_aoti_runtime_check_inputs_env()) {{ assert_size_stride({name}, {{{sizes}}}, {{{strides}}}, \
         \"input\"); }}"
    )
}

/// An input in words: for each dimension the assumed sizes, the least that runs, the relation and the stride.
fn words(inputs: &Inputs, index: usize) -> String {
    let name = |symbol: usize| inputs.symbols[symbol].name.clone();
    let Some(dimensions) = &inputs.wanted[index].dimensions else { return "unknown".to_owned() };
    let words = dimensions.iter().map(|dimension| {
        let relation = match &dimension.relation {
            None => String::new(),
            Some(Relation::Is(of)) => format!(" is {}", of.words(&name)),
            Some(Relation::OneOf(these)) => {
                format!(
                    " one of {}",
                    these.iter().map(|&one| name(one)).collect::<Vec<_>>().join(" ")
                )
            }
            Some(Relation::Unsaid) => " unsaid".to_owned(),
        };
        let stride = dimension.stride.as_ref().map_or("?".to_owned(), |it| it.words(&name));
        format!("{} from {}{relation} by {stride}", dimension.extent, dimension.least)
    });
    words.collect::<Vec<_>>().join(", ")
}

const RANGE: [&str; 2] = ["@_size[0] < 2", "@_size[0] > 20"];

fn and<'a>(first: &[&'a str], more: &[&'a str]) -> Vec<&'a str> {
    [first, more].concat()
}

#[test]
fn every_place_of_the_source_is_read() {
    let source = check(
        0,
        "a",
        "float32",
        &and(&RANGE, &["3 != @_size[1]", "3 != @_stride[0]", "1 != @_stride[1]"]),
    ) + &check(
        1,
        "b",
        "int64",
        &["@_size[0] < 4", "@_size[0] > 40", "3 != @_size[1]", "1 != @_stride[1]"],
    ) + &check(2, "c", "bool", &[])
        + &run(
            &["a", "b", "c"],
            &[
                "auto a_size = a.sizes();",
                "int64_t s77 = a_size[0];",
                "int64_t s3 = s77;",
                &asserted("b", "2L*s3, 3L", "3L, 1L"),
                &asserted("c", "", ""),
            ],
        );
    let read = Inputs::read(&source, "");
    assert_eq!(read.wanted.len(), 3);
    assert_eq!(read.wanted[0].dtype.as_deref(), Some("float32"));
    assert_eq!(read.wanted[1].dtype.as_deref(), Some("int64"));
    assert_eq!(read.wanted[0].device_type, Some(0));
    assert_eq!(words(&read, 0), "2..20 from 0 by 3, 3 from 3 by 1");
    assert_eq!(words(&read, 1), "4..40 from 0 is 2*s3 by 3, 3 from 3 by 1");
    assert_eq!(words(&read, 2), "");
    assert_eq!(read.extent_of(&Expression::Symbol(1)), Extent::Range(2, 20));
    assert_eq!(Extent::Range(2, 64).to_string(), "2..64");
}

/// How sizes below the compiler's bound are judged: the conditions of the only input, statements, and the least size.
#[test]
fn bounds_that_follow_from_smaller_sizes_are_relaxed() {
    let of_conv = "if (x()) { assert_size_stride(buf1, {1L, 2L, (-4L) + s0}, {2L*s0, std::max(static_cast<int64_t>(1L), \
                   static_cast<int64_t>((-4L) + s0)), 1L}, \"torch.ops.aten.convolution.default\", d, \"f\"); }";
    let quotient = |of: &str, by: i64| {
        format!("c10::div_floor_integer(static_cast<int64_t>({of}), static_cast<int64_t>({by}L))")
    };
    let pooled = format!("const int64_t int_array_3[] = {{{}, 8L}};", quotient("s0", 4));
    let solved = format!("int64_t s5 = {};", quotient("a_size_0", 2));
    let plain = "int64_t s0 = a_size[0];";
    for (bound, statements, least) in [
        // The compiler's own assumption, and bounds of the program.
        (2, &[plain][..], 0),
        (1, &[plain], 0),
        (10, &[plain], 10),
        (6, &[plain, "const int64_t int_array_0[] = {10L, 8L};"], 6),
        // A convolution of 5 elements makes 2 of 6.
        (6, &[plain, of_conv], 4),
        (7, &[plain, of_conv], 7),
        // A pool of 4, a slice from the eighth element on, and sizes that follow from other symbols.
        (8, &[plain, &pooled], 0),
        (10, &[plain, "const int64_t int_array_0[] = {(-8L) + s0, 3L};"], 8),
        (10, &[plain, "int64_t ps0 = s0 - 8L;"], 8),
        // The input is twice a symbol.
        (
            4,
            &["int64_t a_size_0 = a_size[0];", &solved, "const int64_t int_array_0[] = {2L*s5};"],
            0,
        ),
        // Sizes of two symbols say nothing, and what is not understood neither.
        (
            6,
            &[
                plain,
                "int64_t s1 = a_size[1];",
                "const int64_t int_array_0[] = {s0 + s1, (-4L) + s0*s1};",
            ],
            6,
        ),
        (6, &[plain, "const int64_t int_array_0[] = {std::sqrt(s0)};"], 6),
    ] {
        let bounds = [format!("@_size[0] < {bound}"), "@_size[1] < 2".to_owned()];
        let source = check(0, "a", "float32", &[&bounds[0], &bounds[1]]) + &run(&["a"], statements);
        let read = Inputs::read(&source, "");
        let dimensions = read.wanted[0].dimensions.as_ref();
        assert_eq!(dimensions.map(|all| all[0].least), Some(least), "{bound}, {statements:?}");
    }
}

/// Sources before PyTorch 2.15 have no assertions: how sizes depend on each other follows from their ranges, and
/// strides that are no numbers from the others.
#[test]
fn what_a_source_leaves_open_is_found_out() {
    let a = check(
        0,
        "a",
        "float32",
        &and(&RANGE, &["@_size[1] < 2", "8 != @_size[2]", "8 != @_stride[1]", "1 != @_stride[2]"]),
    );
    let symbols = ["int64_t s0 = a_size[0];", "int64_t s1 = a_size[1];"];
    let own = [symbols[0], symbols[1], "int64_t s7 = b.strides()[0];"];
    for (conditions, statements, expected) in [
        // The batch of the other input.
        (
            &[
                "@_size[0] < 2",
                "@_size[0] > 20",
                "3 != @_size[1]",
                "3 != @_stride[0]",
                "1 != @_stride[1]",
            ][..],
            &symbols[..],
            "2..20 from 0 is s0 by 3, 3 from 3 by 1",
        ),
        // Twice the batch, three more than it, and what no range tells.
        (
            &["@_size[0] < 4", "@_size[0] > 40", "1 != @_stride[0]"],
            &symbols,
            "4..40 from 0 is 2*s0 by 1",
        ),
        (
            &["@_size[0] < 5", "@_size[0] > 23", "1 != @_stride[0]"],
            &symbols,
            "5..23 from 0 is (s0 + 3) by 1",
        ),
        (
            &["@_size[0] < 4", "@_size[0] > 41", "1 != @_stride[0]"],
            &symbols,
            "4..41 from 4 unsaid by 1",
        ),
        (&["@_size[0] < 4", "1 != @_stride[0]"], &symbols, "4.. from 4 unsaid by 1"),
        // A symbol of its own.
        (
            &["@_size[0] < 2", "1 != @_stride[0]"],
            &[symbols[0], symbols[1], "int64_t s2 = b_size[0];"],
            "2.. from 0 by 1",
        ),
        // Row-major, with the number of columns as the stride; transposed; with one element along a dimension.
        (
            &["@_size[0] < 2", "@_size[0] > 20", "@_size[1] < 2", "1 != @_stride[1]"],
            &symbols,
            "2..20 from 0 is s0 by s1, 2.. from 0 is s1 by 1",
        ),
        (
            &["@_size[0] < 2", "@_size[0] > 20", "@_size[1] < 2", "1 != @_stride[0]"],
            &symbols,
            "2..20 from 0 is s0 by 1, 2.. from 0 is s1 by s0",
        ),
        (
            &[
                "1 != @_size[0]",
                "@_size[1] < 2",
                "4 != @_size[2]",
                "7 != @_stride[0]",
                "1 != @_stride[2]",
            ],
            &symbols,
            "1 from 1 by 7, 2.. from 0 is s1 by 4, 4 from 4 by 1",
        ),
        // Channels innermost.
        (
            &[
                "@_size[0] < 2",
                "@_size[0] > 20",
                "3 != @_size[1]",
                "@_size[2] < 2",
                "5 != @_size[3]",
                "1 != @_stride[1]",
                "3 != @_stride[3]",
            ],
            &symbols,
            "2..20 from 0 is s0 by 3*5*s1, 3 from 3 by 1, 2.. from 0 is s1 by 15, 5 from 5 by 3",
        ),
        // Rows with gaps are none of these.
        (
            &["@_size[0] < 2", "@_size[0] > 20", "4 != @_size[1]", "2 != @_stride[1]"],
            &symbols,
            "2..20 from 0 is s0 by ?, 4 from 4 by 2",
        ),
        // A stride that is a symbol may be any.
        (
            &["@_size[0] < 2", "@_size[0] > 20", "4 != @_size[1]", "1 != @_stride[1]"],
            &own,
            "2..20 from 0 is s0 by ?, 4 from 4 by 1",
        ),
    ] {
        let source =
            a.clone() + &check(1, "b", "float32", conditions) + &run(&["a", "b"], statements);
        assert_eq!(words(&Inputs::read(&source, ""), 1), expected, "{conditions:?}");
    }
    // Two symbols of one range.
    let both = check(0, "a", "float32", &["@_size[0] < 2", "@_size[1] < 2", "1 != @_stride[1]"])
        + &check(1, "b", "float32", &["@_size[0] < 2", "1 != @_stride[0]"])
        + &run(&["a", "b"], &symbols);
    assert_eq!(words(&Inputs::read(&both, ""), 1), "2.. from 0 one of s0 s1 by 1");
}

#[test]
fn hostile_sources_are_read_in_bounded_time() {
    assert!(Inputs::read("static void check_input_99999999(", "").wanted.is_empty());
    assert!(Inputs::read("", "").wanted.is_empty());
    let many: String =
        (0..3000).map(|at| format!("    int64_t s{} = s{at} + s{at};\n", at + 1)).collect();
    let conditions: Vec<String> = (0..64).map(|dim| format!("@_size[{dim}] < 256")).collect();
    let conditions: Vec<&str> = conditions.iter().map(String::as_str).collect();
    let source = check(0, "a", "float32", &conditions)
        + &run(
            &["a"],
            &["int64_t s0 = a_size[0];", &many, "int64_t s99999 = a_size[18446744073709551615];"],
        );
    let read = Inputs::read(&source, "");
    assert_eq!(read.wanted[0].dimensions.as_ref().map(Vec::len), Some(64));
    let cut = check(0, "a", "float32", &["@_size[", "1 != @_size[64]", "x < @_size[0]"])
        + "::run_impl(\nassert_size_stride(a, {, {}\nint64_t s = ;\nassert_size_stride(a, {s0, {, {}, \"input\");";
    for length in 0..cut.len() {
        let _ = Inputs::read(&cut[..length], "");
    }
}

/// Kernels that sum a symbol's elements, some times as many, and the elements of two symbols.
const KERNELS: &str = r#"
extern "C"  void  cpp_fused_sum_0(const float* in_ptr0, const int64_t ks0, const int64_t ks1)
{
    float tmp_acc0 = 0;
    for(int64_t x0=static_cast<int64_t>(0L); x0<static_cast<int64_t>(ks0); x0+=static_cast<int64_t>(1L))
    {
        for(int64_t x1=static_cast<int64_t>(0L); x1<static_cast<int64_t>(ks1); x1+=static_cast<int64_t>(16L))
        {
            tmp_acc0_vec = tmp_acc0_vec + tmp0;
        }
    }
}
"#;

/// Bounds by which PyTorch chose how to calculate something are no bounds of the program, unless a constant has as many
/// elements.
#[test]
fn bounds_of_choices_are_relaxed() {
    let sum =
        |sizes: &str| vec![format!("cpp_fused_sum_0((const float*)(a.data_ptr()), {sizes});")];
    let convolved = |tensor: &str, made: &[&str]| {
        let call =
            format!("X(aoti_torch_cpu_convolution({tensor}, w, nullptr, 1L, &buf9_handle));");
        made.iter().map(|&it| it.to_owned()).chain([call]).collect::<Vec<_>>()
    };
    let made = [
        "const int64_t int_array_0[] = {s0, 3L, 9L, s1};",
        "X(aoti_torch_empty_strided(4, int_array_0, int_array_1, d, e, f, &buf0_handle));",
        "auto buf1 = std::move(buf0);  // reuse",
        "const int64_t int_array_2[] = {1L, 80L, s0};",
    ];
    let view = "wrap(reinterpret_tensor_wrapper(buf1, 3, int_array_2, int_array_1, 0L))";
    let result =
        "if (x()) { assert_size_stride(buf5, {s0, 8L, s1}, {8L*s1, s1, 1L}, \"conv\", t, \"f\"); }";
    for (bounds, statements, constant, expected) in [
        ((2, 4096), sum("1L, s0"), "", "2.. from 0"),
        ((2, 512), sum("s0, 8L"), "", "2.. from 0"),
        ((2, 5), sum("s0, 768L"), "", "2.. from 0"),
        ((2, 6), sum("s0, 768L"), "", "2..6 from 0"),
        ((4097, 0), sum("1L, s0"), "", "2.. from 0"),
        ((513, 0), sum("8L, s0"), "", "2.. from 0"),
        ((512, 0), sum("8L, s0"), "", "512.. from 512"),
        ((4097, 9000), sum("1L, s0"), "", "2..9000 from 0"),
        // A table of so many rows; no sum; a sum of two symbols.
        ((2, 4096), sum("1L, s0"), "{4096, 8}", "2..4096 from 0"),
        ((2, 4096), sum("1L, 9L"), "", "2..4096 from 0"),
        ((2, 4096), sum("s0, s1"), "", "2..4096 from 0"),
        // Convolutions of an input, a tensor of the run, a view and a result: the batch, or all elements.
        ((2, 15), convolved("a", &[]), "", "2.. from 0"),
        ((16, 0), convolved("a", &[]), "", "2.. from 0"),
        ((2, 14), convolved("a", &[]), "", "2..14 from 0"),
        ((2, 15), convolved("buf1", &made), "", "2.. from 0"),
        ((2, 256), convolved(view, &made), "", "2.. from 0"),
        ((257, 0), convolved(view, &made), "", "2.. from 0"),
        ((2, 15), convolved("buf5", &[result]), "", "2.. from 0"),
        ((2, 15), convolved("w", &made), "", "2..15 from 0"),
        ((2, 15), convolved("a", &[]), "{15, 4}", "2..15 from 0"),
        (
            (2, 32_766),
            vec!["X(aoti_torch_cpu_sort_stable(a, &var_0, 1L, 0, &b1, &b2));".to_owned()],
            "",
            "2.. from 0",
        ),
    ] {
        let least = format!("@_size[0] < {}", bounds.0);
        let most = format!("@_size[0] > {}", bounds.1);
        let conditions: &[&str] = if bounds.1 > 0 {
            &[&least, &most, "@_size[1] < 2", "1 != @_stride[1]"]
        } else {
            &[&least, "@_size[1] < 2", "1 != @_stride[1]"]
        };
        let statements: Vec<String> = [
            "int64_t s0 = a_size[0];".to_owned(),
            "int64_t s1 = a_size[1];".to_owned(),
            asserted("b", "s0", "1L"),
        ]
        .into_iter()
        .chain(statements)
        .collect();
        let statements: Vec<&str> = statements.iter().map(String::as_str).collect();
        let source = check(0, "a", "float32", conditions)
            + &check(
                1,
                "b",
                "float32",
                &[&conditions[..conditions.len() - 2], &["1 != @_stride[0]"]].concat(),
            )
            + &format!(
                "constants_info_[0].name = \"t\";\nconstants_info_[0].shape = {constant};\n"
            )
            + &run(&["a", "b"], &statements);
        let read = Inputs::read(&source, KERNELS);
        let [a, b] = [0, 1].map(|index| words(&read, index));
        assert!(a.starts_with(&format!("{expected} by ")), "{bounds:?}, {statements:?}: {a}");
        // What depends on the symbol shows its range, and has no bounds of its own.
        let range = expected.split(" from").next().unwrap();
        assert!(b.starts_with(&format!("{range} from 0 is s0")), "{bounds:?}, {statements:?}: {b}");
        let dimension =
            |index: usize| read.wanted[index].dimensions.as_ref().map(|all| all[0].most);
        assert_eq!(dimension(1), Some(i64::MAX));
        let most = range.split("..").nth(1).and_then(|most| most.parse().ok());
        assert_eq!(dimension(0), Some(most.unwrap_or(i64::MAX)), "{bounds:?}, {statements:?}");
    }
}
