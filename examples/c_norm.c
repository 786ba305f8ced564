/* LayerNorm from C: prints 0.000000 1.224736 -1.224736. */
#include <equinorm/equinorm.h>
#include <stdio.h>

int main(void) {
  const float x[] = {1000, 1001, 999};
  float y[3];
  equinorm_context* context = equinorm_context_new();
  if (context == NULL) return 1;
  equinorm_layer_norm_forward_args args = EQUINORM_INIT(equinorm_layer_norm_forward_args);
  args.x = (equinorm_const_rows){x, EQUINORM_F32, 1, 3, 3};
  args.y = (equinorm_rows){y, EQUINORM_F32, 1, 3, 3};
  args.eps = 1e-5;
  const equinorm_status status = equinorm_layer_norm_forward(&args, context);
  if (status.code != EQUINORM_OK) {
    fprintf(stderr, "%s = %s: %s\n", status.argument, status.value, status.rule);
    return 1;
  }
  printf("%.6f %.6f %.6f\n", y[0], y[1], y[2]);
  equinorm_context_free(context);
  return 0;
}
