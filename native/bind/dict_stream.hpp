// A stream of dicts that is judged while it is learned, in one call.
#pragma once
#include <cmath>
#include <tuple>
#include <vector>

#include "single_row.hpp"

namespace separatrix {

template <class T, class... More>
using InOut = nb::ndarray<T, nb::c_contig, nb::device::cpu, More...>;
using Matrix = InOut<double, nb::ndim<2>>;

using Streamed = std::tuple<i64, bool, nb::typed<nb::object, nb::any>>;

// Pairs (dict, label) as an iterator gives them: each is scored, and then learned before the next is asked for. It ends
// where the room for scores ends, where the rows end (true), or at an item that it leaves as it is: a new feature or
// class, something malformed, or the first one after `owner`, the attributes of the model, has another kernel. A row
// without a label (None, not a number) is scored alone; own[i] is then -2, and otherwise the code of its label.
template <class Kernel>
Streamed stream_dicts(Kernel& self, const nb::iterator& rows, const Names<int>& index, const nb::dict& codes,
                      bool skip_unknown, const nb::dict& owner, Matrix& scores, Out<i64>& own) {
    const i64 most = static_cast<i64>(scores.shape(0));
    if (static_cast<i64>(scores.shape(1)) != self.rule.count)
        throw nb::value_error("scores must have a column for every vector");
    need_length(own, most, "own must have room for every row");
    const nb::object kernel = nb::find(self);
    const nb::str bound("_learner");
    LastNames last;
    Features features;
    std::vector<double> dots(static_cast<std::size_t>(self.rule.count));
    for (i64 i = 0; i < most; ++i) {
        nb::object item = nb::steal(PyIter_Next(rows.ptr()));
        if (!item.is_valid()) {
            if (PyErr_Occurred()) throw nb::python_error();
            return {i, true, nb::none()};
        }
        const Streamed left{i, false, item};
        if (PyDict_GetItemWithError(owner.ptr(), bound.ptr()) != kernel.ptr()) return left;
        if (!PyTuple_Check(item.ptr()) || PyTuple_GET_SIZE(item.ptr()) != 2) return left;
        PyObject *x = PyTuple_GET_ITEM(item.ptr(), 0), *y = PyTuple_GET_ITEM(item.ptr(), 1);
        if (!PyDict_Check(x)) return left;
        const bool absent = y == Py_None || (PyFloat_Check(y) && std::isnan(PyFloat_AS_DOUBLE(y)));
        try {
            i64 code = -2;
            if (!absent) {
                PyObject* found = PyDict_GetItemWithError(codes.ptr(), y);
                if (PyErr_Occurred()) throw nb::python_error();
                if (!found) return left;
                code = PyLong_AsLongLong(found);
            }
            features.read(nb::borrow<Names<nb::any>>(x), index, self.rule.d, absent && skip_unknown, &last);
            const i64 start[2] = {0, static_cast<i64>(features.value.size())};
            const Csr<double, i64> row{features.value.data(), features.column.data(), start, 1, self.rule.d};
            double* out = scores.data() + i * self.rule.count;
            for (i64 k = 0; k < self.rule.count; ++k) {
                double& s = dots[static_cast<std::size_t>(k)] = self.rule.dot(row, 0, k);
                out[k] = self.rule.shown(row, 0, k, s);
                if (!std::isfinite(out[k])) return left;
            }
            if (!absent) self.learn(row, code, 1.0, dots.data());
            own.data()[i] = code;
        } catch (const nb::builtin_exception&) {
            return left;
        } catch (nb::python_error&) {
            return left;
        }
    }
    return {most, false, nb::none()};
}

}  // namespace separatrix
