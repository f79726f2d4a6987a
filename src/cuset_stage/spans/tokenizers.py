"""Turn spans of text into a 0/1 mask of tokens by finding the characters that each token stands for.

This file needs neither torch nor LLaMA-Factory. A tokenizer is any object with Hugging Face's interface.

Fast tokenizers give offsets. They are checked on the first texts, because a wrong offset would silently make a wrong
mask. Slow tokenizers give none, so their tokens are converted to bytes and matched with the bytes of the text.
"""

import warnings
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate, pairwise
from typing import Any

from .kinds import Span, merged


FEW_SPANS = 100  # up to so many, the tokenizer is asked per span; beyond, a list of all characters is faster
CHECKED_TEXTS = 4  # texts on which a tokenizer's own offsets are verified, per TokenAligner


class AlignmentError(ValueError):
    """The tokens of a text do not spell the text."""


def token_mask(
    offsets: Sequence[tuple[int, int]], spans: Iterable[tuple[int, int, str]], *, text_length: int | None = None
) -> list[int]:
    """Return 1 for each token that shares at least one character with a span, else 0.

    Args:
        offsets: (start, end) of each token in the text that the spans belong to, as a fast tokenizer gives them.
            Tokens may repeat an extent (the bytes of one character) or overlap their neighbour. A token without
            characters (start == end, as special tokens have) gets 0.
        spans: (start, end, kind) in any order. They may overlap.
        text_length: length of the text in characters, to check the offsets against. None: not checked.

    Raises:
        ValueError: an offset lies outside the text, ends before it starts, or starts before an earlier token's start.
            Then the offsets belong to another text or to several texts in a row.
    """
    following = iter([*merged(((start, end) for start, end, _ in spans), True), (1 << 62, 1 << 62)])
    span_start, span_end = next(following)
    limit = 1 << 62 if text_length is None else text_length
    mask: list[int] = []
    append = mask.append
    last = 0
    for start, end in offsets:
        if last <= start < end <= limit:
            last = start
            while span_end <= start:
                span_start, span_end = next(following)
            append(1 if span_start < end else 0)
        elif 0 <= start == end <= limit:
            append(0)
        else:
            size = "" if text_length is None else f" of {text_length} characters"
            raise ValueError(
                f"offsets[{len(mask)}]=({start}, {end}): offsets must rise and stay inside the text{size}; "
                "pass the offsets of one tokenizer call on exactly the text that the spans were found in"
            )
    return mask


_PRINTABLE = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
_OTHERS = [byte for byte in range(256) if byte not in _PRINTABLE]
# Byte-level BPE vocabularies (GPT-2's) write each byte as one printable character.
_BYTE_OF = {chr(byte): byte for byte in _PRINTABLE} | {chr(256 + place): byte for place, byte in enumerate(_OTHERS)}


def _first_tokens(offsets: Sequence[tuple[int, int]], length: int) -> list[int | None]:
    """Return for each character of a text the first token that covers it, as `char_to_token` does."""
    tokens: list[int | None] = [None] * length
    for token, (start, end) in reversed(list(enumerate(offsets))):
        tokens[start:end] = [token] * (end - start)
    return tokens


class TokenAligner:
    """Encodes text with a tokenizer and finds the tokens of its spans.

    Args:
        tokenizer: a Hugging Face tokenizer, fast or slow.
    """

    def __init__(self, tokenizer: Any) -> None:
        self.tokenizer = tokenizer
        self._trusts_offsets = bool(getattr(tokenizer, "is_fast", False))
        self._texts_to_check = CHECKED_TEXTS

    def locate(self, text: str, *groups: list[Span]) -> tuple[list[int], *tuple[list[tuple[int, int]], ...]]:
        """Encode `text` and find the tokens of its spans.

        Args:
            text: the text to encode.
            groups: lists of spans of the text.

        Returns:
            The token ids of `text` without special tokens, and for each group the half-open ranges of ids that overlap
            one of its spans.

        Raises:
            AlignmentError: the tokenizer has no usable offsets and its tokens do not spell the text.
        """
        if self._trusts_offsets:
            options = {"return_attention_mask": False, "return_token_type_ids": False}
            encoding = self.tokenizer(text, add_special_tokens=False, **options)
            ids, alignment = encoding["input_ids"], encoding.encodings[0]
            if self._texts_to_check:
                self._texts_to_check -= 1
                if problem := self._find_wrong_offset(ids, alignment.offsets, text):
                    warnings.warn(
                        f"{type(self.tokenizer).__name__} gives wrong offsets ({problem}); they are computed from the "
                        "tokens instead, which is slower.",
                        stacklevel=2,
                    )
                    self._trusts_offsets = False
                    return self.locate(text, *groups)
            token_at = alignment.char_to_token
            if sum(map(len, groups)) > FEW_SPANS:  # each call of char_to_token scans the text
                token_at = _first_tokens(alignment.offsets, len(text)).__getitem__
            group_ranges = [[self._ask(token_at, text, span) for span in spans] for spans in groups]
            if all(None not in ranges for ranges in group_ranges):
                return ids, *group_ranges
            offsets = alignment.offsets
        else:
            ids = self.tokenizer.encode(text, add_special_tokens=False)
            offsets = self._align(ids, text)

        group_ranges = []
        for spans in groups:
            mask = token_mask(offsets, spans, text_length=len(text))
            edges = [index for index, (a, b) in enumerate(pairwise([0, *mask, 0])) if a != b]
            group_ranges.append(list(zip(edges[::2], edges[1::2], strict=True)))
        return ids, *group_ranges

    def read(self, ids: list[int]) -> tuple[str, list[tuple[int, int]]]:
        """Return the text that tokens spell, and the (start, end) of each token in it.

        Bytes that are not UTF-8 become one character each, as Python's `surrogateescape` does.
        """
        pieces = [piece or b"" for piece in self._spell(ids)]
        text = b"".join(pieces).decode("utf-8", "surrogateescape")
        char_at = [place for place, char in enumerate(text) for _ in char.encode("utf-8", "surrogateescape")]
        ends = list(accumulate(map(len, pieces)))
        spans = zip(pieces, ends, strict=True)
        return text, [(char_at[end - len(piece)], char_at[end - 1] + 1) if piece else (0, 0) for piece, end in spans]

    @staticmethod
    def _ask(token_at: Callable[[int], int | None], text: str, span: Span) -> tuple[int, int] | None:
        """Return the range of tokens from a span's first character to its last, without listing all offsets.

        Return None where two look-ups do not settle it: the tokenizer drops the character or spells it with several
        tokens.
        """
        first, last = token_at(span.start), token_at(span.end - 1)
        if first is None or last is None or last < first or not text[span.end - 1].isascii():
            return None
        return first, last + 1

    def _find_wrong_offset(self, ids: list[int], offsets: list[tuple[int, int]], text: str) -> str | None:
        """Compare plain ASCII tokens with the characters at their offsets.

        Return a description of the first difference, or None.
        """
        if list(ids) != list(self.tokenizer.encode(text, add_special_tokens=False)):
            return "other ids with offsets than without"
        previous = 0
        for index, (piece, (start, end)) in enumerate(zip(self._spell(ids), offsets, strict=True)):
            if not 0 <= start <= end <= len(text) or start < previous:
                return f"token {index} at ({start}, {end}) of {len(text)} characters"
            previous = start
            # Tokenizers may change white space and letter case, for example put a space in front of the text.
            if piece is None or not piece.isascii() or piece.isspace():
                continue
            expected, actual = piece.decode("ascii"), text[start:end]
            if actual.isascii() and "".join(expected.split()).casefold() != "".join(actual.split()).casefold():
                return f"token {index} is {expected!r}, the text there is {actual!r}"
        return None

    def _spell(self, ids: list[int]) -> list[bytes | None]:
        """Return the bytes that each token stands for, None for an unknown token."""
        tokenizer = self.tokenizer
        added = {index: str(token.content) for index, token in getattr(tokenizer, "added_tokens_decoder", {}).items()}
        unknown = getattr(tokenizer, "unk_token_id", None)
        is_byte_level = self._knows("Ġ") and not self._knows("▁")
        pieces: list[bytes | None] = []
        for index, token in zip(ids, tokenizer.convert_ids_to_tokens(ids), strict=True):
            if index == unknown or token is None:
                pieces.append(None)
            elif isinstance(token, bytes):  # tiktoken-style tokenizers
                pieces.append(token)
            elif len(token) == 6 and token.startswith("<0x") and token.endswith(">"):
                pieces.append(bytes([int(token[3:5], 16)]))
            elif index in added:
                pieces.append(added[index].encode())
            elif is_byte_level:
                in_alphabet = all(character in _BYTE_OF for character in token)
                pieces.append(bytes(_BYTE_OF[character] for character in token) if in_alphabet else token.encode())
            else:
                pieces.append(token.replace("▁", " ").encode())
        return pieces

    def _knows(self, token: str) -> bool:
        """Check that the vocabulary has this token."""
        unknown = getattr(self.tokenizer, "unk_token_id", None)
        return self.tokenizer.convert_tokens_to_ids(token) not in (None, unknown)

    def _align(self, ids: list[int], text: str) -> list[tuple[int, int]]:
        """Match the tokens' bytes with the bytes of the text, and return the (start, end) of each token.

        Tokens may drop white space or start with a space that the text lacks.
        """
        data = text.encode()
        char_at = [index for index, character in enumerate(text) for _ in character.encode()]
        char_at.append(len(text))
        offsets: list[tuple[int, int]] = []
        unplaced: list[int] = []  # unknown tokens; their extent ends where the next known token starts
        position = 0
        for index, piece in enumerate(self._spell(ids)):
            if piece is None:
                unplaced.append(index)
                offsets.append((0, 0))
                continue

            extent = self._find(data, position, piece, bool(unplaced))
            if extent is None:
                raise AlignmentError(
                    f"{type(self.tokenizer).__name__} gives no usable offsets, and its token {index} ({piece!r}) differs from the text "
                    f"at character {char_at[min(position, len(data))]}. Use a fast tokenizer (use_fast_tokenizer: true)."
                )
            start, end = extent
            for unknown in unplaced:
                offsets[unknown] = (char_at[position], char_at[start])
            unplaced.clear()
            offsets.append((char_at[start], char_at[end - 1] + 1) if end > start else (char_at[start], char_at[start]))
            position = end
        for unknown in unplaced:
            offsets[unknown] = (char_at[position], len(text))
        return offsets

    @staticmethod
    def _find(data: bytes, position: int, piece: bytes, may_skip: bool) -> tuple[int, int] | None:
        """Return the (start, end) of `piece` in `data` at or after `position`, or None.

        The piece must come next or after white space. With `may_skip`, behind unknown tokens, it may be anywhere.
        """
        bare = piece.lstrip(b" ")  # SentencePiece puts a space in front of a text that has none
        start = position
        while start == position or data[start - 1 : start].isspace():
            for candidate in (piece, bare):
                if data.startswith(candidate, start):
                    return start, start + len(candidate)
            start += 1
        if may_skip and (start := data.find(bare, position)) >= 0:
            return start, start + len(bare)
        return None
