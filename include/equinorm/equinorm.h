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

#ifdef __cplusplus
}
#endif

#endif
