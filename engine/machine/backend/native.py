"""Machine code from LLVM IR in this process, by llvmlite, and the features of this processor."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from ...settings import environment_setting
from . import choice
from .forks import ForkSafeLock

NUMBERS = "numbers"  # name of the table of a code's own numbers, which are written into it when it is loaded


@lru_cache(maxsize=1)
def native_processor() -> tuple[str, str]:
    """LLVM's name of this processor and the list of its features."""
    binding = _binding()
    return binding.get_host_cpu_name(), binding.get_host_cpu_features().flatten() + ",-prefer-256-bit"


def native_lanes() -> int:
    """The number of doubles side by side: the caller's choice, else as many as fit into one register."""
    return choice.wanted_lanes_of_code() or _fitting()


@lru_cache(maxsize=1)
def _fitting() -> int:
    """The number of doubles in a register: 8 with AVX-512, 4 with AVX2, else 2; DENOC_LANES overrides it."""
    if wanted := environment_setting("DENOC_LANES"):
        return int(wanted)
    features = native_processor()[1].split(",")
    return 8 if "+avx512f" in features else 4 if "+avx2" in features else 2


@lru_cache(maxsize=1)
def _binding() -> Any:
    import llvmlite.binding as binding

    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    return binding


def llvmlite_version() -> str:
    """The version of llvmlite."""
    import llvmlite

    return str(llvmlite.__version__)


def _target() -> Any:
    return _binding().Target.from_default_triple()


# levels of LLVM's code generator: the quick one takes a fifth of the time, and its code runs half as fast
QUICK, SOUND = 0, 1
STACK = 16 << 20  # bytes of a thread that compiles, twice what main threads have as a rule
_LLVM = ForkSafeLock()  # of which only one thread makes use at a time anyway


def compile_ir(text: str, level: int = SOUND, passes: Sequence[str] = ()) -> bytes:
    """Object code of the IR, after these IR passes of LLVM's, such as `sroa`.

    Recorded programs need none: passes would take most of the time, and the recording did their work.
    """
    ended: list[bytes | BaseException] = []
    with _LLVM:
        if threading.current_thread() is threading.main_thread():  # which alone hears signals
            _compile(text, level, passes, ended)
        else:  # the stack that it has may be too small for LLVM
            before = threading.stack_size(STACK)
            try:
                helper = threading.Thread(target=_compile, args=(text, level, passes, ended), daemon=True)
                helper.start()
            finally:
                threading.stack_size(before)
            helper.join()
    if isinstance(ended[0], BaseException):
        raise ended[0]
    return ended[0]


def _compile(text: str, level: int, passes: Sequence[str], ended: list[bytes | BaseException]) -> None:
    try:
        binding = _binding()
        module = binding.parse_assembly(text)
        cpu, features = native_processor()
        machine = _target().create_target_machine(cpu=cpu, features=features, opt=level, jit=True)
        if passes:
            manager = binding.create_new_module_pass_manager()
            for name in passes:
                getattr(manager, f"add_{name}_pass")()
            manager.run(module, binding.create_pass_builder(machine, binding.create_pipeline_tuning_options()))
        ended.append(bytes(machine.emit_object(module)))
    except BaseException as error:  # noqa: BLE001 - which is the caller's, with its traceback
        ended.append(error)


class Loaded:
    """Object code in memory; addresses of its functions are valid while this object lives.

    `numbers` are written into its table of numbers, which no other object code in memory shares.

    LLVM's engine wants a machine and a module to begin with.  Object code is linked in the same way for all processors,
    so the machine is a general one, whose features needn't be read; and an engine that had kept its empty module would
    compile it, which takes longer than all the rest.
    """

    def __init__(self, code: bytes, numbers: Sequence[float] = ()):
        with _LLVM:
            binding = _binding()
            self._machine, nothing = _target().create_target_machine(jit=True), binding.parse_assembly("")
            self._engine = binding.create_mcjit_compiler(nothing, self._machine)
            self._engine.remove_module(nothing)
            self._engine.add_object_file(binding.ObjectFileRef.from_data(code))
            self._engine.finalize_object()
        if len(numbers):
            table = int(self._engine.get_global_value_address(NUMBERS))
            (ctypes.c_double * len(numbers)).from_address(table)[:] = list(numbers)

    def address(self, name: str) -> int:
        """The address of a function that the code has."""
        address = self.address_if_any(name)
        if not address:
            raise RuntimeError(f"no function {name} in the object code")
        return address

    def address_if_any(self, name: str) -> int:
        """The address of a function, or 0."""
        return int(self._engine.get_function_address(name))
