//! A least-recently-used map with a limit in number and one in cost. Being built.
