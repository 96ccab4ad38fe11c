"""The numeric arrays of MATLAB's .mat files of versions 4 and 5, with all types and lengths checked."""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Collection, Iterator

import numpy as np

MOST = 8_000_000  # bytes of an array
HEAD = 4096  # bytes at the beginning of a compressed array, in which its name stands
# version 5: types of data by their numbers, those of elements that hold others, and classes of arrays
TYPES = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}
INT32, UINT32, MATRIX, COMPRESSED, TEXT = 5, 6, 14, 15, (1, 2, 16)
NUMERIC, COMPLEX = range(6, 16), 0x800
OLD = ("f8", "f4", "i4", "i2", "u2", "u1")  # version 4: types of data


class DamagedError(ValueError):
    """What is wrong with a file of matrices."""


def mat_file_arrays(data: bytes, wanted: Collection[str]) -> dict[str, np.ndarray]:
    """The real numeric arrays with these names; all else in the file is passed over."""
    try:
        return dict(_of_version_4(data, wanted) if 0 in data[:4] else _of_version_5(data, wanted))
    except (struct.error, zlib.error, UnicodeDecodeError) as problem:
        raise DamagedError(str(problem)) from None


def _of_version_5(data: bytes, wanted: Collection[str]) -> Iterator[tuple[str, np.ndarray]]:
    order = {b"IM": "<", b"MI": ">"}.get(data[126:128])
    if order is None:
        raise DamagedError("it has no head of a .mat file")
    if struct.unpack(f"{order}H", data[124:126]) != (0x100,):
        raise DamagedError("its version isn't 5, 6 or 7; `save -v7` writes one that is")
    at = 128
    while at < len(data):
        kind, inside, at = _element(data, at, order)
        if kind == COMPRESSED:
            begin = zlib.decompressobj().decompress(inside, HEAD)
            _, size = struct.unpack(f"{order}II", begin[:8])
            if _head(begin[8:], order)[0] not in wanted:
                continue
            if size > MOST:
                raise DamagedError(f"an array of {size:,} bytes; at most {MOST:,} are read")
            unpacking = zlib.decompressobj()
            whole = unpacking.decompress(inside, size + 9)  # one more, so that an array that is whole comes to its end
            if not unpacking.eof:
                raise DamagedError("a compressed array doesn't end where it should")
            kind, inside, _ = _element(whole, 0, order)
        if kind != MATRIX:
            raise DamagedError(f"an element of type {kind} where an array belongs")
        if not inside:
            continue  # an empty element, as MATLAB may write it
        name, numeric, shape, begins = _head(inside, order)
        if name in wanted and numeric:
            kind, numbers, _ = _element(inside, begins, order)
            if kind not in TYPES:
                raise DamagedError(f"`{name}` has numbers of type {kind}")
            yield name, _shaped(name, numbers, np.dtype(order + TYPES[kind]), shape)


def _element(data: bytes, at: int, order: str) -> tuple[int, bytes, int]:
    """The type of the element that begins here, what is in it, and where the next one begins."""
    kind, size = struct.unpack(f"{order}II", data[at : at + 8])
    begin, step = at + 8, 8
    if kind >> 16:  # a small one, whose four bytes stand in the place of its size
        kind, size, begin, step = kind & 0xFFFF, kind >> 16, at + 4, 4
    if begin + size > len(data) or (step == 4 and size > 4):
        raise DamagedError("an element is longer than what there is")
    padded = size if kind == COMPRESSED else size + -size % step
    return kind, data[begin : begin + size], begin + padded


def _head(data: bytes, order: str) -> tuple[str, bool, tuple[int, ...], int]:
    """An array's name, whether its elements are real numbers, its shape, and where the numbers begin."""
    parts, at = [], 0
    for kinds, words in (((UINT32,), "flags"), ((INT32,), "dimensions"), (TEXT, "a name")):
        found, inside, at = _element(data, at, order)
        if found not in kinds:
            raise DamagedError(f"an element of type {found} where {words} of an array belong")
        parts.append(inside)
    flags, dimensions, name = parts
    (first, _) = struct.unpack(f"{order}II", flags)
    shape = struct.unpack(f"{order}{len(dimensions) // 4}i", dimensions)
    return name.decode("ascii"), first & 0xFF in NUMERIC and not first & COMPLEX, shape, at


def _of_version_4(data: bytes, wanted: Collection[str]) -> Iterator[tuple[str, np.ndarray]]:
    at = 0
    while at < len(data):
        order = "<" if struct.unpack("<i", data[at : at + 4])[0] in range(5000) else ">"
        head, rows, columns, imaginary, length = struct.unpack(f"{order}5i", data[at : at + 20])
        machine, rest = divmod(head, 1000)
        kind, full = divmod(rest, 10)
        if machine != (order == ">") or kind not in range(len(OLD)) or min(rows, columns, length) < 0:
            raise DamagedError("it has no head of a matrix")
        dtype, begin = np.dtype(order + OLD[kind]), at + 20 + length
        size = rows * columns * dtype.itemsize
        at = begin + size * (2 if imaginary else 1)
        if at > len(data):
            raise DamagedError("a matrix is longer than what there is")
        name = data[begin - length : begin].rstrip(b"\0").decode("ascii")
        if name in wanted and not imaginary and full == 0:
            yield name, _shaped(name, data[begin : begin + size], dtype, (rows, columns))


def _shaped(name: str, numbers: bytes, dtype: np.dtype, shape: tuple[int, ...]) -> np.ndarray:
    """The array of these numbers, column by column."""
    if (
        len(shape) > 8
        or min(shape, default=-1) < 0
        or math.prod(shape) * dtype.itemsize != len(numbers)
        or len(numbers) > MOST
    ):
        raise DamagedError(f"`{name}` has {len(numbers)} bytes of numbers, which don't fit its size")
    with np.errstate(invalid="ignore"):  # of damaged numbers some are none
        return np.frombuffer(numbers, dtype).astype(float).reshape(shape, order="F")
