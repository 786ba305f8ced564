// The element by element parts of an LSTM step, forward and backward, as loops over plain arrays.
// Gates lie in the order f, i, o, g along a row of 4 H numbers.
//
// Not here: matrix products and norms. The one trap: `keep` marks rows of real tokens; a row
// without it is copied from the step before, and its gates get zero gradients.
#pragma once

#include <cmath>
#include <cstdint>

namespace equinorm::lab {

/// Sizes of a step, and which rows are real (null: all).
struct GateShape {
  std::int64_t rows = 0;
  std::int64_t width = 0;  ///< H
  const bool* keep = nullptr;

  [[nodiscard]] bool keeps(std::int64_t row) const { return keep == nullptr || keep[row]; }
};

template <class T>
T sigmoid(T x) {
  return 1 / (1 + std::exp(-x));
}

/// gates: what goes into the activations on entry, their values afterwards. c_raw = f c + i g.
template <class T>
void activate_gates(const GateShape& shape, T* gates, const T* c, T* c_raw) {
  const std::int64_t width = shape.width;
  for (std::int64_t r = 0; r < shape.rows; ++r) {
    T* f = gates + r * 4 * width;
    T* i = f + width;
    T* o = i + width;
    T* g = o + width;
    for (std::int64_t k = 0; k < width; ++k) {
      f[k] = sigmoid(f[k]);
      i[k] = sigmoid(i[k]);
      o[k] = sigmoid(o[k]);
      g[k] = std::tanh(g[k]);
      c_raw[r * width + k] = f[k] * c[r * width + k] + i[k] * g[k];
    }
  }
}

/// The state behind a step: h = o tanh(c_out), and the carried cell; both from the step before
/// where a row is padding. tanh_c is kept for the backward pass.
template <class T>
struct StateArrays {
  const T* gates;
  const T* c_out;
  const T* c_carried;
  const T* h_before;
  const T* c_before;
  T* tanh_c;
  T* h;
  T* c;
};

template <class T>
void finish_step(const GateShape& shape, const StateArrays<T>& a) {
  const std::int64_t width = shape.width;
  for (std::int64_t r = 0; r < shape.rows; ++r) {
    const bool real = shape.keeps(r);
    for (std::int64_t k = 0; k < width; ++k) {
      const std::int64_t e = r * width + k;
      const T o = a.gates[r * 4 * width + 2 * width + k];
      a.tanh_c[e] = std::tanh(a.c_out[e]);
      a.h[e] = real ? o * a.tanh_c[e] : a.h_before[e];
      a.c[e] = real ? a.c_carried[e] : a.c_before[e];
    }
  }
}

/// From dh to the output gate's gradient and that of c_out; dc counts in where c_out is carried on.
template <class T>
struct OutputGradientArrays {
  const T* gates;
  const T* tanh_c;
  const T* dh;
  const T* dc;
  T* dgates;  ///< its o quarter is written
  T* dc_out;
  bool carries_c_out;
};

template <class T>
void backward_output(const GateShape& shape, const OutputGradientArrays<T>& a) {
  const std::int64_t width = shape.width;
  for (std::int64_t r = 0; r < shape.rows; ++r) {
    const bool real = shape.keeps(r);
    const std::int64_t row = r * 4 * width + 2 * width;
    for (std::int64_t k = 0; k < width; ++k) {
      const std::int64_t e = r * width + k;
      const T o = a.gates[row + k];
      const T t = a.tanh_c[e];
      const T dc = a.carries_c_out ? a.dc[e] : 0;
      a.dgates[row + k] = real ? a.dh[e] * t * o * (1 - o) : 0;
      a.dc_out[e] = real ? a.dh[e] * o * (1 - t * t) + dc : 0;
    }
  }
}

/// From the gradient of c_raw to those of the other gates, of c and, for padding, of h before the
/// step; dc counts in where c_raw is carried on.
template <class T>
struct CellGradientArrays {
  const T* gates;
  const T* c_before;
  const T* dc_raw;
  const T* dh;
  const T* dc;
  T* dgates;  ///< its f, i and g quarters are written
  T* dc_before;
  T* dh_before;  ///< what bypasses the step
  bool carries_c_out;
};

template <class T>
void backward_cell(const GateShape& shape, const CellGradientArrays<T>& a) {
  const std::int64_t width = shape.width;
  for (std::int64_t r = 0; r < shape.rows; ++r) {
    const bool real = shape.keeps(r);
    const T* f = a.gates + r * 4 * width;
    const T* i = f + width;
    const T* g = f + 3 * width;
    T* df = a.dgates + r * 4 * width;
    T* di = df + width;
    T* dg = df + 3 * width;
    for (std::int64_t k = 0; k < width; ++k) {
      const std::int64_t e = r * width + k;
      const T d = real ? a.dc_raw[e] + (a.carries_c_out ? 0 : a.dc[e]) : 0;
      df[k] = d * a.c_before[e] * f[k] * (1 - f[k]);
      di[k] = d * g[k] * i[k] * (1 - i[k]);
      dg[k] = d * i[k] * (1 - g[k] * g[k]);
      a.dc_before[e] = real ? d * f[k] : a.dc[e];
      a.dh_before[e] = real ? 0 : a.dh[e];
    }
  }
}

}  // namespace equinorm::lab
