/* The C interface of Equinorm: every operator on plain buffers, for C11 and for any language that
 * calls C. The same checks, bits and bounds as the C++ headers, which document the operators.
 *
 * ABI: arguments travel in structs that begin with struct_size, set by the caller to sizeof of the
 * struct (EQUINORM_INIT does it). Later versions only append fields; the library treats fields
 * beyond struct_size as not given, and refuses a struct_size that ends before the fields of the
 * first version. Enumerations are int32_t; a status is returned by value and never changes its
 * layout. No C++ exception crosses this interface.
 *
 * The one trap: a context holds the workspace of the call in progress, so one context serves one
 * thread at a time.
 *
 *   float x[] = {1000, 1001, 999}, y[3];
 *   equinorm_context* context = equinorm_context_new();
 *   equinorm_layer_norm_forward_args args = EQUINORM_INIT(equinorm_layer_norm_forward_args);
 *   args.x = (equinorm_const_rows){x, EQUINORM_F32, 1, 3, 3};
 *   args.y = (equinorm_rows){y, EQUINORM_F32, 1, 3, 3};
 *   args.eps = 1e-5;
 *   equinorm_status status = equinorm_layer_norm_forward(&args, context);
 *   if (status.code != EQUINORM_OK) { ... status.argument, status.value, status.rule ... }
 *   equinorm_context_free(context);
 */
#ifndef EQUINORM_EQUINORM_H_
#define EQUINORM_EQUINORM_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Zeros, and struct_size. eps is 0 too: set it. */
#ifdef __cplusplus
#define EQUINORM_INIT(type)           \
  ([] {                               \
    type init_ = {};                  \
    init_.struct_size = sizeof(type); \
    return init_;                     \
  }())
#else
#define EQUINORM_INIT(type) \
  { .struct_size = sizeof(type) }
#endif

/* Element types. */
enum { EQUINORM_F64 = 0, EQUINORM_F32 = 1, EQUINORM_F16 = 2, EQUINORM_BF16 = 3 };

/* Codes of a status. */
enum {
  EQUINORM_OK = 0,
  EQUINORM_INVALID_ARGUMENT = 1,
  EQUINORM_UNSUPPORTED = 2,
  EQUINORM_OUT_OF_MEMORY = 3
};

/* How the spread of a row is measured; see equinorm/row_norm.hpp. */
enum { EQUINORM_ROOT = 0, EQUINORM_ADDED = 1, EQUINORM_CLAMPED = 2, EQUINORM_LENGTH = 3 };

/* What xhat is multiplied by; see equinorm/row_norm.hpp. */
enum {
  EQUINORM_GAIN_NONE = 0,
  EQUINORM_GAIN_VECTOR = 1,
  EQUINORM_GAIN_ONE_PLUS = 2,
  EQUINORM_GAIN_SCALAR = 3,
  EQUINORM_GAIN_ADAPTIVE = 4
};

/* Which elements a row of an image's LayerNorm has; see equinorm/images.hpp. */
enum { EQUINORM_AXES_CHANNELS = 0, EQUINORM_AXES_SAMPLE = 1 };

/* How a fused norm stores y in 8 bits; see equinorm/fused_norm.hpp. 0 is none of them. */
enum { EQUINORM_INT8_PER_ROW = 1, EQUINORM_FP8_E4M3_PER_ROW = 2, EQUINORM_INT8_FIXED = 3 };

/* Outcome of a call. argument and rule are static text, value is the offending value as text. On
 * any code but EQUINORM_OK no output was touched. */
typedef struct equinorm_status {
  int32_t code;
  const char* argument;
  const char* rule;
  char value[48];
} equinorm_status;

/* Rows: element (r, c) is at data + (r * row_stride + c) elements. */
typedef struct equinorm_const_rows {
  const void* data;
  int32_t dtype;
  int64_t rows;
  int64_t cols;
  int64_t row_stride;
} equinorm_const_rows;

typedef struct equinorm_rows {
  void* data;
  int32_t dtype;
  int64_t rows;
  int64_t cols;
  int64_t row_stride;
} equinorm_rows;

/* Contiguous vectors; data == NULL: not given, not wanted. */
typedef struct equinorm_const_vector {
  const void* data;
  int32_t dtype;
  int64_t size;
} equinorm_const_vector;

typedef struct equinorm_vector {
  void* data;
  int32_t dtype;
  int64_t size;
} equinorm_vector;

/* Statistics that forward saves and backward reads, rows elements each; all or none. RMSNorm uses
 * rstd and exact only. */
typedef struct equinorm_statistics {
  equinorm_vector mean;
  equinorm_vector mean_tail;
  equinorm_vector rstd;
  uint8_t* exact;
} equinorm_statistics;

/* Where the elements of rows lie, in elements: row r of group g, column c, is at
 *   g * group_stride + r * row_stride + (c / run) * run_stride + (c % run) * column_stride.
 * run 0: the columns are one run. EQUINORM_INIT leaves groups 0, which is no row at all, and
 * column_stride 0, which no output may have: set both to 1 where there is nothing else to say. */
typedef struct equinorm_arrangement {
  int64_t groups;
  int64_t rows; /* of each group */
  int64_t cols;
  int64_t group_stride;
  int64_t row_stride;
  int64_t column_stride;
  int64_t run;
  int64_t run_stride;
} equinorm_arrangement;

typedef struct equinorm_const_grouped_rows {
  const void* data;
  int32_t dtype;
  equinorm_arrangement at;
} equinorm_const_grouped_rows;

/* No two elements in one place. */
typedef struct equinorm_grouped_rows {
  void* data;
  int32_t dtype;
  equinorm_arrangement at;
} equinorm_grouped_rows;

/* Parameters of groups, size of them each: one per column, or where group_stride is not 0 any
 * divisor of the columns. group_stride 0: all groups share one. data == NULL: not given. */
typedef struct equinorm_const_grouped_vector {
  const void* data;
  int32_t dtype;
  int64_t size;
  int64_t group_stride;
} equinorm_const_grouped_vector;

/* Gradients of them; data == NULL: not wanted. */
typedef struct equinorm_grouped_vector {
  void* data;
  int32_t dtype;
  int64_t size;
  int64_t group_stride;
} equinorm_grouped_vector;

/* Statistics to normalize with instead of the rows' own, groups elements each; both or neither,
 * but no mean for forms that are not centred. */
typedef struct equinorm_given_statistics {
  equinorm_const_vector mean;
  equinorm_const_vector variance;
} equinorm_given_statistics;

/* Element (n, c, s) is at data + (n * sample_stride + c * channel_stride + s * position_stride)
 * elements. A position is a pixel or a time step; EQUINORM_INIT leaves positions 0, which is an
 * empty image: set it, to 1 for tokens x features. */
typedef struct equinorm_const_images {
  const void* data;
  int32_t dtype;
  int64_t samples;
  int64_t channels;
  int64_t positions;
  int64_t sample_stride;
  int64_t channel_stride;
  int64_t position_stride;
} equinorm_const_images;

/* No two elements in one place. */
typedef struct equinorm_images {
  void* data;
  int32_t dtype;
  int64_t samples;
  int64_t channels;
  int64_t positions;
  int64_t sample_stride;
  int64_t channel_stride;
  int64_t position_stride;
} equinorm_images;

/* Element (t, h, i) is at data + (t * token_stride + h * head_stride + i) elements. */
typedef struct equinorm_const_heads {
  const void* data;
  int32_t dtype;
  int64_t tokens;
  int64_t heads;
  int64_t width;
  int64_t token_stride;
  int64_t head_stride;
} equinorm_const_heads;

/* No two elements in one place. */
typedef struct equinorm_heads {
  void* data;
  int32_t dtype;
  int64_t tokens;
  int64_t heads;
  int64_t width;
  int64_t token_stride;
  int64_t head_stride;
} equinorm_heads;

/* Settings and workspace of calls; opaque. */
typedef struct equinorm_context equinorm_context;

/* NULL when there is no memory. Freeing NULL does nothing. */
equinorm_context* equinorm_context_new(void);
void equinorm_context_free(equinorm_context* context);

equinorm_status equinorm_context_set_threads(equinorm_context* context, int32_t threads);
/* "portable", "neon", "avx2" or "avx3". */
equinorm_status equinorm_context_set_isa(equinorm_context* context, const char* isa);
/* 0: standard, 1: exact. */
equinorm_status equinorm_context_set_accuracy(equinorm_context* context, int32_t exact);
/* Runs tasks on the caller's threads: run must call task(state, i) once for each i in [0, count),
 * on any threads, and return when all have returned; concurrency >= 1 says how many are worth
 * handing over at once. run == NULL: OpenMP again. */
typedef void (*equinorm_task)(void* state, int64_t index);
typedef void (*equinorm_run_tasks)(void* user, int64_t count, equinorm_task task, void* state);
equinorm_status equinorm_context_set_executor(equinorm_context* context, int32_t concurrency,
                                              equinorm_run_tasks run, void* user);
/* Name of the instruction set that the last successful call ran. */
const char* equinorm_context_last_isa(const equinorm_context* context);

/* "0.1.0", and the version of the numerics contract. */
const char* equinorm_version(void);
int32_t equinorm_numerics_version(void);

/* y = gamma (x - mean) / sqrt(var + eps) + beta */
typedef struct equinorm_layer_norm_forward_args {
  size_t struct_size;
  equinorm_const_rows x;
  equinorm_const_vector gamma;
  equinorm_const_vector beta;
  double eps;
  equinorm_rows y;
  equinorm_statistics statistics;
} equinorm_layer_norm_forward_args;
equinorm_status equinorm_layer_norm_forward(const equinorm_layer_norm_forward_args* args,
                                            equinorm_context* context);

typedef struct equinorm_layer_norm_backward_args {
  size_t struct_size;
  equinorm_const_rows dy;
  equinorm_const_rows x;
  equinorm_const_vector gamma;
  double eps;
  equinorm_statistics statistics;
  equinorm_rows dx;
  equinorm_vector dgamma;
  equinorm_vector dbeta;
} equinorm_layer_norm_backward_args;
equinorm_status equinorm_layer_norm_backward(const equinorm_layer_norm_backward_args* args,
                                             equinorm_context* context);

/* y = gain x / sqrt(mean(x^2) + eps), gain = gamma or, with add_one, 1 + gamma */
typedef struct equinorm_rms_norm_forward_args {
  size_t struct_size;
  equinorm_const_rows x;
  equinorm_const_vector gamma;
  int32_t add_one;
  double eps;
  equinorm_rows y;
  equinorm_statistics statistics;
} equinorm_rms_norm_forward_args;
equinorm_status equinorm_rms_norm_forward(const equinorm_rms_norm_forward_args* args,
                                          equinorm_context* context);

typedef struct equinorm_rms_norm_backward_args {
  size_t struct_size;
  equinorm_const_rows dy;
  equinorm_const_rows x;
  equinorm_const_vector gamma;
  int32_t add_one;
  double eps;
  equinorm_statistics statistics;
  equinorm_rows dx;
  equinorm_vector dgamma;
} equinorm_rms_norm_backward_args;
equinorm_status equinorm_rms_norm_backward(const equinorm_rms_norm_backward_args* args,
                                           equinorm_context* context);

/* A norm of rows; fields as RowForm of equinorm/row_norm.hpp. */
typedef struct equinorm_row_form {
  int32_t centered;
  int32_t spread;
  int32_t unbiased;
  int32_t gain;
  double eps;
  int32_t detach_mean;
  int32_t detach_spread;
  double scale;
  double slope;
  double part;
} equinorm_row_form;

/* The form of that name, as `equinorm forms` lists them: "AdaNorm". */
equinorm_status equinorm_named_form(const char* name, equinorm_row_form* form);

typedef struct equinorm_row_norm_forward_args {
  size_t struct_size;
  equinorm_row_form form;
  equinorm_const_rows x;
  equinorm_const_vector gamma;
  equinorm_const_vector beta;
  equinorm_rows y;
} equinorm_row_norm_forward_args;
equinorm_status equinorm_row_norm_forward(const equinorm_row_norm_forward_args* args,
                                          equinorm_context* context);

typedef struct equinorm_row_norm_backward_args {
  size_t struct_size;
  equinorm_row_form form;
  equinorm_const_rows dy;
  equinorm_const_rows x;
  equinorm_const_vector gamma;
  equinorm_rows dx;
  equinorm_vector dgamma;
  equinorm_vector dbeta;
} equinorm_row_norm_backward_args;
equinorm_status equinorm_row_norm_backward(const equinorm_row_norm_backward_args* args,
                                           equinorm_context* context);

/* A form of row norm over rows that lie anywhere, in groups with parameters of their own; see
 * equinorm/grouped_norm.hpp. Shapes: y as x; gamma and beta of one size; mean and variance, f64,
 * groups * rows elements each, both or neither. y may be x itself in the same arrangement.
 * EQUINORM_INIT leaves a form that is refused (part 0): fill it by equinorm_named_form. */
typedef struct equinorm_grouped_norm_forward_args {
  size_t struct_size;
  equinorm_row_form form;
  equinorm_const_grouped_rows x;
  equinorm_const_grouped_vector gamma;
  equinorm_const_grouped_vector beta;
  equinorm_given_statistics given;
  equinorm_grouped_rows y;
  equinorm_vector mean;
  equinorm_vector variance;
} equinorm_grouped_norm_forward_args;
equinorm_status equinorm_grouped_norm_forward(const equinorm_grouped_norm_forward_args* args,
                                              equinorm_context* context);

/* dgamma and dbeta: sums over the rows of a group and over the columns that share the parameter,
 * and over groups too where all share one. */
typedef struct equinorm_grouped_norm_backward_args {
  size_t struct_size;
  equinorm_row_form form;
  equinorm_const_grouped_rows dy;
  equinorm_const_grouped_rows x;
  equinorm_const_grouped_vector gamma;
  equinorm_given_statistics given;
  equinorm_grouped_rows dx;
  equinorm_grouped_vector dgamma;
  equinorm_grouped_vector dbeta;
} equinorm_grouped_norm_backward_args;
equinorm_status equinorm_grouped_norm_backward(const equinorm_grouped_norm_backward_args* args,
                                               equinorm_context* context);

/* y = gamma_c (x - mean) / sqrt(var + eps) + beta_c, mean and biased variance over the channels of
 * a group and all positions of a sample; groups = channels is InstanceNorm. gamma, beta (channels),
 * optional. See equinorm/images.hpp. EQUINORM_INIT leaves groups 0, which is refused, and eps 0:
 * set both. */
typedef struct equinorm_group_norm_forward_args {
  size_t struct_size;
  equinorm_const_images x;
  int64_t groups; /* divides channels */
  equinorm_const_vector gamma;
  equinorm_const_vector beta;
  double eps;
  equinorm_images y;
} equinorm_group_norm_forward_args;
equinorm_status equinorm_group_norm_forward(const equinorm_group_norm_forward_args* args,
                                            equinorm_context* context);

typedef struct equinorm_group_norm_backward_args {
  size_t struct_size;
  equinorm_const_images dy;
  equinorm_const_images x;
  int64_t groups;
  equinorm_const_vector gamma;
  double eps;
  equinorm_images dx;
  equinorm_vector dgamma;
  equinorm_vector dbeta;
} equinorm_group_norm_backward_args;
equinorm_status equinorm_group_norm_backward(const equinorm_group_norm_backward_args* args,
                                             equinorm_context* context);

/* LayerNorm of images, statistics over all channels of one position (EQUINORM_AXES_CHANNELS, what
 * EQUINORM_INIT leaves) or over all channels and positions (EQUINORM_AXES_SAMPLE). gamma, beta:
 * (channels), or for a sample (channels * positions), position fastest; optional. See
 * equinorm/images.hpp. EQUINORM_INIT leaves eps 0: set it. */
typedef struct equinorm_image_layer_norm_forward_args {
  size_t struct_size;
  equinorm_const_images x;
  int32_t axes;
  equinorm_const_vector gamma;
  equinorm_const_vector beta;
  double eps;
  equinorm_images y;
} equinorm_image_layer_norm_forward_args;
equinorm_status equinorm_image_layer_norm_forward(
    const equinorm_image_layer_norm_forward_args* args, equinorm_context* context);

typedef struct equinorm_image_layer_norm_backward_args {
  size_t struct_size;
  equinorm_const_images dy;
  equinorm_const_images x;
  int32_t axes;
  equinorm_const_vector gamma;
  double eps;
  equinorm_images dx;
  equinorm_vector dgamma;
  equinorm_vector dbeta;
} equinorm_image_layer_norm_backward_args;
equinorm_status equinorm_image_layer_norm_backward(
    const equinorm_image_layer_norm_backward_args* args, equinorm_context* context);

/* Which elements the statistics of a channel are of; see equinorm/images.hpp. EQUINORM_INIT leaves
 * evaluation, which needs running statistics, and eps 0: set both. */
typedef struct equinorm_batch_norm_options {
  double eps;
  int32_t training;     /* not 0: statistics of the batch, else the running ones */
  int32_t per_position; /* not 0: statistics for each position apart */
  const uint8_t* mask;  /* samples * positions bytes, 0 where an element has no part; or NULL */
} equinorm_batch_norm_options;

/* y = gamma_c (x - mean_c) / sqrt(var_c + eps) + beta_c, mean and biased variance over samples and
 * positions. gamma, beta (channels), optional. running_mean, running_variance (channels), per
 * position (steps * channels): in training optional and updated to (1 - momentum) * old + momentum
 * * new, otherwise read and needed. See equinorm/images.hpp. EQUINORM_INIT leaves momentum 0, which
 * updates nothing: set it. */
typedef struct equinorm_batch_norm_forward_args {
  size_t struct_size;
  equinorm_const_images x;
  equinorm_batch_norm_options options;
  equinorm_const_vector gamma;
  equinorm_const_vector beta;
  equinorm_vector running_mean;
  equinorm_vector running_variance;
  double momentum; /* in [0, 1] */
  equinorm_images y;
} equinorm_batch_norm_forward_args;
equinorm_status equinorm_batch_norm_forward(const equinorm_batch_norm_forward_args* args,
                                            equinorm_context* context);

/* The running statistics are read outside training only. */
typedef struct equinorm_batch_norm_backward_args {
  size_t struct_size;
  equinorm_const_images dy;
  equinorm_const_images x;
  equinorm_batch_norm_options options;
  equinorm_const_vector gamma;
  equinorm_const_vector running_mean;
  equinorm_const_vector running_variance;
  equinorm_images dx;
  equinorm_vector dgamma;
  equinorm_vector dbeta;
} equinorm_batch_norm_backward_args;
equinorm_status equinorm_batch_norm_backward(const equinorm_batch_norm_backward_args* args,
                                             equinorm_context* context);

/* Each head of each token normalized by form over its width, where q and k lie in a packed
 * projection. gamma, beta (width), shared by all heads, or with a group_stride one set per head;
 * optional. See equinorm/heads.hpp. EQUINORM_INIT leaves a form that is refused: fill it by
 * equinorm_named_form. */
typedef struct equinorm_head_norm_forward_args {
  size_t struct_size;
  equinorm_row_form form;
  equinorm_const_heads x;
  equinorm_const_grouped_vector gamma;
  equinorm_const_grouped_vector beta;
  equinorm_heads y;
} equinorm_head_norm_forward_args;
equinorm_status equinorm_head_norm_forward(const equinorm_head_norm_forward_args* args,
                                           equinorm_context* context);

typedef struct equinorm_head_norm_backward_args {
  size_t struct_size;
  equinorm_row_form form;
  equinorm_const_heads dy;
  equinorm_const_heads x;
  equinorm_const_grouped_vector gamma;
  equinorm_heads dx;
  equinorm_grouped_vector dgamma;
  equinorm_grouped_vector dbeta;
} equinorm_head_norm_backward_args;
equinorm_status equinorm_head_norm_backward(const equinorm_head_norm_backward_args* args,
                                            equinorm_context* context);

/* adaLN: y = (1 + scale_g) xhat + shift_g, g = row / rows_per_group, xhat by form, whose gain is
 * not read. scale, shift (rows / rows_per_group, cols), optional. See equinorm/modulation.hpp.
 * EQUINORM_INIT leaves rows_per_group 0 and a form, both refused: set rows_per_group, to 1 for
 * parameters of tokens, and fill the form by equinorm_named_form; DiT has eps 1e-6. */
typedef struct equinorm_modulated_norm_forward_args {
  size_t struct_size;
  equinorm_row_form form;
  equinorm_const_rows x;
  int64_t rows_per_group;
  equinorm_const_rows scale;
  equinorm_const_rows shift;
  equinorm_rows y;
} equinorm_modulated_norm_forward_args;
equinorm_status equinorm_modulated_norm_forward(const equinorm_modulated_norm_forward_args* args,
                                                equinorm_context* context);

typedef struct equinorm_modulated_norm_backward_args {
  size_t struct_size;
  equinorm_row_form form;
  equinorm_const_rows dy;
  equinorm_const_rows x;
  int64_t rows_per_group;
  equinorm_const_rows scale;
  equinorm_rows dx;
  equinorm_rows dscale;
  equinorm_rows dshift;
} equinorm_modulated_norm_backward_args;
equinorm_status equinorm_modulated_norm_backward(const equinorm_modulated_norm_backward_args* args,
                                                 equinorm_context* context);

/* Dropout by Philox4x32-10: the same seed and offset give the same mask, whatever threads and
 * machine; see equinorm/fused_norm.hpp. EQUINORM_INIT leaves p 0: off. */
typedef struct equinorm_dropout {
  double p; /* in [0, 1] */
  uint64_t seed;
  uint64_t offset; /* another one for every call of a run */
} equinorm_dropout;

/* gamma and beta (cols) of all rows; or scale, shift and gate, (rows / rows_per_group, cols) each,
 * and then no gamma and no beta. All optional. EQUINORM_INIT leaves rows_per_group 0, which is
 * refused: set it, to 1 where there is nothing else to say. */
typedef struct equinorm_fused_parameters {
  equinorm_const_vector gamma;
  equinorm_const_vector beta;
  int64_t rows_per_group;
  equinorm_const_rows scale;
  equinorm_const_rows shift;
  equinorm_const_rows gate;
} equinorm_fused_parameters;

/* y in 8 bits, about scale times the number; data == NULL: not wanted. row_stride is in bytes.
 * scale (rows), in the compute type, is written by the kinds per row; fixed_scale, finite and above
 * 0, is what EQUINORM_INT8_FIXED divides by. EQUINORM_INIT leaves kind 0, which is refused where
 * data is given. */
typedef struct equinorm_quantized_rows {
  void* data;
  int32_t kind;
  int64_t rows;
  int64_t cols;
  int64_t row_stride;
  equinorm_vector scale;
  double fixed_scale;
} equinorm_quantized_rows;

/* h = residual + gate * dropout(x), y = norm(h). stream is h as it is stored, which the norm reads
 * and backward gets; residual and stream are optional, and either y or quantized is given. The gain
 * of the form counts for gamma only. See equinorm/fused_norm.hpp for aliasing and bounds.
 * EQUINORM_INIT leaves parameters.rows_per_group 0 and a form, both refused: set them. */
typedef struct equinorm_fused_norm_forward_args {
  size_t struct_size;
  equinorm_row_form form;
  equinorm_const_rows x;
  equinorm_const_rows residual;
  equinorm_dropout dropout;
  equinorm_fused_parameters parameters;
  equinorm_rows stream;
  equinorm_rows y;
  equinorm_quantized_rows quantized;
} equinorm_fused_norm_forward_args;
equinorm_status equinorm_fused_norm_forward(const equinorm_fused_norm_forward_args* args,
                                            equinorm_context* context);

/* stream is forward's h, dstream (optional) its gradient from elsewhere. x is needed for dgate
 * only; parameters.beta and .shift are not read. dropout as in forward. Outputs whose data is NULL
 * are not wanted. */
typedef struct equinorm_fused_norm_backward_args {
  size_t struct_size;
  equinorm_row_form form;
  equinorm_const_rows dy;
  equinorm_const_rows dstream;
  equinorm_const_rows stream;
  equinorm_const_rows x;
  equinorm_dropout dropout;
  equinorm_fused_parameters parameters;
  equinorm_rows dx;
  equinorm_rows dresidual;
  equinorm_vector dgamma;
  equinorm_vector dbeta;
  equinorm_rows dscale;
  equinorm_rows dshift;
  equinorm_rows dgate;
} equinorm_fused_norm_backward_args;
equinorm_status equinorm_fused_norm_backward(const equinorm_fused_norm_backward_args* args,
                                             equinorm_context* context);

/* DyT: y = gamma tanh(alpha x) + beta. alpha has one element and is needed; gamma, beta (cols),
 * optional. See equinorm/dynamic_tanh.hpp. */
typedef struct equinorm_dynamic_tanh_forward_args {
  size_t struct_size;
  equinorm_const_rows x;
  equinorm_const_vector alpha;
  equinorm_const_vector gamma;
  equinorm_const_vector beta;
  equinorm_rows y;
} equinorm_dynamic_tanh_forward_args;
equinorm_status equinorm_dynamic_tanh_forward(const equinorm_dynamic_tanh_forward_args* args,
                                              equinorm_context* context);

/* dalpha has one element; any output may be left out. */
typedef struct equinorm_dynamic_tanh_backward_args {
  size_t struct_size;
  equinorm_const_rows dy;
  equinorm_const_rows x;
  equinorm_const_vector alpha;
  equinorm_const_vector gamma;
  equinorm_rows dx;
  equinorm_vector dalpha;
  equinorm_vector dgamma;
  equinorm_vector dbeta;
} equinorm_dynamic_tanh_backward_args;
equinorm_status equinorm_dynamic_tanh_backward(const equinorm_dynamic_tanh_backward_args* args,
                                               equinorm_context* context);

/* y = alpha norm(x) + (1 - alpha) x. alpha has one element and is needed; gamma, beta (cols),
 * optional; no form with a scalar or an adaptive gain. See equinorm/blended_norm.hpp. EQUINORM_INIT
 * leaves a form that is refused: fill it by equinorm_named_form. */
typedef struct equinorm_blended_norm_forward_args {
  size_t struct_size;
  equinorm_row_form form;
  equinorm_const_rows x;
  equinorm_const_vector alpha;
  equinorm_const_vector gamma;
  equinorm_const_vector beta;
  equinorm_rows y;
} equinorm_blended_norm_forward_args;
equinorm_status equinorm_blended_norm_forward(const equinorm_blended_norm_forward_args* args,
                                              equinorm_context* context);

/* dalpha has one element; beta is read for it. Any output may be left out. */
typedef struct equinorm_blended_norm_backward_args {
  size_t struct_size;
  equinorm_row_form form;
  equinorm_const_rows dy;
  equinorm_const_rows x;
  equinorm_const_vector alpha;
  equinorm_const_vector gamma;
  equinorm_const_vector beta;
  equinorm_rows dx;
  equinorm_vector dalpha;
  equinorm_vector dgamma;
  equinorm_vector dbeta;
} equinorm_blended_norm_backward_args;
equinorm_status equinorm_blended_norm_backward(const equinorm_blended_norm_backward_args* args,
                                               equinorm_context* context);

#ifdef __cplusplus
}
#endif

#endif
