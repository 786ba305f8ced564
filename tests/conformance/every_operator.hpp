// Every operator that normalizes rows, as a way to lay rows out and call it; what it computes is
// the form of a row norm.
//
// The one trap: results come back in row-major order, wherever the operator's rows lie.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "conformance/buffer.hpp"
#include "equinorm/equinorm.hpp"
#include "equinorm/row_forms.hpp"

namespace equinorm::conformance {

struct Problem2d {
  DType type = DType::f32;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  double eps = 1e-5;
  std::vector<double> x;
  std::vector<double> dy;
};

// Elements in memory: place(r, c) of the row-major matrix of a problem.
class Matrix {
 public:
  using Place = std::function<std::int64_t(std::int64_t r, std::int64_t c)>;

  Matrix(const Problem2d& p, Place place, const std::vector<double>& values = {})
      : p_(p), place_(std::move(place)), buffer_(p.type, 1, p.rows * p.cols, {}) {
    if (values.empty()) return;
    std::vector<double> placed(values.size());
    for_each([&](std::size_t i, std::int64_t at) { placed[at] = values[i]; });
    buffer_.set(placed);
  }
  [[nodiscard]] std::vector<std::uint64_t> bits() const {
    const std::vector<std::uint64_t> placed = buffer_.bits();
    std::vector<std::uint64_t> result(placed.size());
    for_each([&](std::size_t i, std::int64_t at) { result[i] = placed[at]; });
    return result;
  }
  void* data() { return buffer_.vector().data; }

 private:
  void for_each(const std::function<void(std::size_t, std::int64_t)>& body) const {
    for (std::int64_t r = 0; r < p_.rows; ++r) {
      for (std::int64_t c = 0; c < p_.cols; ++c) {
        body(static_cast<std::size_t>(r * p_.cols + c), place_(r, c));
      }
    }
  }
  const Problem2d& p_;
  Place place_;
  Buffer buffer_;
};

struct Result {
  std::vector<std::uint64_t> y;
  std::vector<std::uint64_t> dx;
};

struct Operator {
  std::string name;
  RowForm form;
  std::function<Result(const Problem2d&, Context&)> run;
};

// Runs both directions: forward(x, y) and backward(dy, x, dx) are given data pointers.
template <class Forward, class Backward>
Result run_both(const Problem2d& p, const Matrix::Place& place, Forward forward,
                Backward backward) {
  Matrix x(p, place, p.x), dy(p, place, p.dy), y(p, place), dx(p, place);
  check(forward(x.data(), y.data()));
  check(backward(dy.data(), x.data(), dx.data()));
  return {y.bits(), dx.bits()};
}

inline Matrix::Place row_major(const Problem2d& p) {
  return [cols = p.cols](std::int64_t r, std::int64_t c) { return r * cols + c; };
}
inline Matrix::Place column_major(const Problem2d& p) {
  return [rows = p.rows](std::int64_t r, std::int64_t c) { return c * rows + r; };
}

inline Operator row_norm(const NamedForm& named) {
  return {named.name, named.form, [form = named.form](const Problem2d& p, Context& context) {
            RowForm with_eps = form;
            if (form.spread != Spread::length) with_eps.eps = p.eps;
            const auto rows = [&](void* data) {
              return Rows{data, p.type, p.rows, p.cols, p.cols};
            };
            return run_both(
                p, row_major(p),
                [&](void* x, void* y) {
                  return row_norm_forward({with_eps, rows(x), {}, {}, rows(y)}, context);
                },
                [&](void* dy, void* x, void* dx) {
                  return row_norm_backward({with_eps, rows(dy), rows(x), {}, rows(dx), {}, {}},
                                           context);
                });
          }};
}

// How the matrix is an image: shape, strides and where elements lie.
using AsImage = std::function<Images(const Problem2d&, void*)>;

template <class Forward, class Backward>
Operator image_norm(std::string name, AsImage image, bool by_columns, Forward forward,
                    Backward backward) {
  return {std::move(name), RowForm{}, [=](const Problem2d& p, Context& context) {
            const auto view = [&](void* data) { return image(p, data); };
            return run_both(
                p, by_columns ? column_major(p) : row_major(p),
                [&](void* x, void* y) { return forward(p, view(x), view(y), context); },
                [&](void* dy, void* x, void* dx) {
                  return backward(p, view(dy), view(x), view(dx), context);
                });
          }};
}

inline Operator group_norm(std::string name, AsImage image, bool by_columns,
                           std::function<std::int64_t(const Problem2d&)> groups) {
  return image_norm(
      std::move(name), image, by_columns,
      [groups](const Problem2d& p, Images x, Images y, Context& context) {
        return group_norm_forward({x, groups(p), {}, {}, p.eps, y}, context);
      },
      [groups](const Problem2d& p, Images dy, Images x, Images dx, Context& context) {
        return group_norm_backward({dy, x, groups(p), {}, p.eps, dx, {}, {}}, context);
      });
}

inline Operator batch_norm(std::string name, AsImage image, bool by_columns) {
  return image_norm(
      std::move(name), image, by_columns,
      [](const Problem2d& p, Images x, Images y, Context& context) {
        return batch_norm_forward({x, {.eps = p.eps}, {}, {}, {}, {}, 0.1, y}, context);
      },
      [](const Problem2d& p, Images dy, Images x, Images dx, Context& context) {
        return batch_norm_backward({dy, x, {.eps = p.eps}, {}, {}, {}, dx, {}, {}}, context);
      });
}

inline Operator layer_norm_of_images(std::string name, AsImage image, bool by_columns,
                                     LayerAxes axes) {
  return image_norm(
      std::move(name), image, by_columns,
      [axes](const Problem2d& p, Images x, Images y, Context& context) {
        return image_layer_norm_forward({x, axes, {}, {}, p.eps, y}, context);
      },
      [axes](const Problem2d& p, Images dy, Images x, Images dx, Context& context) {
        return image_layer_norm_backward({dy, x, axes, {}, p.eps, dx, {}, {}}, context);
      });
}

inline Operator modulated_norm() {
  return {"AdaLN", RowForm{}, [](const Problem2d& p, Context& context) {
            const auto rows = [&](void* data) {
              return Rows{data, p.type, p.rows, p.cols, p.cols};
            };
            ModulatedNormForward f;
            ModulatedNormBackward b;
            f.form.eps = b.form.eps = p.eps;
            return run_both(
                p, row_major(p),
                [&](void* x, void* y) {
                  f.x = rows(x);
                  f.y = rows(y);
                  return modulated_norm_forward(f, context);
                },
                [&](void* dy, void* x, void* dx) {
                  b.dy = rows(dy);
                  b.x = rows(x);
                  b.dx = rows(dx);
                  return modulated_norm_backward(b, context);
                });
          }};
}

// The residual holds the rows and the branch zeros.
inline Operator fused_norm() {
  return {"fused residual", RowForm{}, [](const Problem2d& p, Context& context) {
            const auto rows = [&](void* data) {
              return Rows{data, p.type, p.rows, p.cols, p.cols};
            };
            Matrix zeros(p, row_major(p), std::vector<double>(p.x.size()));
            return run_both(
                p, row_major(p),
                [&](void* x, void* y) {
                  FusedNormForward f;
                  f.form.eps = p.eps;
                  f.x = rows(zeros.data());
                  f.residual = rows(x);
                  f.y = rows(y);
                  return fused_norm_forward(f, context);
                },
                [&](void* dy, void* x, void* dx) {
                  FusedNormBackward b;
                  b.form.eps = p.eps;
                  b.dy = rows(dy);
                  b.stream = rows(x);
                  b.dresidual = rows(dx);
                  return fused_norm_backward(b, context);
                });
          }};
}

inline Operator head_norm(RowForm form, std::string name) {
  return {std::move(name), form, [form](const Problem2d& p, Context& context) {
            RowForm with_eps = form;
            with_eps.eps = p.eps;
            const auto heads = [&](void* data) {
              return Heads{data, p.type, 1, p.rows, p.cols, p.rows * p.cols, p.cols};
            };
            return run_both(
                p, row_major(p),
                [&](void* x, void* y) {
                  return head_norm_forward({with_eps, heads(x), {}, {}, heads(y)}, context);
                },
                [&](void* dy, void* x, void* dx) {
                  return head_norm_backward({with_eps, heads(dy), heads(x), {}, heads(dx), {}, {}},
                                            context);
                });
          }};
}

inline std::vector<Operator> operators() {
  std::vector<Operator> all;
  for (const NamedForm& named : kRowForms) all.push_back(row_norm(named));
  // A row per sample, per channel, or per position; contiguous and with channels last.
  const AsImage samples = [](const Problem2d& p, void* data) {
    return Images{data, p.type, p.rows, p.cols, 1, p.cols, 1, 1};
  };
  const AsImage channels = [](const Problem2d& p, void* data) {
    return Images{data, p.type, 1, p.rows, p.cols, p.rows * p.cols, p.cols, 1};
  };
  const AsImage features = [](const Problem2d& p, void* data) {
    return Images{data, p.type, p.cols, p.rows, 1, p.rows, 1, 1};
  };
  const AsImage last = [](const Problem2d& p, void* data) {
    return Images{data, p.type, 1, p.rows, p.cols, p.rows * p.cols, 1, p.rows};
  };
  const AsImage positions = [](const Problem2d& p, void* data) {
    return Images{data, p.type, 1, p.cols, p.rows, p.rows * p.cols, p.rows, 1};
  };
  const auto one = [](const Problem2d&) { return std::int64_t{1}; };
  const auto as_many = [](const Problem2d& p) { return p.rows; };
  all.push_back(group_norm("GroupNorm", samples, false, one));
  all.push_back(group_norm("InstanceNorm", channels, false, as_many));
  all.push_back(group_norm("InstanceNorm channels last", last, true, as_many));
  all.push_back(batch_norm("BatchNorm", channels, false));
  all.push_back(batch_norm("BatchNorm of features", features, true));
  all.push_back(layer_norm_of_images("LayerNorm2d", positions, true, LayerAxes::channels));
  all.push_back(layer_norm_of_images("LayerNormCHW", samples, false, LayerAxes::sample));
  all.push_back(modulated_norm());
  all.push_back(fused_norm());
  all.push_back(head_norm({}, "QKNorm"));
  all.push_back(head_norm({.centered = false}, "QKNorm RMS"));
  return all;
}

}  // namespace equinorm::conformance
