// Small problems for the core tests: owned buffers and the argument structs that describe them.
//
// Not for bits or bounds, which tests/conformance covers. The trap: the argument structs point into
// the object they come from, so keep it alive and don't copy it.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "equinorm/equinorm.hpp"

namespace equinorm::test {

/// Reproducible numbers in [-1, 1).
inline float number(std::int64_t i) {
  const auto mixed = static_cast<std::uint64_t>(i + 1) * 0x9e3779b97f4a7c15u;
  return static_cast<float>(mixed >> 40) * 0x1p-23f - 1;
}

/// rows x cols of f32 with the parameters, statistics and gradients of both operators.
class Problem {
 public:
  Problem(std::int64_t rows, std::int64_t cols)
      : rows_(rows),
        cols_(cols),
        x(elements()),
        dy(elements()),
        y(elements(), kUntouched),
        dx(elements(), kUntouched),
        gamma(columns()),
        beta(columns()),
        dgamma(columns(), kUntouched),
        dbeta(columns(), kUntouched),
        mean(lines(), kUntouched),
        mean_tail(lines(), kUntouched),
        rstd(lines(), kUntouched),
        exact(lines(), 7) {
    for (std::size_t i = 0; i < x.size(); ++i) {
      x[i] = number(static_cast<std::int64_t>(i));
      dy[i] = number(static_cast<std::int64_t>(i) + 100003);
    }
    for (std::size_t i = 0; i < gamma.size(); ++i) {
      gamma[i] = 1 + number(static_cast<std::int64_t>(i) + 7) / 4;
      beta[i] = number(static_cast<std::int64_t>(i) + 11) / 4;
    }
  }
  Problem(const Problem&) = delete;
  Problem& operator=(const Problem&) = delete;

  static constexpr float kUntouched = -77.25f;

  Rows rows_of(std::vector<float>& v) const { return {v.data(), DType::f32, rows_, cols_, cols_}; }
  static Vector vector_of(std::vector<float>& v) {
    return {v.data(), DType::f32, static_cast<std::int64_t>(v.size())};
  }

  LayerNormStatistics layer_statistics() {
    return {vector_of(mean), vector_of(mean_tail), vector_of(rstd), exact.data()};
  }
  RmsNormStatistics rms_statistics() { return {vector_of(rstd), exact.data()}; }

  LayerNormForward layer_forward() {
    return {rows_of(x), vector_of(gamma), vector_of(beta), 1e-5, rows_of(y), layer_statistics()};
  }
  RmsNormForward rms_forward() {
    return {rows_of(x), vector_of(gamma), false, 1e-5, rows_of(y), rms_statistics()};
  }
  /// Without saved statistics.
  LayerNormBackward layer_backward() {
    return {rows_of(dy), rows_of(x),  vector_of(gamma),  1e-5,
            {},          rows_of(dx), vector_of(dgamma), vector_of(dbeta)};
  }
  RmsNormBackward rms_backward() {
    return {rows_of(dy), rows_of(x), vector_of(gamma), false,
            1e-5,        {},         rows_of(dx),      vector_of(dgamma)};
  }

  /// Bytes of everything a call may write, and of everything it may not.
  std::vector<unsigned char> output_bytes() const {
    std::vector<unsigned char> bytes(exact.begin(), exact.end());
    for (const auto* v : {&y, &dx, &dgamma, &dbeta, &mean, &mean_tail, &rstd}) append(*v, bytes);
    return bytes;
  }
  std::vector<unsigned char> input_bytes() const {
    std::vector<unsigned char> bytes;
    for (const auto* v : {&x, &dy, &gamma, &beta}) append(*v, bytes);
    return bytes;
  }

 private:
  std::size_t elements() const { return static_cast<std::size_t>(rows_ * cols_); }
  std::size_t columns() const { return static_cast<std::size_t>(cols_); }
  std::size_t lines() const { return static_cast<std::size_t>(rows_); }
  static void append(const std::vector<float>& v, std::vector<unsigned char>& bytes) {
    const auto* p = reinterpret_cast<const unsigned char*>(v.data());
    bytes.insert(bytes.end(), p, p + v.size() * sizeof(float));
  }

  std::int64_t rows_, cols_;

 public:
  std::vector<float> x, dy, y, dx, gamma, beta, dgamma, dbeta, mean, mean_tail, rstd;
  std::vector<std::uint8_t> exact;
};

/// Outputs of the four operators, one after the other, as bytes.
inline std::vector<unsigned char> all_outputs(std::int64_t rows, std::int64_t cols,
                                              Context& context) {
  std::vector<unsigned char> bytes;
  const auto keep = [&bytes](const Problem& p) {
    const auto more = p.output_bytes();
    bytes.insert(bytes.end(), more.begin(), more.end());
  };
  {
    Problem p(rows, cols);
    check(rms_norm_forward(p.rms_forward(), context));
    check(rms_norm_backward(p.rms_backward(), context));
    keep(p);
  }
  Problem p(rows, cols);
  check(layer_norm_forward(p.layer_forward(), context));
  check(layer_norm_backward(p.layer_backward(), context));
  keep(p);
  return bytes;
}

}  // namespace equinorm::test
