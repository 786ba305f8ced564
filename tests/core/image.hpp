// Images in memory in several layouts, and LayerNorm over plain rows to hold their norms against.
//
// The one trap: values are in the order (sample, channel, position), wherever they lie.
#pragma once

#include <functional>
#include <string>

#include "support.hpp"

namespace equinorm::test {

using Floats = std::vector<float>;

inline Floats numbers(std::int64_t count, std::int64_t seed, float offset = 0) {
  Floats v(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) v[i] = number(i + 1000 * seed) + offset;
  return v;
}

inline ConstVector vector(const Floats& v) { return {v.data(), DType::f32, std::ssize(v)}; }
inline Vector vector(Floats& v) { return {v.data(), DType::f32, std::ssize(v)}; }

struct Shape {
  std::int64_t n, c, s;
  [[nodiscard]] std::int64_t size() const { return n * c * s; }
};

enum class Memory { channels_first, channels_last, padded };
constexpr Memory kMemories[] = {Memory::channels_first, Memory::channels_last, Memory::padded};

// An image in memory, and its elements in the order (n, c, s).
class Image {
 public:
  Image(Shape shape, Memory memory) : shape_(shape) {
    switch (memory) {
      case Memory::channels_first:
        strides_ = {shape.c * shape.s, shape.s, 1};
        break;
      case Memory::channels_last:
        strides_ = {shape.c * shape.s, 1, shape.c};
        break;
      case Memory::padded:
        strides_ = {shape.c * (2 * shape.s + 3) + 5, 2 * shape.s + 3, 2};
        break;
    }
    data_.assign(static_cast<std::size_t>(shape.n * strides_.n + strides_.c * shape.c + 64), -77);
  }
  Image(Shape shape, Memory memory, const Floats& values) : Image(shape, memory) {
    for_each([&](std::int64_t i, float& v) { v = values[static_cast<std::size_t>(i)]; });
  }

  Images view() {
    return {data_.data(), DType::f32, shape_.n,   shape_.c,
            shape_.s,     strides_.n, strides_.c, strides_.s};
  }
  Floats values() {
    Floats v(static_cast<std::size_t>(shape_.size()));
    for_each([&](std::int64_t i, float& x) { v[static_cast<std::size_t>(i)] = x; });
    return v;
  }

 private:
  void for_each(const std::function<void(std::int64_t, float&)>& body) {
    std::int64_t i = 0;
    for (std::int64_t n = 0; n < shape_.n; ++n) {
      for (std::int64_t c = 0; c < shape_.c; ++c) {
        for (std::int64_t s = 0; s < shape_.s; ++s) {
          body(i++,
               data_[static_cast<std::size_t>(n * strides_.n + c * strides_.c + s * strides_.s)]);
        }
      }
    }
  }

  Shape shape_;
  Shape strides_{};
  Floats data_;
};

// y and, with dy, the gradients of LayerNorm over plain rows.
struct Plain {
  Floats y, dx, dgamma, dbeta;
};

inline Plain layer_norm(std::int64_t rows, const Floats& x, const Floats& gamma, const Floats& beta,
                        const Floats& dy, double eps) {
  const std::int64_t cols = std::ssize(x) / rows;
  const auto as_rows = [&](auto& v) { return ConstRows{v.data(), DType::f32, rows, cols, cols}; };
  Plain p{Floats(x.size()), Floats(x.size()), Floats(gamma.size()), Floats(beta.size())};
  Context context;
  LayerNormForward forward{as_rows(x), vector(gamma), vector(beta), eps, {}, {}};
  forward.y = {p.y.data(), DType::f32, rows, cols, cols};
  check(layer_norm_forward(forward, context));
  LayerNormBackward backward{as_rows(dy), as_rows(x), vector(gamma), eps, {}, {}, {}, {}};
  backward.dx = {p.dx.data(), DType::f32, rows, cols, cols};
  backward.dgamma = vector(p.dgamma);
  backward.dbeta = vector(p.dbeta);
  check(layer_norm_backward(backward, context));
  return p;
}

// (n, c, s) values with the axes in another order.
inline Floats permuted(const Floats& v, Shape shape, const std::string& order) {
  const std::int64_t count[3] = {shape.n, shape.c, shape.s};
  const std::int64_t stride[3] = {shape.c * shape.s, shape.s, 1};
  int axis[3];
  for (int k = 0; k < 3; ++k) axis[k] = static_cast<int>(std::string("ncs").find(order[k]));
  Floats result;
  for (std::int64_t i = 0; i < count[axis[0]]; ++i) {
    for (std::int64_t j = 0; j < count[axis[1]]; ++j) {
      for (std::int64_t k = 0; k < count[axis[2]]; ++k) {
        result.push_back(v[static_cast<std::size_t>(i * stride[axis[0]] + j * stride[axis[1]] +
                                                    k * stride[axis[2]])]);
      }
    }
  }
  return result;
}

struct Results {
  Floats y, dx, dgamma, dbeta;
  bool operator==(const Results&) const = default;
};

}  // namespace equinorm::test
