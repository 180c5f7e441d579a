//! The page of a run: streams as lanes, operations in their order, what waits for what, and the reports.
//!
//! | file | idea |
//! |---|---|
//! | `history` | what is kept of a run |
//! | `run` | a copy of it in plain data, and as JSON |
//! | `page.html`, `page.css` | the page, which needs no network |
//! | `model.js` | the run, and where its parts stand |
//! | `draw.js` | the picture, of what is in view |
//! | `page.js` | the lists around it, and the tools |
#![forbid(unsafe_code)]

mod history;
mod run;

pub(crate) use history::{History, USUAL_OPERATIONS, WaitKind};
pub(crate) use run::Run;

pub(crate) const PAGE: &str = include_str!("page.html");
pub(crate) const STYLE: &str = include_str!("page.css");
pub(crate) const SCRIPT: &str =
    concat!(include_str!("model.js"), include_str!("draw.js"), include_str!("page.js"));

/// The words of the page that stand for the other files and for the run.
const STYLE_PLACE: &str = "/*STYLE*/";
const SCRIPT_PLACE: &str = "/*SCRIPT*/";
pub(crate) const RUN_PLACE: &str = ">RUN<";

/// The page that shows a run.
pub(crate) fn page(run: &Run) -> String {
    let page = PAGE.replacen(STYLE_PLACE, STYLE, 1).replacen(SCRIPT_PLACE, SCRIPT, 1);
    // In a script element `<` could end the script, or begin a comment; in JSON it stands in texts only.
    let json = run.json().replace('<', "\\u003c");
    page.replacen(RUN_PLACE, &format!(">{json}<"), 1)
}

/// The file of this process: `%p` in a path stands for the number of the process.
pub(crate) fn path_of_process(path: &str) -> String {
    path.replace("%p", &std::process::id().to_string())
}
