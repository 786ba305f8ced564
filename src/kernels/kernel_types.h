// What a kernel is given: plain pointers, strides and one scratch area. No tensors, no checks, no
// allocation: src/api validates and fills these.
//
// The trap: strides count elements of the buffer they belong to. Parameters that all rows share are
// already held in the compute type C of the call, those of groups in their storage type.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dropout.h"

namespace equinorm::kernels {

/// Storage types; the same numbers as equinorm::DType.
enum class Type : std::uint8_t { f64, f32, f16, bf16 };
inline constexpr int kTypes = 4;

/// Instruction sets; the same numbers as equinorm::Isa.
enum class Target : std::uint8_t { portable, neon, avx2, avx3 };
inline constexpr int kTargets = 4;

/// 16-bit storage, kept as bits: arithmetic on them happens in f32 or f64.
struct F16 {
  std::uint16_t bits;
};
struct BF16 {
  std::uint16_t bits;
};

/// Rows per block of the sums over rows (docs/numerics.md section 5).
inline constexpr std::int64_t kBlockRows = 8;

/// How rstd follows from v, the mean square of the deviations (docs/numerics.md section 3); the
/// same numbers as equinorm::Spread.
enum class Spread : std::uint8_t {
  root,     ///< 1 / sqrt(v + eps)
  added,    ///< 1 / (sqrt(v) + eps)
  clamped,  ///< 1 / max(sqrt(v), eps)
  length,   ///< 1 / sqrt(sum of the squares)
};

/// What kind of row norm, besides whether rows are centred: one kernel serves all.
struct RowForm {
  Spread spread = Spread::root;
  bool unbiased = false;       ///< v divides by n - 1
  bool detach_mean = false;    ///< constant in the backward pass
  bool detach_spread = false;  ///< likewise
  double eps = 0;
  std::int64_t part = 0;  ///< the statistics are those of the first `part` columns, > 0
};

/// Where the elements of rows lie. Row r is row r % group_rows of group r / group_rows. Kernels are
/// given rows whose runs are contiguous; others pass through a tile (tile.h).
struct Layout {
  std::int64_t origin = 0;      ///< elements before the data
  std::int64_t group_rows = 1;  ///< > 0
  std::int64_t group_stride = 0;
  std::int64_t row_stride = 0;
  std::int64_t run = 0;  ///< columns at one distance from each other, then a jump of run_stride
  std::int64_t run_stride = 0;
  std::int64_t column_stride = 1;
  const std::int64_t* index = nullptr;  ///< column c lies where column index[c] would

  std::int64_t group(std::int64_t r) const { return r < group_rows ? 0 : r / group_rows; }
  std::int64_t row(std::int64_t r) const {
    if (r < group_rows) return r * row_stride - origin;
    return r / group_rows * group_stride + r % group_rows * row_stride - origin;
  }
  std::int64_t column(std::int64_t c) const {
    const std::int64_t k = index == nullptr ? c : index[c];
    return k < run ? k * column_stride : k / run * run_stride + k % run * column_stride;
  }
  /// Rows of `cols` columns are one run.
  bool is_one_run(std::int64_t cols) const { return cols <= run; }
};

struct In {
  const void* data = nullptr;
  Type type = Type::f32;
  Layout layout;
};
struct Out {
  void* data = nullptr;
  Type type = Type::f32;
  Layout layout;
};

/// gamma or beta of the groups, as the caller holds them; null where not given.
struct GroupParameter {
  const void* data = nullptr;
  Type type = Type::f32;
  std::int64_t stride = 0;  ///< from group to group
};

/// Parameters of a norm. Null pointers where not given.
struct Affine {
  const void* gain = nullptr;   ///< C[cols]: gamma, or 1 + gamma
  const void* gamma = nullptr;  ///< C[cols]: gamma as given, for the exact path
  const void* beta = nullptr;   ///< C[cols]
  bool add_one = false;         ///< the gain is 1 + gamma
  bool adaptive = false;        ///< the gain is height - slope * xhat, constant in backward
  double height = 0;
  double slope = 0;
  bool grouped = false;  ///< parameters are those of groups, not the three above
  GroupParameter group_gamma;
  GroupParameter group_beta;
  std::int64_t segment = 0;  ///< columns that share one of the groups' parameters; 0: none do
};

/// What a row of a residual stream is made of: h = residual + gate * dropout(x), rounded to the
/// type of `stream` where that is wanted. The norm then reads h.
struct Branch {
  bool any = false;
  In residual;          ///< data null: none
  GroupParameter gate;  ///< C(cols) per group; data null: 1
  Dropout dropout;
  Out stream;  ///< data null: not wanted
};

/// y = alpha * norm(x) + (1 - alpha) * x.
struct Blend {
  bool on = false;
  double alpha = 1;
};

/// How y is stored in 8 bits; the same numbers as equinorm::Quantization, and 0 for not at all.
enum class Quantization : std::uint8_t { none, int8_per_row, fp8_e4m3_per_row, int8_fixed };

struct Quantized {
  Quantization kind = Quantization::none;
  void* data = nullptr;
  Layout layout;           ///< in bytes
  void* scales = nullptr;  ///< C[rows]; not for int8_fixed
  double scale = 1;        ///< of int8_fixed
};

/// What becomes of d, the gradient of h, besides dx: the gradient of the residual stream.
struct BranchGradient {
  bool any = false;
  In dstream;  ///< added to d; data null: none
  In x;        ///< of the branch, for dgate
  Out dx;      ///< of the branch: gate * d where kept; data null: not wanted
  GroupParameter gate;
  Dropout dropout;
  Blend blend;  ///< d gets (1 - alpha) dy too, and the sum of dy * x takes the place of dgate's
};

/// Mean and variance that rows are normalized with instead of their own.
struct Given {
  const double* mean = nullptr;
  const double* variance = nullptr;
  std::int64_t rows = 1;  ///< that share one of them

  std::int64_t index(std::int64_t r) const { return rows == 1 ? r : r / rows; }
};

/// Statistics saved per row, C[rows] each; all null or all given (RMSNorm: rstd and exact).
struct SavedStatistics {
  void* mean = nullptr;
  void* mean_tail = nullptr;
  void* rstd = nullptr;
  std::uint8_t* exact = nullptr;
  double* variance = nullptr;  ///< forward only, and not with the others
  double* center = nullptr;    ///< the mean in f64, with variance
};

/// Working memory of one task: `row(k)` is 64-byte aligned and holds cols elements of f64, rounded
/// up to whole vectors.
struct Scratch {
  double* base = nullptr;
  std::int64_t row_elements = 0;

  template <class T = double>
  T* row(int k) const {
    return reinterpret_cast<T*>(base + k * row_elements);
  }
  static constexpr std::int64_t padded(std::int64_t cols) { return (cols + 63) / 64 * 64; }
};
inline constexpr int kForwardScratchRows = 11;
inline constexpr int kBackwardScratchRows = 16;

struct ForwardArgs {
  In x;
  Out y;
  std::int64_t cols = 0;
  Affine affine;
  RowForm form;
  Given given;
  Branch branch;
  Blend blend;  ///< not where direct
  Quantized quantized;
  bool direct = true;   ///< y's rows are contiguous and of the kernel's type
  bool exact = false;   ///< every row takes the exact path
  bool stream = false;  ///< y is too large to stay in cache: write around it
  SavedStatistics statistics;
};

/// Normalizes rows [begin, end).
using ForwardKernel = void (*)(const ForwardArgs&, std::int64_t begin, std::int64_t end,
                               const Scratch&);

struct BackwardArgs {
  In dy;
  In x;
  Out dx;                 ///< of x's type; null when not wanted
  std::int64_t rows = 0;  ///< of the whole call; a kernel is told which of them to handle
  std::int64_t cols = 0;
  Affine affine;
  RowForm form;
  Given given;
  BranchGradient branch;
  bool direct = true;  ///< as in ForwardArgs, for dx; not where there is a branch
  bool exact = false;
  bool stream = false;
  SavedStatistics statistics;  ///< read only
};

/// Running sums of one chunk, f64 each, one per parameter of a group; null when not wanted.
struct GradientSums {
  double* dgamma = nullptr;
  double* dbeta = nullptr;
  double* dother = nullptr;  ///< of what else a call has: a gate, or one alpha, column by column
};

/// Handles one block, rows [begin, end) of at most kBlockRows rows of one group, and adds its sums
/// to `sums`. Where sums are wanted dx must not overlap dy or x: the block may be read twice.
using BackwardKernel = void (*)(const BackwardArgs&, std::int64_t begin, std::int64_t end,
                                const GradientSums& sums, const Scratch&);

/// y = gamma tanh(alpha x) + beta; the parameters are f64.
struct DynamicTanhArgs {
  In x;
  Out y;  ///< forward
  In dy;  ///< backward, as dx
  Out dx;
  std::int64_t cols = 0;
  double alpha = 0;
  const double* gamma = nullptr;
  const double* beta = nullptr;
};
inline constexpr int kDynamicTanhScratchRows = 3;

using DynamicTanhForward = void (*)(const DynamicTanhArgs&, std::int64_t begin, std::int64_t end,
                                    const Scratch&);
/// Adds the terms of rows [begin, end) to `sums`, row by row.
using DynamicTanhBackward = void (*)(const DynamicTanhArgs&, std::int64_t begin, std::int64_t end,
                                     const GradientSums& sums, const Scratch&);

}  // namespace equinorm::kernels
