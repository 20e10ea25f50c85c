"""How machine code is made: as a whole, and only of what Python calls. Together with jit.py this is all that knows Numba.

By itself Numba makes machine code of each function, with all that it calls in it, and wrappers for Python. Ours call each other
through many levels. So a function that compiled code calls is a *part*, intermediate code for its callers to take in; what
Python calls has a *door*: its parts are linked there and become machine code, once. That takes about half as long.
"""

import copy
from typing import Any

from llvmlite import binding
from numba.core import compiler, typing
from numba.core.caching import CompileResultCacheImpl
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler_lock import global_compiler_lock
from numba.core.compiler_machinery import AnalysisPass, PassManager, register_pass
from numba.core.environment import Environment, lookup_environment
from numba.core.registry import CPUDispatcher

PART = "part"  # how a part is kept on disk; Numba's words for others are "object" and "bitcode"


class Part(JITCodeLibrary):  # type: ignore[misc]  # Numba is not typed
    """The intermediate code of a function, for callers to take in; it also stands for what an entry point is to Numba."""

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True

    def serialize_using_object_code(self) -> tuple[str, str, bytes]:
        """What is kept on disk; there is no machine code."""
        self._ensure_finalized()
        return self.name, PART, self._final_module.as_bitcode()

    @classmethod
    def read(cls, codegen: Any, name: str, code: bytes) -> "Part":
        """A part that was kept."""
        made = cls(codegen, name)
        made._final_module = binding.parse_bitcode(code)
        made._finalize_final_module()
        return made


class Door(JITCodeLibrary):  # type: ignore[misc]  # Numba is not typed
    """The machine code of a function with all its parts, and what hands it arguments from Python."""

    def __init__(self, part: Part, function: str) -> None:
        super().__init__(part.codegen, part.name)
        self._function = function
        self.enable_object_caching()
        self.add_linking_library(part)

    def _optimize_final_module(self) -> None:
        self._final_module.get_function(self._function).linkage = "external"  # others may have been made of the same part
        super()._optimize_final_module()


class Pipeline(compiler.Compiler):  # type: ignore[misc]  # Numba is not typed
    """Compiles a function to a part."""

    def compile_extra(self, function: Any) -> Any:
        """The part, where Numba has an entry point too."""
        flags, context = self.state.flags, self.state.targetctx
        flags.no_compile = flags.no_cpython_wrapper = flags.no_cfunc_wrapper = True
        self.state.library = part = Part(context.codegen(), function.__qualname__)
        made = super().compile_extra(function)
        made = made._replace(entry_point=self.entry(part))
        context.insert_user_function(made.entry_point, made.fndesc, [part])
        return made

    def entry(self, part: Part) -> Any:
        """What callers know it by."""
        return part


class Overloaded(Pipeline):
    """For implementations that Numba chooses by type: never called from Python, but it wants a function that could be."""

    def entry(self, part: Part) -> Any:
        """A function that is equal to no other; nobody calls it."""
        return [part].append


class Function(CPUDispatcher):  # type: ignore[misc]  # Numba is not typed
    """A function of ours: a part for each signature, and a door for those with which Python calls it."""

    def __init__(self, py_func: Any, locals: Any = None, targetoptions: Any = None, pipeline_class: Any = Pipeline) -> None:  # noqa: A002
        super().__init__(py_func, locals, targetoptions, pipeline_class)
        self._doors: dict[Part, Any] = {}

    def add_overload(self, made: Any) -> None:
        """Only doors can be called from Python."""
        if isinstance(made.library, Part):
            self.overloads[tuple(made.signature.args)] = made
        else:
            super().add_overload(made)

    def _compile_for_args(self, *args: Any, **words: Any) -> Any:
        """Python calls it with types for which there is no door yet."""
        entry = super()._compile_for_args(*args, **words)
        return self._door(entry).entry_point if isinstance(entry, Part) else entry

    def _door(self, part: Part) -> Any:
        with global_compiler_lock:
            if part not in self._doors:
                signature, made = next(found for found in self.overloads.items() if found[1].library is part)
                self._doors[part] = door = self._behind_a_door(made)
                self._insert([kind._code for kind in signature], door.entry_point, False)
                self._cache.save_overload(signature, door)
            return self._doors[part]

    def _behind_a_door(self, made: Any) -> Any:
        """A part with its door. What the door remembers is its own: other processes know the part without it."""
        about = copy.copy(made.fndesc)
        about.env_name += "_door"
        memory, door = Environment.from_fndesc(about), Door(made.library, about.llvm_func_name)
        flags = compiler.Flags()
        self.targetdescr.options.parse_as_flags(flags, self.targetoptions)
        context = compiler._make_subtarget(self.targetctx, flags)
        context.create_cpython_wrapper(door, about, memory, None, release_gil=flags.release_gil)
        entry = context.get_executable(door, about, memory)
        for variable in door._final_module.global_variables:
            known = lookup_environment(variable.name)
            if known is not None:
                door.codegen.set_env(variable.name, known)
        return made._replace(library=door, fndesc=about, environment=memory, entry_point=entry)


class Kept(CompileResultCacheImpl):  # type: ignore[misc]  # Numba is not typed
    """How functions are read from disk: doors as Numba does it, parts as such."""

    def rebuild(self, context: Any, payload: Any) -> Any:
        """What was kept of a function."""
        (name, kind, code), about, memory, signature, objects, lifted, notes, starts, memories = payload
        if kind != PART:
            return super().rebuild(context, payload)
        for start in starts or ():
            start()
        part = Part.read(context.codegen(), name, code)
        return compiler.compile_result(
            typing_context=context.typing_context, target_context=context, entry_point=part, typing_error=None,
            type_annotation=notes, library=part, call_helper=None, signature=signature, objectmode=objects, lifted=lifted,
            fndesc=about, environment=memory, metadata=None, reload_init=starts, referenced_envs=memories,
        )  # fmt: skip


@register_pass(mutates_CFG=False, analysis_only=True)
class _TypesAreEnough(AnalysisPass):  # type: ignore[misc]  # Numba is not typed
    _name = "types_are_enough"

    def __init__(self) -> None:
        super().__init__()

    def run_pass(self, state: Any) -> bool:
        state.cr = compiler.compile_result(
            typing_context=state.typingctx, target_context=state.targetctx, entry_point=len, typing_error=None,
            type_annotation=None, library=None, call_helper=None,
            signature=typing.signature(state.return_type, *state.args), objectmode=False, lifted=(), fndesc=None,
            environment=None, metadata=state.metadata, reload_init=(),
        )  # fmt: skip
        return True


class Typed(compiler.CompilerBase):  # type: ignore[misc]  # Numba is not typed
    """For what is always made part of its callers: Numba would make machine code of it, only to know its type."""

    def define_pipelines(self) -> list[PassManager]:
        """Types, and no more."""
        manager = PassManager("types")
        for passes in (compiler.DefaultPassBuilder.define_untyped_pipeline, compiler.DefaultPassBuilder.define_typed_pipeline):
            manager.passes.extend(passes(self.state).passes)
        manager.add_pass(_TypesAreEnough, "types are enough")
        manager.finalize()
        return [manager]
