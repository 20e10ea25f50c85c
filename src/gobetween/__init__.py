"""gobetween: find the best option when you can only act through go-betweens.

    import gobetween as gb

    problem = gb.Problem([1.5, 1.0, 0.7, 0.5], policies)
    gb.lower_bound(problem).queries(delta=0.05)

Names are loaded when first used, so that importing the package costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from gobetween.core.bound import LowerBound, lower_bound
    from gobetween.core.families import Bernoulli, Bounded, Exponential, Family, Gaussian, Poisson
    from gobetween.core.geometry import MediationPrice, Redundancy, price_of_mediation, redundant_mediators
    from gobetween.core.problem import Problem, unreachable_arms
    from gobetween.core.sampling import Oracle, Static, Tracking, UniformSampling
    from gobetween.core.stopping import GLR, EProcess
    from gobetween.engine import Runs, simulate
    from gobetween.errors import (
        ConflictError,
        GoBetweenError,
        LogError,
        ProblemError,
        ResultsError,
        SpecError,
        StoreError,
        StudyError,
    )
    from gobetween.experiment import Experiment, read_experiment, run_experiment
    from gobetween.learner import Learner, TellError
    from gobetween.logs import LogReport, analyse_logs
    from gobetween.progress import ArmReport, Progress, Query
    from gobetween.results import load_results
    from gobetween.session import Receipt, StudyQuery
    from gobetween.study import Study
    from gobetween.study_spec import StudySpec

_HOMES = {
    "core.bound": ("LowerBound", "lower_bound"),
    "core.families": ("Bernoulli", "Bounded", "Exponential", "Family", "Gaussian", "Poisson"),
    "core.geometry": ("MediationPrice", "Redundancy", "price_of_mediation", "redundant_mediators"),
    "core.problem": ("Problem", "unreachable_arms"),
    "core.sampling": ("Oracle", "Static", "Tracking", "UniformSampling"),
    "core.stopping": ("EProcess", "GLR"),
    "engine": ("Runs", "simulate"),
    "experiment": ("Experiment", "read_experiment", "run_experiment"),
    "logs": ("LogReport", "analyse_logs"),
    "learner": ("Learner", "TellError"),
    "results": ("load_results",),
    "session": ("Receipt", "StudyQuery"),
    "study": ("Study",),
    "study_spec": ("StudySpec",),
    "progress": ("ArmReport", "Progress", "Query"),
    "errors": (
        "ConflictError",
        "GoBetweenError",
        "LogError",
        "ProblemError",
        "ResultsError",
        "SpecError",
        "StoreError",
        "StudyError",
    ),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "GLR",
    "ArmReport",
    "Bernoulli",
    "Bounded",
    "ConflictError",
    "EProcess",
    "Experiment",
    "Exponential",
    "Family",
    "Gaussian",
    "GoBetweenError",
    "Learner",
    "LogError",
    "LogReport",
    "LowerBound",
    "MediationPrice",
    "Oracle",
    "Poisson",
    "Problem",
    "ProblemError",
    "Progress",
    "Query",
    "Receipt",
    "Redundancy",
    "ResultsError",
    "Runs",
    "SpecError",
    "Static",
    "StoreError",
    "Study",
    "StudyError",
    "StudyQuery",
    "StudySpec",
    "TellError",
    "Tracking",
    "UniformSampling",
    "__version__",
    "analyse_logs",
    "load_results",
    "lower_bound",
    "price_of_mediation",
    "read_experiment",
    "redundant_mediators",
    "run_experiment",
    "simulate",
    "unreachable_arms",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'gobetween' has no attribute {name!r}")
    value = getattr(import_module(f"gobetween.{_HOME_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
