//! The parameters of the functions of PyTorch's C ABI as the sources have them, beside those of PyTorch's headers. A
//! function that a macro of its own makes is not compared: its source does not have the parameters beside the name.

use std::collections::BTreeMap;
use std::path::Path;

use super::FUNCTIONS;

/// What a pointer that is not known in more detail points to.
const OPAQUE: &str = "?*";

/// The types of C with other names in Rust. A tensor is a pointer, but no other one may be passed for it.
const NAMES: &[(&str, &str)] = &[
    ("int", "i32"),
    ("int8", "i8"),
    ("int16", "i16"),
    ("int32", "i32"),
    ("int64", "i64"),
    ("uint8", "u8"),
    ("uint16", "u16"),
    ("uint32", "u32"),
    ("uint64", "u64"),
    ("size", "usize"),
    ("float", "f32"),
    ("double", "f64"),
    ("StableIValue", "u64"),
    ("c_int", "i32"),
    ("c_char", "char"),
    ("c_void", "void"),
    ("CBool", "bool"),
    ("TensorHandle", "Tensor"),
];

/// A type of `functions.txt`, as text that is compared.
fn of_c(kind: &str) -> String {
    let name = kind.trim_end_matches('*');
    let stars = &kind[name.len()..];
    match NAMES.iter().find(|(known, _)| *known == name) {
        Some((_, known)) => format!("{known}{stars}"),
        None if name.ends_with("Handle") || ["function", "ParallelFunc"].contains(&name) => {
            OPAQUE.to_owned()
        }
        None => kind.to_owned(),
    }
}

/// The type of a parameter of an `extern "C"` function, as text that is compared.
fn of_rust(kind: &str) -> String {
    let kind = kind.trim();
    if kind == "Place<'_>" {
        return "Tensor*".to_owned();
    }
    if kind == "CText<'_>" {
        return "char*".to_owned();
    }
    let pointee =
        ["*const ", "*mut ", "Out<'_, "].iter().find_map(|start| kind.strip_prefix(start));
    if let Some(pointee) = pointee {
        let pointee = if kind.starts_with('O') { pointee.trim_end_matches('>') } else { pointee };
        let pointee = of_rust(pointee);
        return if pointee == OPAQUE { pointee } else { format!("{pointee}*") };
    }
    match NAMES.iter().find(|(known, _)| *known == kind) {
        Some((_, known)) => (*known).to_owned(),
        None if kind.starts_with(|first: char| first.is_ascii_lowercase())
            && !kind.contains(':') =>
        {
            kind.to_owned()
        }
        None => OPAQUE.to_owned(),
    }
}

/// The parameters in C of an argument of `abi_functions!`, as the macro's table says.
fn of_macro(kind: &str) -> Vec<String> {
    let inner = |start: &str, end: &str| kind.strip_prefix(start)?.strip_suffix(end);
    let list =
        |entry: &str, stars: &str| vec![format!("{}{stars}", of_rust(entry)), "i64".to_owned()];
    match kind {
        "Place" => return vec!["Tensor*".to_owned()],
        "CText" => return vec!["char*".to_owned()],
        "Option<CText>" => return vec!["char**".to_owned()],
        "Generator" => return vec![OPAQUE.to_owned()],
        "bool" => return vec!["i32".to_owned()],
        "Option<bool>" => return vec!["i32*".to_owned()],
        "NewTensor" => return ["i32*", "i32*", "i32*", "i32", "i32*"].map(str::to_owned).to_vec(),
        _ => {}
    }
    if let Some(entry) = inner("Option<&[", "]>") {
        return list(entry, "**");
    }
    if let Some(entry) = inner("&[", "]") {
        return list(entry, "*");
    }
    if kind.starts_with("[bool; ") {
        return list("i32", "*");
    }
    if let Some(entry) = inner("[Option<", ">]") {
        return list(entry, "**");
    }
    if let Some(value) = inner("Option<", ">").or_else(|| inner("Out<", ">")) {
        return vec![format!("{}*", of_rust(value))];
    }
    vec![of_rust(kind)]
}

/// The types of a list of parameters, which commas separate that are in no brackets.
fn types(parameters: &str) -> Vec<&str> {
    let (mut depth, mut begin, mut parts) = (0, 0, Vec::new());
    for (at, letter) in parameters.char_indices() {
        match letter {
            '<' | '[' | '(' => depth += 1,
            '>' | ']' | ')' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&parameters[begin..at]);
                begin = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&parameters[begin..]);
    parts.into_iter().filter_map(|part| Some(part.split_once(": ")?.1.trim())).collect()
}

/// The names in C of the tensors of a function of `abi_functions!`, in order.
fn tensors(parameters: &str) -> Vec<String> {
    let (mut depth, mut parts) = (0, vec![String::new()]);
    for letter in parameters.chars() {
        depth += i32::from("<[(".contains(letter)) - i32::from(">])".contains(letter));
        match letter {
            ',' if depth == 0 => parts.push(String::new()),
            _ => parts.last_mut().unwrap().push(letter),
        }
    }
    let named = parts.iter().filter_map(|part| part.split_once(": "));
    named
        .filter(|(_, kind)| kind.contains("TensorHandle"))
        // What a body does not use begins with an underscore here.
        .map(|(name, _)| name.rsplit(" as ").next().unwrap().trim().trim_start_matches('_'))
        .map(str::to_owned)
        .collect()
}

/// Adds the functions of a source with the types of their parameters.
fn read(source: &str, found: &mut BTreeMap<String, Vec<String>>) {
    for piece in source.split("extern \"C\" fn ").skip(1) {
        let Some((name, rest)) = piece.split_once('(') else { continue };
        let end = rest.find(") ->").into_iter().chain(rest.find(") {")).min();
        if let Some(end) = end.filter(|_| !name.contains('$')) {
            found.insert(name.to_owned(), types(&rest[..end]).into_iter().map(of_rust).collect());
        }
    }
    for (names, parameters) in operations(source) {
        let kinds: Vec<_> = types(&parameters).into_iter().flat_map(of_macro).collect();
        found.extend(names.into_iter().map(|name| (name, kinds.clone())));
    }
}

/// The functions of a source that `abi_functions!` makes: the names of those with one body, and their parameters.
fn operations(source: &str) -> Vec<(Vec<String>, String)> {
    let mut found = Vec::new();
    for piece in source.split("\nabi_functions! {\n").skip(1) {
        let (block, _) = piece.split_once("\n}\n").unwrap();
        // Two long names are on two lines.
        let block = block.replace("\n    | ", " | ").replace(" |\n    ", " | ");
        for function in block.split("\n    aoti_torch_").skip(1) {
            let (names, rest) = function.split_once('(').unwrap();
            let (parameters, _) = rest.split_once(") {").unwrap();
            let names = format!("aoti_torch_{names}").split(" | ").map(str::to_owned).collect();
            found.push((names, parameters.to_owned()));
        }
    }
    found
}

/// Reads all sources in a folder and below it.
fn read_all(folder: &Path, found: &mut BTreeMap<String, Vec<String>>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => read_all(&path, found),
            false => read(&std::fs::read_to_string(path).unwrap(), found),
        }
    }
}

/// Whether a function of C may have been declared with the one type and defined with the other.
fn are_one(first: &str, second: &str) -> bool {
    let is_pointer = |kind: &str| kind.ends_with('*') && !kind.starts_with("Tensor");
    first == second
        || (first == OPAQUE && is_pointer(second))
        || (second == OPAQUE && is_pointer(first))
}

/// Failures name the tensor that is wrong, as the header does.
#[test]
fn operations_have_the_headers_names_of_tensors() {
    let mut sources = Vec::new();
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => folders.push(path),
                false => sources.push(std::fs::read_to_string(path).unwrap()),
            }
        }
    }
    let declared: BTreeMap<&str, Vec<&str>> = FUNCTIONS
        .lines()
        .filter_map(|line| line.strip_suffix(')')?.split_once('('))
        .map(|(name, parameters)| {
            let parameters = parameters.split(", ").filter_map(|one| one.rsplit_once(' '));
            let is_result = |kind: &str, name: &str| {
                name.starts_with("ret") || (kind, name) == ("Tensor*", "out")
            };
            let tensors = parameters
                .filter(|(kind, name)| kind.starts_with("Tensor") && !is_result(kind, name))
                .map(|(_, name)| name.trim_start_matches('_'));
            (name, tensors.collect())
        })
        .collect();
    let (mut compared, mut wrong) = (0, Vec::new());
    for source in &sources {
        for (names, parameters) in operations(source) {
            let own = tensors(&parameters);
            for name in names {
                let Some(declared) = declared.get(name.as_str()) else { continue };
                compared += own.len();
                if own != *declared {
                    wrong.push(format!("{name}\n  here       {own:?}\n  in headers {declared:?}"));
                }
            }
        }
    }
    assert!(compared > 600, "the sources were not understood: {compared} tensors");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn functions_have_the_parameters_that_the_headers_declare() {
    let mut found = BTreeMap::new();
    read_all(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut found);
    let (mut compared, mut wrong) = (0, Vec::new());
    for line in FUNCTIONS.lines().filter(|line| !line.starts_with('#')) {
        let (name, parameters) = line.strip_suffix(')').unwrap().split_once('(').unwrap();
        let Some(own) = found.get(name) else { continue };
        let parameters = parameters.split(", ").filter_map(|one| one.rsplit_once(' '));
        let declared: Vec<_> = parameters.map(|(kind, _)| of_c(kind)).collect();
        compared += 1;
        let fits = own.len() == declared.len()
            && own.iter().zip(&declared).all(|(own, declared)| are_one(own, declared));
        if !fits {
            wrong.push(format!("{name}\n  here       {own:?}\n  in headers {declared:?}"));
        }
    }
    assert!(compared > 330, "the sources were not understood: {compared} functions");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
