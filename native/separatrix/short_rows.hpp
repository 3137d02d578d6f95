// Short dense rows, d <= 16, in registers: with 8 v < d <= 8 (v + 1) for v = 0 or 1 a row is v whole vectors
// and a rest. Same lanes, same bits as Dense::dot: the whole vector is accumulator 0 and the rest the last one.
#pragma once
#include "rows.hpp"

namespace separatrix {

template <class T, int v>
struct ShortRows {
    const Dense<T>& X;
    i64 rest = X.d - 8 * v;

    template <class U>
    v8 head(const U* r) const {
        if constexpr (v) return load(r);
        return v8{};
    }
    template <class U>
    v8 tail(const U* r) const {
        return rest == 8 ? load(r + 8 * v) : load_part(r + 8 * v, rest);
    }
    void save(double* p, v8 head, v8 tail) const {
        if constexpr (v) store(p, head);
        if (rest == 8)
            store(p + 8 * v, tail);
        else
            store_part(p + 8 * v, tail, rest);
    }
    v8 products(v8 x0, v8 x1, v8 w0, v8 w1) const {
        if constexpr (v) return x0 * w0 + x1 * w1;
        return x1 * w1;
    }
};

// Bit r is set where habit[r] is 1, for eight of them.
inline unsigned marked(const i8* habit) {
    u64 bytes;
    std::memcpy(&bytes, habit, 8);
    return static_cast<unsigned>((bytes * 0x0102040810204080u) >> 56);
}

}  // namespace separatrix
