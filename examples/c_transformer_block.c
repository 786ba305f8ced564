/* A Transformer block's way into a norm, from C: dropout, residual add and LayerNorm in one pass
 * forward and backward, the same in int8, and GroupNorm of an image.
 *
 * The one trap: backward takes the stream that forward stored, and the same seed and offset. */
#include <equinorm/equinorm.h>
#include <stdio.h>
#include <stdlib.h>

enum { TOKENS = 4, FEATURES = 8 };
enum { SAMPLES = 2, CHANNELS = 4, PIXELS = 9 };

static void check(equinorm_status status) {
  if (status.code == EQUINORM_OK) return;
  fprintf(stderr, "%s = %s: %s\n", status.argument, status.value, status.rule);
  exit(1);
}

static void fill(float* v, int count, int step) {
  for (int i = 0; i < count; ++i) v[i] = (float)((i * step) % 11 - 5) / 4;
}

static double sum_of_squares(const float* v, int count) {
  double sum = 0;
  for (int i = 0; i < count; ++i) sum += (double)v[i] * v[i];
  return sum;
}

static equinorm_rows tokens(float* data) {
  return (equinorm_rows){data, EQUINORM_F32, TOKENS, FEATURES, FEATURES};
}
static equinorm_const_rows const_tokens(const float* data) {
  return (equinorm_const_rows){data, EQUINORM_F32, TOKENS, FEATURES, FEATURES};
}

static void residual_dropout_norm(equinorm_context* context) {
  float x[TOKENS * FEATURES], residual[TOKENS * FEATURES], gamma[FEATURES], beta[FEATURES];
  float stream[TOKENS * FEATURES], y[TOKENS * FEATURES];
  fill(x, TOKENS * FEATURES, 3);
  fill(residual, TOKENS * FEATURES, 7);
  fill(beta, FEATURES, 2);
  for (int i = 0; i < FEATURES; ++i) gamma[i] = 1;

  equinorm_fused_norm_forward_args forward = EQUINORM_INIT(equinorm_fused_norm_forward_args);
  check(equinorm_named_form("LayerNorm", &forward.form));
  forward.x = const_tokens(x);
  forward.residual = const_tokens(residual);
  forward.dropout = (equinorm_dropout){.p = 0.25, .seed = 1, .offset = 0};
  forward.parameters.gamma = (equinorm_const_vector){gamma, EQUINORM_F32, FEATURES};
  forward.parameters.beta = (equinorm_const_vector){beta, EQUINORM_F32, FEATURES};
  forward.parameters.rows_per_group = 1;
  forward.stream = tokens(stream);
  forward.y = tokens(y);
  check(equinorm_fused_norm_forward(&forward, context));
  printf("y %.6f %.6f, square of the stream %.4f\n", y[0], y[1],
         sum_of_squares(stream, TOKENS * FEATURES));

  float dy[TOKENS * FEATURES], dx[TOKENS * FEATURES], dresidual[TOKENS * FEATURES];
  float dgamma[FEATURES], dbeta[FEATURES];
  fill(dy, TOKENS * FEATURES, 5);
  equinorm_fused_norm_backward_args backward = EQUINORM_INIT(equinorm_fused_norm_backward_args);
  backward.form = forward.form;
  backward.dy = const_tokens(dy);
  backward.stream = const_tokens(stream);
  backward.dropout = forward.dropout;
  backward.parameters = forward.parameters;
  backward.dx = tokens(dx);
  backward.dresidual = tokens(dresidual);
  backward.dgamma = (equinorm_vector){dgamma, EQUINORM_F32, FEATURES};
  backward.dbeta = (equinorm_vector){dbeta, EQUINORM_F32, FEATURES};
  check(equinorm_fused_norm_backward(&backward, context));
  printf("dresidual %.6f, dx %.6f, dgamma %.6f, dbeta %.6f\n", dresidual[0], dx[0], dgamma[1],
         dbeta[1]);

  int8_t q[TOKENS * FEATURES];
  float scale[TOKENS];
  forward.y.data = NULL;
  forward.quantized = (equinorm_quantized_rows){.data = q,
                                                .kind = EQUINORM_INT8_PER_ROW,
                                                .rows = TOKENS,
                                                .cols = FEATURES,
                                                .row_stride = FEATURES,
                                                .scale = {scale, EQUINORM_F32, TOKENS}};
  check(equinorm_fused_norm_forward(&forward, context));
  int within_half = 1;
  for (int i = 0; i < TOKENS * FEATURES; ++i) {
    const float s = scale[i / FEATURES], error = y[i] - s * (float)q[i];
    within_half &= -0.5001f * s <= error && error <= 0.5001f * s;
  }
  printf("int8 %d %d, scale %.6f, within half a scale: %s\n", q[0], q[1], scale[0],
         within_half ? "yes" : "no");
}

static void image_group_norm(equinorm_context* context) {
  float pixels[SAMPLES * CHANNELS * PIXELS], out[SAMPLES * CHANNELS * PIXELS];
  fill(pixels, SAMPLES * CHANNELS * PIXELS, 4);
  equinorm_group_norm_forward_args args = EQUINORM_INIT(equinorm_group_norm_forward_args);
  args.x = (equinorm_const_images){.data = pixels,
                                   .dtype = EQUINORM_F32,
                                   .samples = SAMPLES,
                                   .channels = CHANNELS,
                                   .positions = PIXELS,
                                   .sample_stride = CHANNELS * PIXELS,
                                   .channel_stride = 1, /* channels last */
                                   .position_stride = CHANNELS};
  args.y = (equinorm_images){out,    EQUINORM_F32,      SAMPLES, CHANNELS,
                             PIXELS, CHANNELS * PIXELS, 1,       CHANNELS};
  args.groups = 2;
  args.eps = 1e-5;
  check(equinorm_group_norm_forward(&args, context));
  printf("GroupNorm %.6f %.6f, mean square %.4f\n", out[0], out[1],
         sum_of_squares(out, SAMPLES * CHANNELS * PIXELS) / (SAMPLES * CHANNELS * PIXELS));
}

int main(void) {
  equinorm_context* context = equinorm_context_new();
  if (context == NULL) return 1;
  residual_dropout_norm(context);
  image_group_norm(context);
  equinorm_context_free(context);
  return 0;
}
