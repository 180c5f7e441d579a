//! This library's own kernels: their images, what they take, and how a launch is packed. See
//! `docs/design/kernels.md`.
//!
//! The modules that launch kernels pack with it, and the simulator, which runs the kernels on the CPU,
//! reads the same slots. The runtime's `kernel_loader` loads an image on a device.
//!
//! | file | idea |
//! |---|---|
//! | `images` | the images that come with the library |
//! | `signature` | the parameters of every kernel, and packing that is checked against them |
//! | `divisor` | division by multiplication, as the kernels divide |
//! | `rows`, `strided` | copies of rows, and of elements with strides |
//! | `pointwise`, `flat`, `few`, `transposed` | element-wise operations, on contiguous elements, on few, and in tiles |
//! | `scale` | multiplication in place |
//! | `ordering` | sorts, selections and joins |
//! | `reduction` | reductions, softmax and running sums |
//! | `random` | random fills, and pieces of a captured generator's sequence |
//! | `small_product` | products of small matrices |
//! | `control` | conditions of graphs, and a kernel that keeps a stream busy |

mod control;
mod divisor;
mod few;
mod flat;
pub mod images;
mod ordering;
mod pointwise;
mod random;
mod reduction;
mod rows;
mod scale;
mod signature;
mod small_product;
mod strided;
mod transposed;

pub use control::{SET_CONDITION_KERNEL, SLEEP_KERNEL, condition_launch, sleep_launch};
pub use few::{FewElements, few_launch};
pub use flat::PointwiseForm;
pub use ordering::{
    BlockLaunch, CountLaunch, IS_WHOLE, JOIN_BYTES, JOIN_PARTS, JoinLaunch, JoinRows, LinesLaunch,
    MANY_BYTES, MANY_PIECES, ManyLaunch, ManyPiece, PassLaunch, PassWork, SELECT_AXES, SELECT_DST,
    SELECT_ELEMENTS, SELECT_INDEX, SELECT_SRC, SORT_AXES, SORT_BINS, SORT_LINES_MOST, SelectAxis,
    SelectLaunch, SortAxis, SortSides, sort_tile, sort_tiles,
};
pub use ordering::{
    JOIN_MANY_NAME, SORT_KERNELS, SORT_LINES_LONGEST, SORT_WIDTHS, join_kernel_name,
    select_kernel_name, sort_block_name, sort_count_name, sort_kernel_index, sort_lines_name,
    sort_pass_name, sort_width_index,
};
pub use pointwise::{
    POINTWISE_ELEMENTS, PointwiseLaunch, pointwise_axes, pointwise_kernel_name, pointwise_launch,
};
pub use random::{
    FillLaunch, PERMUTE_KERNEL, PermuteLaunch, TAKE_KERNEL, TakeLaunch, fill_kernel_name,
};
pub use reduction::{
    COLUMN_THREADS, LINE_AXES, LINE_THREADS, LineForm, LineKernel, LineLaunch, REDUCE_AXES,
    ROW_THREADS, ReduceAxes, ReduceAxis, ReduceForm, ReduceImage, ReduceKernel, ReduceLaunch,
    SHORT_THREADS, SOFTMAX_THREADS, chain_tile,
};
pub use rows::RowsLaunch;
pub use rows::{RowsSide, rows_cell_shift, rows_kernel_name, rows_launch};
pub use scale::ScaleLaunch;
pub use scale::{ScaleAxis, scale_kernel_name, scale_launch};
pub use signature::{
    ADD_U32, COPY_ROWS, COPY_STRIDED, FILL_U32, JOIN, JOIN_MANY, POINTWISE_1, POINTWISE_2,
    POINTWISE_3, Parameter, RANDOM_FILL, RANDOM_PERMUTE, RANDOM_TAKE, SCALE, SELECT, SET_CONDITION,
    SLEEP, SMALL_PRODUCT, SORT_BLOCK, SORT_COUNT, SORT_LINES, SORT_PASS, Signature, TRANSPOSED,
};
pub use signature::{REDUCE, SOFTMAX};
pub use small_product::{
    ProductMatrix, SMALL_PRODUCT_KERNELS, SUM_GROUPS, SmallProductLaunch, small_product_index,
};
pub use strided::StridedLaunch;
pub use strided::{
    STRIDED_AXES, STRIDED_ELEMENTS, StridedAxis, strided_kernel_name, strided_launch,
};
pub use transposed::{read_transposed, transposed_kernel_name, transposed_launch};
