/* The layout of every struct of the C interface as its first version has it: a program that was
 * compiled then must be understood for ever. Compiled, not run; LP64 alone.
 *
 * Structs with struct_size may grow behind these fields, the others not at all. A new struct is
 * added here with the release that brings it; no line is ever changed. */
#include <equinorm/equinorm.h>

#if UINTPTR_MAX == 0xffffffffffffffff

#define FIELD(type, field, offset, size)                               \
  _Static_assert(offsetof(type, field) == (offset), #type "." #field); \
  _Static_assert(sizeof(((type*)0)->field) == (size), #type "." #field)
#define SIZE(type, size) _Static_assert(sizeof(type) == (size), #type)

FIELD(equinorm_status, code, 0, 4);
FIELD(equinorm_status, argument, 8, 8);
FIELD(equinorm_status, rule, 16, 8);
FIELD(equinorm_status, value, 24, 48);
SIZE(equinorm_status, 72);

FIELD(equinorm_const_rows, data, 0, 8);
FIELD(equinorm_const_rows, dtype, 8, 4);
FIELD(equinorm_const_rows, rows, 16, 8);
FIELD(equinorm_const_rows, cols, 24, 8);
FIELD(equinorm_const_rows, row_stride, 32, 8);
SIZE(equinorm_const_rows, 40);

FIELD(equinorm_rows, data, 0, 8);
FIELD(equinorm_rows, dtype, 8, 4);
FIELD(equinorm_rows, rows, 16, 8);
FIELD(equinorm_rows, cols, 24, 8);
FIELD(equinorm_rows, row_stride, 32, 8);
SIZE(equinorm_rows, 40);

FIELD(equinorm_const_vector, data, 0, 8);
FIELD(equinorm_const_vector, dtype, 8, 4);
FIELD(equinorm_const_vector, size, 16, 8);
SIZE(equinorm_const_vector, 24);

FIELD(equinorm_vector, data, 0, 8);
FIELD(equinorm_vector, dtype, 8, 4);
FIELD(equinorm_vector, size, 16, 8);
SIZE(equinorm_vector, 24);

FIELD(equinorm_statistics, mean, 0, 24);
FIELD(equinorm_statistics, mean_tail, 24, 24);
FIELD(equinorm_statistics, rstd, 48, 24);
FIELD(equinorm_statistics, exact, 72, 8);
SIZE(equinorm_statistics, 80);

FIELD(equinorm_layer_norm_forward_args, struct_size, 0, 8);
FIELD(equinorm_layer_norm_forward_args, x, 8, 40);
FIELD(equinorm_layer_norm_forward_args, gamma, 48, 24);
FIELD(equinorm_layer_norm_forward_args, beta, 72, 24);
FIELD(equinorm_layer_norm_forward_args, eps, 96, 8);
FIELD(equinorm_layer_norm_forward_args, y, 104, 40);
FIELD(equinorm_layer_norm_forward_args, statistics, 144, 80);

FIELD(equinorm_layer_norm_backward_args, struct_size, 0, 8);
FIELD(equinorm_layer_norm_backward_args, dy, 8, 40);
FIELD(equinorm_layer_norm_backward_args, x, 48, 40);
FIELD(equinorm_layer_norm_backward_args, gamma, 88, 24);
FIELD(equinorm_layer_norm_backward_args, eps, 112, 8);
FIELD(equinorm_layer_norm_backward_args, statistics, 120, 80);
FIELD(equinorm_layer_norm_backward_args, dx, 200, 40);
FIELD(equinorm_layer_norm_backward_args, dgamma, 240, 24);
FIELD(equinorm_layer_norm_backward_args, dbeta, 264, 24);

FIELD(equinorm_rms_norm_forward_args, struct_size, 0, 8);
FIELD(equinorm_rms_norm_forward_args, x, 8, 40);
FIELD(equinorm_rms_norm_forward_args, gamma, 48, 24);
FIELD(equinorm_rms_norm_forward_args, add_one, 72, 4);
FIELD(equinorm_rms_norm_forward_args, eps, 80, 8);
FIELD(equinorm_rms_norm_forward_args, y, 88, 40);
FIELD(equinorm_rms_norm_forward_args, statistics, 128, 80);

FIELD(equinorm_rms_norm_backward_args, struct_size, 0, 8);
FIELD(equinorm_rms_norm_backward_args, dy, 8, 40);
FIELD(equinorm_rms_norm_backward_args, x, 48, 40);
FIELD(equinorm_rms_norm_backward_args, gamma, 88, 24);
FIELD(equinorm_rms_norm_backward_args, add_one, 112, 4);
FIELD(equinorm_rms_norm_backward_args, eps, 120, 8);
FIELD(equinorm_rms_norm_backward_args, statistics, 128, 80);
FIELD(equinorm_rms_norm_backward_args, dx, 208, 40);
FIELD(equinorm_rms_norm_backward_args, dgamma, 248, 24);

FIELD(equinorm_row_form, centered, 0, 4);
FIELD(equinorm_row_form, spread, 4, 4);
FIELD(equinorm_row_form, unbiased, 8, 4);
FIELD(equinorm_row_form, gain, 12, 4);
FIELD(equinorm_row_form, eps, 16, 8);
FIELD(equinorm_row_form, detach_mean, 24, 4);
FIELD(equinorm_row_form, detach_spread, 28, 4);
FIELD(equinorm_row_form, scale, 32, 8);
FIELD(equinorm_row_form, slope, 40, 8);
FIELD(equinorm_row_form, part, 48, 8);
SIZE(equinorm_row_form, 56);

FIELD(equinorm_row_norm_forward_args, struct_size, 0, 8);
FIELD(equinorm_row_norm_forward_args, form, 8, 56);
FIELD(equinorm_row_norm_forward_args, x, 64, 40);
FIELD(equinorm_row_norm_forward_args, gamma, 104, 24);
FIELD(equinorm_row_norm_forward_args, beta, 128, 24);
FIELD(equinorm_row_norm_forward_args, y, 152, 40);

FIELD(equinorm_row_norm_backward_args, struct_size, 0, 8);
FIELD(equinorm_row_norm_backward_args, form, 8, 56);
FIELD(equinorm_row_norm_backward_args, dy, 64, 40);
FIELD(equinorm_row_norm_backward_args, x, 104, 40);
FIELD(equinorm_row_norm_backward_args, gamma, 144, 24);
FIELD(equinorm_row_norm_backward_args, dx, 168, 40);
FIELD(equinorm_row_norm_backward_args, dgamma, 208, 24);
FIELD(equinorm_row_norm_backward_args, dbeta, 232, 24);

#endif
