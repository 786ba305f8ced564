// The core library without any framework: three numbers, normalized.
#include <equinorm/equinorm.hpp>

#include <cstdio>

int main() {
  const float x[] = {1000, 1001, 999};
  float y[3];
  equinorm::LayerNormForward args;
  args.x = {x, equinorm::DType::f32, /*rows=*/1, /*cols=*/3, /*row_stride=*/3};
  args.y = {y, equinorm::DType::f32, 1, 3, 3};
  equinorm::Context context;
  equinorm::check(equinorm::layer_norm_forward(args, context));
  std::printf("%.6f %.6f %.6f\n", y[0], y[1], y[2]);  // 0.000000 1.224736 -1.224736
}
