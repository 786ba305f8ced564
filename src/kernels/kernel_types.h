// What a kernel is given: plain pointers, strides and one scratch area. No tensors, no checks, no
// allocation: src/api validates and fills these.
//
// The trap: strides count elements of the buffer they belong to, and gain, gamma and beta are
// already held in the compute type C of the call.
#pragma once

#include <cstddef>
#include <cstdint>

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

/// Parameters of a norm, shared by all rows. Null pointers where not given.
struct Affine {
  const void* gain = nullptr;   ///< C[cols]: gamma, or 1 + gamma
  const void* gamma = nullptr;  ///< C[cols]: gamma as given, for the exact path
  const void* beta = nullptr;   ///< C[cols]
  bool add_one = false;         ///< the exact path adds the 1 itself, in f64
  bool adaptive = false;        ///< the gain is height - slope * xhat, constant in backward
  double height = 0;
  double slope = 0;
};

/// Statistics saved per row, C[rows] each; all null or all given (RMSNorm: rstd and exact).
struct SavedStatistics {
  void* mean = nullptr;
  void* mean_tail = nullptr;
  void* rstd = nullptr;
  std::uint8_t* exact = nullptr;
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
inline constexpr int kForwardScratchRows = 4;
inline constexpr int kBackwardScratchRows = 10;

struct ForwardArgs {
  const void* x = nullptr;
  Type x_type = Type::f32;
  std::int64_t x_stride = 0;
  void* y = nullptr;
  std::int64_t y_stride = 0;
  std::int64_t cols = 0;
  Affine affine;
  RowForm form;
  bool exact = false;   ///< every row takes the exact path
  bool stream = false;  ///< y is too large to stay in cache: write around it
  SavedStatistics statistics;
};

/// Normalizes rows [begin, end).
using ForwardKernel = void (*)(const ForwardArgs&, std::int64_t begin, std::int64_t end,
                               const Scratch&);

struct BackwardArgs {
  const void* dy = nullptr;
  Type dy_type = Type::f32;
  std::int64_t dy_stride = 0;
  const void* x = nullptr;
  Type x_type = Type::f32;
  std::int64_t x_stride = 0;
  void* dx = nullptr;  ///< of x's type; null when not wanted
  std::int64_t dx_stride = 0;
  std::int64_t rows = 0;  ///< of the whole call; a kernel is told which of them to handle
  std::int64_t cols = 0;
  Affine affine;
  RowForm form;
  bool exact = false;
  bool stream = false;         ///< as in ForwardArgs, for dx
  SavedStatistics statistics;  ///< read only
};

/// Running sums of one chunk, f64[cols] each; null when not wanted.
struct GradientSums {
  double* dgamma = nullptr;
  double* dbeta = nullptr;
};

/// Handles one block, rows [begin, end) of at most kBlockRows rows, and adds its sums to `sums`.
/// Where sums are wanted dx must not overlap dy or x: the block may be read twice.
using BackwardKernel = void (*)(const BackwardArgs&, std::int64_t begin, std::int64_t end,
                                const GradientSums& sums, const Scratch&);

}  // namespace equinorm::kernels
