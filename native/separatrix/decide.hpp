// Is there a w with z_i . w > 0 for every row, z_i = y_i (x_i, 1)?
//
// The nearest point of a small working set of rows is found (nnls.hpp) and priced on the others,
// block by block; rows on the wrong side join the working set. Ends with a w that no row contradicts,
// or with a few rows whose hull holds the origin. Both are candidates in floating point: the caller
// proves them. X is only read, never copied; the working rows are.
//
// What is solved may be another problem than what is priced: with a map M (p x q) the working rows
// are M'z and the candidate is w = M u. Without one, columns are scaled by powers of two (exact).
#pragma once
#include <functional>
#include <unordered_set>

#include "chance.hpp"
#include "nnls.hpp"
#include "rows.hpp"

namespace separatrix {

// Runs work(0) ... work(count - 1), in any order and on any threads.
using SideBySide = std::function<void(i64 count, const std::function<void(i64)>& work)>;

struct Question {
    const i8* y;
    bool intercept;
    const i64* active;    // the rows that count, or null for all of them
    i64 n_active;
    const double* extra;  // further rows z, as they are; numbered n, n + 1, ...
    i64 n_extra;
    const double* map;    // p x q, or null
    i64 q;
    u64 seed;
    SideBySide side_by_side;  // empty: this thread alone
    std::function<void()> look_up;  // called now and then: what it throws ends the search
};

struct Decision {
    enum Status { separates, witness, stalled, limit };
    Status status = limit;
    std::vector<double> w;        // p
    std::vector<i64> support;     // rows
    std::vector<double> weights;  // of the rows z
    i64 rounds = 0, scanned = 0;
    double distance = 0;          // of the hull of the working rows, each of length 1
};

template <class Rows>
class Decider {
   public:
    Decider(const Rows& X, const Question& ask)
        : X(X), ask(ask), p(X.d + (ask.intercept ? 1 : 0)), q(ask.map ? ask.q : p),
          m((ask.active ? ask.n_active : X.n) + ask.n_extra), z(p), scale(p, 1.0) {}

    Decision run() {
        // 10 q rows to begin with; fewer when q is large, so that they stay within some 100 MB.
        const i64 room = std::max<i64>(400, (i64{1} << 24) / q);
        const i64 first = std::min({m, 10 * q, room}), batch = std::min(4 * q, room / 2), most = 3 * std::max(batch, first);
        u64 state = ask.seed;
        if (first == m)
            for (i64 t = 0; t < m; ++t) chosen.push_back(row(t));
        else {
            for (i64 t = 0; t < ask.n_extra; ++t) chosen.push_back(X.n + t);
            for (i64 t = 0; t < first; ++t) chosen.push_back(row(static_cast<i64>(below(m, state))));
            std::sort(chosen.begin(), chosen.end());
            chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
        }
        if (!ask.map) powers_of_two();
        Decision out;
        for (i64 i : chosen)
            if (!append(i)) return zero_row(i);
        NearestPoint hull(q);
        hull.look_up = ask.look_up;
        std::vector<i64> start;
        double c = 1;
        i64 at = 0;
        for (out.rounds = 1; out.rounds <= 2000; ++out.rounds) {
            const auto status = hull.solve(A.data(), working(), c, start, 1e-13, 40 * q + 2000);
            const double total = hull.total();
            out.distance = std::sqrt(dot(hull.v.data(), hull.v.data(), q)) / total;
            out.support.clear(), out.weights.clear();
            for (std::size_t k = 0; k < hull.support.size(); ++k) {
                out.support.push_back(chosen[hull.support[k]]);
                out.weights.push_back(hull.x[k] / length[hull.support[k]]);
            }
            lift(hull.v, out.w);
            if (status == NearestPoint::origin) return out.status = Decision::witness, out;
            c = std::clamp(out.distance, 1e-7, 1.0);
            const bool clean = price(out, at, batch);
            if (ask.look_up) ask.look_up();
            if (clean) return out.status = Decision::separates, out;
            start = hull.support;
            if (working() > most) forget(hull.v, start, most / 2);
            std::unordered_set<i64> known(chosen.begin(), chosen.end());
            bool grown = false;
            for (const auto& [s, i] : found)
                if (!known.count(i)) {
                    if (!append_new(i)) return zero_row(i);
                    grown = true;
                }
            if (!grown) return out.status = Decision::stalled, out;
        }
        out.status = Decision::limit;
        return out;
    }

   private:
    const Rows& X;
    const Question& ask;
    const i64 p, q, m;
    std::vector<double> z, scale, A, length;  // A: the working rows, each of length 1
    std::vector<i64> chosen;                  // their numbers
    std::vector<std::pair<double, i64>> found;

    i64 working() const { return static_cast<i64>(length.size()); }
    i64 row(i64 t) const {
        const i64 own = m - ask.n_extra;
        return t >= own ? X.n + (t - own) : ask.active ? ask.active[t] : t;
    }

    void read(i64 i) {
        if (i >= X.n) {
            std::copy(ask.extra + (i - X.n) * p, ask.extra + (i - X.n + 1) * p, z.begin());
            return;
        }
        std::fill(z.begin(), z.end(), 0.0);
        X.axpy(ask.y[i], i, z.data());
        if (ask.intercept) z[X.d] = ask.y[i];
    }

    double margin(i64 i, const double* w) const {
        if (i >= X.n) return dot(ask.extra + (i - X.n) * p, w, p);
        return ask.y[i] * (X.dot(i, w) + (ask.intercept ? w[X.d] : 0.0));
    }

    // Columns of the first rows brought near root mean square 1.
    void powers_of_two() {
        std::vector<double> square(p, 0.0), largest(p, 0.0);
        for (i64 i : chosen) {
            read(i);
            for (i64 j = 0; j < p; ++j) largest[j] = std::max(largest[j], std::fabs(z[j]));
        }
        for (i64 i : chosen) {
            read(i);
            for (i64 j = 0; j < p; ++j)
                if (largest[j] > 0) square[j] += (z[j] / largest[j]) * (z[j] / largest[j]);
        }
        for (i64 j = 0; j < p; ++j)
            if (largest[j] > 0) {
                const double rms = std::log2(largest[j]) + 0.5 * std::log2(square[j] / chosen.size());
                scale[j] = std::exp2(std::clamp(-std::round(rms), -1000.0, 1000.0));
            }
    }

    // M'z (or z scaled), of length 1, becomes a working row; false when it is zero.
    bool append(i64 i) {
        read(i);
        A.resize(A.size() + q, 0.0);
        double* a = A.data() + (A.size() - q);
        if (ask.map) {
            for (i64 j = 0; j < p; ++j)
                if (z[j] != 0) axpy(z[j], ask.map + j * q, a, q);
        } else
            for (i64 j = 0; j < p; ++j) a[j] = z[j] * scale[j];
        double top = 0;
        for (i64 j = 0; j < q; ++j) top = std::max(top, std::fabs(a[j]));
        if (!(top > 0)) return false;
        for (i64 j = 0; j < q; ++j) a[j] /= top;
        const double norm = std::sqrt(dot(a, a, q));
        for (i64 j = 0; j < q; ++j) a[j] /= norm;
        length.push_back(norm * top);
        return true;
    }
    bool append_new(i64 i) {
        chosen.push_back(i);
        return append(i);
    }

    Decision zero_row(i64 i) const {
        Decision out;
        out.status = Decision::witness;
        out.w.assign(p, 0.0);
        out.support = {i}, out.weights = {1.0};
        return out;
    }

    // w = M u (or u scaled), its largest entry brought to 1.
    void lift(const std::vector<double>& u, std::vector<double>& w) const {
        w.assign(p, 0.0);
        for (i64 j = 0; j < p; ++j) w[j] = ask.map ? dot(ask.map + j * q, u.data(), q) : u[j] * scale[j];
        double top = 0;
        for (double t : w) top = std::max(top, std::fabs(t));
        if (top > 0 && std::isfinite(top)) {
            const double s = std::exp2(-std::floor(std::log2(top)));
            for (double& t : w) t *= s;
        }
    }

    // Scans on from where the last scan ended until it has `batch` rows with margin <= 0, or has seen
    // all. True when there are none. `found`: the worst of them, extra rows always among those seen.
    bool price(Decision& out, i64& at, i64 batch) {
        const i64 own = m - ask.n_extra;
        const double* w = out.w.data();
        found.clear();
        for (i64 t = own; t < m; ++t)
            if (const double s = margin(row(t), w); s <= 0) found.push_back({s, row(t)});
        i64 seen = 0, together = 1;
        while (seen < own && static_cast<i64>(found.size()) < batch) {
            std::vector<Block> blocks;
            for (i64 begin = at, left = own - seen; left > 0 && static_cast<i64>(blocks.size()) < together;) {
                const i64 end = std::min({begin + block_rows, own, begin + left});
                blocks.push_back({begin, end, {}});
                left -= end - begin, begin = end < own ? end : 0;
            }
            scan(blocks, w);
            for (const Block& block : blocks) {  // in their order, and no further than a scan one by one
                found.insert(found.end(), block.wrong.begin(), block.wrong.end());
                seen += block.end - block.begin, at = block.end < own ? block.end : 0;
                if (static_cast<i64>(found.size()) >= batch) break;
            }
            if (ask.side_by_side) together = std::min(4 * together, most_together);
        }
        out.scanned += seen;
        if (static_cast<i64>(found.size()) > batch) {
            std::nth_element(found.begin(), found.begin() + batch, found.end());
            found.resize(batch);
        }
        return found.empty();
    }

    struct Block {
        i64 begin, end;                            // positions
        std::vector<std::pair<double, i64>> wrong;  // rows with margin <= 0
    };
    static constexpr i64 block_rows = 4096, most_together = 2048;
    static constexpr i64 wake = i64{1} << 20;  // numbers that are read in the time that waking other threads takes

    void scan(std::vector<Block>& blocks, const double* w) const {
        const i64 count = static_cast<i64>(blocks.size()), each = std::max<i64>(1, count / 64);
        const auto part = [&](i64 k) {
            for (i64 b = k * each; b < std::min((k + 1) * each, count); ++b)
                for (i64 t = blocks[b].begin; t < blocks[b].end; ++t)
                    if (const double s = margin(row(t), w); !(s > 0)) blocks[b].wrong.push_back({sortable(s), row(t)});
        };
        const i64 parts = (count + each - 1) / each;
        if (count < 2 || count * block_rows * p < wake)
            for (i64 k = 0; k < parts; ++k) part(k);
        else
            ask.side_by_side(parts, part);
    }

    // Keeps the support and the rows of least slack; `support` is renumbered.
    void forget(const std::vector<double>& v, std::vector<i64>& support, i64 keep) {
        std::vector<std::pair<double, i64>> slack;
        for (i64 t = 0; t < working(); ++t) slack.push_back({sortable(dot(A.data() + t * q, v.data(), q)), t});
        for (i64 t : support) slack[t].first = -HUGE_VAL;
        keep = std::max<i64>(keep, static_cast<i64>(support.size()));
        std::nth_element(slack.begin(), slack.begin() + keep, slack.end());
        slack.resize(keep);
        std::sort(slack.begin(), slack.end(), [](auto& a, auto& b) { return a.second < b.second; });
        std::vector<i64> place(working(), -1);
        i64 k = 0;
        for (auto& [s, t] : slack) {
            std::copy(A.begin() + t * q, A.begin() + (t + 1) * q, A.begin() + k * q);
            chosen[k] = chosen[t], length[k] = length[t], place[t] = k++;
        }
        A.resize(k * q), chosen.resize(k), length.resize(k);
        for (i64& t : support) t = place[t];
    }
};

}  // namespace separatrix
