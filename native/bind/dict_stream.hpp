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

// Columns for the names of a row that have none: the next ones of an open vocabulary (column_of is None), or those that
// column_of says. Whether there was room for all of them; levels of categories are noted.
inline bool give_columns(const Unknown& unknown, const Names<int>& index, const nb::object& column_of, i64 d,
                         nb::list& levels) {
    if (column_of.is_none() && PyDict_Size(index.ptr()) + static_cast<i64>(unknown.size()) > d) return false;
    for (const auto& [name, level] : unknown) {
        if (PyDict_Contains(index.ptr(), name.ptr())) continue;  // twice in one row
        const nb::object column = column_of.is_none() ? nb::int_(PyDict_Size(index.ptr())) : column_of(name);
        if (PyDict_SetItem(index.ptr(), name.ptr(), column.ptr()) != 0) throw nb::python_error();
        if (level) levels.append(name);
    }
    return true;
}

// Pairs (dict, label) as an iterator gives them: each is scored, and then learned before the next is asked for. It ends
// where the room for scores ends, where the rows end (true), or at an item that it leaves as it is: a new class, a
// feature for which there is no room, something malformed, or the first one after `owner`, the attributes of the
// model, has another kernel. A row without a label (None, not a number) is scored alone; own[i] is then -2, and otherwise
// the code of its label. An open vocabulary leaves new names out of a score and gives them columns when the row is
// learned; column_of gives them at once.
template <class Kernel>
Streamed stream_dicts(Kernel& self, const nb::iterator& rows, const Names<int>& index, const nb::dict& codes,
                      bool open, const nb::object& column_of, const nb::dict& owner, Matrix& scores, Out<i64>& own,
                      nb::list& levels) {
    const i64 most = static_cast<i64>(scores.shape(0));
    if (static_cast<i64>(scores.shape(1)) != self.rule.count)
        throw nb::value_error("scores must have a column for every vector");
    need_length(own, most, "own must have room for every row");
    const nb::object kernel = nb::find(self);
    const nb::str bound("_learner");
    LastNames last;
    Features features;
    Unknown unknown;
    std::vector<double> dots(static_cast<std::size_t>(self.rule.count));
    const bool grows = open || !column_of.is_none();
    for (i64 i = 0; i < most; ++i) {
        nb::object item = nb::steal(PyIter_Next(rows.ptr()));
        if (!item.is_valid()) {
            if (PyErr_Occurred()) throw nb::python_error();
            return {i, true, nb::none()};
        }
        const Streamed left{i, false, item};
        if (PyDict_GetItemWithError(owner.ptr(), bound.ptr()) != kernel.ptr()) return left;
        if (!PyTuple_Check(item.ptr()) || PyTuple_Size(item.ptr()) != 2) return left;
        PyObject *x = PyTuple_GetItem(item.ptr(), 0), *y = PyTuple_GetItem(item.ptr(), 1);
        if (!PyDict_Check(x)) return left;
        const auto dict = nb::borrow<Names<nb::any>>(x);
        const bool absent = y == Py_None || (PyFloat_Check(y) && std::isnan(PyFloat_AsDouble(y)));
        const i64 d = self.rule.d;
        const auto row = [&](const i64(&start)[2]) {
            return Csr<double, i64>{features.value.data(), features.column.data(), start, 1, d};
        };
        try {
            i64 code = -2;
            if (!absent) {
                PyObject* found = PyDict_GetItemWithError(codes.ptr(), y);
                if (PyErr_Occurred()) throw nb::python_error();
                if (!found) return left;
                code = PyLong_AsLongLong(found);
            }
            features.read(dict, index, d, grows, &unknown, &last);
            if (!open && !unknown.empty()) {
                give_columns(unknown, index, column_of, d, levels);
                features.read(dict, index, d, false);
                unknown.clear();
            }
            const i64 start[2] = {0, static_cast<i64>(features.value.size())};
            double* out = scores.data() + i * self.rule.count;
            for (i64 k = 0; k < self.rule.count; ++k) {
                double& s = dots[static_cast<std::size_t>(k)] = self.rule.dot(row(start), 0, k);
                out[k] = self.rule.shown(row(start), 0, k, s);
                if (!std::isfinite(out[k])) return left;
            }
            if (!absent && unknown.empty()) {
                self.learn(row(start), code, 1.0, dots.data());
            } else if (!absent) {
                if (!give_columns(unknown, index, column_of, d, levels)) return left;
                features.read(dict, index, d, false);
                const i64 all[2] = {0, static_cast<i64>(features.value.size())};
                self.learn(row(all), code, 1.0);
                const nb::object width = nb::int_(PyDict_Size(index.ptr()));
                if (PyDict_SetItemString(owner.ptr(), "n_features_in_", width.ptr()) != 0) throw nb::python_error();
            }
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
