"""Licences: full texts by their titles, names and expressions as SPDX, and what is not known stays out."""

from pathlib import Path

import pytest
import yaml
from curation_steps import lines, put, take_in
from curation_tree import KERNEL

from cuset_stage.curate import licences


CASES = yaml.safe_load(Path(__file__).with_name("licences.yaml").read_text(encoding="utf-8"))
TEXTS = Path("/usr/share/common-licenses")


@pytest.mark.parametrize(("name", "licence"), CASES["texts"].items())
def test_a_full_text_is_what_its_title_says_and_not_what_it_mentions(name, licence):
    if not (TEXTS / name).is_file():
        pytest.skip(f"there is no {TEXTS / name} on this machine")
    assert licences.identify((TEXTS / name).read_text(encoding="utf-8", errors="replace")) == licence


FURTHER = 100 * "More words.\n" + "GNU Affero General Public License, version 3. Apache License, Version 2.0.\n"


@pytest.mark.parametrize(("head", "licence"), CASES["titles"].items())
def test_a_title_stands_at_the_beginning(head, licence):
    assert licences.identify(head + FURTHER) == licence


NOTICE = """/* This file is part of it.
 * You can redistribute it under the terms of the GNU General Public License
 * as published by the Free Software Foundation, either version 2 of the License, or
 * (at your option) any later version. */
"""


def test_a_notice_says_whether_later_versions_are_meant():
    assert licences.of_source(NOTICE) == licences.of_source("// Copyright\n" * 100 + NOTICE) == "GPL-2.0-or-later"
    assert licences.of_source(NOTICE.replace("or\n * (at your option) any later", "no other")) == "GPL-2.0-only"


@pytest.mark.parametrize(("given", "written"), CASES["names"].items())
def test_names_and_expressions_become_spdx(given, written):
    assert licences.spdx(given) == written == licences.spdx(written)
    assert licences.is_known(written) is (written != "unknown")


@pytest.mark.parametrize("text", [*CASES["unknown"], "(" * 5000])
def test_what_is_not_recognised_is_unknown_unless_it_is_allowed_by_name(text):
    licence = licences.spdx(text)
    assert not licences.is_allowed(licence, (), allow_unknown=False)
    assert not licences.is_allowed(licence, ("MIT", "Apache-2.0"), allow_unknown=False)
    assert licences.is_allowed(licence, (), allow_unknown=True)
    if licence != "unknown":
        assert licence.casefold() == text.casefold()
        assert licences.is_allowed(licence, (text.upper(),), allow_unknown=False)


@pytest.mark.parametrize(("licence", "allowed", "taken"), CASES["allowed"])
def test_an_expression_is_allowed_by_its_parts(licence, allowed, taken):
    assert licences.is_allowed(licence, allowed, allow_unknown=False) is taken


def test_licences_that_apply_together_keep_their_choices():
    assert licences.all_of(["MIT or ISC", "bsd", "BSD-3-Clause"]) == "BSD-3-Clause AND (MIT OR ISC)"
    assert licences.all_of(["MIT", "none"]) == licences.all_of([]) == "unknown"


def test_a_row_whose_licence_nobody_knows_is_reported_with_its_text(tmp_path):
    given = ["All rights reserved", "GPL-2.0+", "MIT/Apache-2.0"]
    path = put(tmp_path / "rows.jsonl", [{"text": KERNEL, "by": each} for each in given])
    take_in(tmp_path / "work", path, name="rows", columns="code=text,licence=by", allow=("MIT",))
    dropped = lines(tmp_path / "work" / "import" / "rows" / "dropped.jsonl")
    assert [each["reason"] for each in dropped] == ["licence_unknown", "licence_not_allowed"]
    assert "All rights reserved" in dropped[0]["detail"] and "allow=" in dropped[0]["detail"]
    (kept,) = lines(tmp_path / "work" / "import" / "rows" / "rows.jsonl")
    assert kept["source"]["licence"] == "MIT OR Apache-2.0"


def imported(folder: Path, source: Path, **options) -> list[tuple[str, str]]:
    """What a source's rows are under, and where that is stated."""
    take_in(folder, source, name="source", **options)
    rows = lines(folder / "import" / "source" / "rows.jsonl")
    return [(row["source"]["licence"], row["source"]["licence_from"]) for row in rows]


GPL = "// SPDX-License-Identifier: GPL-3.0-only\n"


def test_a_file_states_its_licence_before_its_folder_and_the_folder_before_the_user(tmp_path):
    folder = tmp_path / "tree" / "bsd"
    folder.mkdir(parents=True)
    (folder / "LICENSE").write_text("Redistribution and use in source and binary forms", encoding="utf-8")
    (folder / "of_folder.cu").write_text(KERNEL, encoding="utf-8")
    (folder / "own.cu").write_text(GPL + KERNEL, encoding="utf-8")
    (folder.parent / "none.cu").write_text(KERNEL, encoding="utf-8")
    found = imported(tmp_path / "work", folder.parent, licence="ISC")
    assert set(found) == {("BSD-2-Clause", "LICENSE"), ("GPL-3.0-only", "code"), ("ISC", "user")}


def test_what_the_code_of_a_row_says_of_itself_is_not_overruled(tmp_path):
    mit = f"// SPDX-License-Identifier: MIT\n{KERNEL}"
    rows = [{"code": GPL + KERNEL}, {"code": GPL + KERNEL, "licence": "MIT"}, {"code": KERNEL, "functional_code": GPL}]
    rows.append({"code": mit + "//\n" * 5000 + GPL})  # a header that was inlined
    rows.append({"answer": f"Under the Apache License, Version 2.0:\n```cuda\n{GPL}{KERNEL}```"})
    path = put(tmp_path / "rows.jsonl", [*rows, {"code": KERNEL}, {"code": mit, "licence": "MIT"}])
    both = ("GPL-3.0-only AND MIT", "row, code")
    gpl = ("GPL-3.0-only", "code")
    inlined = ("GPL-3.0-only AND MIT", "code")
    assert imported(tmp_path, path, licence="MIT") == [gpl, both, gpl, inlined, gpl, ("MIT", "user"), ("MIT", "row")]
    assert len(imported(tmp_path / "mit", path, licence="MIT", allow=("MIT",))) == 2


@pytest.mark.parametrize("columns", ["", "code=cu"])
def test_a_licence_is_found_however_its_column_is_spelt(tmp_path, columns):
    given = [("license", "GPL-3.0-only"), ("licenses", ["MIT", "ISC"]), ("licence", "ISC"), ("license", None)]
    given += [("License", "0BSD"), ("license", 5)]
    rows = [{"cu" if columns else "code": KERNEL, column: value} for column, value in given]
    found = imported(tmp_path, put(tmp_path / "rows.jsonl", rows), columns=columns, licence="MIT")
    assert [licence for licence, _ in found] == ["GPL-3.0-only", "ISC AND MIT", "ISC", "MIT", "0BSD"]
    (dropped,) = lines(tmp_path / "import" / "source" / "dropped.jsonl")
    assert dropped["reason"] == "wrong_type"
