//! The lines of a generated source: PyTorch writes a run as one statement a line.

/// The text between two others.
pub(super) fn between<'a>(text: &'a str, begin: &str, end: &str) -> Option<&'a str> {
    text.split_once(begin)?.1.split_once(end).map(|(inner, _)| inner)
}

/// The statements of a run, without their semicolons. A condition that one stands behind is left with it.
pub(super) fn statements_of_run(source: &str) -> impl Iterator<Item = &str> {
    // Not what computes constants, which has outputs of its own.
    let body = source.split_once("::run_impl(").map_or("", |(_, body)| body);
    let body = body.split_once("\n}").map_or(body, |(body, _)| body);
    body.lines().filter_map(|line| {
        let line = line.split("//").next().unwrap_or_default().trim();
        let line = line.strip_suffix('}').map_or(line, str::trim_end);
        line.strip_suffix(';')
    })
}

/// What is in the braces that a text begins with, and what follows them.
pub(super) fn braced(text: &str) -> Option<(&str, &str)> {
    let inner = text.strip_prefix('{')?;
    let mut depth = 1_usize;
    let end = inner.find(|at: char| {
        match at {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        depth == 0
    })?;
    Some((&inner[..end], &inner[end + 1..]))
}

/// The entries of a list, which may be calls with arguments.
pub(super) fn parts_of_list(list: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0_usize;
    let parts = list.split(move |at: char| {
        match at {
            '(' | '{' => depth += 1,
            ')' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        at == ',' && depth == 0
    });
    parts.map(str::trim).filter(|part| !part.is_empty())
}
