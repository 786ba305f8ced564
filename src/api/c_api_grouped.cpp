// The C interface of norms over groups, images and attention heads.
//
// The trap: views are turned around by position, so the order of their fields is that of the C++
// structs.
#include "c_convert.h"
#include "equinorm/grouped_norm.hpp"
#include "equinorm/heads.hpp"
#include "equinorm/images.hpp"

namespace equinorm {
namespace {

using equinorm::from_c;  // which those here would hide

Arrangement from_c(const equinorm_arrangement& a) noexcept {
  return {a.groups,     a.rows,          a.cols, a.group_stride,
          a.row_stride, a.column_stride, a.run,  a.run_stride};
}
ConstGroupedRows from_c(const equinorm_const_grouped_rows& r) noexcept {
  return {r.data, enum_of<DType>(r.dtype), from_c(r.at)};
}
GroupedRows from_c(const equinorm_grouped_rows& r) noexcept {
  return {r.data, enum_of<DType>(r.dtype), from_c(r.at)};
}
ConstGroupedVector from_c(const equinorm_const_grouped_vector& v) noexcept {
  return {v.data, enum_of<DType>(v.dtype), v.size, v.group_stride};
}
GroupedVector from_c(const equinorm_grouped_vector& v) noexcept {
  return {v.data, enum_of<DType>(v.dtype), v.size, v.group_stride};
}
GivenStatistics from_c(const equinorm_given_statistics& g) noexcept {
  return {from_c(g.mean), from_c(g.variance)};
}

ConstImages from_c(const equinorm_const_images& i) noexcept {
  return {i.data,      enum_of<DType>(i.dtype), i.samples,        i.channels,
          i.positions, i.sample_stride,         i.channel_stride, i.position_stride};
}
Images from_c(const equinorm_images& i) noexcept {
  return {i.data,      enum_of<DType>(i.dtype), i.samples,        i.channels,
          i.positions, i.sample_stride,         i.channel_stride, i.position_stride};
}
ConstHeads from_c(const equinorm_const_heads& h) noexcept {
  return {h.data,  enum_of<DType>(h.dtype), h.tokens,     h.heads,
          h.width, h.token_stride,          h.head_stride};
}
Heads from_c(const equinorm_heads& h) noexcept {
  return {h.data,  enum_of<DType>(h.dtype), h.tokens,     h.heads,
          h.width, h.token_stride,          h.head_stride};
}

BatchNormOptions from_c(const equinorm_batch_norm_options& o) noexcept {
  return {o.eps, o.training != 0, o.per_position != 0, o.mask};
}

}  // namespace
}  // namespace equinorm

using namespace equinorm;

extern "C" {

equinorm_status equinorm_grouped_norm_forward(const equinorm_grouped_norm_forward_args* args,
                                              equinorm_context* context) {
  return run_c(args, context, [](const auto& a, Context& c) noexcept {
    return grouped_norm_forward({from_c(a.form), from_c(a.x), from_c(a.gamma), from_c(a.beta),
                                 from_c(a.given), from_c(a.y), from_c(a.mean), from_c(a.variance)},
                                c);
  });
}

equinorm_status equinorm_grouped_norm_backward(const equinorm_grouped_norm_backward_args* args,
                                               equinorm_context* context) {
  return run_c(args, context, [](const auto& a, Context& c) noexcept {
    return grouped_norm_backward({from_c(a.form), from_c(a.dy), from_c(a.x), from_c(a.gamma),
                                  from_c(a.given), from_c(a.dx), from_c(a.dgamma), from_c(a.dbeta)},
                                 c);
  });
}

equinorm_status equinorm_group_norm_forward(const equinorm_group_norm_forward_args* args,
                                            equinorm_context* context) {
  return run_c(args, context, [](const auto& a, Context& c) noexcept {
    return group_norm_forward(
        {from_c(a.x), a.groups, from_c(a.gamma), from_c(a.beta), a.eps, from_c(a.y)}, c);
  });
}

equinorm_status equinorm_group_norm_backward(const equinorm_group_norm_backward_args* args,
                                             equinorm_context* context) {
  return run_c(args, context, [](const auto& a, Context& c) noexcept {
    return group_norm_backward({from_c(a.dy), from_c(a.x), a.groups, from_c(a.gamma), a.eps,
                                from_c(a.dx), from_c(a.dgamma), from_c(a.dbeta)},
                               c);
  });
}

equinorm_status equinorm_image_layer_norm_forward(
    const equinorm_image_layer_norm_forward_args* args, equinorm_context* context) {
  return run_c(args, context, [](const auto& a, Context& c) noexcept {
    return image_layer_norm_forward({from_c(a.x), enum_of<LayerAxes>(a.axes), from_c(a.gamma),
                                     from_c(a.beta), a.eps, from_c(a.y)},
                                    c);
  });
}

equinorm_status equinorm_image_layer_norm_backward(
    const equinorm_image_layer_norm_backward_args* args, equinorm_context* context) {
  return run_c(args, context, [](const auto& a, Context& c) noexcept {
    return image_layer_norm_backward(
        {from_c(a.dy), from_c(a.x), enum_of<LayerAxes>(a.axes), from_c(a.gamma), a.eps,
         from_c(a.dx), from_c(a.dgamma), from_c(a.dbeta)},
        c);
  });
}

equinorm_status equinorm_batch_norm_forward(const equinorm_batch_norm_forward_args* args,
                                            equinorm_context* context) {
  return run_c(args, context, [](const auto& a, Context& c) noexcept {
    return batch_norm_forward(
        {from_c(a.x), from_c(a.options), from_c(a.gamma), from_c(a.beta), from_c(a.running_mean),
         from_c(a.running_variance), a.momentum, from_c(a.y)},
        c);
  });
}

equinorm_status equinorm_batch_norm_backward(const equinorm_batch_norm_backward_args* args,
                                             equinorm_context* context) {
  return run_c(args, context, [](const auto& a, Context& c) noexcept {
    return batch_norm_backward(
        {from_c(a.dy), from_c(a.x), from_c(a.options), from_c(a.gamma), from_c(a.running_mean),
         from_c(a.running_variance), from_c(a.dx), from_c(a.dgamma), from_c(a.dbeta)},
        c);
  });
}

equinorm_status equinorm_head_norm_forward(const equinorm_head_norm_forward_args* args,
                                           equinorm_context* context) {
  return run_c(args, context, [](const auto& a, Context& c) noexcept {
    return head_norm_forward(
        {from_c(a.form), from_c(a.x), from_c(a.gamma), from_c(a.beta), from_c(a.y)}, c);
  });
}

equinorm_status equinorm_head_norm_backward(const equinorm_head_norm_backward_args* args,
                                            equinorm_context* context) {
  return run_c(args, context, [](const auto& a, Context& c) noexcept {
    return head_norm_backward({from_c(a.form), from_c(a.dy), from_c(a.x), from_c(a.gamma),
                               from_c(a.dx), from_c(a.dgamma), from_c(a.dbeta)},
                              c);
  });
}

}  // extern "C"
