// Which problems and executions are tested: the kernel list crossed with everything that must not
// matter. The full product would take hours, so kinds of input, affine forms and layouts take turns
// from problem to problem; every pair of a kernel with each of them occurs.
#pragma once

#include <string>
#include <vector>

#include "conformance/execution.hpp"
#include "equinorm/row_forms.hpp"

namespace equinorm::conformance {

/// One line of the kernel list with one pair of types.
struct Kernel {
  Op op = Op::layer_norm;
  Direction direction = Direction::forward;
  DType x = DType::f32;
  DType y = DType::f32;
  const NamedForm* form = nullptr;  ///< of a row_norm
};

/// The kernel list, in its order.
std::vector<Kernel> all_kernels();
/// Every named form in both directions, for equal types and for bf16 to f32 and f32 to f64.
std::vector<Kernel> form_kernels();

/// "layer_norm.fwd.bf16", "layer_norm.fwd.f32-bf16" where x and y differ.
std::string name_of(const Kernel& kernel);

/// From EQUINORM_TEST_SCALE, "small" or "full"; full without it. Throws std::runtime_error for
/// anything else.
Scale scale_from_environment();

/// Odd sizes and both sides of every block of lanes and segments.
std::vector<std::int64_t> column_counts(Scale scale);

/// A few rows of every column count, both accuracies.
std::vector<Problem> size_problems(const Kernel& kernel, Scale scale);
/// Every family, affine form and accuracy.
std::vector<Problem> family_problems(const Kernel& kernel, Scale scale);
/// Row counts on both sides of blocks, chunks and batches.
std::vector<Problem> row_problems(const Kernel& kernel, Scale scale);
/// Rows of 65,537 elements; for pairs of equal types also one of 1,000,001.
std::vector<Problem> long_row_problems(const Kernel& kernel, Scale scale);

/// Problems to measure errors on: every family at sizes from 2 to 4,097 (full) columns.
std::vector<Problem> bound_problems(const Kernel& kernel, Scale scale);

/// Layouts, threads, outputs and statistics for one instruction set.
std::vector<Execution> executions(const Problem& problem, Isa isa);

}  // namespace equinorm::conformance
