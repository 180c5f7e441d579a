//! Inputs that a model was not compiled for: what its source says is compared, in every run.

use super::shared::{
    F32, as_strided, described, live, load_model, release, run_model, sconce_model_unload, tensor,
};
use super::{compiled, folder, package};

/// The source of a model as PyTorch 2.15 writes it: a batch and rows of it, twice the batch, a number, and rows whose
/// stride is the batch.
const SOURCE: &str = "
static void check_input_0(
) {
    int32_t a_expected_dtype = aoti_torch_dtype_float32();
    if (a_size[0] < 2) {
    if (a_size[0] > 20) {
    if (a_size[1] < 6) {
    if (1 != a_stride[1]) {
    int32_t a_expected_device_type = 0;
}
static void check_input_1(
) {
    int32_t b_expected_dtype = aoti_torch_dtype_float32();
    if (b_size[0] < 4) {
    if (b_size[0] > 40) {
    if (3 != b_size[1]) {
    if (3 != b_stride[0]) {
    if (1 != b_stride[1]) {
}
static void check_input_2(
) {
    int32_t c_expected_dtype = aoti_torch_dtype_float32();
}
static void check_input_3(
) {
    int32_t d_expected_dtype = aoti_torch_dtype_float32();
    if (4 != d_size[0]) {
    if (d_size[1] < 2) {
    if (d_size[1] > 20) {
    if (1 != d_stride[0]) {
    if (4 != d_stride[1]) {
}
static bool other() {
}
void AOTInductorModel::run_impl(
) {
    auto a = std::move(inputs[0]);
    auto b = std::move(inputs[1]);
    auto c = std::move(inputs[2]);
    auto d = std::move(inputs[3]);
    auto a_size = a.sizes();
    int64_t s0 = a_size[0];
    int64_t s1 = a_size[1];
    if (env()) { assert_size_stride(a, {s0, s1}, {s1, 1L}, \"input\"); }
    if (env()) { assert_size_stride(b, {2L*s0, 3L}, {3L, 1L}, \"input\"); }
    if (env()) { assert_size_stride(c, {}, {}, \"input\"); }
    const int64_t int_array_0[] = {s0, (-4L) + s1};
}
";

/// A tensor of zeros with sizes and strides.
fn zeros(sizes: &[i64], strides: &[i64]) -> usize {
    let memory = tensor(&[0.0_f32; 4096], F32, &[4096]);
    let made = as_strided(memory, sizes, strides);
    release(memory);
    made
}

/// The strides of elements that lie one after another.
fn dense(sizes: &[i64]) -> Vec<i64> {
    (0..sizes.len()).map(|dim| sizes[dim + 1..].iter().product::<i64>().max(1)).collect()
}

fn run(model: usize, inputs: &[usize]) -> Result<(), String> {
    let mut output = [0];
    run_model(model, inputs, &mut output)?;
    release(output[0]);
    Ok(())
}

#[test]
fn sizes_and_strides_are_compared_in_every_run() {
    let folder = folder("shapes");
    let library = std::fs::read(compiled(&folder, &["-DINPUTS=4"])).unwrap();
    let load = |source: Option<&str>| {
        let mut files: Vec<(&str, &[u8])> =
            vec![("archive_format", b"pt2"), ("data/aotinductor/model/m.so", &library)];
        files.extend(source.map(|it| ("data/aotinductor/model/m.wrapper.cpp", it.as_bytes())));
        let path = folder.join("package.pt2");
        std::fs::write(&path, package(&files)).unwrap();
        load_model(&path).unwrap()
    };
    let model = load(Some(SOURCE));
    let words = described(model);
    for line in [
        "input 0: x float32[2..20, 6..] on cpu",
        "input 1: x float32[4..40, 3] on cpu, where dimension 0 is 2*s0",
        "input 2: x float32[] on cpu",
        "input 3: x float32[4, 2..20] on cpu, where dimension 1 is s0",
        "s0 is the size of dimension 0 of input 0 (x)",
        "sizes with no relation in the source: dimension 0 of input 0 (x), dimension 1 of input 0 (x); if the program \
         needs one, such as half the size, it is not compared",
    ] {
        assert!(words.lines().any(|found| found == line), "{line}\n{words}");
    }
    assert!(!words.contains("unchecked"), "{words}");
    let before = live();
    // The batch, rows of the first input, and what is passed instead of the right inputs.
    type Instead<'a> = &'a [(usize, &'a [i64], &'a [i64])];
    let right: Instead<'_> = &[];
    for (batch, rows, instead, words) in [
        (2, 6, right, ""),
        (20, 9, right, ""),
        (9, 300, right, ""),
        // Smaller than the compiler assumed.
        (1, 6, right, ""),
        (0, 6, right, ""),
        (9, 5, right, ""),
        (9, 4, right, ""),
        (
            9,
            3,
            right,
            "input 0 (x) is float32[9, 3] on cpu; the model takes float32[2..20, 6..] on cpu",
        ),
        (21, 6, right, "the model takes float32[2..20, 6..]"),
        // Sizes that depend on the batch.
        (
            9,
            6,
            &[(1, &[10, 3][..], &[][..])][..],
            "input 1 (x) has the sizes [10, 3]; the model takes 18 (2*s0) along dimension 0, \
                                           and s0 is 9, the size of dimension 0 of input 0 (x)",
        ),
        (20, 6, &[(1, &[4, 3], &[])], "takes 40 (2*s0) along dimension 0"),
        (9, 6, &[(1, &[9, 3], &[])], "takes 18 (2*s0)"),
        (1, 6, &[(1, &[4, 3], &[])], "takes 2 (2*s0)"),
        (
            9,
            6,
            &[(3, &[4, 8], &[1, 4])],
            "input 3 (x) has the sizes [4, 8]; the model takes 9 (s0) along dimension 1",
        ),
        (0, 6, &[(3, &[4, 1], &[1, 4])], "takes 0 (s0)"),
        // Numbers of dimensions, also of a single element.
        (
            9,
            6,
            &[(2, &[0], &[])],
            "input 2 (x) is float32[0] on cpu; the model takes float32[] on cpu",
        ),
        (9, 6, &[(2, &[1], &[])], "the model takes float32[] on cpu"),
        (9, 6, &[(0, &[9], &[])], "input 0 (x) is float32[9] on cpu"),
        (9, 6, &[(1, &[18, 3, 1], &[])], "input 1 (x) is float32[18, 3, 1]"),
        // Sizes come first, also those of later inputs.
        (
            9,
            6,
            &[(0, &[9, 6], &[8, 1]), (1, &[10, 3], &[])],
            "input 1 (x) has the sizes [10, 3]; the model takes 18 (2*s0)",
        ),
        // Strides that are numbers, and those that depend on sizes.
        (
            9,
            6,
            &[(1, &[18, 3], &[1, 18])],
            "input 1 (x) has the strides [1, 18]; the model was compiled for 3 along dimension 0, \
                                            1 along dimension 1",
        ),
        (
            9,
            6,
            &[(0, &[9, 6], &[8, 1])],
            "input 0 (x) has the strides [8, 1]; the model was compiled for 6 along dimension 0",
        ),
        (9, 6, &[(0, &[9, 6], &[0, 1])], "has the strides [0, 1]"),
        (9, 6, &[(3, &[4, 9], &[])], "input 3 (x) has the strides [9, 1]"),
        // Those of a single element, or of none, reach nothing.
        (1, 6, &[(0, &[1, 6], &[77, 1]), (3, &[4, 1], &[1, 1])], ""),
        (0, 6, &[(0, &[0, 6], &[77, 5])], ""),
    ] {
        let mut given = [
            (vec![batch, rows], dense(&[batch, rows])),
            (vec![2 * batch, 3], vec![3, 1]),
            (vec![], vec![]),
            (vec![4, batch], vec![1, 4]),
        ];
        for (input, sizes, strides) in instead {
            let strides = if strides.is_empty() { dense(sizes) } else { strides.to_vec() };
            given[*input] = (sizes.to_vec(), strides);
        }
        let given = given.map(|(sizes, strides)| zeros(&sizes, &strides));
        let what = format!("batch {batch}, {rows} rows, {instead:?}");
        // Also when the shapes were run before.
        for _ in 0..2 {
            match run(model, &given) {
                Ok(()) => assert_eq!(words, "", "{what} is accepted"),
                Err(why) => assert!(!words.is_empty() && why.contains(words), "{what}: {why}"),
            }
        }
        given.into_iter().for_each(release);
        assert_eq!(live(), before, "{what} leaks");
    }
    assert_eq!(sconce_model_unload(model), 0);

    // A symbol that follows from others is explained by them.
    let model = load(Some(
        &SOURCE
            .replace("{2L*s0, 3L}", "{s2, 3L}")
            .replace("int64_t s1 = a_size[1];", "int64_t s1 = a_size[1];\nint64_t s2 = 2L*s0;"),
    ));
    let words = described(model);
    for line in [
        "input 1: x float32[4..40, 3] on cpu, where dimension 0 is s2",
        "s2 is 2*s0",
        "s0 is the size of dimension 0 of input 0 (x)",
    ] {
        assert!(words.lines().any(|found| found == line), "{line}\n{words}");
    }
    let sizes: [&[i64]; 4] = [&[9, 6], &[10, 3], &[], &[4, 9]];
    let given = sizes.map(|sizes| zeros(sizes, &dense(sizes)));
    let why = run(model, &given).unwrap_err();
    assert!(why.ends_with("takes 18 (s2) along dimension 0, and s2 is 18, which is 2*s0"), "{why}");
    given.into_iter().for_each(release);
    assert_eq!(sconce_model_unload(model), 0);

    // Without the source nothing is compared, and the model says so.
    let model = load(None);
    let words = described(model);
    assert!(words.contains("unchecked inputs: 0, 1, 2, 3; the model's source"), "{words}");
    let given = [zeros(&[5], &[1]), zeros(&[], &[]), zeros(&[3, 3], &[3, 1]), zeros(&[1], &[1])];
    run(model, &given).unwrap();
    given.into_iter().for_each(release);
    assert_eq!(sconce_model_unload(model), 0);
}
