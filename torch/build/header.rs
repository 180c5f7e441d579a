//! Reads the C headers of libsconce, which a generator writes in a regular form, and declares the same in Rust.

use std::fmt::Write;
use std::path::{Path, PathBuf};

/// The headers that `sconce_all.h` includes.
pub(crate) fn files(include: &Path) -> Vec<PathBuf> {
    let all = std::fs::read_to_string(include.join("sconce/sconce_all.h")).unwrap();
    all.lines()
        .filter_map(|line| line.strip_prefix("#include <")?.strip_suffix('>'))
        .map(|file| include.join(file))
        .collect()
}

/// What the header declares.
pub(crate) struct Header {
    /// Names and values of constants, those of enums included.
    constants: Vec<(String, String)>,
    /// Types that stand for numbers.
    numbers: Vec<(String, &'static str)>,
    opaque: Vec<String>,
    structs: Vec<(String, Vec<Declared>)>,
    callbacks: Vec<Function>,
    pub(crate) functions: Vec<Function>,
}

/// A function, or the type of one.
pub(crate) struct Function {
    pub(crate) name: String,
    result: String,
    parameters: Vec<Declared>,
}

/// A field or a parameter.
struct Declared {
    name: String,
    rust: String,
}

impl Header {
    pub(crate) fn read(text: &str) -> Header {
        let text = without_comments(&in_cpp(text));
        let mut header = Header {
            constants: Vec::new(),
            numbers: Vec::new(),
            opaque: Vec::new(),
            structs: Vec::new(),
            callbacks: Vec::new(),
            functions: Vec::new(),
        };
        let mut code = String::new();
        let mut continued = false;
        for line in text.lines() {
            let is_directive = continued || line.trim_start().starts_with('#');
            continued = is_directive && line.trim_end().ends_with('\\');
            if !is_directive {
                code.push_str(line);
                code.push(' ');
            } else if let Some(defined) = line.trim().strip_prefix("#define SCONCE_") {
                let mut words = defined.split_whitespace();
                if let (Some(name), Some(value), None) = (words.next(), words.next(), words.next())
                    && value.parse::<i64>().is_ok()
                {
                    header.constants.push((format!("SCONCE_{name}"), value.to_owned()));
                }
            }
        }
        for statement in statements(&code) {
            header.take(&statement);
        }
        assert!(header.functions.len() > 300, "the headers were not understood");
        header
    }

    fn take(&mut self, statement: &str) {
        let statement = statement.trim().trim_start_matches("SCONCE_NODISCARD").trim();
        if let Some(rest) = statement.strip_prefix("enum ") {
            let (head, body) = rest.split_once('{').unwrap_or((rest, ""));
            let mut head = head.split([' ', ':']).filter(|word| !word.is_empty());
            let (name, kind) = (head.next().unwrap(), head.next().unwrap_or("int32_t"));
            self.numbers.push((name.to_owned(), number(kind).unwrap()));
            for value in body.trim_end_matches('}').split(',') {
                if let Some((name, value)) = value.split_once('=') {
                    self.constants.push((name.trim().to_owned(), value.trim().to_owned()));
                }
            }
        } else if let Some(rest) = statement.strip_prefix("typedef struct ") {
            match rest.split_once('{') {
                None => self.opaque.push(rest.split(' ').next().unwrap().to_owned()),
                Some((name, body)) => {
                    let fields = body.rsplit_once('}').unwrap().0;
                    let fields = fields.split(';').filter(|field| !field.trim().is_empty());
                    self.structs.push((name.trim().to_owned(), fields.map(field).collect()));
                }
            }
        } else if let Some(rest) = statement.strip_prefix("struct ") {
            self.opaque.push(rest.trim().to_owned());
        } else if let Some(rest) = statement.strip_prefix("typedef ") {
            if let Some((result, rest)) = rest.split_once("(*") {
                let (name, parameters) = rest.split_once(")(").unwrap();
                self.callbacks.push(function(result, name, parameters));
            }
        } else if let Some((head, parameters)) = statement.split_once('(') {
            let at = head.rfind([' ', '*']).unwrap() + 1;
            self.functions.push(function(&head[..at], &head[at..], parameters));
        }
    }

    /// The declarations in Rust.
    pub(crate) fn rust(&self) -> String {
        let mut rust = String::from("use std::ffi::{c_char, c_void};\n");
        for (name, value) in &self.constants {
            writeln!(rust, "pub const {name}: i32 = {value};").unwrap();
        }
        for (name, kind) in &self.numbers {
            writeln!(rust, "pub type {name} = {kind};").unwrap();
        }
        for name in &self.opaque {
            writeln!(rust, "#[repr(C)] pub struct {name} {{ _private: [u8; 0] }}").unwrap();
        }
        for (name, fields) in &self.structs {
            writeln!(rust, "#[repr(C)] #[derive(Clone, Copy)] pub struct {name} {{").unwrap();
            fields
                .iter()
                .for_each(|field| writeln!(rust, "pub {}: {},", field.name, field.rust).unwrap());
            rust.push_str("}\n");
        }
        for callback in &self.callbacks {
            let (name, parameters, result) = callback.parts();
            writeln!(
                rust,
                "pub type {name} = Option<unsafe extern \"C\" fn({parameters}){result}>;"
            )
            .unwrap();
        }
        rust.push_str("unsafe extern \"C\" {\n");
        for declared in &self.functions {
            let checked = self.checked(declared);
            let safety = if checked.is_some() { "safe" } else { "unsafe" };
            let (name, parameters, result) = checked.as_ref().unwrap_or(declared).parts();
            writeln!(rust, "pub {safety} fn {name}({parameters}){result};").unwrap();
        }
        rust.push_str("}\n");
        rust
    }
}

impl Header {
    /// The function with references for the places of its results, if no call of it can be unsound: its parameters are
    /// numbers, handles, which libsconce.so checks ("never dereferenced on the host", says the header), and `out_…`
    /// places for one number or pointer each. A place for bytes is an array, and one beside a number of bytes or entries
    /// may be. A pointer to a struct of numbers is an optional reference, unless the struct has its size: that is read as
    /// far as it says.
    fn checked(&self, function: &Function) -> Option<Function> {
        let mut parameters = Vec::new();
        for parameter in &function.parameters {
            let rust = parameter.rust.as_str();
            let rust = match rust.strip_prefix("*mut ").or_else(|| rust.strip_prefix("*const ")) {
                None if self.is_word(rust) => rust.to_owned(),
                Some(target) if self.opaque.iter().any(|name| name == target) => rust.to_owned(),
                Some(target)
                    if parameter.name.starts_with("out_")
                        && rust.starts_with("*mut ")
                        && (self.is_word(target) || target.starts_with('*'))
                        && target != "u8"
                        && function.parameters.iter().all(|other| other.rust != "usize") =>
                {
                    format!("&mut {target}")
                }
                Some(target)
                    if rust.starts_with("*const ")
                        && self.structs.iter().any(|(name, _)| name == target)
                        && self.is_word(target)
                        && function.parameters.iter().all(|other| other.rust != "usize") =>
                {
                    format!("Option<&{target}>")
                }
                _ => return None,
            };
            parameters.push(Declared { name: parameter.name.clone(), rust });
        }
        Some(Function { name: function.name.clone(), result: function.result.clone(), parameters })
    }

    /// Whether a type is a number, or a struct of numbers that is passed by value.
    fn is_word(&self, rust: &str) -> bool {
        self.numbers.iter().any(|(name, _)| name == rust)
            || self.structs.iter().any(|(name, fields)| {
                name == rust
                    && fields
                        .iter()
                        .all(|field| field.name != "struct_size" && is_number(&field.rust))
            })
            || is_number(rust)
    }
}

/// Whether a Rust type is a number.
fn is_number(rust: &str) -> bool {
    matches!(
        rust,
        "bool"
            | "f32"
            | "f64"
            | "usize"
            | "isize"
            | "i8"
            | "i16"
            | "i32"
            | "i64"
            | "u8"
            | "u16"
            | "u32"
            | "u64"
    )
}

impl Function {
    fn parts(&self) -> (&str, String, String) {
        let parameters: Vec<String> = self
            .parameters
            .iter()
            .map(|parameter| format!("{}: {}", parameter.name, parameter.rust))
            .collect();
        let result = match self.result.as_str() {
            "" => String::new(),
            result => format!(" -> {result}"),
        };
        (&self.name, parameters.join(", "), result)
    }
}

/// The text as C++ reads it, in which an enum has its type, without the braces of `extern "C"`.
fn in_cpp(text: &str) -> String {
    let (mut cpp, mut in_branch, mut skips) = (String::new(), false, false);
    for line in text.lines() {
        match line {
            "#ifdef __cplusplus" => in_branch = true,
            "#else" if in_branch => skips = true,
            "#endif" if in_branch => (in_branch, skips) = (false, false),
            "extern \"C\" {" | "}  // extern \"C\"" => {}
            _ if skips => {}
            line => {
                cpp.push_str(line);
                cpp.push('\n');
            }
        }
    }
    cpp
}

fn without_comments(text: &str) -> String {
    let mut code = String::new();
    let mut rest = text;
    while let Some((before, comment)) = rest.split_once("/*") {
        code.push_str(before);
        rest = comment.split_once("*/").unwrap().1;
    }
    code.push_str(rest);
    let mut lines = String::new();
    for line in code.lines() {
        lines.push_str(line.split("//").next().unwrap());
        lines.push('\n');
    }
    lines
}

/// The statements outside of braces, without their semicolon.
fn statements(code: &str) -> Vec<String> {
    let (mut found, mut statement, mut depth) = (Vec::new(), String::new(), 0_usize);
    for character in code.chars() {
        match character {
            '{' => depth += 1,
            // The end of `extern "C"` has no begin here.
            '}' if depth == 0 => continue,
            '}' => depth -= 1,
            ';' if depth == 0 => {
                found.push(statement.split_whitespace().collect::<Vec<_>>().join(" "));
                statement.clear();
                continue;
            }
            _ => {}
        }
        statement.push(character);
    }
    found
}

fn function(result: &str, name: &str, parameters: &str) -> Function {
    let parameters = parameters.trim().trim_end_matches(')').split(',');
    let result = result.replace("typedef", "");
    Function {
        name: name.trim().to_owned(),
        result: match result.trim() {
            "void" => String::new(),
            result => rust_type(result),
        },
        parameters: parameters
            .map(str::trim)
            .filter(|parameter| !parameter.is_empty() && *parameter != "void")
            .map(parameter)
            .collect(),
    }
}

fn parameter(declaration: &str) -> Declared {
    let mut declared = field(declaration);
    // An array as a parameter is a pointer.
    if declared.rust.starts_with('[') {
        let element = declared.rust[1..].split(';').next().unwrap().to_owned();
        declared.rust = format!("*mut {element}");
    }
    declared
}

fn field(declaration: &str) -> Declared {
    let declaration = declaration.trim();
    let (declaration, count) = match declaration.split_once('[') {
        Some((declaration, count)) => (declaration, Some(count.trim_end_matches(']'))),
        None => (declaration, None),
    };
    let at = declaration.rfind([' ', '*']).unwrap() + 1;
    let (kind, name) = declaration.split_at(at);
    let rust = rust_type(kind.trim());
    let name = match name {
        "type" | "ref" | "in" | "where" => format!("r#{name}"),
        _ => name.to_owned(),
    };
    Declared {
        name,
        rust: count.map_or(rust.clone(), |count| format!("[{rust}; {count} as usize]")),
    }
}

/// The Rust type of a C type such as `struct sconce_tensor *const *`.
fn rust_type(c: &str) -> String {
    let (base, pointers) = match c.find('*') {
        Some(at) => c.split_at(at),
        None => (c, ""),
    };
    let mut is_const = base.contains("const");
    let base = base.replace("const", "").replace("struct", "").trim().to_owned();
    let mut rust = match base.as_str() {
        "void" => "c_void".to_owned(),
        "char" => "c_char".to_owned(),
        other => number(other).map_or(other.to_owned(), str::to_owned),
    };
    for pointer in pointers.split('*').skip(1) {
        rust = format!("*{} {rust}", if is_const { "const" } else { "mut" });
        is_const = pointer.contains("const");
    }
    rust
}

fn number(c: &str) -> Option<&'static str> {
    Some(match c {
        "bool" => "bool",
        "float" => "f32",
        "double" => "f64",
        "size_t" => "usize",
        "int8_t" => "i8",
        "int16_t" => "i16",
        "int32_t" => "i32",
        "int64_t" => "i64",
        "uint8_t" => "u8",
        "uint16_t" => "u16",
        "uint32_t" => "u32",
        "uint64_t" => "u64",
        "uintptr_t" => "usize",
        "ptrdiff_t" => "isize",
        _ => return None,
    })
}
