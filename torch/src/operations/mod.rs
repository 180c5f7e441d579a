//! Operations that libsconce.so does not have, since PyTorch's models and kernel libraries alone need them.
//!
//! Each has a version for the CPU, written as plain loops, and kernels of `torch/kernels` for devices. A file or folder
//! is a family; the rest is what families share:
//!
//! | file | idea |
//! |---|---|
//! | `signals/` | signals |
//! | `images/` | images of another size |
//! | `histograms/` | histograms |
//! | `layout` | where the elements of a tensor lie |
//! | `walk` | loops over the elements of several tensors |
//! | `element` | types of elements: conversion, arithmetic, choice by a tensor's type |
//! | `tensors` | new tensors |
//! | `testing` | tensors for tests, random cases |
//! | `indexed/` | elements at indices: reads, writes, writes that combine |
//! | `bags/` | embeddings of bags |
//! | `selected` | where a mask is true: nonzero, masked_select, masked_scatter |
//! | `advanced_indexing/` | lists of indices for several dimensions, and masks: index, index_put |
//! | `ordering/` | sorted lines: sort, topk, kthvalue, medians |
//! | `search` | where values belong in sorted lines; repeated indices |
//! | `unique` | values that differ, counts of whole numbers |
//! | `running` | running maxima, minima and logarithms of sums |
//! | `special/` | special functions: Bessel's, the gamma function's relatives, orthogonal polynomials |
//! | `elementwise` | sums, products and powers, and what is made of them |
//! | `transcendental/` | inverse functions of angles, hyperbolic functions, logarithms |
//! | `integers` | the greatest common divisor |
//! | `variance` | variances |
//! | `views` | views of other types, other sizes in place |
//! | `counting`, `bins_of_rows` | histograms |
//! | `distance/` | distances between rows, and their gradients |
//! | `segments` | sums, means, products and extremes of segments |
//! | `sampling/` | images at the places of a grid, and gradients |
//! | `convolution/` | convolutions, transposed ones, gradients |
//! | `pooling/` | the largest element or the mean of each window of an image, and gradients |
//! | `recurrent/` | recurrent networks |
//! | `random/` | random numbers: fills, dropout, samples |
//! | `products/` | products of integers, 8-bit and 16-bit numbers |
//! | `solvers/` | linear equations and factors of matrices |
//! | `packed/` | constants that PyTorch packed for oneDNN |
//! | `fused/` | convolutions and products with operations on elements behind them |
//! | `quantized/` | the same of 8-bit integers with scales; products with weights of 4 bits |

#[macro_use]
pub mod element;
pub mod advanced_indexing;
pub mod bags;
pub mod convolution;
pub mod distance;
pub mod elementwise;
pub mod fused;
pub mod histograms;
pub mod images;
pub mod indexed;
pub mod integers;
pub mod layout;
pub mod ordering;
pub mod packed;
pub mod pooling;
pub mod products;
pub mod quantized;
pub mod random;
pub mod recurrent;
pub mod running;
pub mod sampling;
pub mod search;
pub mod segments;
pub mod selected;
pub mod signals;
pub mod solvers;
pub mod special;
pub mod tensors;
#[cfg(test)]
pub mod testing;
#[cfg(test)]
mod threads_tests;
pub mod transcendental;
pub mod unique;
pub mod variance;
pub mod views;
pub mod walk;
