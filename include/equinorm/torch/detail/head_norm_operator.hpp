// Norms of attention heads and of modulated rows as norms for autograd. Arguments are checked.
//
// What is not here: LayerNorm and RMSNorm over the last axis with one gain for all rows, which have
// functions of their own. The one trap: outputs are contiguous, whatever view x is.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/util/MaybeOwned.h>

#include <cstdint>
#include <optional>

#include "equinorm/heads.hpp"
#include "equinorm/modulation.hpp"
#include "equinorm/torch/detail/composite.hpp"
#include "equinorm/torch/detail/image_view.hpp"
#include "equinorm/torch/detail/norm_operator.hpp"

namespace equinorm::torch::detail {

/// A tensor (..., heads, width) that is read: in place where one step leads from token to token and
/// a head is contiguous, otherwise from a copy.
class HeadView {
 public:
  explicit HeadView(const at::Tensor& tensor)
      : tensor_(c10::MaybeOwned<at::Tensor>::borrowed(tensor)), stride_(token_stride(tensor)) {
    const bool contiguous_heads = tensor.stride(-1) == 1 || tensor.size(-1) <= 1;
    if (stride_ && contiguous_heads && is_plain(tensor)) return;
    tensor_ = c10::MaybeOwned<at::Tensor>::owned(plain(tensor).contiguous());
    stride_ = token_stride(*tensor_);
  }

  [[nodiscard]] ConstHeads heads() const {
    return {tensor_->const_data_ptr(), *dtype_of(tensor_->scalar_type()),
            tokens_of(*tensor_),       tensor_->size(-2),
            tensor_->size(-1),         *stride_,
            tensor_->stride(-2)};
  }

  static std::int64_t tokens_of(const at::Tensor& tensor) {
    return row_shape(tensor.sizes(), 2).rows;
  }

  /// The stride from token to token, where there is one for all.
  static std::optional<std::int64_t> token_stride(const at::Tensor& tensor) {
    const auto axes = static_cast<std::size_t>(tensor.dim() - 2);
    return common_stride(tensor.sizes().slice(0, axes), tensor.strides().slice(0, axes),
                         tensor.size(-2) * tensor.size(-1));
  }

 private:
  c10::MaybeOwned<at::Tensor> tensor_;
  std::optional<std::int64_t> stride_;
};

class HeadNormOperator final : public NormOperator {
 public:
  explicit HeadNormOperator(const RowForm& form) : NormOperator("head_norm"), form_(form) {}

  void forward(const NormInputs& in, const at::Tensor& y) const override {
    const HeadView x(in.x);
    const ParameterView gamma = parameter_view(in.weight);
    const ParameterView beta = parameter_view(in.bias);
    check_status(name(), head_norm_forward({.form = form_,
                                            .x = x.heads(),
                                            .gamma = grouped(gamma.vector(), in.weight),
                                            .beta = grouped(beta.vector(), in.bias),
                                            .y = output(y)},
                                           context()));
  }

  void backward(const at::Tensor& dy, const NormInputs& in, const NormInputs& d) const override {
    const HeadView dy_view(dy);
    const HeadView x(in.x);
    const ParameterView gamma = parameter_view(in.weight);
    check_status(name(), head_norm_backward({.form = form_,
                                             .dy = dy_view.heads(),
                                             .x = x.heads(),
                                             .gamma = grouped(gamma.vector(), in.weight),
                                             .dx = output(d.x),
                                             .dgamma = grouped(output_vector(d.weight), d.weight),
                                             .dbeta = grouped(output_vector(d.bias), d.bias)},
                                            context()));
  }

  [[nodiscard]] at::Tensor composite(const NormInputs& in) const override {
    return row_norm_composite(in.x, form_, in.weight, in.bias);
  }

 private:
  static Heads output(const at::Tensor& tensor) {
    if (!tensor.defined()) return {};
    return {tensor.mutable_data_ptr(),
            *dtype_of(tensor.scalar_type()),
            HeadView::tokens_of(tensor),
            tensor.size(-2),
            tensor.size(-1),
            tensor.size(-2) * tensor.size(-1),
            tensor.size(-1)};
  }

  /// (width) is shared by all heads; of (heads, width) each head has a row.
  static std::int64_t stride_of(const at::Tensor& tensor) {
    return tensor.defined() && tensor.dim() == 2 ? tensor.size(1) : 0;
  }
  static std::int64_t size_of_group(const at::Tensor& tensor) {
    return tensor.defined() ? tensor.size(-1) : 0;
  }
  static ConstGroupedVector grouped(const ConstVector& v, const at::Tensor& tensor) {
    return {v.data, v.dtype, size_of_group(tensor), stride_of(tensor)};
  }
  static GroupedVector grouped(const Vector& v, const at::Tensor& tensor) {
    return {v.data, v.dtype, size_of_group(tensor), stride_of(tensor)};
  }

  RowForm form_;
};

/// weight is the scale, bias the shift: (rows / rows_per_group, cols) seen as rows.
class ModulatedNormOperator final : public NormOperator {
 public:
  ModulatedNormOperator(const RowForm& form, std::int64_t rows_per_group)
      : NormOperator("modulated_norm"), form_(form), rows_per_group_(rows_per_group) {}

  void forward(const NormInputs& in, const at::Tensor& y) const override {
    const RowShape shape = row_shape(in.x.sizes(), 1);
    if (shape.rows == 0) return;
    const RowView x(in.x, shape);
    const Parameters scale(in.weight);
    const Parameters shift(in.bias);
    check_status(name(), modulated_norm_forward({.form = form_,
                                                 .x = x.rows(),
                                                 .rows_per_group = rows_per_group_,
                                                 .scale = scale.rows(),
                                                 .shift = shift.rows(),
                                                 .y = output_rows(y, shape)},
                                                context()));
  }

  void backward(const at::Tensor& dy, const NormInputs& in, const NormInputs& d) const override {
    const RowShape shape = row_shape(in.x.sizes(), 1);
    if (shape.rows == 0) {  // samples without tokens still have a scale and a shift
      if (d.weight.defined()) d.weight.zero_();
      if (d.bias.defined()) d.bias.zero_();
      return;
    }
    const RowView dy_view(dy, shape);
    const RowView x(in.x, shape);
    const Parameters scale(in.weight);
    check_status(name(), modulated_norm_backward({.form = form_,
                                                  .dy = dy_view.rows(),
                                                  .x = x.rows(),
                                                  .rows_per_group = rows_per_group_,
                                                  .scale = scale.rows(),
                                                  .dx = output_rows(d.x, shape),
                                                  .dscale = output(d.weight),
                                                  .dshift = output(d.bias)},
                                                 context()));
  }

  [[nodiscard]] at::Tensor composite(const NormInputs& in) const override {
    at::Tensor y = normalize_composite(wide_input(in.x), form_);
    if (in.weight.defined()) {
      y = y.mul(beside_tokens(in.weight, y).to(y.scalar_type()).add(1));
    }
    if (in.bias.defined()) y = y.add(beside_tokens(in.bias, y));
    return y.to(in.x.scalar_type());
  }

 private:
  /// Scale or shift; rows that share a place in memory are copied apart, as the core asks.
  class Parameters {
   public:
    explicit Parameters(const at::Tensor& tensor)
        : tensor_(tensor), shape_(tensor.defined() ? row_shape(tensor.sizes(), 1) : RowShape{}) {
      if (!tensor.defined()) return;
      view_.emplace(tensor_, shape_);
      if (shape_.rows <= 1 || view_->rows().row_stride != 0) return;
      tensor_ = tensor.contiguous();
      view_.emplace(tensor_, shape_);
    }
    Parameters(const Parameters&) = delete;
    Parameters& operator=(const Parameters&) = delete;

    [[nodiscard]] ConstRows rows() const { return view_ ? view_->rows() : ConstRows{}; }

   private:
    at::Tensor tensor_;
    RowShape shape_;
    std::optional<RowView> view_;
  };

  static Rows output(const at::Tensor& tensor) {
    return tensor.defined() ? output_rows(tensor, row_shape(tensor.sizes(), 1)) : Rows{};
  }

  /// (samples, width) beside (samples, ..., width).
  static at::Tensor beside_tokens(const at::Tensor& t, const at::Tensor& x) {
    if (t.dim() == x.dim()) return t;
    auto sizes = t.sizes().vec();
    sizes.insert(sizes.begin() + 1, static_cast<std::size_t>(x.dim() - t.dim()), 1);
    return t.reshape(sizes);
  }

  RowForm form_;
  std::int64_t rows_per_group_;
};

}  // namespace equinorm::torch::detail
