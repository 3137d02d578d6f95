// A proof in floating point that k + 1 rows that are zero outside k columns are a circuit: that the weights with
// which they sum to zero are unique up to a factor, and all positive.
//
// With the last row's weight set to 1 the others solve M x = -r. An approximate inverse R of M with
// |I - RM| < 1 proves that M is regular and bounds how far the computed x is from the true one (Rump
// 2010, section 10); every rounding error on the way is bounded too (Higham 2002, section 3.1). Only
// supports that are well inside pass; what is left is decided in integers by the caller.
#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

#include "lanes.hpp"

namespace separatrix {

class CircuitProof {
   public:
    // rows: pointers to exact rows, one more than there are columns; columns: outside of which they are zero;
    // sign: +1 or -1 for each row; weight: what it nearly is, positive.
    bool holds(const std::vector<const double*>& rows, const std::vector<i64>& columns, const std::vector<int>& sign,
               const std::vector<double>& weight) {
        p = static_cast<i64>(columns.size());
        if (p < 1 || std::ssize(rows) != p + 1) return false;
        M.resize(p * p), R.resize(p * p), work.resize(p * p), x.resize(p), right.resize(p);
        for (i64 i = 0; i < p; ++i) {
            const double ratio = weight[i] / weight[p];
            if (!(ratio > 1e-60 && ratio < 1e60)) return false;
            const double power = std::exp2(std::round(std::log2(ratio))) * sign[i];
            for (i64 j = 0; j < p; ++j) M[j * p + i] = rows[i][columns[j]] * power;
        }
        for (i64 j = 0; j < p; ++j) right[j] = -rows[p][columns[j]] * sign[p];
        if (!invert()) return false;
        const double u = static_cast<double>(p + 8) * 0x1p-52, tiny = 1e-250;
        for (i64 i = 0; i < p; ++i) {
            double s = 0;
            for (i64 j = 0; j < p; ++j) s += R[i * p + j] * right[j];
            x[i] = s;
        }
        double far = 0, norm = 0, least = HUGE_VAL;
        for (i64 j = 0; j < p; ++j) {  // right becomes a bound on the residual
            double s = -right[j], size = std::fabs(right[j]);
            for (i64 i = 0; i < p; ++i) s += M[j * p + i] * x[i], size += std::fabs(M[j * p + i] * x[i]);
            right[j] = std::fabs(s) + u * size + tiny;
        }
        for (i64 i = 0; i < p; ++i) {
            double moved = 0, line = 0;
            for (i64 j = 0; j < p; ++j) moved += std::fabs(R[i * p + j]) * right[j];
            std::fill(work.begin(), work.begin() + p, 0.0);
            double size = 0;
            for (i64 j = 0; j < p; ++j) {
                const double r = R[i * p + j];
                for (i64 k = 0; k < p; ++k) work[k] += r * M[j * p + k], size += std::fabs(r * M[j * p + k]);
            }
            for (i64 k = 0; k < p; ++k) line += std::fabs((i == k ? 1.0 : 0.0) - work[k]);
            far = std::max(far, moved), norm = std::max(norm, line + u * size + tiny), least = std::min(least, x[i]);
        }
        return norm < 0.5 && far < 1e100 && least > 2.1 * far;  // |x - true x| <= far / (1 - norm)
    }

   private:
    i64 p = 0;  // columns, of the last proof
    std::vector<double> M, R, work, x, right;

    bool invert() {  // Gauss and Jordan, with row pivots
        std::copy(M.begin(), M.end(), work.begin());
        std::fill(R.begin(), R.end(), 0.0);
        for (i64 i = 0; i < p; ++i) R[i * p + i] = 1;
        for (i64 c = 0; c < p; ++c) {
            i64 q = c;
            for (i64 i = c + 1; i < p; ++i)
                if (std::fabs(work[i * p + c]) > std::fabs(work[q * p + c])) q = i;
            const double pivot = work[q * p + c];
            if (!(std::fabs(pivot) > 1e-100 && std::fabs(pivot) < 1e100)) return false;
            if (q != c) {
                std::swap_ranges(work.begin() + q * p, work.begin() + (q + 1) * p, work.begin() + c * p);
                std::swap_ranges(R.begin() + q * p, R.begin() + (q + 1) * p, R.begin() + c * p);
            }
            for (i64 k = 0; k < p; ++k) work[c * p + k] /= pivot, R[c * p + k] /= pivot;
            for (i64 i = 0; i < p; ++i) {
                const double f = work[i * p + c];
                if (i == c || f == 0) continue;
                for (i64 k = 0; k < p; ++k) work[i * p + k] -= f * work[c * p + k], R[i * p + k] -= f * R[c * p + k];
            }
        }
        return true;
    }
};

}  // namespace separatrix
