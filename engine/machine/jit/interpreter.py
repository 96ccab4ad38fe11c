"""The layout of Python's and NumPy's objects that machine code reads, verified in this process.

Machine code that is called by Python itself (`builtin.py`) reads lengths, types and data of arrays, lists and floats at
fixed distances from the objects' beginnings.  These distances are those of CPython's and NumPy's headers; before they
are used, they are tried on objects with known contents.  Where anything differs, or where Python runs without a global
lock, `interpreter_addresses` returns None and calls take the general way.
"""

from __future__ import annotations

import ctypes
import importlib
import sys
import sysconfig
from functools import lru_cache

import numpy as np

# distances in bytes
TYPE, SIZE, FLOAT = 8, 16, 16  # of any object's type; of the length of lists and tuples; of a float's double
TUPLE_ITEMS = tuple.__basicsize__  # of the items
DATA, DIMENSIONS, SHAPE, STRIDES, DESCRIPTION, FLAGS = 16, 24, 32, 40, 56, 64  # of an array
CONTIGUOUS, ALIGNED, WRITEABLE = 0x1, 0x100, 0x400  # bits of an array's flags
DOUBLE_NUMBER = 12  # NumPy's number of the type double

# places in NumPy's table of C functions, which never change their meaning
_VERSION, _ARRAY_TYPE, _RETURN, _NEW, _BASE = 0, 2, 76, 93, 282
_VERSIONS = (0x01000009, 0x02000000)  # of the layout, as that table has it: NumPy 1 and 2

CALLED = (
    "PyContextVar_Get",
    "PyDict_New",
    "PyDict_SetItem",
    "PyErr_Clear",
    "PyErr_Occurred",
    "PyEval_RestoreThread",
    "PyEval_SaveThread",
    "PyList_GetItem",
    "PyLong_AsDouble",
    "PyObject_Vectorcall",
    "PyTuple_GetItem",
    "PyTuple_New",
    "PyTuple_SetItem",
    "Py_DecRef",
    "Py_IncRef",
)


@lru_cache(maxsize=1)
def interpreter_addresses() -> dict[str, int] | None:
    """Addresses of the objects and functions that a builtin needs; None if this interpreter isn't as expected."""
    if sys.implementation.name != "cpython" or sysconfig.get_config_var("Py_GIL_DISABLED"):
        return None
    if ctypes.sizeof(ctypes.c_void_p) != 8 or sys.byteorder != "little":
        return None
    try:
        if not (_python_is_as_expected() and _arrays_are_as_expected()):
            return None
        functions = {name: ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p) for name in CALLED}
        result = {name: int(one.value or 0) for name, one in functions.items()} | _of_arrays()
    except (AttributeError, ImportError, ValueError, TypeError):
        return None
    objects = {"float": float, "float64": np.float64, "int": int, "list": list, "tuple": tuple, "ndarray": np.ndarray}
    result |= {name: id(one) for name, one in objects.items()}
    return result | {"double": id(np.dtype(float)), "none": id(None)}


def _word(at: int) -> int:
    return ctypes.c_int64.from_address(at).value


def _integer(at: int) -> int:
    return ctypes.c_int.from_address(at).value


def _python_is_as_expected() -> bool:
    """Whether lists, tuples and floats have the layout above."""
    if float.__basicsize__ != FLOAT + 8:
        return False
    x, y = 1.25, -3.5
    items, both = [x, y], (x, y)
    return (
        all(_word(id(one) + TYPE) == id(type(one)) for one in (x, items, both))
        and all(_word(id(one) + SIZE) == 2 for one in (items, both))
        and [_word(id(both) + TUPLE_ITEMS), _word(id(both) + TUPLE_ITEMS + 8)] == [id(x), id(y)]
        and all(ctypes.c_double.from_address(id(one) + FLOAT).value == one for one in (x, np.float64(2.75)))
    )


def _arrays_are_as_expected() -> bool:
    """Whether arrays have the layout above, by comparison with NumPy's own attributes."""
    whole = np.arange(24.0).reshape(4, 6)
    frozen = np.arange(3.0)
    frozen.flags.writeable = False
    arrays = (whole, whole[1], whole[:, 2], whole[::2], whole.T, frozen, np.arange(5), np.arange(5, dtype=np.float32))
    return np.ndarray.__basicsize__ >= FLAGS + 4 and all(_reads_well(array) for array in arrays)


def _reads_well(array: np.ndarray) -> bool:
    """Whether the layout above gives the address, lengths and strides that NumPy gives for this array."""
    start, flags = id(array), _integer(id(array) + FLAGS)
    shape, strides = _word(start + SHAPE), _word(start + STRIDES)
    if strides != shape + 8 * array.ndim or shape % 8 or shape < 2**16:
        return False  # NumPy has strides right behind lengths; other words might not be addresses
    return (
        _word(start + TYPE) == id(np.ndarray)
        and _word(start + DATA) == array.ctypes.data
        and _integer(start + DIMENSIONS) == array.ndim
        and tuple(_word(shape + 8 * k) for k in range(array.ndim)) == array.shape
        and tuple(_word(strides + 8 * k) for k in range(array.ndim)) == array.strides
        and (_word(start + DESCRIPTION) == id(np.dtype(float))) == (array.dtype == float)
        and bool(flags & CONTIGUOUS) == array.flags.c_contiguous
        and bool(flags & ALIGNED) == array.flags.aligned
        and bool(flags & WRITEABLE) == array.flags.writeable
    )


def _of_arrays() -> dict[str, int]:
    """The addresses of NumPy's functions, each of which has been tried."""
    home = "numpy._core._multiarray_umath" if np.__version__[0] != "1" else "numpy.core._multiarray_umath"
    taking = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)
    capsule = importlib.import_module(home)._ARRAY_API
    table = int(taking(("PyCapsule_GetPointer", ctypes.pythonapi))(capsule, None) or 0)
    version = ctypes.CFUNCTYPE(ctypes.c_uint)(_word(table + 8 * _VERSION))()
    if version not in _VERSIONS or _word(table + 8 * _ARRAY_TYPE) != id(np.ndarray):
        raise ValueError(f"NumPy's layout {version:#x} is not known")
    new, base, back = (_word(table + 8 * place) for place in (_NEW, _BASE, _RETURN))
    if not _makes_arrays(new, base, back):
        raise ValueError("NumPy makes other arrays than expected")
    return {"PyArray_New": new, "PyArray_SetBaseObject": base, "PyArray_Return": back}


def _makes_arrays(new: int, base: int, back: int) -> bool:
    """Whether these functions make arrays, tie a view to the array that it is of, and turn 0 dimensions to a number."""
    void, integer, one = ctypes.c_void_p, ctypes.c_int, ctypes.py_object
    make = ctypes.PYFUNCTYPE(one, void, integer, void, integer, void, void, integer, integer, void)(new)
    made = make(id(np.ndarray), 2, (ctypes.c_int64 * 2)(3, 5), DOUBLE_NUMBER, None, None, 0, 0, None)
    if type(made) is not np.ndarray or made.shape != (3, 5) or made.dtype != float or not made.flags.c_contiguous:
        return False
    made[:] = np.arange(15.0).reshape(3, 5)
    flags, shape, strides = ALIGNED | WRITEABLE, (ctypes.c_int64 * 2)(3, 2), (ctypes.c_int64 * 2)(40, 8)
    view = make(id(np.ndarray), 2, shape, DOUBLE_NUMBER, strides, made.ctypes.data + 8, 0, flags, None)
    ctypes.pythonapi.Py_IncRef(one(made))
    if ctypes.PYFUNCTYPE(integer, one, one)(base)(view, made) != 0 or view.base is not made:
        return False
    if not (view.flags.writeable and view.flags.aligned and (view == made[:, 1:3]).all()):
        return False
    alone = np.array(2.5)
    ctypes.pythonapi.Py_IncRef(one(alone))
    return type(ctypes.PYFUNCTYPE(one, one)(back)(alone)) is np.float64
