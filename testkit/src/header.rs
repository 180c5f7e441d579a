//! The C header: its text, its prototypes, and the sources that it is generated from.

/// One function of the header.
#[derive(Clone, Debug)]
pub struct Prototype {
    pub name: String,
    pub returns: String,
    /// Type and name of each parameter.
    pub parameters: Vec<(String, String)>,
}

/// The text of `sconce.h`.
pub fn text() -> String {
    let path = crate::root().join("include/sconce/sconce.h");
    std::fs::read_to_string(path).unwrap()
}

/// The functions of the header, in its order.
pub fn prototypes(header: &str) -> Vec<Prototype> {
    let mut code = String::new();
    let mut in_comment = false;
    for line in header.lines() {
        let line = line.trim();
        if line.starts_with("/*") {
            in_comment = true;
        }
        if !in_comment && !line.starts_with('#') && !line.starts_with("//") {
            code.push_str(line);
            code.push(' ');
        }
        if line.ends_with("*/") {
            in_comment = false;
        }
    }
    code.split(';')
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
