// A kernel as Python names it.
#pragma once
#include "rows.hpp"
#include "separatrix/dual.hpp"

namespace separatrix {

inline Kernel kernel_of(int kind, double gamma, double coef0, i64 degree) {
    if (kind < 0 || kind > 2) throw nb::value_error("kind must be 0, 1 or 2");
    if (degree < 1) throw nb::value_error("degree must be at least 1");
    return {static_cast<Kind>(kind), gamma, coef0, degree};
}

}  // namespace separatrix
