// The voted perceptron (Freund & Schapire 1999): every vector that the perceptron passes through votes
// with as many votes as rows it has survived, itself included (V1).
//
// At most `room` vectors are kept beside the current one. When they are full the one with the fewest
// votes is forgotten, the oldest of equals, be it among those kept or the one that comes (V2); the
// votes that go with it are counted.
#pragma once
#include <algorithm>
#include <vector>

#include "perceptron.hpp"

namespace separatrix {

struct Voters {
    double* kept;    // room times d + 1
    i64* votes;      // of each
    i64* born;       // which vector of the run it is, from 0
    i64 room;
    i64* alive;      // votes of the current vector
    i64* used;       // how many are kept
    i64* count;      // vectors so far, before the current one
    i64* forgotten;  // votes that are lost
};

class Keeper {
    void put(i64 slot, const double* w, i64 which) {
        std::copy(w, w + width_, v_.kept + slot * width_);
        v_.votes[slot] = *v_.alive;
        v_.born[slot] = which;
    }
    auto after() const {
        return [this](i64 a, i64 b) {
            return v_.votes[a] != v_.votes[b] ? v_.votes[a] > v_.votes[b] : v_.born[a] > v_.born[b];
        };
    }

   public:
    Keeper(const Voters& v, i64 width) : v_(v), width_(width) {}

    void keep(const double* w) {
        const i64 which = (*v_.count)++;
        if (*v_.alive == 0) return;
        if (*v_.used < v_.room) {
            put((*v_.used)++, w, which);
            return;
        }
        if (v_.room == 0) {
            *v_.forgotten += *v_.alive;
            return;
        }
        if (heap_.empty()) {
            for (i64 s = 0; s < v_.room; ++s) heap_.push_back(s);
            std::make_heap(heap_.begin(), heap_.end(), after());
        }
        const i64 least = heap_.front();
        if (*v_.alive < v_.votes[least]) {  // the comer is younger than all, so it loses no tie
            *v_.forgotten += *v_.alive;
            return;
        }
        *v_.forgotten += v_.votes[least];
        std::pop_heap(heap_.begin(), heap_.end(), after());
        put(least, w, which);
        std::push_heap(heap_.begin(), heap_.end(), after());
    }

   private:
    Voters v_;
    i64 width_;
    std::vector<i64> heap_;
};

template <class Rows>
Moves voted_pass(const Rows& X, const Perceptron& p, const Voters& v, const i64* order, i64 begin, i64 end,
                 i64 limit) {
    Keeper keeper(v, X.d + 1);
    Moves m;
    i64 t = begin;
    for (; t < end && m.updates < limit; ++t) {
        const i64 i = order ? order[t] : t;
        if (p.y[i] == 0) continue;
        if (is_mistake(p, p.y[i], X.dot(i, p.w) + p.w[X.d])) {
            keeper.keep(p.w);
            move(X, p, i, m.updates);
            *v.alive = 1;
            m.last = t;
        } else {
            ++*v.alive;
        }
    }
    m.visits = t - begin;
    return m;
}

// The sum of votes for +1 less those for -1, for each row; a score of zero votes +1.
template <class Rows>
void votes(const Rows& X, const double* vectors, const i64* votes, i64 count, double* out) {
    for (i64 i = 0; i < X.n; ++i) {
        i64 sum = 0;
        for (i64 k = 0; k < count; ++k) {
            const double* w = vectors + k * (X.d + 1);
            sum += X.dot(i, w) + w[X.d] >= 0 ? votes[k] : -votes[k];
        }
        out[i] = static_cast<double>(sum);
    }
}

}  // namespace separatrix
