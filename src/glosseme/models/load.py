"""Tokenizers and networks from a folder of local files, without noise, prompts or random weights."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, get_args

from glosseme.errors import WORK_FAILED, GlossemeError
from glosseme.measures import Kind
from glosseme.models.source import tokenizer_files

if TYPE_CHECKING:
    import torch

__all__ = [
    "DTYPES",
    "Dtype",
    "attention_of",
    "check_device",
    "check_dtype",
    "first_line",
    "load_network",
    "load_tokenizer",
    "pick_device",
    "quiet",
    "refuse_random_weights",
]

Dtype = Literal["float32", "bfloat16", "float16"]
DTYPES: Final[tuple[Dtype, ...]] = get_args(Dtype)
_DEVICE: Final = re.compile(r"auto|cpu|cuda(:[0-9]{1,3})?|mps|xpu")


def check_dtype(text: str) -> Dtype:
    """Return `text` as the name of a dtype; raises `GlossemeError` for another one.

    >>> check_dtype("bfloat16")
    'bfloat16'
    """
    for dtype in DTYPES:
        if text == dtype:
            return dtype
    raise GlossemeError(f"the dtype {text!r} is not known", todo=f"choose one of {', '.join(DTYPES)}")


def check_device(text: str) -> str:
    """Return `text` if it is how a device is written, whether or not it is there; raises `GlossemeError` if not.

    >>> check_device("cuda:1")
    'cuda:1'
    """
    if not _DEVICE.fullmatch(text):
        raise GlossemeError(f"the device {text!r} is not known", todo="choose auto, cpu, cuda, cuda:N, mps or xpu")
    return text


def pick_device(text: str) -> str:
    """Return the device that `text` names; `auto` is a CUDA device if there is one, else the CPU.

    Raises `GlossemeError` for a name that is none of a device and a device that this machine lacks.
    """
    check_device(text)
    import torch

    if text == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    try:
        device = torch.device(text)
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        there = "cpu, cuda" if torch.cuda.is_available() else "cpu"
        raise GlossemeError(f"the device {text!r} is not on this machine", todo=f"there are: {there}") from error
    return str(device)


@contextmanager
def quiet() -> Iterator[None]:
    """Keep transformers' warnings and progress bars off the screen for a while."""
    from transformers.utils import logging

    verbosity, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity(logging.CRITICAL)
    logging.disable_progress_bar()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.set_verbosity(verbosity)
        if bars:
            logging.enable_progress_bar()


def load_tokenizer(folder: Path, *, where: str, trust_remote_code: bool = False) -> Any:
    """Return the fast tokenizer saved in `folder`.

    Raises `GlossemeError` where there is none, where it exists in Python only (no character offsets), and
    where it needs code that was not trusted.
    """
    tokenizer_files(folder, where=where)
    from transformers import AutoTokenizer

    trust = bool(trust_remote_code)  # transformers would ask the user if it were None
    with quiet(), _told(where, "the tokenizer"), _config_first(folder, where, trust):
        tokenizer = AutoTokenizer.from_pretrained(
            str(folder), use_fast=True, trust_remote_code=trust, local_files_only=not trust
        )
    if not tokenizer.is_fast:
        raise GlossemeError(
            "the tokenizer has no fast version, and only these tell which characters a token covers",
            where=where,
            todo="save it as tokenizer.json",
        )
    return tokenizer


def load_network(
    folder: Path,
    kind: Kind,
    *,
    where: str,
    dtype: Dtype = "float32",
    device: str = "cpu",
    trust_remote_code: bool = False,
) -> torch.nn.Module:
    """Return the network saved in `folder`, in eval mode, without gradients, with the model's own attention.

    Raises `GlossemeError` where the files lack weights of the language head or any other, or hold them in
    other shapes: such a model would answer with random numbers.
    """
    import torch
    import transformers

    trust = bool(trust_remote_code)
    auto = transformers.AutoModelForMaskedLM if kind == "masked" else transformers.AutoModelForCausalLM
    with quiet(), _told(where, "the model"), _config_first(folder, where, trust):
        network, info = auto.from_pretrained(
            str(folder),
            dtype=getattr(torch, dtype),
            use_safetensors=True,
            output_loading_info=True,
            ignore_mismatched_sizes=True,  # so that they are named here
            trust_remote_code=trust,
            local_files_only=not trust,
        )
    _no_more_warnings()
    refuse_random_weights(info, where)
    network.eval().requires_grad_(False)
    with _told(where, f"the model on {device}"):
        moved: torch.nn.Module = network.to(device)
    return moved


def _no_more_warnings() -> None:
    # Some networks, Mamba's among them, warn when they are first called, long after `quiet` has ended.
    from transformers.utils import logging

    logging.set_verbosity(max(logging.get_verbosity(), logging.ERROR))


def refuse_random_weights(info: Mapping[str, Any], where: str) -> None:
    """Raise `GlossemeError` if transformers filled weights in at random, by its own loading report."""
    missing = sorted(info["missing_keys"])
    if missing:
        what = f"the files lack weights of the language model ({_few(missing)}), which would be random"
        raise GlossemeError(what, where=where, todo="choose a checkpoint saved with its language-model head")
    mismatched = sorted(info["mismatched_keys"])
    if mismatched:
        name, found, wanted = mismatched[0]
        what = f"config.json and weights disagree: {name} is {tuple(found)} and should be {tuple(wanted)}"
        raise GlossemeError(what, where=where, todo="bring back the config.json that belongs to the weights")


def _few(names: Sequence[str]) -> str:
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return ", ".join(names[:3]) + more


@contextmanager
def _told(where: str, what: str) -> Iterator[None]:
    """Turn what transformers and its readers raise about files into one line."""
    try:
        yield
    except GlossemeError:
        raise
    except Exception as error:
        # The readers of safetensors and tokenizers raise classes of their own, the latter plain `Exception`.
        what = f"{what} can't be loaded: {first_line(error)}"
        raise GlossemeError(what, where=where, **_advice(error)) from error


@contextmanager
def _config_first(folder: Path, where: str, trust: bool) -> Iterator[None]:
    """Blame config.json for an error if it can't be read alone: tokenizers and networks read it too."""
    try:
        yield
    except Exception:
        if not trust:  # reading it again would run the model's code again
            _read_config_alone(folder, where)
        raise


def _read_config_alone(folder: Path, where: str) -> None:
    from transformers import AutoConfig

    try:
        AutoConfig.from_pretrained(str(folder), local_files_only=True, trust_remote_code=False)
    except Exception as error:
        if "trust_remote_code" in str(error):
            return
        what = f"config.json can't be used: {first_line(error)}"
        todo = "bring back the config.json that the model was saved with"
        raise GlossemeError(what, where=where, todo=todo) from error


def _advice(error: Exception) -> dict[str, Any]:
    text = str(error).lower()
    if "trust_remote_code" in text:
        return {"todo": "it runs code of its own: if you trust it, allow it with --trust-remote-code"}
    if "sentencepiece" in text or "protobuf" in text or "tiktoken" in text:
        return {"todo": "pip install 'glosseme[slow-tokenizers]'"}
    if "out of memory" in text:
        return {
            "todo": "choose a smaller model, another device or --dtype bfloat16",
            "exit_code": WORK_FAILED,
        }
    return {"exit_code": WORK_FAILED}


def first_line(error: Exception) -> str:
    r"""Return the first line that an error says, with its class where the line alone says little.

    >>> first_line(ValueError("for the field 'n_embd':\n    an int is needed"))
    "for the field 'n_embd': an int is needed"
    """
    lines = [part.strip() for part in str(error).splitlines() if part.strip()]
    end = next((i for i, part in enumerate(lines) if not part.endswith(":")), len(lines))
    line = " ".join(lines[: end + 1])
    return f"{type(error).__name__}: {line}" if isinstance(error, KeyError | AttributeError) or not line else line


def attention_of(network: torch.nn.Module) -> str | None:
    """Return the attention implementation that a network uses, None where it has none."""
    config = getattr(network, "config", None)
    return getattr(config, "_attn_implementation", None)
