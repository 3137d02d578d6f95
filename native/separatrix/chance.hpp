// Our own chance: SplitMix64 (Steele, Lea, Flood 2014), bounded draws by Lemire (2019), and the
// Fisher-Yates shuffle. The same numbers on every machine; the state is one 64-bit word.
#pragma once
#include <utility>

#include "lanes.hpp"

namespace separatrix {

inline u64 next(u64& state) {
    u64 z = (state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

// Uniform on 0 .. m - 1, without bias.
inline u64 below(u64 m, u64& state) {
    unsigned __int128 wide = static_cast<unsigned __int128>(next(state)) * m;
    if (static_cast<u64>(wide) < m) {
        const u64 threshold = -m % m;
        while (static_cast<u64>(wide) < threshold) wide = static_cast<unsigned __int128>(next(state)) * m;
    }
    return static_cast<u64>(wide >> 64);
}

inline void shuffle(i64* order, i64 n, u64& state) {
    for (i64 i = n - 1; i > 0; --i)
        std::swap(order[i], order[static_cast<i64>(below(static_cast<u64>(i) + 1, state))]);
}

}  // namespace separatrix
