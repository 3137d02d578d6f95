// The soft margin near its central path: what one step of Mehrotra's (1992) predictor and corrector does with every
// row, in four passes over vectors. With the sign y_i of a row, its cost c_i, its score y_i (w.x_i + b), the slacks s_i
// and t_i and the multiplier z_i,
//
//   s_i z_i = mu,    t_i (c_i - z_i) = mu,    s_i = score_i - 1 + t_i
//
// on the path. Eliminating the slacks leaves  weight_i = 1/(s_i/z_i + t_i/(c_i - z_i))  as the weight of row i in the
// system of w and b, and  z_i - weight_i g_i  as its share of the right-hand side. Sums run in eight lanes, row i in
// lane i mod 8, which are added as those of lanes.hpp.
#pragma once
#include "lanes.hpp"

namespace separatrix {

// The numbers of the rows at a point; none is changed here.
struct MarginPoint {
    const double *y, *cost, *z, *s, *t, *score;
    i64 n;
};

// Every row with its lane; whole vectors of eight first.
template <class Body>
SEPARATRIX_INLINE void for_each_lane(i64 n, const Body& body) {
    i64 i = 0;
    for (; i + 8 <= n; i += 8)
        SEPARATRIX_INDEPENDENT
        for (int l = 0; l < 8; ++l) body(i + l, l);
    for (; i < n; ++i) body(i, static_cast<int>(i % 8));
}

inline double lanes_sum(const double (&a)[8]) { return ((a[0] + a[4]) + (a[2] + a[6])) + ((a[1] + a[5]) + (a[3] + a[7])); }

inline double lanes_most(const double (&a)[8]) {
    double most = a[0];
    for (int l = 1; l < 8; ++l) most = a[l] > most ? a[l] : most;
    return most;
}

// The weights, and the right-hand side of the predictor, where g = score - 1; the sums of both.
struct MarginSystem {
    double weights, right;
};
inline MarginSystem margin_system(const MarginPoint& p, double* weight, double* right) {
    double weights[8] = {}, rights[8] = {};
    for_each_lane(p.n, [&](i64 i, int l) {
        const double v = 1.0 / (p.s[i] / p.z[i] + p.t[i] / (p.cost[i] - p.z[i]));
        const double r = p.y[i] * (p.z[i] - v * (p.score[i] - 1.0));
        weight[i] = v, right[i] = r;
        weights[l] += v, rights[l] += r;
    });
    return {lanes_sum(weights), lanes_sum(rights)};
}

// The predictor's change dz of the multipliers, from its change `moved` of w.x_i + b. With r = dz/z and f = dz/(c - z)
// its slacks change by -s(1 + r) and -t(1 - f): the largest r, -r, f and -f bound the steps, and the sums of
// s z (1, r, r^2) and t (c - z) (1, f, f^2) give the products after them.
struct MarginPredictor {
    double rise, fall, free_rise, free_fall;
    double below[3], above[3];
};
inline MarginPredictor margin_predictor(const MarginPoint& p, const double* weight, const double* moved, double* dz) {
    double rise[8], fall[8], free_rise[8], free_fall[8], below[3][8] = {}, above[3][8] = {};
    for (int l = 0; l < 8; ++l) rise[l] = fall[l] = free_rise[l] = free_fall[l] = -__builtin_inf();
    for_each_lane(p.n, [&](i64 i, int l) {
        const double free = p.cost[i] - p.z[i];
        const double change = -weight[i] * (p.y[i] * moved[i] + (p.score[i] - 1.0));
        const double r = change / p.z[i], f = change / free, sz = p.s[i] * p.z[i], tf = p.t[i] * free;
        dz[i] = change;
        rise[l] = r > rise[l] ? r : rise[l], fall[l] = -r > fall[l] ? -r : fall[l];
        free_rise[l] = f > free_rise[l] ? f : free_rise[l], free_fall[l] = -f > free_fall[l] ? -f : free_fall[l];
        below[0][l] += sz, below[1][l] += sz * r, below[2][l] += sz * r * r;
        above[0][l] += tf, above[1][l] += tf * f, above[2][l] += tf * f * f;
    });
    MarginPredictor out{lanes_most(rise), lanes_most(fall), lanes_most(free_rise), lanes_most(free_fall), {}, {}};
    for (int k = 0; k < 3; ++k) out.below[k] = lanes_sum(below[k]), out.above[k] = lanes_sum(above[k]);
    return out;
}

// What the products aim at, second-order terms of the predictor's dz subtracted, as slack: (aim - ds dz)/z in `low`
// and (aim + dt dz)/(c - z) in `high`; the right-hand side with g = score - 1 - low + high, and its sum.
inline double margin_corrector(const MarginPoint& p, const double* weight, const double* dz, double aim, double* low,
                               double* high, double* right) {
    double rights[8] = {};
    for_each_lane(p.n, [&](i64 i, int l) {
        const double z = p.z[i], free = p.cost[i] - z, u = dz[i];
        const double a = (aim + p.s[i] * (1.0 + u / z) * u) / z;
        const double b = (aim - p.t[i] * (1.0 - u / free) * u) / free;
        const double r = p.y[i] * (z - weight[i] * ((p.score[i] - 1.0 - a) + b));
        low[i] = a, high[i] = b, right[i] = r;
        rights[l] += r;
    });
    return lanes_sum(rights);
}

// The corrector's changes of z, s and t, from its change `moved` of w.x_i + b; ds takes the place of `low`, dt that of
// `high`. The largest of -ds/s, -dt/t, -dz/z and dz/(c - z): a step is shorter than its inverse.
inline double margin_direction(const MarginPoint& p, const double* weight, const double* moved, double* dz, double* low,
                               double* high) {
    double most[8] = {};
    for_each_lane(p.n, [&](i64 i, int l) {
        const double free = p.cost[i] - p.z[i], g = (p.score[i] - 1.0 - low[i]) + high[i];
        const double u = -weight[i] * (p.y[i] * moved[i] + g), r = u / p.z[i], f = u / free;
        const double ds = low[i] - p.s[i] * (1.0 + r), dt = high[i] - p.t[i] * (1.0 - f);
        const double a = -ds / p.s[i], b = -dt / p.t[i];
        dz[i] = u, low[i] = ds, high[i] = dt;
        double top = most[l];
        top = a > top ? a : top, top = b > top ? b : top;
        top = -r > top ? -r : top, top = f > top ? f : top;
        most[l] = top;
    });
    return lanes_most(most);
}

}  // namespace separatrix
