// The statistics of a forward pass in one byte tensor, so that saving them costs one allocation:
// the vectors in the compute type one after the other, then one exact flag per row.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>

#include <cstddef>
#include <cstdint>

#include "equinorm/torch/detail/row_view.hpp"

namespace equinorm::torch::detail {

/// x and y of the front end have one type, so it alone decides the compute type.
inline DType compute_type_of(const at::Tensor& x) {
  return x.scalar_type() == at::kDouble ? DType::f64 : DType::f32;
}

template <int kVectors>
class StatisticsBuffer {
 public:
  /// Allocates for `rows` rows.
  StatisticsBuffer(DType compute, std::int64_t rows)
      : StatisticsBuffer(
            at::empty({rows * bytes_per_row(compute)}, at::TensorOptions().dtype(at::kByte)),
            compute, rows) {}

  /// Reads what an earlier buffer's tensor() holds.
  StatisticsBuffer(at::Tensor bytes, DType compute, std::int64_t rows)
      : bytes_(std::move(bytes)), compute_(compute), rows_(rows) {}

  [[nodiscard]] const at::Tensor& tensor() const { return bytes_; }

  [[nodiscard]] Vector vector(int index) const {
    return {base() + index * rows_ * width(compute_), compute_, rows_};
  }
  [[nodiscard]] std::uint8_t* exact() const { return base() + kVectors * rows_ * width(compute_); }
  /// No rows, no statistics: the core then wants none of them.
  [[nodiscard]] bool empty() const { return rows_ == 0; }

 private:
  static std::int64_t width(DType compute) { return static_cast<std::int64_t>(size_of(compute)); }
  static std::int64_t bytes_per_row(DType compute) { return kVectors * width(compute) + 1; }
  [[nodiscard]] std::uint8_t* base() const {
    return static_cast<std::uint8_t*>(bytes_.mutable_data_ptr());
  }

  at::Tensor bytes_;
  DType compute_;
  std::int64_t rows_;
};

}  // namespace equinorm::torch::detail
