// Rows that occur with both labels. Each such pair is a witness by itself: z_i + z_j = 0.
#pragma once
#include <algorithm>
#include <cstring>
#include <vector>

#include "exact.hpp"

namespace separatrix {

// Equal rows have equal hashes, whether zeros are stored or not, and whatever their sign.
template <class Rows>
u64 hash_row(const Rows& X, i64 i) {
    u64 h = 0x9e3779b97f4a7c15u;
    each(X, i, [&](i64 j, double value) {
        if (value == 0) return;
        u64 bits;
        std::memcpy(&bits, &value, 8);
        h ^= bits * 0xbf58476d1ce4e5b9u + static_cast<u64>(j);
        h = (h ^ (h >> 29)) * 0x94d049bb133111ebu;
        h ^= h >> 32;
    });
    return h;
}

template <class Rows>
void entries(const Rows& X, i64 i, std::vector<std::pair<i64, double>>& out) {
    out.clear();
    each(X, i, [&](i64 j, double value) {
        if (value != 0) out.push_back({j, value});
    });
}

// partner[i] = a row equal to row i with the other label, or -1. Returns how many rows have one.
template <class Rows>
i64 opposites(const Rows& X, const i8* y, i64* partner) {
    std::vector<std::pair<u64, i64>> order(X.n);
    for (i64 i = 0; i < X.n; ++i) order[i] = {hash_row(X, i), i}, partner[i] = -1;
    std::sort(order.begin(), order.end());
    i64 count = 0;
    std::vector<std::pair<i64, double>> a, b;
    struct Distinct { std::vector<i64> rows; i64 first[2] = {-1, -1}; };
    for (i64 s = 0, e; s < X.n; s = e) {
        for (e = s + 1; e < X.n && order[e].first == order[s].first;) ++e;
        if (e - s < 2) continue;
        std::vector<Distinct> groups;  // one, unless two different rows share a hash
        for (i64 t = s; t < e; ++t) {
            const i64 i = order[t].second;
            entries(X, i, a);
            auto g = groups.begin();
            for (; g != groups.end(); ++g) {
                entries(X, g->rows[0], b);
                if (a == b) break;
            }
            if (g == groups.end()) groups.emplace_back(), g = groups.end() - 1;
            g->rows.push_back(i);
            i64& first = g->first[y[i] > 0];
            if (first < 0) first = i;
        }
        for (const Distinct& g : groups)
            if (g.first[0] >= 0 && g.first[1] >= 0)
                for (i64 i : g.rows) partner[i] = g.first[y[i] < 0], ++count;
    }
    return count;
}

}  // namespace separatrix
