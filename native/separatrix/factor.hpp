// A matrix B = QR that changes a column at a time: columns join at the end by Gram-Schmidt (twice, which
// is enough: Giraud et al. 2005) and leave anywhere, when Givens rotations make R a triangle again.
#pragma once
#include <cmath>
#include <vector>

#include "lanes.hpp"

namespace separatrix {

inline double dot(const double* a, const double* b, i64 n) {
    double s[16] = {};
    i64 k = 0;
    for (; k + 16 <= n; k += 16)
        for (int l = 0; l < 16; ++l) s[l] += a[k + l] * b[k + l];
    for (int l = 0; l < 8; ++l) s[l] += s[l + 8];
    for (; k + 8 <= n; k += 8)
        for (int l = 0; l < 8; ++l) s[l] += a[k + l] * b[k + l];
    for (int l = 0; k < n; ++k, ++l) s[l] += a[k] * b[k];
    return ((s[0] + s[4]) + (s[1] + s[5])) + ((s[2] + s[6]) + (s[3] + s[7]));
}

inline void axpy(double a, const double* x, double* y, i64 n) {
    for (i64 k = 0; k < n; ++k) y[k] += a * x[k];
}

// What is not a number comes first in an order: comparisons with NaN would lead a sort outside its array.
inline double sortable(double s) { return std::isnan(s) ? -HUGE_VAL : s; }

using Triangle = std::vector<std::vector<double>>;  // upper, by columns: column q has q + 1 numbers

// Column q leaves; rotations of rows t and t + 1 make R a triangle again, and are told to also(t, cosine, sine).
template <class Also>
void rotate_out(Triangle& R, std::size_t q, Also also) {
    R.erase(R.begin() + q);
    for (std::size_t t = q; t < R.size(); ++t) {  // R[t] has one number too many, at t + 1
        const double f = R[t][t], g = R[t][t + 1], h = std::hypot(f, g);
        if (h > 0) {
            const double cs = f / h, sn = g / h;
            for (std::size_t u = t; u < R.size(); ++u) {
                const double a = R[u][t], b = R[u][t + 1];
                R[u][t] = cs * a + sn * b, R[u][t + 1] = cs * b - sn * a;
            }
            also(t, cs, sn);
        }
        R[t].pop_back();
    }
}

// R a = right side, in place.
inline void solve_triangle(const Triangle& R, double* a) {
    for (i64 q = static_cast<i64>(R.size()) - 1; q >= 0; --q) {
        a[q] /= R[q][q];
        axpy(-a[q], R[q].data(), a, q);
    }
}

class Factor {
   public:
    explicit Factor(i64 length) : P(length) {}

    std::size_t columns() const { return R.size(); }
    const double* column(std::size_t q) const { return Q.data() + q * P; }  // of Q
    void clear() { Q.clear(), R.clear(); }

    // Room for the next column: to be filled before append.
    double* fresh() {
        Q.resize((R.size() + 1) * P);
        return Q.data() + R.size() * P;
    }

    // False when what is left of the column is no longer than `least`.
    bool append(double least) {
        const std::size_t k = R.size();
        if (static_cast<i64>(k) == P) return false;
        double* r = Q.data() + k * P;
        std::vector<double> h(k + 1, 0.0);
        for (int again = 0; again < 2; ++again)
            for (std::size_t q = 0; q < k; ++q) {
                const double s = dot(column(q), r, P);
                h[q] += s;
                axpy(-s, column(q), r, P);
            }
        const double length = std::sqrt(dot(r, r, P));
        if (!(length > least)) return false;
        for (i64 t = 0; t < P; ++t) r[t] /= length;
        h[k] = length;
        R.push_back(std::move(h));
        return true;
    }

    void remove(std::size_t q) {
        rotate_out(R, q, [&](std::size_t t, double cs, double sn) {
            double *s = Q.data() + t * P, *e = s + P;
            for (i64 k = 0; k < P; ++k) {
                const double a = s[k], b = e[k];
                s[k] = cs * a + sn * b, e[k] = cs * b - sn * a;
            }
        });
    }

    // R a = right side, in place.
    void solve(double* a) const { solve_triangle(R, a); }

   private:
    i64 P;
    std::vector<double> Q;  // columns of length P, one after the other
    Triangle R;
};

}  // namespace separatrix
