"""The settings of `cuset miniature data` and `cuset miniature pretrain`."""

from pathlib import Path
from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, Field, PositiveFloat, PositiveInt

from ..settings import Numbers, Settings


def _known_depths(value: tuple[int, ...]) -> tuple[int, ...]:
    if not set(value) <= {0, 1, 2}:
        raise ValueError("expected 0, 1, 2, or some of them")
    return value


class MiniatureSettings(Settings):
    """What `write_miniature` makes; the same settings give the same files."""

    positional: ClassVar[tuple[str, ...]] = ("output",)

    output: Path = Field(description="the folder to write")
    seed: int = Field(0, description="decides the split, the tasks' constants and all wording")
    pairs: PositiveInt = Field(6000, description="training pairs")
    development: PositiveInt = Field(100, description="development tasks")
    held_out: PositiveInt = Field(150, description="held-out tasks of combinations of factors whose pairs were seen")
    compositional: PositiveInt = Field(
        150, description="held-out tasks with a pair of factors that was never seen together"
    )
    depth: Annotated[Numbers, AfterValidator(_known_depths)] = Field(
        (2,),
        description="steps with neighbours between the first kernel and the last, 0 to 2; of several each task has one, drawn at random",
        min_length=1,
    )
    shards: int = Field(64, ge=0, description="shards of the pretraining corpus")
    shard_characters: PositiveInt = Field(8_000_000, description="characters of a shard, about 2.5 million tokens")
    corrupt: Literal["none", "cuda", "neutral"] = Field(
        "none", description="which tokens of the training answers are made wrong"
    )
    dose: float = Field(0.0, ge=0, le=1, description="the share of these tokens")
    vocab_size: int = Field(
        8192, ge=300, le=65536, description="tokens of the tokenizer, which is trained on the first shard"
    )
    jobs: PositiveInt | None = Field(None, description="processes; without it one a CPU")


class PretrainSettings(Settings):
    """What `pretrain` does. The default model has 26 to 30 million parameters, as the vocabulary is."""

    positional: ClassVar[tuple[str, ...]] = ("data", "output")

    data: Path = Field(description="the folder that `cuset miniature data` wrote")
    output: Path = Field(description="the folder for the model")
    tokens: PositiveInt = Field(
        500_000_000, description="tokens to train on; the corpus is read again when it is shorter"
    )
    seconds: PositiveFloat | None = Field(
        None, description="end after so many seconds of training, with the schedule cut to fit"
    )
    hidden_size: PositiveInt = Field(512, description="width of the model")
    layers: PositiveInt = Field(8, description="layers of the model")
    heads: PositiveInt = Field(8, description="attention heads, and twice the key and value heads")
    intermediate_size: PositiveInt = Field(1536, description="width of the feed-forward layers")
    length: PositiveInt = Field(4096, description="tokens of a packed row; two programs with their prompts")
    rows: PositiveInt = Field(
        4, description="rows of a step; for a given number of tokens, many small steps teach more than few large ones"
    )
    learning_rate: PositiveFloat = Field(1e-3, description="the highest learning rate")
    warmup: float = Field(0.02, ge=0, lt=1, description="share of the training in which the learning rate rises")
    seed: int = Field(0, description="decides weights and order")
