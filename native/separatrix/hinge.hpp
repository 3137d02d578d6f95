// Dual coordinate descent for the soft margin (Hsieh, Chang, Lin, Keerthi and Sundararajan 2008): one pass over
// listed rows. Each multiplier z_i in [0, c_i] is put where it maximises
//
//   sum z_i - |sum z_i y_i x_i|^2/2 - rho/2 (sum z_i y_i)^2 - b_0 sum z_i y_i
//
// with all others held. `w` is sum z_i y_i x_i and `bias` is b_0 + rho sum z_i y_i: the multiplier b_0 and the
// penalty rho stand for the constraint sum z_i y_i = 0 of a free bias (Hestenes 1969; Powell 1969); rho = 0 keeps the
// bias as it is.
#pragma once
#include "rows.hpp"

namespace separatrix {

// What a pass found: how many rows it kept, and the largest and the smallest projected gradient.
struct HingePass {
    i64 kept;
    double most, least;
};

// `curvature` is |x_i|^2 + rho. Rows at zero whose gradient is above `high`, and rows at their cost whose gradient is
// below `low`, are left out: `order` has the rows that were kept first, in their order.
template <class Rows>
HingePass hinge_pass(const Rows& X, const i8* y, i64* order, i64 count, const double* cost, const double* curvature,
                     double rho, double high, double low, double* z, double* w, double& bias) {
    HingePass found{0, -__builtin_inf(), __builtin_inf()};
    const i64 ahead = X.ahead();
    for (i64 t = 0; t < count; ++t) {
        const i64 i = order[t];
        if (t + ahead < count) X.prefetch(order[t + ahead]);
        const double sign = y[i], before = z[i];
        const double gradient = sign * (X.dot(i, w) + bias) - 1.0;
        double projected = gradient;
        if (before <= 0) {
            if (gradient > high) continue;
            projected = gradient < 0 ? gradient : 0.0;
        } else if (before >= cost[i]) {
            if (gradient < low) continue;
            projected = gradient > 0 ? gradient : 0.0;
        }
        order[t] = order[found.kept];
        order[found.kept++] = i;
        found.most = projected > found.most ? projected : found.most;
        found.least = projected < found.least ? projected : found.least;
        if (projected == 0) continue;
        double after = curvature[i] > 0 ? before - gradient / curvature[i] : gradient < 0 ? cost[i] : 0.0;
        after = after > 0 ? after : 0.0;
        after = after < cost[i] ? after : cost[i];
        const double step = (after - before) * sign;
        if (step == 0) continue;
        z[i] = after;
        X.axpy(step, i, w);
        bias += rho * step;
    }
    return found;
}

}  // namespace separatrix
