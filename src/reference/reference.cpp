// The public names of the contract oracle.
#include "equinorm/reference.hpp"

#include "rows.hpp"

namespace equinorm::reference {

void layer_norm_forward(const LayerNormForward& args, Accuracy accuracy) {
  forward({{true, false, args.gamma, args.beta, args.eps, accuracy},
           args.x,
           args.y,
           {args.statistics.mean, args.statistics.mean_tail, args.statistics.rstd,
            args.statistics.exact}});
}

void layer_norm_backward(const LayerNormBackward& args, Accuracy accuracy) {
  backward({{true, false, args.gamma, {}, args.eps, accuracy},
            args.dy,
            args.x,
            {args.statistics.mean, args.statistics.mean_tail, args.statistics.rstd,
             args.statistics.exact},
            args.dx,
            args.dgamma,
            args.dbeta});
}

void rms_norm_forward(const RmsNormForward& args, Accuracy accuracy) {
  forward({{false, args.add_one, args.gamma, {}, args.eps, accuracy},
           args.x,
           args.y,
           {{}, {}, args.statistics.rstd, args.statistics.exact}});
}

void rms_norm_backward(const RmsNormBackward& args, Accuracy accuracy) {
  backward({{false, args.add_one, args.gamma, {}, args.eps, accuracy},
            args.dy,
            args.x,
            {{}, {}, args.statistics.rstd, args.statistics.exact},
            args.dx,
            args.dgamma,
            {}});
}

}  // namespace equinorm::reference
