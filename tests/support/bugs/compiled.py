"""Bugs in how programs are recorded, compiled, kept and chosen, and in runs side by side."""

from .bug import Bug

MARCH = "engine/machine/jit/march_code.py"
CACHE = "engine/machine/jit/cache.py"
OFFER = "engine/machine/jit/offer.py"
CHOICE = "engine/machine/jit/choice.py"
ENSEMBLE = "engine/study/ensemble.py"
TOGETHER = "engine/simulate/together.py"
STEPPERS = ("simulate/test_march.py::test_every_step_is_the_steppers",)
LANES = ("simulate/test_march.py::test_every_lane_is_a_run_of_its_own",)
RENTED = ("machine/test_offer.py::test_plain_runs_are_rented_until_they_have_cost_as_much_as_compiling",)
VARY = ("study/test_ensemble.py::test_states_and_masses_vary",)

COMPILED = (
    Bug(
        "compiled code of another processor",
        "engine/machine/jit/kernel.py",
        "cache.key(form, *native.processor(), native.version(), *identity)",
        "cache.key(form, native.version(), *identity)",
        ("machine/test_cache.py::test_another_processor_has_objects_of_its_own",),
    ),
    Bug(
        "compiled code of another form",
        "engine/machine/jit/kernel.py",
        'code = _object("single", lambda',
        'code = _object(f"lanes {native.lanes()}", lambda',
        ("machine/test_agreement.py::test_one_sample_and_many",),
    ),
    Bug(
        "time loops of all methods under one key",
        "engine/machine/jit/march.py",
        'cache.key(f"march {lanes}", kind, *',
        'cache.key(f"march {lanes}", *',
        (
            "extending/test_integrator.py::test_compiled_steps_are_scipys",
            "machine/test_cache.py::test_the_time_loop_of_another_method_is_another_object",
        ),
    ),
    Bug(
        "damaged objects are run",
        CACHE,
        "return code if head == MAGIC + hashlib.sha256(code).hexdigest().encode() else None",
        "return code",
        ("machine/test_cache.py::test_a_damaged_object_is_made_again",),
    ),
    Bug(
        "objects in folders that others can write are run",
        CACHE,
        "    if not stat.S_ISDIR(state.st_mode) or owned(state):",
        "    if stat.S_ISDIR(state.st_mode):",
        ("machine/test_cache.py::test_a_folder_that_others_can_write_is_not_used",),
    ),
    Bug(
        "modules' names don't count in the key of the cache",
        CACHE,
        'f"{path.relative_to(root).as_posix()} {len(text)}\\0".encode() + text',
        'f"{len(text)}\\0".encode() + text',
        ("machine/test_cache.py::test_whichever_module_is_edited_or_renamed_the_key_is_another",),
    ),
    Bug(
        "the cache throws away what was used last",
        CACHE,
        "for _, size, path in sorted(files):",
        "for _, size, path in sorted(files, reverse=True):",
        ("machine/test_cache.py::test_what_was_unused_longest_goes_first",),
    ),
    Bug(
        "drafts of others that are being written go",
        CACHE,
        "if draft.lstat().st_mtime < time.time() - OLD:",
        "if draft.lstat().st_mtime < time.time() + OLD:",
        ("machine/test_cache.py::test_drafts_of_killed_processes_go",),
    ),
    Bug(
        "kernels of few samples repeat the first one",
        "engine/machine/jit/kernel.py",
        "target[...] = source[:count]",
        "target[...] = source[:1]",
        (
            "machine/test_agreement.py::test_compiled_and_plain",
            "machine/test_trace.py::test_lanes_agree_with_plain_text",
        ),
    ),
    Bug(
        "parts of a batch overlap",
        "engine/machine/jit/cores.py",
        "cuts = [rows * k // parts // width * width for k in range(parts)] + [rows]",
        "cuts = [rows * k // parts for k in range(parts)] + [rows - width]",
        ("machine/test_batches.py::test_any_number_of_processors_gives_the_same_bits",),
    ),
    Bug(
        "sines reduced by a π of too few digits",
        "engine/machine/jit/trigonometry.py",
        "P3 = float(_HALF_PI - Fraction(P1) - Fraction(P2))",
        "P3 = 0.0",
        ("machine/test_trace.py::test_sines_are_good_to_the_last_places",),
    ),
    Bug(
        "cosine with the sine's sign",
        "engine/machine/jit/block.py",
        'next_quadrant = self.let(f"add {self.integer} {quadrant}, {self.whole(1)}")',
        'next_quadrant = self.let(f"add {self.integer} {quadrant}, {self.whole(0)}")',
        ("machine/test_trace.py::test_sines_are_good_to_the_last_places",),
    ),
    Bug(
        "enormous results of compiled code aren't noticed",
        "engine/machine/jit/block.py",
        "OVERFLOW = 2.0**990",
        "OVERFLOW = 1.0",
        ("dynamics/test_vanishing.py::test_enormous_accelerations_are_looked_at_wherever_they_come",),
    ),
    Bug(
        "enormous results aren't examined",
        "engine/machine/jit/block.py",
        "ENORMOUS = 2.0**34",
        "ENORMOUS = 2.0**1000",
        ("dynamics/test_vanishing.py::test_enormous_accelerations_are_looked_at_wherever_they_come",),
    ),
    Bug(
        "differences recorded as sums of equal operands",
        "engine/machine/jit/block.py",
        'trace.SUBTRACT: "fsub"',
        'trace.SUBTRACT: "fadd"',
        ("machine/test_trace.py::test_lanes_agree_with_plain_text",),
    ),
    Bug(
        "compiled steps beyond the end",
        MARCH,
        "t_new = code.select(cut, end, ahead)",
        "t_new = ahead",
        STEPPERS,
    ),
    Bug(
        "steps are accepted at any error below two",
        MARCH,
        'passed = code.compare("olt", error, code.number(1.0))',
        'passed = code.compare("olt", error, code.number(2.0))',
        STEPPERS,
    ),
    Bug(
        "steps grow at once after a rejected one",
        MARCH,
        "code.put(MOST, code.select(reject, code.number(1.0), attempt.most))",
        "code.put(MOST, attempt.most)",
        STEPPERS,
    ),
    Bug(
        "lanes that are done go on",
        MARCH,
        'going = code.both(code.compare("olt", t, end), code.compare("oeq", code.row(STATUS), code.number(GOING)))',
        'going = code.compare("oeq", code.row(STATUS), code.number(GOING))',
        LANES,
    ),
    Bug(
        "guards of time loops not looked at",
        MARCH,
        'code.compare("ole", code.row(GUARD), code.number(0.0))',
        'code.compare("ole", code.row(GUARD), code.number(-1e300))',
        (
            "loops/test_reference_motion.py::test_the_singular_position_of_the_five_bar_is_announced",
            "loops/test_benchmarks.py::test_stops_where_it_is_told_to",
        ),
    ),
    Bug(
        "output rows of the step before",
        MARCH,
        "x = let(f\"fdiv double {let(f'fsub double {at}, {load(control(T))}')}, {h}\")",
        "x = let(f\"fdiv double {let(f'fsub double {at}, {load(control(T_NEW))}')}, {h}\")",
        ("simulate/test_march.py::test_a_free_fall_is_the_same_either_way",),
    ),
    Bug(
        "errors of lanes measured by the new state alone",
        "engine/machine/jit/march_lanes.py",
        'size = block.larger(block.call("fabs", self.get("y", i)), block.call("fabs", self.get("new", i)))',
        'size = block.call("fabs", self.get("new", i))',
        STEPPERS,
    ),
    Bug(
        "Euler parameters of lanes aren't normalised",
        "engine/machine/jit/march_lanes.py",
        'norm = self.block.call("sqrt", total)',
        "norm = self.number(1.0)",
        ("simulate/test_march.py::test_four_components_have_norm_1_after_every_step",),
    ),
    Bug(
        "plain runs cost nothing",
        OFFER,
        "self.spent += seconds",
        "self.spent = seconds",
        RENTED,
    ),
    Bug(
        "what lies ahead doesn't count",
        OFFER,
        "due = self.spent + self.sample * samples",
        "due = self.spent",
        ("machine/test_offer.py::test_a_large_batch_is_not_finished_plainly",),
    ),
    Bug(
        "code that can't do a batch is asked again and again",
        OFFER,
        "able = able and code is None",
        "able = code is None",
        ("machine/test_offer.py::test_code_that_cannot_do_a_batch_is_asked_once",),
    ),
    Bug(
        "replays change over one call too late",
        CHOICE,
        "on = ready and not self.replayed if since is None else call >= since",
        "on = ready and not self.replayed if since is None else call > since",
        ("machine/test_offer.py::test_a_replay_changes_over_at_the_same_call",),
    ),
    Bug(
        "replays look at the ledger",
        CHOICE,
        "on = ready and not self.replayed if since",
        "on = ready if since",
        (
            "machine/test_offer.py::test_a_replay_changes_over_at_the_same_call",
            "machine/test_offer.py::test_whatever_the_clock_says_a_run_can_be_done_again_to_the_last_bit",
        ),
    ),
    Bug(
        "the caller's backend is weaker than notes",
        CHOICE,
        'if backend and before.chosen in ("", "auto"):',
        "if backend:",
        ("machine/test_offer.py::test_what_the_caller_says_is_stronger_than_notes",),
    ),
    Bug(
        "compiled equations of other discrete states",
        "engine/simulate/compiled.py",
        "return repr(system.model), repr(system.structure()), repr(discrete.program)",
        "return repr(system.model), repr(system.structure())",
        (
            "simulate/test_saturation.py::test_plain_and_compiled_runs_agree",
            "loops/test_benchmarks.py::test_windows_pass_their_flat_positions",
        ),
    ),
    Bug(
        "runs with other numbers taken for equal in an ensemble",
        TOGETHER,
        "numbers.arrays().items() if values.any()}",
        "numbers.arrays().items() if not values.any()}",
        VARY,
    ),
    Bug(
        "all lanes of an ensemble start like the first",
        "engine/machine/jit/march.py",
        "rows[np.minimum(np.arange(blocks * self.lanes), count - 1)]",
        "rows[0 * np.minimum(np.arange(blocks * self.lanes), count - 1)]",
        VARY,
    ),
    Bug(
        "laws of time run side by side",
        ENSEMBLE,
        "alone = not system.inputs.timeless or modes or plan.kinks or scheme is None",
        "alone = modes or plan.kinks or scheme is None",
        ("study/test_ensemble.py::test_laws_of_time_are_each_runs_own",),
    ),
    Bug(
        "an ensemble's batches begin at the first run",
        "engine/machine/jit/march.py",
        "before = [x.ctypes.data for x in (blocks[k], u[k], states[k], stages)]",
        "before = [x.ctypes.data for x in (blocks[k], u[0], states[k], stages)]",
        ("study/test_ensemble.py::test_mechanisms_in_lanes_of_every_width",),
    ),
    Bug(
        "a lane that fails is given out as it is",
        TOGETHER,
        "whole = (control[STATUS] == 0.0) & (control[ROW] >= len(ahead)) & (steps <= solver.max_steps)",
        "whole = steps >= 0",
        ("study/test_ensemble.py::test_a_run_that_cannot_go_on_ends_as_it_does_alone",),
    ),
    Bug(
        "quotients' derivatives with the wrong sign",
        "engine/machine/program/dual.py",
        "slope = -(one_over * one_over)",
        "slope = one_over * one_over",
        ("machine/test_trace.py::test_duals_carry_derivatives",),
    ),
    Bug(
        "negative constants of exported code stand without parentheses",
        "engine/machine/program/lines.py",
        'names[node.id] = f"({text})" if node.value < 0 else text',
        "names[node.id] = text.lstrip('-')",
        ("study/test_codegen.py::test_python",),
    ),
    Bug(
        "dry friction of exported C the wrong way round",
        "engine/machine/program/c.py",
        "(double)(({a} > 0.0) - ({a} < 0.0))",
        "(double)(({a} < 0.0) - ({a} > 0.0))",
        ("machine/test_trace.py::test_exported_c_is_the_program",),
    ),
    Bug(
        "subtrahends recorded as summands",
        "engine/machine/program/trace.py",
        "return self.add(a, b.a)  # type: ignore[arg-type]",
        "return self.subtract(a, b.a)  # type: ignore[arg-type]",
        ("machine/test_trace.py::test_what_is_recorded_is_what_was_written",),
    ),
    Bug(
        "subtractions aren't counted",
        "engine/machine/program/trace.py",
        '    SUBTRACT: "additions",\n',
        "",
        ("machine/test_trace.py::test_each_kind_of_operation_is_counted_once",),
    ),
)
