//! PyTorch's ABI: operations that kernel libraries call by name, such as `aten::new_empty`.
