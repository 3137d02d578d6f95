// Gradient descent on mean losses of linear scores: stochastic, in mini-batches, and whole gradients.
//
//   J(w, b) = (1/n) sum c_i loss(y_i, s_i) + l2/2 |Dw|^2 + l1 |Dw|_1,   s_i = w . x_i + b
// where D is diagonal: 1, or what columns that were scaled were divided by, inverted.
// A batch of rows gives g = (1/size) sum c_i loss' x_i, and then
//   v <- momentum v + g + l2 w,   w <- soft(w - alpha v, alpha l1),   b <- b - alpha v_b
// where soft moves every weight towards zero by alpha l1, and no further (the proximal step of l1).
// Without momentum, l1 and averages, and with batches of one row, w is kept as factor x lifted, so that a
// step costs no more than its row. With D the shrinking of several steps is done at once, every d/32 of them.
// Rows of weight zero are passed over as though they were not there.
#pragma once
#include <cmath>

#include "rows.hpp"

namespace separatrix {

enum class LossKind : int { squared = 0, perceptron = 1, logistic = 2, hinge = 3, error = 4 };

struct LossAt {
    double value, slope;  // the slope is that in the score
    double grown = 1;     // the value is log(grown) larger: logarithms are taken of products of many
};

// Sums of losses; of unit weights one logarithm serves a hundred rows.
struct Meter {
    double total = 0, product = 1;
    int factors = 0;

    void add(double c, const LossAt& at) {
        total += c * at.value;
        if (at.grown == 1) return;
        if (c != 1) {
            total += c * std::log(at.grown);
            return;
        }
        product *= at.grown;  // at most 2 each
        if (++factors == 100) settle();
    }
    void settle() {
        total += std::log(product);
        product = 1;
        factors = 0;
    }
};

template <LossKind kind>
inline LossAt loss_at(double y, double s) {
    if constexpr (kind == LossKind::error) return {(y - s) * (y - s), 2 * (s - y)};
    const double m = y * s;
    if constexpr (kind == LossKind::squared) return {(1 - m) * (1 - m), -2 * (1 - m) * y};
    if constexpr (kind == LossKind::perceptron) return m <= 0 ? LossAt{-m, -y} : LossAt{0, 0};
    if constexpr (kind == LossKind::hinge) return m < 1 ? LossAt{1 - m, -y} : LossAt{0, 0};
    const double e = std::exp(-std::fabs(m));
    return {m < 0 ? -m : 0, -y * (m >= 0 ? e : 1.0) / (1 + e), 1 + e};
}

struct Descent {
    double* lifted;    // w / factor, then b
    double* factor;
    double* velocity;  // or null
    double* average;   // or null
    double* gradient;  // of the batch so far
    i64* counts;       // rows in the batch so far, steps made
    double* sums;      // losses and rows of this pass
    double* reach;     // greatest c |(x, 1)|^2 so far, which steps are divided by; null: they are not
    const double* columns;  // the diagonal of D; null: 1
    i64 batch;
    double l2, l1, momentum;
    bool bias;

    bool plain() const { return batch == 1 && l1 == 0 && !velocity && !average; }
    double scale(i64 k) const { return columns ? columns[k] : 1.0; }
};

inline double soft(double w, double t) { return w > t ? w - t : w < -t ? w + t : 0.0; }

// One step by the gradient that was gathered over `size` rows.
inline void step(const Descent& p, i64 d, double alpha, i64 size) {
    const double share = 1.0 / static_cast<double>(size);
    for (i64 k = 0; k < d; ++k) {
        const double D = p.scale(k);
        double g = p.gradient[k] * share + p.l2 * D * D * p.lifted[k];
        if (p.velocity) g = p.velocity[k] = p.momentum * p.velocity[k] + g;
        const double w = p.lifted[k] - alpha * g;
        p.lifted[k] = p.l1 == 0 ? w : soft(w, alpha * p.l1 * D);
        p.gradient[k] = 0;
    }
    if (p.bias) {
        double g = p.gradient[d] * share;
        if (p.velocity) g = p.velocity[d] = p.momentum * p.velocity[d] + g;
        p.lifted[d] -= alpha * g;
    }
    p.gradient[d] = 0;
    ++p.counts[1];
    if (p.average) {
        const double part = 1.0 / static_cast<double>(p.counts[1]);
        for (i64 k = 0; k <= d; ++k) p.average[k] += (p.lifted[k] - p.average[k]) * part;
    }
}

// Rows begin .. end of `order`; alpha[k] is the size of step k of this call.
template <LossKind kind, class Rows>
void descent_pass(const Rows& X, const double* y, const double* weight, const i64* order, const double* alpha,
                  i64 begin, i64 end, const Descent& p) {
    const i64 first = p.counts[1];
    const bool plain = p.plain();
    const i64 ahead = X.ahead(), together = X.d / 32 + 1;
    double pending = 0;  // strides of the steps whose shrinking is still to be done
    i64 waiting = 0, counted = 0;
    Meter meter;
    const auto shrink = [&] {
        for (i64 k = 0; k < X.d; ++k) p.lifted[k] /= 1 + pending * p.l2 * p.columns[k] * p.columns[k];
        pending = 0;
        waiting = 0;
    };
    for (i64 t = begin; t < end; ++t) {
        const i64 i = order ? order[t] : t;
        if (order && t + ahead < end) X.prefetch(order[t + ahead]);
        const double c = weight ? weight[i] : 1.0;
        if (c == 0) continue;
        ++counted;
        const double s = *p.factor * X.dot(i, p.lifted) + p.lifted[X.d];
        const LossAt at = loss_at<kind>(y[i], s);
        meter.add(c, at);
        double stride = alpha[p.counts[1] - first];
        if (p.reach) {
            const double norm = c * (X.norm2(i) + 1);
            if (norm > *p.reach) *p.reach = norm;
            stride /= *p.reach;
        }
        const double g = c * at.slope;
        if (plain) {
            if (p.l2 != 0 && !p.columns) {
                *p.factor *= 1 - stride * p.l2;
                if (std::fabs(*p.factor) < 1e-9) {
                    for (i64 k = 0; k < X.d; ++k) p.lifted[k] *= *p.factor;
                    *p.factor = 1;
                }
            }
            if (g != 0) {
                X.axpy(-stride * g / *p.factor, i, p.lifted);
                if (p.bias) p.lifted[X.d] -= stride * g;
            }
            ++p.counts[1];
            if (p.l2 != 0 && p.columns) {
                pending += stride;
                if (++waiting == together) shrink();
            }
            continue;
        }
        if (g != 0) {
            X.axpy(g, i, p.gradient);
            p.gradient[X.d] += g;
        }
        if (++p.counts[0] == p.batch) {
            step(p, X.d, stride, p.batch);
            p.counts[0] = 0;
        }
    }
    if (waiting) shrink();
    meter.settle();
    p.sums[0] += meter.total;
    p.sums[1] += static_cast<double>(counted);
}

// The mean loss over all rows, its gradient in g (d + 1 numbers, which are set), penalties left out.
template <LossKind kind, class Rows>
double mean_loss(const Rows& X, const double* y, const double* weight, const double* lifted, double* g) {
    Meter meter;
    for (i64 k = 0; k <= X.d; ++k) g[k] = 0;
    for (i64 i = 0; i < X.n; ++i) {
        const double c = weight ? weight[i] : 1.0;
        const LossAt at = loss_at<kind>(y[i], X.dot(i, lifted) + lifted[X.d]);
        meter.add(c, at);
        if (c * at.slope == 0) continue;
        X.axpy(c * at.slope, i, g);
        g[X.d] += c * at.slope;
    }
    const double n = static_cast<double>(X.n);
    for (i64 k = 0; k <= X.d; ++k) g[k] /= n;
    meter.settle();
    return meter.total / n;
}

}  // namespace separatrix
