// One row as Python gives it: an array of doubles, pairs of columns and values, or a dict of features.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>
#include <vector>

#include "rows.hpp"

namespace separatrix {

// A row of doubles, by the buffer protocol: half the price of an ndarray, which matters where each row is a call.
class OneRow {
   public:
    OneRow(nb::handle x, i64 d) {
        if (PyObject_GetBuffer(x.ptr(), &view, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT) != 0) {
            PyErr_Clear();
            throw nb::type_error("x must be an array of doubles");
        }
        const bool doubles = view.format && std::strcmp(view.format, "d") == 0;
        const bool fits = doubles && view.ndim == 1 && static_cast<i64>(view.shape[0]) == d;
        if (!fits) {
            PyBuffer_Release(&view);
            if (!doubles) throw nb::type_error("x must be an array of doubles");
            throw nb::value_error("x must hold a number for every feature");
        }
        row = {static_cast<const double*>(view.buf), 1, d};
    }
    ~OneRow() { PyBuffer_Release(&view); }
    OneRow(const OneRow&) = delete;
    OneRow& operator=(const OneRow&) = delete;

    Dense<double> row{};

   private:
    Py_buffer view;
};

// A sparse row of stored values; columns may not leave the features.
inline Csr<double, i64> one_row(const Vector<double>& value, const Vector<i64>& column, const i64 (&start)[2], i64 d) {
    need_length(column, static_cast<i64>(value.shape(0)), "columns and values must have the same length");
    for (std::size_t k = 0; k < column.shape(0); ++k)
        if (column.data()[k] < 0 || column.data()[k] >= d) throw nb::value_error("a column leaves the features");
    return {value.data(), column.data(), start, 1, d};
}

template <class Value>
using Names = nb::typed<nb::dict, nb::str, Value>;

// A dict of features as a sparse row: `index` gives each name its column, or ~column where the value
// changes its sign. Entries are sorted by column, and those that fall together are added up.
struct Features {
    std::vector<std::pair<i64, double>> entry;
    std::vector<i64> column;
    std::vector<double> value;

    void read(Names<nb::any> x, Names<int> index, i64 d, bool skip_unknown) {
        entry.clear();
        column.clear();
        value.clear();
        Py_ssize_t at = 0;
        PyObject *name, *number;
        while (PyDict_Next(x.ptr(), &at, &name, &number)) {
            if (!PyUnicode_Check(name)) throw nb::type_error("the name of a feature is not text");
            double v;
            if (PyFloat_Check(number))
                v = PyFloat_AS_DOUBLE(number);
            else if (PyLong_Check(number))
                v = PyLong_AsDouble(number);
            else
                throw nb::type_error("a feature is not a number");
            if (PyErr_Occurred()) throw nb::python_error();
            if (!std::isfinite(v)) throw nb::value_error("a feature is not finite");
            PyObject* found = PyDict_GetItemWithError(index.ptr(), name);
            if (!found) {
                if (PyErr_Occurred()) throw nb::python_error();
                if (skip_unknown) continue;
                throw nb::key_error("x has a feature without a column");
            }
            i64 c = PyLong_AsLongLong(found);
            if (PyErr_Occurred()) throw nb::python_error();
            if (c < 0) c = ~c, v = -v;
            if (c >= d) throw nb::value_error("a column leaves the features");
            entry.emplace_back(c, v);
        }
        std::stable_sort(entry.begin(), entry.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
        for (const auto& [c, v] : entry) {
            if (!column.empty() && column.back() == c)
                value.back() += v;
            else
                column.push_back(c), value.push_back(v);
        }
    }
};

}  // namespace separatrix
