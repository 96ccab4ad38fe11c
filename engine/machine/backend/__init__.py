"""How programs run on this machine.

choice            the caller's choice of a backend, and a run's notes on how its programs ran
account, ledger   accounts of how programs have run; what plain text has cost
native            machine code in memory, by LLVM; the processor and its lanes
objects, cache    object code of this process, and of all on the disk
cores, forks      processors that share work; locks across forks
"""

from ...door import door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .account import account_of_backend, note_backend_run
    from .cache import cache_contents, cache_folder, clear_cache, hash_of_all_package_sources
    from .choice import (
        MOST_IN_LOOP,
        MOST_STRAIGHT,
        Journal,
        chosen_backend,
        code_runs_rolled,
        compiled_code_may_run_freely,
        compiled_only_where_it_pays,
        journalled_backend_choices,
        present_backend_choice,
        steadily_compiled,
        using_backend,
    )
    from .cores import at_most_processors, processors_to_use
    from .ledger import LOOP, RUNS
    from .native import QUICK, SOUND, llvmlite_version, native_lanes, native_processor
else:
    __getattr__ = door(__name__)
