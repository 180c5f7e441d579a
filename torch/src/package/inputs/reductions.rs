//! Sizes that kernels of the CPU sum over.

use std::collections::HashMap;

use super::super::expressions::Expression;

/// Kernels and sums beyond these are not read.
const MOST_KERNELS: usize = 1 << 14;
const MOST_SUMS: usize = 64;

/// What a kernel sums over, as products of its own sizes (`ks0` and so on), which are its last parameters.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct KernelSums {
    sizes: Vec<String>,
    sums: Vec<Expression>,
}

impl KernelSums {
    /// The same as expressions of what a call passes for the kernel's sizes.
    pub(super) fn called<'a>(
        &'a self,
        arguments: &'a [Option<Expression>],
    ) -> impl Iterator<Item = Expression> + 'a {
        let passed = arguments.len().checked_sub(self.sizes.len()).map(|first| &arguments[first..]);
        self.sums.iter().filter_map(move |sum| {
            let passed = passed?;
            sum.with(&|size| passed.get(size)?.clone())
        })
    }
}

/// A kernel while it is read.
#[derive(Default)]
struct KernelReader {
    name: Option<String>,
    kernel: KernelSums,
    depth: usize,
    /// The loops that a line is in: where they begin, and how often they run.
    loops: Vec<(usize, Option<Expression>)>,
    /// Sums that began: where, and in how many loops.
    begun: Vec<(usize, usize)>,
}

/// The kernels of a source, by their names.
pub(super) fn kernels(source: &str) -> HashMap<String, KernelSums> {
    let mut found = HashMap::new();
    let mut reader = KernelReader::default();
    for line in source.lines().map(str::trim) {
        if let Some(begin) = line.strip_prefix("extern \"C\"  void  ") {
            reader.finish(&mut found);
            let name = begin.split('(').next().unwrap_or_default();
            reader.name = Some(name.to_owned());
        }
        if reader.name.is_some() {
            let _ = reader.line(line);
        }
    }
    reader.finish(&mut found);
    found
}

impl KernelReader {
    fn finish(&mut self, found: &mut HashMap<String, KernelSums>) {
        let KernelReader { name, kernel, .. } = std::mem::take(self);
        if let Some(name) = name.filter(|_| !kernel.sums.is_empty() && found.len() < MOST_KERNELS) {
            found.insert(name, kernel);
        }
    }

    fn line(&mut self, line: &str) -> Option<()> {
        if self.depth == 0 {
            // `const int64_t ks0,` and others on the line.
            let sizes = line.split("const int64_t ").skip(1);
            let names = sizes.filter_map(|size| size.split([',', ')']).next());
            self.kernel.sizes.extend(names.map(|name| name.trim().to_owned()));
        }
        if line.starts_with("for(") || line.starts_with("for (") {
            let count = line.split(';').nth(1).and_then(|condition| condition.split_once('<'));
            let size = |name: &str| self.kernel.sizes.iter().position(|known| known == name);
            let count = count.and_then(|(_, count)| Expression::parse(count, &size));
            self.loops.push((self.depth, count));
        } else if line.starts_with("float tmp_acc") {
            self.begun.push((self.depth, self.loops.len()));
        } else if line.contains("tmp_acc") && line.contains(" = ") {
            self.sum(line);
        }
        for at in line.chars() {
            match at {
                '{' => self.depth += 1,
                '}' => {
                    self.depth = self.depth.saturating_sub(1);
                    self.loops.retain(|(depth, _)| *depth < self.depth);
                    self.begun.retain(|(depth, _)| *depth <= self.depth);
                }
                _ => {}
            }
        }
        Some(())
    }

    /// `tmp_acc0_vec = tmp_acc0_vec + tmp0;`, in loops that are within the sum.
    fn sum(&mut self, line: &str) -> Option<()> {
        let is_update = line.starts_with("tmp_acc") || line.starts_with("masked_tmp_acc");
        let &(_, outside) = self.begun.last().filter(|_| is_update)?;
        let within: Option<Vec<Expression>> =
            self.loops.get(outside..)?.iter().map(|(_, count)| count.clone()).collect();
        let sum = Expression::Product(within.filter(|within| !within.is_empty())?);
        if self.kernel.sums.len() < MOST_SUMS && !self.kernel.sums.contains(&sum) {
            self.kernel.sums.push(sum);
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = r#"
#include <torch/csrc/inductor/cpp_prefix.h>
extern "C"  void  cpp_fused_mean_0(const float* in_ptr0,
                       float* out_ptr0,
                       const int64_t ks0,
                       const int64_t ks1)
{
    {
        #pragma GCC ivdep
        for(int64_t x0=static_cast<int64_t>(0L); x0<static_cast<int64_t>(ks0); x0+=static_cast<int64_t>(1L))
        {
            {
                float tmp_acc0 = 0;
                at::vec::Vectorized<float> tmp_acc0_vec = at::vec::Vectorized<float>(0);
                for(int64_t x1=static_cast<int64_t>(0L); x1<static_cast<int64_t>(ks1); x1+=static_cast<int64_t>(1L))
                {
                    for(int64_t x2=static_cast<int64_t>(0L); x2<static_cast<int64_t>(64L); x2+=static_cast<int64_t>(16L))
                    {
                        tmp_acc0_vec = tmp_acc0_vec + tmp11;
                    }
                }
                tmp_acc0 = tmp_acc0 + at::vec::vec_reduce_all<float, 1>(tmp_acc0_vec);
            }
        }
    }
    {
        float tmp_acc0 = 0;
        for(int64_t x0=static_cast<int64_t>(0L); x0<static_cast<int64_t>(8L*ks0); x0+=static_cast<int64_t>(16L))
        {
            tmp_acc0_vec = cascade_sum_combine(tmp0, &cascade_helper0);
        }
    }
    for(int64_t x0=static_cast<int64_t>(0L); x0<static_cast<int64_t>(ks1); x0+=static_cast<int64_t>(1L))
    {
        auto tmp0 = in_ptr0[x0];
    }
}
extern "C"  void  cpp_fused_add_1(const float* in_ptr0, const int64_t ks0)
{
    for(int64_t x0=static_cast<int64_t>(0L); x0<static_cast<int64_t>(ks0); x0+=static_cast<int64_t>(1L))
    {
    }
}
"#;

    #[test]
    fn sums_of_kernels_are_read() {
        let read = kernels(SOURCE);
        assert_eq!(read.len(), 1);
        let symbol = |name: &str| name.strip_prefix('s').and_then(|number| number.parse().ok());
        let passed = ["(float*)(buf0.data_ptr())", "s5", "s7 + 1L"];
        let passed = passed.map(|argument| Expression::parse(argument, &symbol));
        let sums: Vec<Expression> = read["cpp_fused_mean_0"].called(&passed).collect();
        let words: Vec<String> =
            sums.iter().map(|sum| sum.words(&|symbol| format!("s{symbol}"))).collect();
        assert_eq!(words, ["(s7 + 1)*64", "8*s5"]);
        assert_eq!(read["cpp_fused_mean_0"].called(&passed[..1]).count(), 0);
        for length in (0..SOURCE.len()).filter(|at| SOURCE.is_char_boundary(*at)) {
            let _ = kernels(&SOURCE[..length]);
        }
        let _ = kernels(&"extern \"C\"  void  f(\n}}}}\nfor(;;)\n".repeat(1000));
    }
}
