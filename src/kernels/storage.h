// From the number of a storage type to the type, and into the dispatch tables.
#pragma once

#include "kernel_types.h"

namespace equinorm::kernels {

template <Type>
struct StorageOf;
template <>
struct StorageOf<Type::f64> {
  using T = double;
};
template <>
struct StorageOf<Type::f32> {
  using T = float;
};
template <>
struct StorageOf<Type::f16> {
  using T = F16;
};
template <>
struct StorageOf<Type::bf16> {
  using T = BF16;
};
template <Type type>
using Storage = typename StorageOf<type>::T;

/// Entry of a table indexed by two types.
template <class Kernel>
constexpr Kernel& at(Kernel (&table)[kTypes][kTypes], Type x, Type y) {
  return table[static_cast<int>(x)][static_cast<int>(y)];
}
template <class Kernel>
constexpr const Kernel& at(const Kernel (&table)[kTypes][kTypes], Type x, Type y) {
  return table[static_cast<int>(x)][static_cast<int>(y)];
}

}  // namespace equinorm::kernels
