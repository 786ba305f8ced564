// GroupNorm, InstanceNorm and LayerNorm of images.
#include "equinorm/images.hpp"

#include "arrangements.h"
#include "return_if_bad.h"

namespace equinorm {
namespace {

constexpr ViewNames kX = EQUINORM_IMAGE_NAMES("x");
constexpr ViewNames kY = EQUINORM_IMAGE_NAMES("y");
constexpr ViewNames kDy = EQUINORM_IMAGE_NAMES("dy");
constexpr ViewNames kDx = EQUINORM_IMAGE_NAMES("dx");
constexpr const char* kChannels = "must equal x.channels";
constexpr const char* kElements = "must equal x.channels * x.positions";

Status check_groups(const ConstImages& x, std::int64_t groups) noexcept {
  if (groups >= 1 && x.channels % groups == 0) return {};
  return invalid("groups", Value(groups), "must be at least 1 and divide x.channels");
}

Status check_size(const ConstVector& v, std::int64_t size, const char* rule,
                  const char* name) noexcept {
  if (v.data == nullptr || v.size == size) return {};
  return invalid(name, Value(v.size), rule);
}

/// Channels in groups; group_stride is not 0, so that columns may share them.
ConstGroupedVector of_groups(const ConstVector& v, std::int64_t size) noexcept {
  return {v.data, v.dtype, size, size};
}
GroupedVector of_groups(const Vector& v, std::int64_t size) noexcept {
  return {v.data, v.dtype, size, size};
}

}  // namespace

Status group_norm_forward(const GroupNormForward& args, Context& context) noexcept {
  EQUINORM_RETURN_IF_BAD(check_images(args.x, kX));
  EQUINORM_RETURN_IF_BAD(check_images(args.y, args.x, kY));
  EQUINORM_RETURN_IF_BAD(check_groups(args.x, args.groups));
  EQUINORM_RETURN_IF_BAD(check_size(args.gamma, args.x.channels, kChannels, "gamma.size"));
  EQUINORM_RETURN_IF_BAD(check_size(args.beta, args.x.channels, kChannels, "beta.size"));
  const std::int64_t channels = args.x.channels / args.groups;
  ForwardCall call;
  call.form.eps = args.eps;
  call.x = arranged(args.x, by_channel_group(args.x, args.groups));
  call.y = arranged(args.y, by_channel_group(args.y, args.groups));
  call.gamma = of_groups(args.gamma, channels);
  call.beta = of_groups(args.beta, channels);
  EQUINORM_RETURN_IF_BAD(check_call(call));
  return run(call, context);
}

Status group_norm_backward(const GroupNormBackward& args, Context& context) noexcept {
  EQUINORM_RETURN_IF_BAD(check_images(args.x, kX));
  EQUINORM_RETURN_IF_BAD(check_images(args.dy, args.x, kDy));
  if (args.dx.data != nullptr) EQUINORM_RETURN_IF_BAD(check_images(args.dx, args.x, kDx));
  EQUINORM_RETURN_IF_BAD(check_groups(args.x, args.groups));
  const std::int64_t all = args.x.channels;
  EQUINORM_RETURN_IF_BAD(check_size(args.gamma, all, kChannels, "gamma.size"));
  EQUINORM_RETURN_IF_BAD(check_size(args.dgamma, all, kChannels, "dgamma.size"));
  EQUINORM_RETURN_IF_BAD(check_size(args.dbeta, all, kChannels, "dbeta.size"));
  const std::int64_t channels = all / args.groups;
  BackwardCall call;
  call.form.eps = args.eps;
  call.dy = arranged(args.dy, by_channel_group(args.dy, args.groups));
  call.x = arranged(args.x, by_channel_group(args.x, args.groups));
  if (args.dx.data != nullptr) {
    call.dx = arranged(args.dx, by_channel_group(args.dx, args.groups));
  }
  call.gamma = of_groups(args.gamma, channels);
  call.dgamma = of_groups(args.dgamma, channels);
  call.dbeta = of_groups(args.dbeta, channels);
  EQUINORM_RETURN_IF_BAD(check_call(call));
  return run(call, context);
}

namespace {

Status check_axes(LayerAxes axes) noexcept {
  if (axes <= LayerAxes::sample) return {};
  return invalid("axes", Value(static_cast<int>(axes)), "must be channels or sample");
}

Arrangement by_axes(const ConstImages& images, LayerAxes axes) noexcept {
  return axes == LayerAxes::channels ? by_position(images) : by_sample(images);
}

struct ParameterRule {
  std::int64_t size;
  const char* text;
  ParameterRule(const ConstImages& x, LayerAxes axes) noexcept
      : size(axes == LayerAxes::channels ? x.channels : x.channels * x.positions),
        text(axes == LayerAxes::channels ? kChannels : kElements) {}
};

}  // namespace

Status image_layer_norm_forward(const ImageLayerNormForward& args, Context& context) noexcept {
  EQUINORM_RETURN_IF_BAD(check_images(args.x, kX));
  EQUINORM_RETURN_IF_BAD(check_images(args.y, args.x, kY));
  EQUINORM_RETURN_IF_BAD(check_axes(args.axes));
  const ParameterRule rule(args.x, args.axes);
  EQUINORM_RETURN_IF_BAD(check_size(args.gamma, rule.size, rule.text, "gamma.size"));
  EQUINORM_RETURN_IF_BAD(check_size(args.beta, rule.size, rule.text, "beta.size"));
  ForwardCall call;
  call.form.eps = args.eps;
  call.x = arranged(args.x, by_axes(args.x, args.axes));
  call.y = arranged(args.y, by_axes(args.y, args.axes));
  call.gamma = grouped(args.gamma);
  call.beta = grouped(args.beta);
  EQUINORM_RETURN_IF_BAD(check_call(call));
  return run(call, context);
}

Status image_layer_norm_backward(const ImageLayerNormBackward& args, Context& context) noexcept {
  EQUINORM_RETURN_IF_BAD(check_images(args.x, kX));
  EQUINORM_RETURN_IF_BAD(check_images(args.dy, args.x, kDy));
  if (args.dx.data != nullptr) EQUINORM_RETURN_IF_BAD(check_images(args.dx, args.x, kDx));
  EQUINORM_RETURN_IF_BAD(check_axes(args.axes));
  const ParameterRule rule(args.x, args.axes);
  EQUINORM_RETURN_IF_BAD(check_size(args.gamma, rule.size, rule.text, "gamma.size"));
  EQUINORM_RETURN_IF_BAD(check_size(args.dgamma, rule.size, rule.text, "dgamma.size"));
  EQUINORM_RETURN_IF_BAD(check_size(args.dbeta, rule.size, rule.text, "dbeta.size"));
  BackwardCall call;
  call.form.eps = args.eps;
  call.dy = arranged(args.dy, by_axes(args.dy, args.axes));
  call.x = arranged(args.x, by_axes(args.x, args.axes));
  if (args.dx.data != nullptr) call.dx = arranged(args.dx, by_axes(args.dx, args.axes));
  call.gamma = grouped(args.gamma);
  call.dgamma = grouped(args.dgamma);
  call.dbeta = grouped(args.dbeta);
  EQUINORM_RETURN_IF_BAD(check_call(call));
  return run(call, context);
}

}  // namespace equinorm
