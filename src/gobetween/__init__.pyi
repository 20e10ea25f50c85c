"""The public names, each listed once: type checkers read them here, `__init__.py` loads them from here."""

from gobetween.core.bound import LowerBound as LowerBound
from gobetween.core.bound import lower_bound as lower_bound
from gobetween.core.evidence import ArmReport as ArmReport
from gobetween.core.evidence import Evidence as Evidence
from gobetween.core.families import Bernoulli as Bernoulli
from gobetween.core.families import Bounded as Bounded
from gobetween.core.families import Exponential as Exponential
from gobetween.core.families import Gaussian as Gaussian
from gobetween.core.families import Poisson as Poisson
from gobetween.core.family import Family as Family
from gobetween.core.geometry import MediationPrice as MediationPrice
from gobetween.core.geometry import Redundancy as Redundancy
from gobetween.core.geometry import price_of_mediation as price_of_mediation
from gobetween.core.geometry import redundant_mediators as redundant_mediators
from gobetween.core.problem import Problem as Problem
from gobetween.core.problem import unreachable_arms as unreachable_arms
from gobetween.core.registry import register as register
from gobetween.core.rule import Looks as Looks
from gobetween.core.rule import SamplingRule as SamplingRule
from gobetween.core.rule import StoppingRule as StoppingRule
from gobetween.core.rule import View as View
from gobetween.core.sampling import FrankWolfe as FrankWolfe
from gobetween.core.sampling import Game as Game
from gobetween.core.sampling import Oracle as Oracle
from gobetween.core.sampling import Pursuit as Pursuit
from gobetween.core.sampling import Static as Static
from gobetween.core.sampling import Tracking as Tracking
from gobetween.core.sampling import UniformSampling as UniformSampling
from gobetween.core.stopping import GLR as GLR
from gobetween.core.stopping import EProcess as EProcess
from gobetween.errors import ConflictError as ConflictError
from gobetween.errors import GoBetweenError as GoBetweenError
from gobetween.errors import LogError as LogError
from gobetween.errors import ProblemError as ProblemError
from gobetween.errors import ResultsError as ResultsError
from gobetween.errors import SpecError as SpecError
from gobetween.errors import StoreError as StoreError
from gobetween.errors import StudyError as StudyError
from gobetween.logs.analysis import analyse_logs as analyse_logs
from gobetween.logs.replay import Replay as Replay
from gobetween.logs.replay import replay_logs as replay_logs
from gobetween.logs.report import LogReport as LogReport
from gobetween.simulation.comparison import Comparison as Comparison
from gobetween.simulation.engine import simulate as simulate
from gobetween.simulation.grid import Experiment as Experiment
from gobetween.simulation.grid import read_experiment as read_experiment
from gobetween.simulation.plan import Plan as Plan
from gobetween.simulation.plan import make_plan as make_plan
from gobetween.simulation.results import Results as Results
from gobetween.simulation.results import load_results as load_results
from gobetween.simulation.runner import run_experiment as run_experiment
from gobetween.simulation.runs import Runs as Runs
from gobetween.simulation.summary import Summary as Summary
from gobetween.study.answers import TellError as TellError
from gobetween.study.learner import Learner as Learner
from gobetween.study.progress import Progress as Progress
from gobetween.study.progress import Query as Query
from gobetween.study.spec import StudySpec as StudySpec
from gobetween.study.status import Status as Status
from gobetween.study.study import Study as Study
from gobetween.study.transaction import Receipt as Receipt
from gobetween.study.transaction import StudyQuery as StudyQuery

__version__: str

__all__: list[str]
