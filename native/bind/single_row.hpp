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

// The columns of the names of the row before: dicts of one stream mostly have the same names in the same order, and
// often the same objects, for which nothing need be looked up. It holds the names, so that no other gets their address.
struct LastNames {
    std::vector<std::pair<nb::object, i64>> known;

    const i64* column(std::size_t place, PyObject* name) const {
        return place < known.size() && known[place].first.ptr() == name ? &known[place].second : nullptr;
    }
    void keep(std::size_t place, PyObject* name, i64 column) {
        if (place == known.size()) known.emplace_back(nb::borrow(name), column);
        else if (place < known.size()) known[place] = {nb::borrow(name), column};
    }
};

using Unknown = std::vector<std::pair<nb::object, bool>>;  // names without a column, and whether they are levels

// A dict of features as a sparse row: `index` gives each name its column, or ~column where the value
// changes its sign; text as a value is the feature "name=text" with the value 1. Entries are sorted by column, and
// those that fall together are added up. It holds no objects of Python, since a thread keeps one beyond their lock.
struct Features {
    std::vector<i64> column;
    std::vector<double> value;

    // Names that are left out are noted in `unknown`, where it is given.
    void read(Names<nb::any> x, Names<int> index, i64 d, bool skip_unknown, Unknown* unknown = nullptr,
              LastNames* last = nullptr) {
        const nb::ft_object_guard alone(x);  // without Python's lock another thread could change it between two names
        column.clear();
        value.clear();
        if (unknown) unknown->clear();
        bool sorted = true;
        Py_ssize_t at = 0;
        PyObject *name, *own;
        for (std::size_t place = 0; PyDict_Next(x.ptr(), &at, &name, &own); ++place) {
            if (!PyUnicode_Check(name)) throw nb::type_error("the name of a feature is not text");
            double v = 1;
            i64 c;
            if (PyUnicode_Check(own)) {
                const nb::object level = nb::steal(PyUnicode_FromFormat("%U=%U", name, own));
                if (!level.is_valid()) throw nb::python_error();
                if (!find(index, level.ptr(), skip_unknown, c)) {
                    if (unknown) unknown->emplace_back(level, true);
                    continue;
                }
            } else {
                v = number(own);
                const i64* same = last ? last->column(place, name) : nullptr;
                if (same)
                    c = *same;
                else if (!find(index, name, skip_unknown, c)) {
                    if (unknown) unknown->emplace_back(nb::borrow(name), false);
                    continue;
                } else if (last)
                    last->keep(place, name, c);
            }
            if (c < 0) c = ~c, v = -v;
            if (c >= d) throw nb::value_error("a column leaves the features");
            sorted = sorted && (column.empty() || c > column.back());
            column.push_back(c);
            value.push_back(v);
        }
        if (!sorted) sort();
    }

   private:
    static double number(PyObject* own) {
        double v;
        if (PyFloat_Check(own)) {
            v = PyFloat_AsDouble(own);
        } else if (PyLong_Check(own)) {
            v = PyLong_AsDouble(own);
            if (PyErr_Occurred()) PyErr_Clear(), v = INFINITY;  // a whole number beyond all doubles
        } else {
            throw nb::type_error("a feature is neither a number nor text");
        }
        if (!std::isfinite(v)) throw nb::value_error("a feature is not finite");
        return v;
    }

    static bool find(const Names<int>& index, PyObject* name, bool skip_unknown, i64& c) {
        PyObject* found = PyDict_GetItemWithError(index.ptr(), name);
        if (!found) {
            if (PyErr_Occurred()) throw nb::python_error();
            if (skip_unknown) return false;
            throw nb::key_error("x has a feature without a column");
        }
        c = PyLong_AsLongLong(found);
        if (PyErr_Occurred()) throw nb::python_error();
        return true;
    }

    void sort() {
        std::vector<std::pair<i64, double>> entry;
        for (std::size_t k = 0; k < column.size(); ++k) entry.emplace_back(column[k], value[k]);
        std::stable_sort(entry.begin(), entry.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
        column.clear();
        value.clear();
        for (const auto& [c, v] : entry) {
            if (!column.empty() && column.back() == c)
                value.back() += v;
            else
                column.push_back(c), value.push_back(v);
        }
    }
};

}  // namespace separatrix
