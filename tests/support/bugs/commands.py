"""Bugs in what the command line says and ends with."""

from .bug import Bug

REPORT = "cli/running.py"
FAILING = ("cli/test_commands.py::test_a_failing_run_keeps_its_rows_and_says_why",)

COMMANDS = (
    Bug(
        "environment variables are read unchecked until they are needed",
        "cli/main.py",
        "        check_environment_settings()\n",
        "",
        ("test_settings.py::test_values_without_a_meaning_are_refused_by_all_commands",),
    ),
    Bug(
        "an unknown backend is none",
        "engine/settings.py",
        "if not (first(value) if callable(first) else value in words):",
        "if callable(first) and not first(value):",
        ("test_settings.py::test_the_library_refuses_them_where_it_reads_them",),
    ),
    Bug(
        "a unit that is one over another multiplies",
        "engine/text/expression.py",
        "up, down = (down, up) if over else (up, down)",
        "up, down = up, down",
        ("text/test_expression.py::test_values_and_dimensions",),
    ),
    Bug(
        "words of other programs are answered with the name that looks like them",
        "engine/errors.py",
        "if hint := called_elsewhere(word, choices := list(choices)):",
        "if (hint := called_elsewhere(word, choices := list(choices))) and len(word) > 99:",
        ("text/test_names_elsewhere.py::test_craigs_convention_is_khalils",),
    ),
    Bug(
        "runs that failed end with another exit code",
        REPORT,
        "return 0 if result.as_expected else 3",
        "return 0 if result.as_expected else 1",
        FAILING,
    ),
    Bug(
        "the exit code is the last run's",
        REPORT,
        "code = max(code, own)",
        "code = own",
        (
            "cli/test_commands.py::test_run_several_scenarios",
            "cli/test_commands.py::test_the_exit_code_of_several_runs_is_the_highest",
        ),
    ),
    Bug(
        "runs go on after an interrupt",
        REPORT,
        'if result.ended == "interrupted":\n            break',
        'if result.ended == "never":\n            break',
        ("cli/test_commands.py::test_an_interrupted_run_keeps_what_it_had",),
    ),
    Bug(
        "balances that are off are shown as holding",
        REPORT,
        'audit["energy"] < DOUBTFUL * audit["exchanged"]',
        'audit["energy"] > DOUBTFUL * audit["exchanged"]',
        ("scenario/test_audit.py::test_the_command_says_that_it_is_off",),
    ),
    Bug(
        "SIGTERM ends with the code of Ctrl-C",
        "cli/interrupts.py",
        "INTERRUPTED, TERMINATED = 130, 143",
        "INTERRUPTED, TERMINATED = 130, 130",
        ("cli/test_interrupts.py::test_a_run_keeps_the_rows_that_it_has",),
    ),
    Bug(
        "writing is interrupted",
        "cli/interrupts.py",
        "if (first and not _holding) or (not first and number == signal.SIGINT):",
        "if first or (not first and number == signal.SIGINT):",
        ("cli/test_interrupts.py::test_what_is_being_written_is_written",),
    ),
    Bug(
        "what the system refuses is a mistake of denoc",
        "cli/main.py",
        "if isinstance(error, OSError) and error.errno in REFUSED:",
        "if isinstance(error, OSError) and error.errno not in REFUSED:",
        ("cli/test_interrupts.py::test_what_the_system_refuses_is_no_mistake_of_denoc",),
    ),
    Bug(
        "mistakes in files end with the code of failures",
        "engine/errors.py",
        'the user can mend; its text says how."""\n\n    exit_code = 2',
        'the user can mend; its text says how."""\n\n    exit_code = 3',
        ("cli/test_commands.py::test_all_files_are_read_before_the_first_runs",),
    ),
    Bug(
        "differences from the baseline end with 0",
        "cli/regress.py",
        "if different and not update:",
        "if different < 0 and not update:",
        ("cli/test_regress.py::test_a_changed_mass",),
    ),
    Bug(
        "inspect --strict forgives",
        "cli/inspect.py",
        "if strict and",
        "if not strict and",
        ("cli/test_commands.py::test_inspect_strict",),
    ),
    Bug(
        "a tighter --rtol leaves a loose atol",
        "cli/choose.py",
        'if "rtol" in solver and "atol" not in solver:',
        'if "rtol" in solver and "atol" in solver:',
        ("cli/test_commands.py::test_rtol_of_the_option_takes_the_place_of_the_scenario_s_atol",),
    ),
    Bug(
        "a shorter run has to come to its singular position",
        "cli/choose.py",
        'if end is not None and data.get("expect") == "singularity":',
        'if end is None and data.get("expect") == "singularity":',
        ("cli/test_commands.py::test_a_shorter_run_need_not_come_to_its_singular_position",),
    ),
    Bug(
        "texts of files reach the terminal as they are",
        "cli/said.py",
        "print(safe_to_print(str(line)), file",
        "print(str(line), file",
        (
            "cli/test_terminal.py::test_errors_and_warnings_move_no_cursor",
            "cli/test_regress.py::test_a_verdict_cannot_be_forged",
        ),
    ),
    Bug(
        "what a shell would run is offered to it",
        "cli/completing.py",
        "if word.startswith(incomplete) and HARMLESS.fullmatch(word)]",
        "if word.startswith(incomplete)]",
        ("cli/test_terminal.py::test_words_that_a_shell_would_run_are_not_offered",),
    ),
    Bug(
        "texts of robots end the comments of code",
        "engine/machine/program/lines.py",
        """f" * {safe_to_print(line)}".rstrip()""",
        """f" * {line}".rstrip()""",
        ("study/test_codegen.py::test_comments_end_where_they_end",),
    ),
    Bug(
        "texts of robots end the comments of YAML files",
        "engine/text/writing.py",
        """f"# {safe_to_print(line)}".rstrip()""",
        """f"# {line}".rstrip()""",
        ("study/test_codegen.py::test_comments_end_where_they_end",),
    ),
    Bug(
        "texts of robots end the comments of inputs.m",
        "engine/formats/redysim_write.py",
        "{safe_to_print(robot.about)}",
        "{robot.about}",
        ("study/test_codegen.py::test_comments_end_where_they_end",),
    ),
)
