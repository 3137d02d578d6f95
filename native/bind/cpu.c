/* Which level may be loaded here, for Python. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "level.h"

static PyObject *level(PyObject *self, PyObject *unused) {
    unsigned words[LEVEL_WORDS];
    (void)self;
    (void)unused;
    ask_processor(words);
    return PyUnicode_FromString(level_names[level_of(words)]);
}

static PyObject *level_without(PyObject *self, PyObject *args) {
    unsigned words[LEVEL_WORDS] = {~0u, ~0u, ~0u, ~0u};
    const char *name;
    int known = 0;
    (void)self;
    if (!PyArg_ParseTuple(args, "s", &name)) return NULL;
    for (int k = 0; k < FEATURES; ++k)
        if (strcmp(features[k].name, name) == 0) {
            words[features[k].word] &= ~(1u << features[k].bit);
            known = 1;
        }
    if (!known) return PyErr_Format(PyExc_ValueError, "no level asks for %s", name);
    return PyUnicode_FromString(level_names[level_of(words)]);
}

static PyObject *needs(PyObject *self, PyObject *args) {
    const char *name;
    PyObject *out;
    int level = 0;
    (void)self;
    if (!PyArg_ParseTuple(args, "s", &name)) return NULL;
    while (level < 3 && strcmp(level_names[level], name) != 0) ++level;
    if (level == 3) return PyErr_Format(PyExc_ValueError, "there is no level %s", name);
    if (!(out = PyList_New(0))) return NULL;
    for (int k = 0; k < FEATURES; ++k)
        if (features[k].level <= level) {
            PyObject *feature = PyUnicode_FromString(features[k].name);
            const int failed = !feature || PyList_Append(out, feature) != 0;
            Py_XDECREF(feature);
            if (failed) {
                Py_DECREF(out);
                return NULL;
            }
        }
    return out;
}

static PyMethodDef methods[] = {
    {"level", level, METH_NOARGS, "The best instruction-set level of this processor."},
    {"needs", needs, METH_VARARGS, "The processor features that a level needs."},
    {"level_without", level_without, METH_VARARGS, "The best level of a processor that lacks this feature only."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_cpu", NULL, -1, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__cpu(void) {
    PyObject *made = PyModule_Create(&module);
#ifdef Py_GIL_DISABLED
    if (made) PyUnstable_Module_SetGIL(made, Py_MOD_GIL_NOT_USED);
#endif
    return made;
}
