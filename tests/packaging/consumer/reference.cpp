// The contract oracle on the three numbers of the examples, and the truth oracle where it is built.
#include <cstdio>
#include <equinorm/reference.hpp>

int main() {
  const float x[] = {1000, 1001, 999};
  float y[3];
  equinorm::LayerNormForward args;
  args.x = {x, equinorm::DType::f32, 1, 3, 3};
  args.y = {y, equinorm::DType::f32, 1, 3, 3};
  equinorm::reference::layer_norm_forward(args);
#if EQUINORM_HAS_TRUTH
  const auto truth = equinorm::truth::layer_norm_forward(args);
  if (static_cast<float>(truth.y[1].to_double()) != y[1]) return 1;
#endif
  std::printf("%.6f %.6f %.6f\n", y[0], y[1], y[2]);
}
