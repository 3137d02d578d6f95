// The help of other threads, as passes take it from Python.
#pragma once
#include <nanobind/nanobind.h>

#include "separatrix/look_ahead.hpp"

namespace separatrix {

inline void need_fresh(const Lookahead* ahead) {
    if (ahead && ahead->is_over()) throw nanobind::value_error("a lookahead serves one pass");
}

}  // namespace separatrix
