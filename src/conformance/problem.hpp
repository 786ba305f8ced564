// What is computed: operator, types, shape, kind of input and accuracy. How it is computed
// (threads, instruction set, layout) is in execution.hpp, and must not matter.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "equinorm/context.hpp"
#include "equinorm/row_norm.hpp"
#include "equinorm/types.hpp"

namespace equinorm::conformance {

enum class Op : std::uint8_t { layer_norm, rms_norm, row_norm };
enum class Direction : std::uint8_t { forward, backward };

const char* name_of(Op op);                ///< "layer_norm", "rms_norm", "row_norm"
const char* name_of(Direction direction);  ///< "fwd", "bwd"
const char* name_of(Accuracy accuracy);    ///< "standard", "exact"

/// Kinds of input. Each stands for a way in which normalizations have gone wrong.
enum class Family : std::uint8_t {
  normal,      ///< N(0, 1)
  offset_1e2,  ///< mean 1e2, spread 1; so on below
  offset_1e4,
  offset_1e6,
  offset_1e8,
  scale_tiny,   ///< near the smallest normal number of the type
  scale_small,  ///< about the square root of that
  scale_large,  ///< about the square root of the largest number
  scale_huge,   ///< near the largest number: sums overflow
  heavy_tails,  ///< exp(2 N(0, 1)) with random sign
  cauchy,       ///< tails without a variance
  outlier,      ///< one element 1e4 times the others
  constant,     ///< all equal, another constant for each row
  alternating,  ///< +a, -a, +a, ...
  subnormal,    ///< below the smallest normal number
  zeros,
  non_finite,         ///< a NaN in row 1, an infinity in row 3, the others N(0, 1)
  aligned_gradient,   ///< N(0, 1) with one outlier; dy = sign(xhat), the largest projection
  constant_gradient,  ///< dy the same everywhere: dx cancels, rounding errors of dbeta add up
  tiny_gradient,      ///< dy near the smallest normal number
  huge_gradient,      ///< dy and gamma so large that dy * gamma overflows
  wide_gain,          ///< gamma over six decades, with zeros
  mixed,              ///< every row another of the kinds above
};

/// How many problems: small for emulators and sanitizers.
enum class Scale : std::uint8_t { small, full };

std::span<const Family> all_families();
const char* name_of(Family family);

/// y is the type of forward's output and of backward's dy; dx has the type of x.
struct Types {
  DType x = DType::f32;
  DType y = DType::f32;
  DType parameter = DType::f32;
  DType gradient = DType::f32;

  [[nodiscard]] DType compute() const { return compute_type(x, y); }
};

struct Problem {
  Op op = Op::layer_norm;
  RowForm form;  ///< of a row_norm, which also has eps; layer_norm and rms_norm have their own
  Direction direction = Direction::forward;
  Types types;
  std::int64_t rows = 1;
  std::int64_t cols = 1;
  Family family = Family::normal;
  bool gamma = true;
  bool beta = true;      ///< forward; not for rms_norm
  bool add_one = false;  ///< RMSNorm with gamma
  double eps = 1e-5;
  Accuracy accuracy = Accuracy::standard;
  std::uint64_t seed = 0;

  /// Elements of gamma.
  [[nodiscard]] std::int64_t gain_size() const {
    return op == Op::row_norm ? gamma_size(form, cols) : cols;
  }
  [[nodiscard]] bool saves_statistics() const { return op != Op::row_norm; }
  [[nodiscard]] bool has_gamma() const { return op != Op::row_norm || equinorm::has_gamma(form); }
  [[nodiscard]] bool has_beta() const {
    return op != Op::rms_norm && !(op == Op::row_norm && form.gain == Gain::adaptive);
  }
};

/// "layer_norm.bwd x=bf16 y=bf16 parameter=f32 gradient=f32 33x769 outlier gamma eps=1e-05
/// standard seed=3": enough to run it again.
std::string describe(const Problem& problem);

/// Values that the types of the problem hold exactly; x and dy row by row. gamma and beta are
/// empty where they are not given, dy in the forward pass.
struct Inputs {
  std::vector<double> x;
  std::vector<double> dy;
  std::vector<double> gamma;
  std::vector<double> beta;
};

/// The same problem gives the same inputs on every machine.
Inputs make_inputs(const Problem& problem);

}  // namespace equinorm::conformance
