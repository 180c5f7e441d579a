//! Graphs as text in the language of Graphviz.
#![forbid(unsafe_code)]

use std::fmt::Write as _;

use super::graphs::{Graph, GraphNode};

/// The text of a graph.
pub(crate) fn text_of(graph: &Graph) -> String {
    let mut text = "digraph graph_1 {\n".to_owned();
    write_nodes(graph, "node", &mut text);
    text.push_str("}\n");
    text
}

/// Writes the body of a conditional node. `node` is the name of the node, and `number` that of the body.
pub(crate) fn write_body(body: &Graph, node: &str, number: usize, text: &mut String) {
    let name = format!("{node}_{number}");
    // Writing to a string does not fail.
    let _ = writeln!(text, "  subgraph cluster_{name} {{\n  label=\"{node}, body {number}\";");
    write_nodes(body, &name, text);
    text.push_str("  }\n");
}

/// Writes the nodes of a graph, whose names begin with `prefix`.
fn write_nodes(graph: &Graph, prefix: &str, text: &mut String) {
    let nodes = graph.contents.lock().nodes.clone();
    for (number, node) in nodes.iter().enumerate() {
        let name = format!("{prefix}_{number}");
        let _ = writeln!(text, "  {name} [label=\"{}\"];", label(number, node));
        for before in &node.after {
            let _ = writeln!(text, "  {prefix}_{before} -> {name};");
        }
        node.work.write_bodies(&name, text);
    }
}

fn label(number: usize, node: &GraphNode) -> String {
    let mut label = format!("{number}: {}", node.call.name());
    if let Some(details) = node.work.details() {
        // The name of a kernel is any text.
        let details = details.replace('\\', "\\\\").replace('"', "\\\"");
        let _ = write!(label, "\\n{}", details.replace('\n', "\\n"));
    }
    label
}
