//! The C headers: their texts, declarations and prototypes, and the sources that they are generated from.

use std::path::PathBuf;

/// One function of the header.
#[derive(Clone, Debug)]
pub struct Prototype {
    pub name: String,
    pub returns: String,
    /// Type and name of each parameter.
    pub parameters: Vec<(String, String)>,
}

/// The headers of the C API, in the order in which `sconce_all.h` includes them.
pub fn files() -> Vec<PathBuf> {
    let include = crate::root().join("include");
    let all = std::fs::read_to_string(include.join("sconce/sconce_all.h")).unwrap();
    all.lines()
        .filter_map(|line| line.strip_prefix("#include <")?.strip_suffix('>'))
        .map(|file| include.join(file))
        .collect()
}

/// The texts of all headers of the C API.
pub fn text() -> String {
    files().iter().map(|file| std::fs::read_to_string(file).unwrap()).collect()
}

/// The declarations of a text, each with the comment before it. Blank lines separate them.
pub fn blocks(text: &str) -> Vec<String> {
    let (mut blocks, mut block) = (Vec::new(), String::new());
    let (mut braces, mut conditions) = (0_i32, 0_i32);
    for line in text.lines() {
        let is_comment = line.trim_start().starts_with(['*', '/']);
        if !is_comment {
            let count = |mark: char| line.matches(mark).count() as i32;
            braces += count('{') - count('}');
            conditions +=
                i32::from(line.starts_with("#if")) - i32::from(line.starts_with("#endif"));
        }
        if line.is_empty() && braces == 0 && conditions == 0 {
            blocks.extend((!block.is_empty()).then(|| std::mem::take(&mut block)));
        } else {
            block += line;
            block.push('\n');
        }
    }
    blocks.extend((!block.is_empty()).then_some(block));
    // An enum and the type of its values stand apart.
    let mut joined: Vec<String> = Vec::new();
    for block in blocks {
        let block = block.trim_end();
        match joined.last_mut() {
            Some(before) if block.starts_with("typedef ") && before.contains("\nenum ") => {
                *before += "\n";
                *before += block;
            }
            _ => joined.push(block.to_owned()),
        }
    }
    joined
}

/// A text without its comments and directives.
fn code(text: &str) -> String {
    let (mut code, mut in_comment, mut in_directive) = (String::new(), false, false);
    for line in text.lines().map(str::trim) {
        in_comment |= line.starts_with("/*");
        in_directive |= line.starts_with('#');
        let is_brace = line == "extern \"C\" {" || line.starts_with("}  // extern");
        if !in_comment && !in_directive && !is_brace && !line.starts_with("//") {
            code.push_str(line);
            code.push(' ');
        }
        in_comment &= !line.ends_with("*/");
        in_directive &= line.ends_with('\\');
    }
    code
}

/// The names in a declaration, those of its comment left out.
pub fn identifiers(block: &str) -> Vec<String> {
    let lines = block.lines().map(str::trim_start).filter(|line| !line.starts_with(['*', '/']));
    lines
        .flat_map(|line| line.split(|letter: char| !letter.is_alphanumeric() && letter != '_'))
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

/// The name that a declaration with its comment declares.
pub fn declared_name(block: &str) -> String {
    let code = code(block);
    let names = identifiers(block);
    let after = |word: &str| names.iter().skip_while(|name| *name != word).nth(1).unwrap().clone();
    match code.trim_start() {
        "" => after("define"),
        code if code.starts_with("enum ") => after("enum"),
        code if code.starts_with("typedef struct ") => after("struct"),
        code => {
            let head = match code.split_once("(*") {
                Some((_, head)) => head.split(')').next().unwrap(),
                None => code.split(['(', ';']).next().unwrap(),
            };
            head.trim_end().rsplit([' ', '*']).next().unwrap().to_owned()
        }
    }
}

/// An enum of cbindgen (`enum name { … }; typedef int32_t name;`) in a form that every parser reads: a type with
/// its size in C++, and in C constants without a tag, because old versions of bindgen confuse a tag and a type of one
/// name. Other declarations stay as they are.
pub fn plain_enum(block: &str) -> String {
    let Some((before, rest)) = block.split_once("\nenum ") else {
        return block.to_owned();
    };
    let (head, rest) = rest.split_once(" {\n").unwrap();
    let body = rest.split_once("};").unwrap().0;
    let name = head.split_whitespace().next().unwrap();
    let kind = head.split_once(" : ").and_then(|(_, kind)| kind.split_whitespace().next()).unwrap();
    format!(
        "{before}\n#ifdef __cplusplus\nenum {name} : {kind} {{\n#else\ntypedef {kind} {name};\nenum {{\n#endif\n{body}}};"
    )
}

/// The functions of the header, in its order.
pub fn prototypes(header: &str) -> Vec<Prototype> {
    code(header)
        .split(';')
        .filter(|statement| !statement.contains("typedef") && !statement.contains("(*"))
        .filter_map(|statement| {
            let (head, rest) = statement.split_once('(')?;
            let (returns, name) = head.trim().rsplit_once([' ', '*'])?;
            let name = name.trim().to_owned();
            if !name.starts_with("sconce_") {
                return None;
            }
            let parameters = rest.trim_end().trim_end_matches(')');
            Some(Prototype {
                name,
                returns: returns
                    .rsplit('}')
                    .next()
                    .unwrap_or(returns)
                    .replace("SCONCE_NODISCARD", "")
                    .trim()
                    .to_owned(),
                parameters: parameters
                    .split(',')
                    .map(str::trim)
                    .filter(|parameter| *parameter != "void" && !parameter.is_empty())
                    .map(|parameter| {
                        let at = parameter.rfind([' ', '*']).unwrap() + 1;
                        (parameter[..at].trim().to_owned(), parameter[at..].to_owned())
                    })
                    .collect(),
            })
        })
        .collect()
}

/// The sources of the C API, `src`.
pub fn boundary_sources() -> Vec<String> {
    let mut sources = Vec::new();
    let mut folders = vec![crate::root().join("src")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                sources.push(std::fs::read_to_string(path).unwrap());
            }
        }
    }
    sources
}
