// The nearest points of two hulls, or of one hull and the origin (Wolfe 1976):
//
//     min |v|,   v = sum x_i a_i,   x >= 0,   sum of x over each group = 1.
//
// One group: the point of conv{a_i} nearest to the origin. Two groups, a_i = p_i or -n_i: the shortest
// difference between conv{p_i} and conv{n_i}. At the minimum a_i . v >= level_g for every row of group g,
// with equality on the support.
//
// The support is a corral: the columns b_i = (c e_g, a_i) are independent and the least |v| over their affine
// hulls has x > 0. With B = QR and u_h the solution of R u_h = c Q'e_h, that point is x = sum t_h u_h, where t
// makes the sums 1. Every step lowers |v|, so that no corral comes back. Rows differ in length here: what is
// nearest depends on it.
#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

#include "factor.hpp"

namespace separatrix {

// Rows a_i by their coordinates, m x q. The support's columns b_i = (c e_g, a_i) are kept as B = QR.
class Coordinates {
   public:
    Coordinates(const double* rows, const i8* group, i64 m, i64 q, i64 groups)
        : v(q, 0.0), A(rows), group(group), m(m), q(q), G(groups), B(q + groups) {}

    std::vector<double> v;  // sum x_i a_i

    i64 work(i64 k) const { return (k + 8) * (q + 8) * 8 + m * q / 4; }  // of a step, about
    i64 few() const { return 4 + q / 8; }                               // rows worth remembering after a full pricing
    double length(i64 i) const { return std::sqrt(dot(row(i), row(i), q)); }
    double score(i64 i) const { return dot(row(i), v.data(), q); }  // a_i . v

    void combine(const std::vector<i64>& support, const std::vector<double>& x) {
        std::fill(v.begin(), v.end(), 0.0);
        for (std::size_t t = 0; t < x.size(); ++t) axpy(x[t], row(support[t]), v.data(), q);
    }
    bool append(const std::vector<i64>&, i64 i, double c, double least) {
        double* b = B.fresh();
        for (i64 g = 0; g < G; ++g) b[g] = group[i] == g ? c : 0.0;
        std::copy(row(i), row(i) + q, b + G);
        return B.append(least);
    }
    void remove(std::size_t t) { B.remove(t); }
    // u with  R u = c Q'e_h
    void solve(const std::vector<i64>&, i64 h, double c, std::vector<double>& u) const {
        for (std::size_t t = 0; t < u.size(); ++t) u[t] = c * B.column(t)[h];
        B.solve(u.data());
    }

   private:
    const double* A;
    const i8* group;
    i64 m, q, G;
    Factor B;
    const double* row(i64 i) const { return A + i * q; }
};

// Rows a_i by their inner products, m x m: for many more columns than rows. B'B = R'R is factored (Cholesky), at the
// price of half the digits where rows of the support are nearly linearly dependent.
class Products {
   public:
    Products(const double* products, const i8* group, i64 m) : K(products), group(group), m(m), scores(m, 0.0) {}

    i64 work(i64 k) const { return 4 * k * k + 2 * k * m; }
    i64 few() const { return 1; }
    double length(i64 i) const { return std::sqrt(K[i * m + i]); }
    double score(i64 i) const { return scores[i]; }

    void combine(const std::vector<i64>& support, const std::vector<double>& x) {
        std::fill(scores.begin(), scores.end(), 0.0);
        for (std::size_t t = 0; t < x.size(); ++t) axpy(x[t], K + support[t] * m, scores.data(), m);
    }
    bool append(const std::vector<i64>& support, i64 i, double c, double least) {
        const std::size_t k = support.size();
        std::vector<double> r(k + 1);
        double rest = K[i * m + i] + c * c;
        for (std::size_t t = 0; t < k; ++t) {
            double s = K[support[t] * m + i] + (group[support[t]] == group[i] ? c * c : 0.0);
            s -= dot(R[t].data(), r.data(), static_cast<i64>(t));
            r[t] = s / R[t][t];
            rest -= r[t] * r[t];
        }
        if (!(rest > 1e-13 * (K[i * m + i] + c * c)) || !(rest > least * least)) return false;
        r[k] = std::sqrt(rest);
        R.push_back(std::move(r));
        return true;
    }
    void remove(std::size_t t) { rotate_out(R, t, [](std::size_t, double, double) {}); }
    // u with  R'R u = c^2 (1 on the rows of group h)
    void solve(const std::vector<i64>& support, i64 h, double c, std::vector<double>& u) const {
        const i64 k = static_cast<i64>(u.size());
        for (i64 t = 0; t < k; ++t)
            u[t] = ((group[support[t]] == h ? c * c : 0.0) - dot(R[t].data(), u.data(), t)) / R[t][t];
        solve_triangle(R, u.data());
    }

   private:
    const double* K;
    const i8* group;
    i64 m;
    std::vector<double> scores;
    Triangle R;
};

template <class Space>
class Hull {
   public:
    enum Status { nearest, origin, limit, interrupted };

    // group: 0 or 1 for each of the m rows, every group present.
    Hull(Space& space, const i8* group, i64 m, i64 groups)
        : space(space), group(group), m(m), G(groups), inside(m, 0), banned(m, 0) {}

    std::vector<i64> support;  // rows with x > 0
    std::vector<double> x;     // their weights
    double level[2] = {};      // a_i . v on the support, by group
    i64 steps = 0;

    // start, weights: the support of an earlier solve, or nothing. c: about |v|, where columns are best told
    // apart. go_on() is asked now and then.
    template <class GoOn>
    Status solve(const std::vector<i64>& start, const std::vector<double>& weights, double c_, double zero,
                 i64 max_steps, GoOn go_on) {
        c = c_;
        longest = 0;
        for (i64 i = 0; i < m; ++i) longest = std::max(longest, space.length(i));
        begin(start, weights);
        descend();
        double before = HUGE_VAL;
        for (i64 idle = 0, work_done = 0; steps < max_steps; ++steps) {
            const double vv = measure();
            if (!(vv > zero * longest * zero * longest)) return origin;
            idle = vv < before * (1 - 1e-15) ? 0 : idle + 1;  // rounding may go round in circles
            before = std::min(before, vv);
            const i64 i = idle > 30 ? -1 : entering(vv);
            if (i < 0) return nearest;
            if (append(i)) {
                x.back() = 0;
                if (descend()) std::fill(banned.begin(), banned.end(), 0);
                else banned[i] = 1;
            } else
                banned[i] = 1;
            work_done += space.work(static_cast<i64>(support.size()));
            if (work_done > i64{1} << 27) {
                work_done = 0;
                if (!go_on()) return interrupted;
            }
        }
        measure();
        return limit;
    }

   private:
    Space& space;
    const i8* group;
    i64 m, G;
    double c = 1, longest = 0;
    std::vector<double> u[2];
    std::vector<char> inside, banned;
    std::vector<std::pair<double, i64>> priced;
    std::vector<i64> few;  // the most violated rows of the last full pricing
    double worst = 0;

    void begin(const std::vector<i64>& start, const std::vector<double>& weights) {
        for (std::size_t t = 0; t < start.size(); ++t)
            if (append(start[t])) x.back() = weights[t];
        double sum[2] = {};
        for (std::size_t t = 0; t < x.size(); ++t) sum[group[support[t]]] += x[t];
        for (std::size_t t = 0; t < x.size(); ++t) x[t] /= sum[group[support[t]]];
        for (i64 g = 0; g < G; ++g) {
            if (sum[g] > 0) continue;
            i64 best = -1;
            double least = HUGE_VAL;
            for (i64 i = 0; i < m; ++i)
                if (group[i] == g && !inside[i])
                    if (const double s = space.length(i); best < 0 || s < least) least = s, best = i;
            if (best >= 0 && append(best)) x.back() = 1;
        }
    }

    // |v|^2, and where the level of each group lies
    double measure() {
        space.combine(support, x);
        level[0] = level[1] = 0;
        for (std::size_t t = 0; t < x.size(); ++t) level[group[support[t]]] += x[t] * space.score(support[t]);
        return level[0] + level[1];
    }

    // The row that lies farthest below the level of its group; -1 when none does. A full pricing keeps its
    // few worst rows, and those serve until they are used up.
    i64 entering(double vv) {
        const double slack = 1e-13 * vv + 1e-16 * std::sqrt(vv) * longest;
        const auto below = [&](i64 i) { return level[group[i]] - slack - space.score(i); };
        i64 best = -1;
        double most = 0.5 * worst;
        for (i64 i : few) {
            if (inside[i] || banned[i]) continue;
            const double s = below(i);
            if (s > most) most = s, best = i;
        }
        if (best >= 0) return best;
        priced.clear(), few.clear();
        for (i64 i = 0; i < m; ++i) {
            if (inside[i] || banned[i]) continue;
            if (const double s = below(i); s > 0) priced.push_back({-s, i});
        }
        if (priced.empty()) return -1;
        const std::size_t keep = std::min<std::size_t>(priced.size(), space.few());
        std::nth_element(priced.begin(), priced.begin() + (keep - 1), priced.end());
        std::sort(priced.begin(), priced.begin() + keep);
        for (std::size_t t = 0; t < keep; ++t) few.push_back(priced[t].second);
        worst = -priced[0].first;
        return priced[0].second;
    }

    bool append(i64 i) {
        if (inside[i] || !space.append(support, i, c, 1e-14 * longest)) return false;
        support.push_back(i), x.push_back(0.0);
        inside[i] = 1;
        return true;
    }

    // The least |v| over the affine hulls of the support, in u[0].
    const std::vector<double>& affine() {
        const std::size_t k = support.size();
        double S[2][2] = {};
        for (i64 h = 0; h < G; ++h) {
            u[h].resize(k);
            space.solve(support, h, c, u[h]);
            for (std::size_t t = 0; t < k; ++t) S[group[support[t]]][h] += u[h][t];
        }
        if (G == 1) {
            for (double& t : u[0]) t /= S[0][0];
            return u[0];
        }
        const double det = S[0][0] * S[1][1] - S[0][1] * S[1][0];
        const double t0 = (S[1][1] - S[0][1]) / det, t1 = (S[0][0] - S[1][0]) / det;
        for (std::size_t t = 0; t < k; ++t) u[0][t] = t0 * u[0][t] + t1 * u[1][t];
        return u[0];
    }

    // x moves to that point; rows whose weight would turn negative on the way leave. False when the row that
    // came last would leave at once: rounding.
    bool descend() {
        for (bool first = true; !support.empty(); first = false) {
            const std::vector<double>& a = affine();
            const std::size_t k = support.size();
            if (first && x[k - 1] == 0 && !(a[k - 1] > 0)) return remove(k - 1), false;
            double t = 1;
            i64 leaving = -1;
            for (std::size_t s = 0; s < k; ++s)
                if (!(a[s] > 0)) {
                    const double r = x[s] > a[s] ? x[s] / (x[s] - a[s]) : 0.0;
                    if (leaving < 0 || r < t) t = r, leaving = static_cast<i64>(s);
                }
            if (leaving < 0) {
                x = a;
                return true;
            }
            for (std::size_t s = 0; s < k; ++s) x[s] += t * (a[s] - x[s]);
            x[leaving] = 0;
            for (std::size_t s = 0; s < x.size();)
                if (!(x[s] > 0)) remove(s);
                else ++s;
        }
        return true;
    }

    void remove(std::size_t s) {
        inside[support[s]] = 0;
        support.erase(support.begin() + s), x.erase(x.begin() + s);
        space.remove(s);
    }
};

}  // namespace separatrix
