//! The structs of the header that begin with their own size, laid out as C does.

use std::collections::BTreeMap;

/// A field, of one or several elements.
#[derive(Clone, Debug)]
pub struct Field {
    pub name: String,
    /// Its type's spelling, or that of its elements.
    pub kind: String,
    pub offset: usize,
    pub bytes: usize,
}

#[derive(Clone, Debug, Default)]
pub struct Struct {
    pub name: String,
    pub fields: Vec<Field>,
    pub bytes: usize,
    alignment: usize,
}

impl Struct {
    pub fn tells_its_size(&self) -> bool {
        self.fields.first().is_some_and(|field| field.name == "struct_size")
    }
}

/// The text without comments.
fn code(header: &str) -> String {
    let mut code = String::new();
    let mut rest = header;
    while let Some((before, comment)) = rest.split_once("/*") {
        code.push_str(before);
        rest = comment.split_once("*/").unwrap().1;
    }
    code + rest
}

/// All structs of the header that have fields.
pub fn structs(header: &str) -> BTreeMap<String, Struct> {
    let code = code(header);
    let number = |text: &str| {
        text.parse().unwrap_or_else(|_| {
            let define = format!("#define {text} ");
            let (_, rest) = code.split_once(&define).unwrap();
            rest.lines().next().unwrap().trim().parse::<usize>().unwrap()
        })
    };
    let mut found = BTreeMap::<String, Struct>::new();
    for definition in code.split("typedef struct ").skip(1) {
        let Some((name, body)) = definition.split_once(" {") else { continue };
        if name.contains(';') {
            continue;
        }
        let body = body.split_once('}').unwrap().0;
        let mut made = Struct { name: name.to_owned(), alignment: 1, ..Struct::default() };
        for line in body.split(';').map(str::trim).filter(|line| !line.is_empty()) {
            let at = line.rfind([' ', '*']).unwrap() + 1;
            let (kind, declared) = (line[..at].trim(), &line[at..]);
            let (name, count) = match declared.split_once('[') {
                Some((name, count)) => (name, number(count.trim_end_matches(']'))),
                None => (declared, 1),
            };
            let (bytes, alignment) = match kind {
                "bool" | "char" | "uint8_t" => (1, 1),
                "int32_t" | "uint32_t" => (4, 4),
                "int64_t" | "uint64_t" | "size_t" | "double" => (8, 8),
                pointer if pointer.ends_with('*') => (8, 8),
                other => match found.get(other.trim_start_matches("struct ")) {
                    Some(inner) => (inner.bytes, inner.alignment),
                    None => panic!("{name}: this test does not know {other}; teach it"),
                },
            };
            let offset = made.bytes.next_multiple_of(alignment);
            made.bytes = offset + bytes * count;
            made.alignment = made.alignment.max(alignment);
            let (name, kind) = (name.to_owned(), kind.to_owned());
            made.fields.push(Field { name, kind, offset, bytes: bytes * count });
        }
        made.bytes = made.bytes.next_multiple_of(made.alignment);
        found.insert(made.name.clone(), made);
    }
    found
}
