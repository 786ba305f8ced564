// A small classifier of images that tells whether samples look like their class: one hidden layer,
// trained on the spot. Not a subject of any experiment.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "lab/models/linear.hpp"
#include "lab/models/parameters.hpp"

namespace equinorm::lab {

class DigitClassifier {
 public:
  /// images (count, rows, columns) in -1 to 1, labels: ids (count).
  DigitClassifier(const at::Tensor& images, const at::Tensor& labels, std::int64_t classes);

  /// Share of images that get their label.
  [[nodiscard]] double accuracy(const at::Tensor& images, const at::Tensor& labels) const;

 private:
  [[nodiscard]] at::Tensor scores(const at::Tensor& images) const;

  ParameterStore parameters_;
  Linear hidden_;
  Linear head_;
};

}  // namespace equinorm::lab
