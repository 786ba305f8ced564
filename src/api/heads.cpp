// Norms of attention heads: a group of rows per head.
#include "equinorm/heads.hpp"

#include "arrangements.h"
#include "return_if_bad.h"

namespace equinorm {
namespace {

constexpr ViewNames kX = EQUINORM_HEAD_NAMES("x");
constexpr ViewNames kY = EQUINORM_HEAD_NAMES("y");
constexpr ViewNames kDy = EQUINORM_HEAD_NAMES("dy");
constexpr ViewNames kDx = EQUINORM_HEAD_NAMES("dx");

ConstGroupedRows rows_of(const ConstHeads& h) noexcept {
  return {h.data, h.dtype, {h.heads, h.tokens, h.width, h.head_stride, h.token_stride, 1, 0, 0}};
}
GroupedRows rows_of(const Heads& h) noexcept {
  return {h.data, h.dtype, {h.heads, h.tokens, h.width, h.head_stride, h.token_stride, 1, 0, 0}};
}

Status check_shape(const ConstHeads& v, const ConstHeads& x, const ViewNames& names) noexcept {
  if (v.tokens != x.tokens) return invalid(names.rows, Value(v.tokens), "must equal x.tokens");
  if (v.heads != x.heads) return invalid(names.groups, Value(v.heads), "must equal x.heads");
  if (v.width != x.width) return invalid(names.cols, Value(v.width), "must equal x.width");
  return {};
}

}  // namespace

Status head_norm_forward(const HeadNormForward& args, Context& context) noexcept {
  EQUINORM_RETURN_IF_BAD(check_rows(rows_of(args.x), kX));
  EQUINORM_RETURN_IF_BAD(check_output_rows(rows_of(args.y), kY));
  EQUINORM_RETURN_IF_BAD(check_shape(args.y, args.x, kY));
  ForwardCall call;
  call.form = args.form;
  call.x = rows_of(args.x);
  call.gamma = args.gamma;
  call.beta = args.beta;
  call.y = rows_of(args.y);
  EQUINORM_RETURN_IF_BAD(check_call(call));
  return run(call, context);
}

Status head_norm_backward(const HeadNormBackward& args, Context& context) noexcept {
  EQUINORM_RETURN_IF_BAD(check_rows(rows_of(args.x), kX));
  EQUINORM_RETURN_IF_BAD(check_rows(rows_of(args.dy), kDy));
  EQUINORM_RETURN_IF_BAD(check_shape(args.dy, args.x, kDy));
  if (args.dx.data != nullptr) {
    EQUINORM_RETURN_IF_BAD(check_output_rows(rows_of(args.dx), kDx));
    EQUINORM_RETURN_IF_BAD(check_shape(args.dx, args.x, kDx));
  }
  BackwardCall call;
  call.form = args.form;
  call.dy = rows_of(args.dy);
  call.x = rows_of(args.x);
  call.gamma = args.gamma;
  if (args.dx.data != nullptr) call.dx = rows_of(args.dx);
  call.dgamma = args.dgamma;
  call.dbeta = args.dbeta;
  EQUINORM_RETURN_IF_BAD(check_call(call));
  return run(call, context);
}

}  // namespace equinorm
