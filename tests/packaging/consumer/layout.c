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

FIELD(equinorm_arrangement, groups, 0, 8);
FIELD(equinorm_arrangement, rows, 8, 8);
FIELD(equinorm_arrangement, cols, 16, 8);
FIELD(equinorm_arrangement, group_stride, 24, 8);
FIELD(equinorm_arrangement, row_stride, 32, 8);
FIELD(equinorm_arrangement, column_stride, 40, 8);
FIELD(equinorm_arrangement, run, 48, 8);
FIELD(equinorm_arrangement, run_stride, 56, 8);
SIZE(equinorm_arrangement, 64);

FIELD(equinorm_const_grouped_rows, data, 0, 8);
FIELD(equinorm_const_grouped_rows, dtype, 8, 4);
FIELD(equinorm_const_grouped_rows, at, 16, 64);
SIZE(equinorm_const_grouped_rows, 80);

FIELD(equinorm_grouped_rows, data, 0, 8);
FIELD(equinorm_grouped_rows, dtype, 8, 4);
FIELD(equinorm_grouped_rows, at, 16, 64);
SIZE(equinorm_grouped_rows, 80);

FIELD(equinorm_const_grouped_vector, data, 0, 8);
FIELD(equinorm_const_grouped_vector, dtype, 8, 4);
FIELD(equinorm_const_grouped_vector, size, 16, 8);
FIELD(equinorm_const_grouped_vector, group_stride, 24, 8);
SIZE(equinorm_const_grouped_vector, 32);

FIELD(equinorm_grouped_vector, data, 0, 8);
FIELD(equinorm_grouped_vector, dtype, 8, 4);
FIELD(equinorm_grouped_vector, size, 16, 8);
FIELD(equinorm_grouped_vector, group_stride, 24, 8);
SIZE(equinorm_grouped_vector, 32);

FIELD(equinorm_given_statistics, mean, 0, 24);
FIELD(equinorm_given_statistics, variance, 24, 24);
SIZE(equinorm_given_statistics, 48);

FIELD(equinorm_const_images, data, 0, 8);
FIELD(equinorm_const_images, dtype, 8, 4);
FIELD(equinorm_const_images, samples, 16, 8);
FIELD(equinorm_const_images, channels, 24, 8);
FIELD(equinorm_const_images, positions, 32, 8);
FIELD(equinorm_const_images, sample_stride, 40, 8);
FIELD(equinorm_const_images, channel_stride, 48, 8);
FIELD(equinorm_const_images, position_stride, 56, 8);
SIZE(equinorm_const_images, 64);

FIELD(equinorm_images, data, 0, 8);
FIELD(equinorm_images, dtype, 8, 4);
FIELD(equinorm_images, samples, 16, 8);
FIELD(equinorm_images, channels, 24, 8);
FIELD(equinorm_images, positions, 32, 8);
FIELD(equinorm_images, sample_stride, 40, 8);
FIELD(equinorm_images, channel_stride, 48, 8);
FIELD(equinorm_images, position_stride, 56, 8);
SIZE(equinorm_images, 64);

FIELD(equinorm_const_heads, data, 0, 8);
FIELD(equinorm_const_heads, dtype, 8, 4);
FIELD(equinorm_const_heads, tokens, 16, 8);
FIELD(equinorm_const_heads, heads, 24, 8);
FIELD(equinorm_const_heads, width, 32, 8);
FIELD(equinorm_const_heads, token_stride, 40, 8);
FIELD(equinorm_const_heads, head_stride, 48, 8);
SIZE(equinorm_const_heads, 56);

FIELD(equinorm_heads, data, 0, 8);
FIELD(equinorm_heads, dtype, 8, 4);
FIELD(equinorm_heads, tokens, 16, 8);
FIELD(equinorm_heads, heads, 24, 8);
FIELD(equinorm_heads, width, 32, 8);
FIELD(equinorm_heads, token_stride, 40, 8);
FIELD(equinorm_heads, head_stride, 48, 8);
SIZE(equinorm_heads, 56);

FIELD(equinorm_grouped_norm_forward_args, struct_size, 0, 8);
FIELD(equinorm_grouped_norm_forward_args, form, 8, 56);
FIELD(equinorm_grouped_norm_forward_args, x, 64, 80);
FIELD(equinorm_grouped_norm_forward_args, gamma, 144, 32);
FIELD(equinorm_grouped_norm_forward_args, beta, 176, 32);
FIELD(equinorm_grouped_norm_forward_args, given, 208, 48);
FIELD(equinorm_grouped_norm_forward_args, y, 256, 80);
FIELD(equinorm_grouped_norm_forward_args, mean, 336, 24);
FIELD(equinorm_grouped_norm_forward_args, variance, 360, 24);

FIELD(equinorm_grouped_norm_backward_args, struct_size, 0, 8);
FIELD(equinorm_grouped_norm_backward_args, form, 8, 56);
FIELD(equinorm_grouped_norm_backward_args, dy, 64, 80);
FIELD(equinorm_grouped_norm_backward_args, x, 144, 80);
FIELD(equinorm_grouped_norm_backward_args, gamma, 224, 32);
FIELD(equinorm_grouped_norm_backward_args, given, 256, 48);
FIELD(equinorm_grouped_norm_backward_args, dx, 304, 80);
FIELD(equinorm_grouped_norm_backward_args, dgamma, 384, 32);
FIELD(equinorm_grouped_norm_backward_args, dbeta, 416, 32);

FIELD(equinorm_group_norm_forward_args, struct_size, 0, 8);
FIELD(equinorm_group_norm_forward_args, x, 8, 64);
FIELD(equinorm_group_norm_forward_args, groups, 72, 8);
FIELD(equinorm_group_norm_forward_args, gamma, 80, 24);
FIELD(equinorm_group_norm_forward_args, beta, 104, 24);
FIELD(equinorm_group_norm_forward_args, eps, 128, 8);
FIELD(equinorm_group_norm_forward_args, y, 136, 64);

FIELD(equinorm_group_norm_backward_args, struct_size, 0, 8);
FIELD(equinorm_group_norm_backward_args, dy, 8, 64);
FIELD(equinorm_group_norm_backward_args, x, 72, 64);
FIELD(equinorm_group_norm_backward_args, groups, 136, 8);
FIELD(equinorm_group_norm_backward_args, gamma, 144, 24);
FIELD(equinorm_group_norm_backward_args, eps, 168, 8);
FIELD(equinorm_group_norm_backward_args, dx, 176, 64);
FIELD(equinorm_group_norm_backward_args, dgamma, 240, 24);
FIELD(equinorm_group_norm_backward_args, dbeta, 264, 24);

FIELD(equinorm_image_layer_norm_forward_args, struct_size, 0, 8);
FIELD(equinorm_image_layer_norm_forward_args, x, 8, 64);
FIELD(equinorm_image_layer_norm_forward_args, axes, 72, 4);
FIELD(equinorm_image_layer_norm_forward_args, gamma, 80, 24);
FIELD(equinorm_image_layer_norm_forward_args, beta, 104, 24);
FIELD(equinorm_image_layer_norm_forward_args, eps, 128, 8);
FIELD(equinorm_image_layer_norm_forward_args, y, 136, 64);

FIELD(equinorm_image_layer_norm_backward_args, struct_size, 0, 8);
FIELD(equinorm_image_layer_norm_backward_args, dy, 8, 64);
FIELD(equinorm_image_layer_norm_backward_args, x, 72, 64);
FIELD(equinorm_image_layer_norm_backward_args, axes, 136, 4);
FIELD(equinorm_image_layer_norm_backward_args, gamma, 144, 24);
FIELD(equinorm_image_layer_norm_backward_args, eps, 168, 8);
FIELD(equinorm_image_layer_norm_backward_args, dx, 176, 64);
FIELD(equinorm_image_layer_norm_backward_args, dgamma, 240, 24);
FIELD(equinorm_image_layer_norm_backward_args, dbeta, 264, 24);

FIELD(equinorm_batch_norm_options, eps, 0, 8);
FIELD(equinorm_batch_norm_options, training, 8, 4);
FIELD(equinorm_batch_norm_options, per_position, 12, 4);
FIELD(equinorm_batch_norm_options, mask, 16, 8);
SIZE(equinorm_batch_norm_options, 24);

FIELD(equinorm_batch_norm_forward_args, struct_size, 0, 8);
FIELD(equinorm_batch_norm_forward_args, x, 8, 64);
FIELD(equinorm_batch_norm_forward_args, options, 72, 24);
FIELD(equinorm_batch_norm_forward_args, gamma, 96, 24);
FIELD(equinorm_batch_norm_forward_args, beta, 120, 24);
FIELD(equinorm_batch_norm_forward_args, running_mean, 144, 24);
FIELD(equinorm_batch_norm_forward_args, running_variance, 168, 24);
FIELD(equinorm_batch_norm_forward_args, momentum, 192, 8);
FIELD(equinorm_batch_norm_forward_args, y, 200, 64);

FIELD(equinorm_batch_norm_backward_args, struct_size, 0, 8);
FIELD(equinorm_batch_norm_backward_args, dy, 8, 64);
FIELD(equinorm_batch_norm_backward_args, x, 72, 64);
FIELD(equinorm_batch_norm_backward_args, options, 136, 24);
FIELD(equinorm_batch_norm_backward_args, gamma, 160, 24);
FIELD(equinorm_batch_norm_backward_args, running_mean, 184, 24);
FIELD(equinorm_batch_norm_backward_args, running_variance, 208, 24);
FIELD(equinorm_batch_norm_backward_args, dx, 232, 64);
FIELD(equinorm_batch_norm_backward_args, dgamma, 296, 24);
FIELD(equinorm_batch_norm_backward_args, dbeta, 320, 24);

FIELD(equinorm_head_norm_forward_args, struct_size, 0, 8);
FIELD(equinorm_head_norm_forward_args, form, 8, 56);
FIELD(equinorm_head_norm_forward_args, x, 64, 56);
FIELD(equinorm_head_norm_forward_args, gamma, 120, 32);
FIELD(equinorm_head_norm_forward_args, beta, 152, 32);
FIELD(equinorm_head_norm_forward_args, y, 184, 56);

FIELD(equinorm_head_norm_backward_args, struct_size, 0, 8);
FIELD(equinorm_head_norm_backward_args, form, 8, 56);
FIELD(equinorm_head_norm_backward_args, dy, 64, 56);
FIELD(equinorm_head_norm_backward_args, x, 120, 56);
FIELD(equinorm_head_norm_backward_args, gamma, 176, 32);
FIELD(equinorm_head_norm_backward_args, dx, 208, 56);
FIELD(equinorm_head_norm_backward_args, dgamma, 264, 32);
FIELD(equinorm_head_norm_backward_args, dbeta, 296, 32);

FIELD(equinorm_modulated_norm_forward_args, struct_size, 0, 8);
FIELD(equinorm_modulated_norm_forward_args, form, 8, 56);
FIELD(equinorm_modulated_norm_forward_args, x, 64, 40);
FIELD(equinorm_modulated_norm_forward_args, rows_per_group, 104, 8);
FIELD(equinorm_modulated_norm_forward_args, scale, 112, 40);
FIELD(equinorm_modulated_norm_forward_args, shift, 152, 40);
FIELD(equinorm_modulated_norm_forward_args, y, 192, 40);

FIELD(equinorm_modulated_norm_backward_args, struct_size, 0, 8);
FIELD(equinorm_modulated_norm_backward_args, form, 8, 56);
FIELD(equinorm_modulated_norm_backward_args, dy, 64, 40);
FIELD(equinorm_modulated_norm_backward_args, x, 104, 40);
FIELD(equinorm_modulated_norm_backward_args, rows_per_group, 144, 8);
FIELD(equinorm_modulated_norm_backward_args, scale, 152, 40);
FIELD(equinorm_modulated_norm_backward_args, dx, 192, 40);
FIELD(equinorm_modulated_norm_backward_args, dscale, 232, 40);
FIELD(equinorm_modulated_norm_backward_args, dshift, 272, 40);

FIELD(equinorm_dropout, p, 0, 8);
FIELD(equinorm_dropout, seed, 8, 8);
FIELD(equinorm_dropout, offset, 16, 8);
SIZE(equinorm_dropout, 24);

FIELD(equinorm_fused_parameters, gamma, 0, 24);
FIELD(equinorm_fused_parameters, beta, 24, 24);
FIELD(equinorm_fused_parameters, rows_per_group, 48, 8);
FIELD(equinorm_fused_parameters, scale, 56, 40);
FIELD(equinorm_fused_parameters, shift, 96, 40);
FIELD(equinorm_fused_parameters, gate, 136, 40);
SIZE(equinorm_fused_parameters, 176);

FIELD(equinorm_quantized_rows, data, 0, 8);
FIELD(equinorm_quantized_rows, kind, 8, 4);
FIELD(equinorm_quantized_rows, rows, 16, 8);
FIELD(equinorm_quantized_rows, cols, 24, 8);
FIELD(equinorm_quantized_rows, row_stride, 32, 8);
FIELD(equinorm_quantized_rows, scale, 40, 24);
FIELD(equinorm_quantized_rows, fixed_scale, 64, 8);
SIZE(equinorm_quantized_rows, 72);

FIELD(equinorm_fused_norm_forward_args, struct_size, 0, 8);
FIELD(equinorm_fused_norm_forward_args, form, 8, 56);
FIELD(equinorm_fused_norm_forward_args, x, 64, 40);
FIELD(equinorm_fused_norm_forward_args, residual, 104, 40);
FIELD(equinorm_fused_norm_forward_args, dropout, 144, 24);
FIELD(equinorm_fused_norm_forward_args, parameters, 168, 176);
FIELD(equinorm_fused_norm_forward_args, stream, 344, 40);
FIELD(equinorm_fused_norm_forward_args, y, 384, 40);
FIELD(equinorm_fused_norm_forward_args, quantized, 424, 72);

FIELD(equinorm_fused_norm_backward_args, struct_size, 0, 8);
FIELD(equinorm_fused_norm_backward_args, form, 8, 56);
FIELD(equinorm_fused_norm_backward_args, dy, 64, 40);
FIELD(equinorm_fused_norm_backward_args, dstream, 104, 40);
FIELD(equinorm_fused_norm_backward_args, stream, 144, 40);
FIELD(equinorm_fused_norm_backward_args, x, 184, 40);
FIELD(equinorm_fused_norm_backward_args, dropout, 224, 24);
FIELD(equinorm_fused_norm_backward_args, parameters, 248, 176);
FIELD(equinorm_fused_norm_backward_args, dx, 424, 40);
FIELD(equinorm_fused_norm_backward_args, dresidual, 464, 40);
FIELD(equinorm_fused_norm_backward_args, dgamma, 504, 24);
FIELD(equinorm_fused_norm_backward_args, dbeta, 528, 24);
FIELD(equinorm_fused_norm_backward_args, dscale, 552, 40);
FIELD(equinorm_fused_norm_backward_args, dshift, 592, 40);
FIELD(equinorm_fused_norm_backward_args, dgate, 632, 40);

FIELD(equinorm_dynamic_tanh_forward_args, struct_size, 0, 8);
FIELD(equinorm_dynamic_tanh_forward_args, x, 8, 40);
FIELD(equinorm_dynamic_tanh_forward_args, alpha, 48, 24);
FIELD(equinorm_dynamic_tanh_forward_args, gamma, 72, 24);
FIELD(equinorm_dynamic_tanh_forward_args, beta, 96, 24);
FIELD(equinorm_dynamic_tanh_forward_args, y, 120, 40);

FIELD(equinorm_dynamic_tanh_backward_args, struct_size, 0, 8);
FIELD(equinorm_dynamic_tanh_backward_args, dy, 8, 40);
FIELD(equinorm_dynamic_tanh_backward_args, x, 48, 40);
FIELD(equinorm_dynamic_tanh_backward_args, alpha, 88, 24);
FIELD(equinorm_dynamic_tanh_backward_args, gamma, 112, 24);
FIELD(equinorm_dynamic_tanh_backward_args, dx, 136, 40);
FIELD(equinorm_dynamic_tanh_backward_args, dalpha, 176, 24);
FIELD(equinorm_dynamic_tanh_backward_args, dgamma, 200, 24);
FIELD(equinorm_dynamic_tanh_backward_args, dbeta, 224, 24);

FIELD(equinorm_blended_norm_forward_args, struct_size, 0, 8);
FIELD(equinorm_blended_norm_forward_args, form, 8, 56);
FIELD(equinorm_blended_norm_forward_args, x, 64, 40);
FIELD(equinorm_blended_norm_forward_args, alpha, 104, 24);
FIELD(equinorm_blended_norm_forward_args, gamma, 128, 24);
FIELD(equinorm_blended_norm_forward_args, beta, 152, 24);
FIELD(equinorm_blended_norm_forward_args, y, 176, 40);

FIELD(equinorm_blended_norm_backward_args, struct_size, 0, 8);
FIELD(equinorm_blended_norm_backward_args, form, 8, 56);
FIELD(equinorm_blended_norm_backward_args, dy, 64, 40);
FIELD(equinorm_blended_norm_backward_args, x, 104, 40);
FIELD(equinorm_blended_norm_backward_args, alpha, 144, 24);
FIELD(equinorm_blended_norm_backward_args, gamma, 168, 24);
FIELD(equinorm_blended_norm_backward_args, beta, 192, 24);
FIELD(equinorm_blended_norm_backward_args, dx, 216, 40);
FIELD(equinorm_blended_norm_backward_args, dalpha, 256, 24);
FIELD(equinorm_blended_norm_backward_args, dgamma, 280, 24);
FIELD(equinorm_blended_norm_backward_args, dbeta, 304, 24);

#endif
