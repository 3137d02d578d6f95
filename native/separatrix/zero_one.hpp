// The fewest mistakes along lines: for a direction u the number of rows with z_i . (w + t u) <= 0 changes only
// where a row crosses zero, at t_i = -s_i / q_i, so one sort finds its least value over all t. Lines along
// coordinates, at random and towards rows that are wrong, from w moved a little whenever nothing improves.
// Directions live in coordinates (x_j - center_j) scale_j, in which the columns are alike.
#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

#include "chance.hpp"
#include "rows.hpp"

namespace separatrix {

struct LineMinimum {
    double t;
    i64 mistakes;
};

// The middle of the widest interval with the fewest mistakes s_i + t q_i <= 0; beyond the last crossings only
// when that has fewer.
inline LineMinimum line_minimum(const double* s, const double* q, i64 n, std::vector<std::pair<double, i8>>& crossing) {
    crossing.clear();
    i64 wrong = 0;  // at t = -infinity
    for (i64 i = 0; i < n; ++i) {
        const double t = -s[i] / q[i];
        if (q[i] != 0 && std::isfinite(t))
            crossing.push_back({t, static_cast<i8>(q[i] > 0 ? -1 : 1)}), wrong += q[i] > 0;
        else
            wrong += !(s[i] > 0);
    }
    if (crossing.empty()) return {0.0, wrong};
    std::sort(crossing.begin(), crossing.end());
    LineMinimum best{0.0, n + 1};
    const std::size_t m = crossing.size();
    const i64 before = wrong;
    double widest = 0;
    for (std::size_t k = 0; k < m; ++k) {
        wrong += crossing[k].second;
        if (k + 1 == m) break;
        const double a = crossing[k].first, b = crossing[k + 1].first, width = b - a;
        if (width > 0 && (wrong < best.mistakes || (wrong == best.mistakes && width > widest)))
            best = {a + 0.5 * width, wrong}, widest = width;
    }
    const double first = crossing[0].first, last = crossing[m - 1].first;
    if (before < best.mistakes) best = {first - 1 - std::fabs(first), before};
    if (wrong < best.mistakes) best = {last + 1 + std::fabs(last), wrong};
    return best;
}

template <class Rows>
class ZeroOneDescent {
   public:
    ZeroOneDescent(const Rows& X, const i8* y, bool intercept, const double* center, const double* scale, double* w,
                   u64& state)
        : X(X), y(y), intercept(intercept), center(center), scale(scale), best(w), state(state), d(X.d),
          p(X.d + (intercept ? 1 : 0)), w(w, w + p), u(p), s(X.n), q(X.n) {}

    // From w as it is, then `restarts` times from w moved, along at most so many lines; w becomes the best.
    // Returns its mistakes.
    i64 run(i64 restarts, i64 lines) {
        left = lines;
        i64 least = descend(X.n + 1);
        for (i64 k = 0; k < restarts && least > 0 && left > 0; ++k) {
            double size = 0;
            for (i64 j = 0; j < d; ++j) size = std::max(size, std::fabs(best[j] / scale[j]));
            std::copy(best, best + p, w.begin());
            draw();
            const double step = std::ldexp(size, -static_cast<int>(below(11, state)));
            for (i64 j = 0; j < p; ++j) w[j] += step * u[j];
            least = descend(least);
        }
        return least;
    }

   private:
    const Rows& X;
    const i8* y;
    const bool intercept;
    const double *center, *scale;
    double* best;
    u64& state;
    const i64 d, p;
    i64 left = 0;
    std::vector<double> w, u, s, q;
    std::vector<std::pair<double, i8>> crossing;

    double uniform() { return static_cast<double>(separatrix::next(state) >> 11) * 0x1p-53; }

    // From coordinates to weights: the intercept makes up for the center.
    void outward() {
        if (intercept)
            for (i64 j = 0; j < d; ++j) u[d] -= u[j] * scale[j] * center[j];
        for (i64 j = 0; j < d; ++j) u[j] *= scale[j];
    }
    void draw() {
        for (i64 j = 0; j < p; ++j) u[j] = 2 * uniform() - 1;
        outward();
    }
    void margins(const double* of, std::vector<double>& out) const {
        for (i64 i = 0; i < X.n; ++i) out[i] = y[i] * (X.dot(i, of) + (intercept ? of[d] : 0.0));
    }
    i64 wrong() const {
        i64 count = 0;
        for (double m : s) count += !(m > 0);
        return count;
    }

    void direct(i64 mistakes) {
        const u64 kind = below(10, state);
        if (kind < 3 || (kind >= 6 && mistakes == 0)) {
            std::fill(u.begin(), u.end(), 0.0);
            u[below(static_cast<u64>(p), state)] = 1;
            outward();
        } else if (kind < 6) {
            draw();
        } else {
            i64 skip = static_cast<i64>(below(static_cast<u64>(mistakes), state)), i = 0;
            for (;; ++i)
                if (!(s[i] > 0) && skip-- == 0) break;
            std::fill(u.begin(), u.end(), 0.0);
            X.axpy(y[i], i, u.data());
            for (i64 j = 0; j < d; ++j) u[j] = (u[j] - y[i] * center[j]) * scale[j];
            if (intercept) u[d] = y[i];
            outward();
        }
    }

    // Until 3 p lines in a row have brought nothing; keeps w if it has no more mistakes than `least`.
    i64 descend(i64 least) {
        margins(w.data(), s);
        i64 mistakes = wrong();
        for (i64 stale = 0;; ++stale) {
            if (mistakes <= least) least = mistakes, std::copy(w.begin(), w.end(), best);
            if (stale > 3 * p || mistakes == 0 || left-- <= 0) return least;
            direct(mistakes);
            margins(u.data(), q);
            const LineMinimum line = line_minimum(s.data(), q.data(), X.n, crossing);
            if (line.mistakes > mistakes || !std::isfinite(line.t) || line.t == 0) continue;
            if (line.mistakes < mistakes) stale = -1;
            double top = 0;
            for (i64 j = 0; j < p; ++j) w[j] += line.t * u[j], top = std::max(top, std::fabs(w[j]));
            if (!(top > 0 && std::isfinite(top))) return least;
            int e;
            std::frexp(top, &e);
            for (double& t : w) t = std::ldexp(t, -e);
            margins(w.data(), s);
            mistakes = wrong();
        }
    }
};

}  // namespace separatrix
