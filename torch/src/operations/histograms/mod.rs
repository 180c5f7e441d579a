//! Histograms.
//!
//! | file | idea |
//! |---|---|
//! | `counting` | numbers of values in bins |
//! | `bins_of_rows` | numbers of rows in bins of several dimensions |

pub mod bins_of_rows;
pub mod counting;
