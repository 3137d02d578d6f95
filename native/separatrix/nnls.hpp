// The point of conv{a_1, ..., a_m} nearest to the origin (Wolfe 1976), as the non-negative least
// squares problem of Lawson and Hanson (1974, ch. 23):
//
//     min  c^2 (1 - sum x)^2 + |v|^2,   v = sum x_i a_i,   x >= 0,     rows a_i of length 1.
//
// Its minimum is 0 iff the origin lies in the hull; otherwise v / sum x is the nearest point and
// a_i . v > 0 for every i. The support of x is affinely independent, so that it has at most p + 1 rows
// and, when v = 0, is a circuit. The columns b_i = (c, a_i) of the support are kept as B = QR.
#pragma once
#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "factor.hpp"

namespace separatrix {

class NearestPoint {
   public:
    enum Status { nearest, origin, limit };

    explicit NearestPoint(i64 dimension) : v(dimension, 0.0), p(dimension), B(dimension + 1) {}

    std::vector<i64> support;  // rows of A with x > 0
    std::vector<double> x;     // their weights
    std::vector<double> v;     // sum x_i a_i
    i64 first = 0;             // rows before this one enter before all others
    std::function<void()> look_up;  // called now and then, may throw; or empty

    double total() const {
        double s = 0;
        for (double t : x) s += t;
        return s;
    }

    // rows: m x p, each of length 1. start: rows to try first, the support of an earlier solve.
    Status solve(const double* rows, i64 m, double c_, const std::vector<i64>& start, double zero, i64 max_steps) {
        A = rows;
        c = c_;
        support.clear(), x.clear(), B.clear();
        inside.assign(m, 0), banned.assign(m, 0), few.clear();
        for (i64 i : start) enter(i, true);
        for (i64 step = 0; step < max_steps; ++step) {
            combine();
            const double sx = total(), vv = dot(v.data(), v.data(), p);
            if (!x.empty() && vv <= zero * zero * sx * sx) return origin;
            worked(m * p);
            const i64 i = entering(m, c * c * (1.0 - sx));
            if (i < 0) return nearest;
            enter(i, false);
        }
        return limit;
    }

   private:
    i64 p;
    const double* A = nullptr;
    double c = 1;
    Factor B;
    std::vector<double> work;
    std::vector<char> inside, banned;
    std::vector<i64> few;                   // the most violated rows of the last full pricing
    double worst = 0;
    i64 since = 0;

    // A look up after every so many multiplications, some hundredths of a second.
    void worked(i64 work) {
        if ((since += work) < i64{1} << 26) return;
        since = 0;
        if (look_up) look_up();
    }

    void combine() {
        std::fill(v.begin(), v.end(), 0.0);
        for (std::size_t q = 0; q < x.size(); ++q) axpy(x[q], A + support[q] * p, v.data(), p);
    }

    // The row with the least a_i . v below the threshold; -1 when the optimality conditions hold.
    // A full pricing keeps its few worst rows, and those serve until they are used up.
    i64 entering(i64 m, double threshold) {
        const double bar = threshold > 0 ? threshold * (1.0 - 1e-9) - 1e-300 : -1e-16;
        i64 best = -1;
        double least = bar;
        for (i64 i = 0; i < first; ++i) {
            if (inside[i] || banned[i]) continue;
            const double s = dot(A + i * p, v.data(), p);
            if (s < least) least = s, best = i;
        }
        if (best >= 0) return best;
        least = bar - 0.5 * worst;
        for (i64 i : few) {
            if (inside[i] || banned[i]) continue;
            const double s = dot(A + i * p, v.data(), p);
            if (s < least) least = s, best = i;
        }
        if (best >= 0) return best;
        priced.clear();
        for (i64 i = 0; i < m; ++i) {
            if (inside[i] || banned[i]) continue;
            const double s = dot(A + i * p, v.data(), p);
            if (s < bar) priced.push_back({s, i});
        }
        few.clear();
        if (priced.empty()) return -1;
        const std::size_t keep = std::min<std::size_t>(priced.size(), 4 + p / 8);
        std::nth_element(priced.begin(), priced.begin() + (keep - 1), priced.end());
        std::sort(priced.begin(), priced.begin() + keep);
        for (std::size_t t = 0; t < keep; ++t) few.push_back(priced[t].second);
        worst = bar - priced[0].first;
        return priced[0].second;
    }
    std::vector<std::pair<double, i64>> priced;

    // Row i joins the support; x moves to the least-squares solution on it, dropping rows whose
    // weight would turn negative on the way (Lawson-Hanson's inner loop).
    void enter(i64 i, bool warm) {
        if (inside[i]) return;
        if (!append(i)) {
            if (!warm) banned[i] = 1;
            return;
        }
        for (bool first = true;; first = false) {
            worked(2 * p * static_cast<i64>(support.size()));
            const std::vector<double>& a = least_squares();
            const std::size_t k = support.size();
            if (first && a[k - 1] <= 0) {  // rounding: the row would leave at once
                remove(k - 1);
                if (!warm) banned[i] = 1;
                return;
            }
            double t = 1;
            i64 leaving = -1;
            for (std::size_t q = 0; q < k; ++q)
                if (a[q] <= 0) {
                    const double s = x[q] > a[q] ? x[q] / (x[q] - a[q]) : 0.0;
                    if (leaving < 0 || s < t) t = s, leaving = static_cast<i64>(q);
                }
            if (leaving < 0) {
                x = a;
                if (!warm) std::fill(banned.begin(), banned.end(), 0);
                return;
            }
            for (std::size_t q = 0; q < k; ++q) x[q] += t * (a[q] - x[q]);
            x[leaving] = 0;
            for (std::size_t q = 0; q < x.size();)
                if (x[q] <= 0) remove(q);
                else ++q;
            if (support.empty()) return;
        }
    }

    bool append(i64 i) {
        double* b = B.fresh();
        b[0] = c;
        std::copy(A + i * p, A + (i + 1) * p, b + 1);
        if (!B.append(1e-13 * std::sqrt(1 + c * c))) return false;
        support.push_back(i), x.push_back(0.0);
        inside[i] = 1;
        return true;
    }

    // R a = Q' (c, 0, ..., 0)
    const std::vector<double>& least_squares() {
        work.resize(support.size());
        for (std::size_t q = 0; q < work.size(); ++q) work[q] = c * B.column(q)[0];
        B.solve(work.data());
        return work;
    }

    void remove(std::size_t q) {
        inside[support[q]] = 0;
        support.erase(support.begin() + q), x.erase(x.begin() + q);
        B.remove(q);
    }
};

}  // namespace separatrix
