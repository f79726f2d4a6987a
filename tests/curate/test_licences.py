"""Licences: full texts by their titles, names and expressions as SPDX, and what is not known stays out."""

from pathlib import Path

import pytest
from curation_steps import lines, put, take_in

from cuset_stage.curate import licences


KERNEL = "__global__ void f(const float* x, float* y, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = x[i]; }"
TEXTS = Path("/usr/share/common-licenses")


@pytest.mark.parametrize(
    ("name", "licence"),
    [
        ("Apache-2.0", "Apache-2.0"),
        ("BSD", "BSD-3-Clause"),
        ("CC0-1.0", "CC0-1.0"),
        ("GFDL-1.3", "GFDL-1.3-only"),
        ("GPL-1", "GPL-1.0-only"),
        ("GPL-2", "GPL-2.0-only"),
        ("GPL-3", "GPL-3.0-only"),
        ("LGPL-2", "LGPL-2.0-only"),
        ("LGPL-2.1", "LGPL-2.1-only"),
        ("LGPL-3", "LGPL-3.0-only"),
        ("MPL-1.1", "MPL-1.1"),
        ("MPL-2.0", "MPL-2.0"),
    ],
)
def test_a_full_text_is_what_its_title_says_and_not_what_it_mentions(name, licence):
    if not (TEXTS / name).is_file():
        pytest.skip(f"there is no {TEXTS / name} on this machine")
    assert licences.identify((TEXTS / name).read_text(encoding="utf-8", errors="replace")) == licence


FURTHER = (
    "\n".join(["Words of the licence."] * 200)
    + "\nGNU Affero General Public License, version 3. Apache License, Version 2.0.\n"
)


@pytest.mark.parametrize(
    ("head", "licence"),
    [
        ("Mozilla Public License Version 2.0\n====\n", "MPL-2.0"),
        ("GNU GENERAL PUBLIC LICENSE\n  Version 3, 29 June 2007\n", "GPL-3.0-only"),
        ("GNU LIBRARY GENERAL PUBLIC LICENSE\n  Version 2, June 1991\n", "LGPL-2.0-only"),
        ("GNU AFFERO GENERAL PUBLIC LICENSE\n  Version 3, 19 November 2007\n", "AGPL-3.0-only"),
        ("Apache License\nVersion 2.0, January 2004\n", "Apache-2.0"),
        ("Attribution-NonCommercial-NoDerivatives 4.0 International\n", "CC-BY-NC-ND-4.0"),
        ("End user licence agreement\n", "unknown"),
    ],
)
def test_a_title_stands_at_the_beginning(head, licence):
    assert licences.identify(head + FURTHER) == licence


def test_a_notice_says_whether_later_versions_are_meant():
    notice = "/* This file is part of it.\n * You can redistribute it under the terms of the GNU General Public License\n * as published by the "
    notice += (
        "Free Software Foundation, either version 2 of the License, or\n * (at your option) any later version. */\n"
    )
    assert licences.of_source(notice) == "GPL-2.0-or-later"
    assert (
        licences.of_source(notice.replace("or\n * (at your option) any later version", "no other")) == "GPL-2.0-only"
    )
    assert licences.of_source("// Copyright\n" * 100 + notice) == "GPL-2.0-or-later"


@pytest.mark.parametrize(
    ("given", "written"),
    [
        ("the MIT License", "MIT"),
        ("Apache License, Version 2.0", "Apache-2.0"),
        ('BSD 3-Clause "New" or "Revised" License', "BSD-3-Clause"),
        ("GPL-2.0+", "GPL-2.0-or-later"),
        ("LGPL-2.1+", "LGPL-2.1-or-later"),
        ("GPLv3+", "GPL-3.0-or-later"),
        ("GNU General Public License v2.0 or later", "GPL-2.0-or-later"),
        ("(gpl-2.0 or later)", "GPL-2.0-or-later"),
        ("GPLv2", "GPL-2.0-only"),
        ("mit or apache-2.0", "MIT OR Apache-2.0"),
        ("MIT/Apache-2.0", "MIT OR Apache-2.0"),
        ("MIT OR isc AND zlib", "MIT OR (ISC AND Zlib)"),
        ("(MIT or ISC) and Zlib", "(MIT OR ISC) AND Zlib"),
        ("GPL-2.0+ with Classpath-exception-2.0 or MIT", "GPL-2.0-or-later WITH Classpath-exception-2.0 OR MIT"),
        ("N/A", "unknown"),
    ],
)
def test_names_and_expressions_become_spdx(given, written):
    assert licences.spdx(given) == written == licences.spdx(written)
    assert licences.is_known(written) is (written != "unknown")


@pytest.mark.parametrize(
    "text",
    [
        "All rights reserved",
        "LicenseRef-Nvidia",
        "null",
        "no license",
        "Proprietary",
        "see LICENSE file",
        "MIT AND LicenseRef-Nvidia",
        "Apache-2.0 with Commons Clause",
        "MIT (for research only)",
        "https://example.org/MIT",
        "(MIT OR",
        "(" * 5000,
    ],
)
def test_what_is_not_recognised_is_unknown_unless_it_is_allowed_by_name(text):
    licence = licences.spdx(text)
    assert not licences.is_allowed(licence, (), allow_unknown=False)
    assert not licences.is_allowed(licence, ("MIT", "Apache-2.0"), allow_unknown=False)
    assert licences.is_allowed(licence, (), allow_unknown=True)
    if licence != "unknown":
        assert licence.casefold() == text.casefold() and licences.is_allowed(
            licence, (text.upper(),), allow_unknown=False
        )


@pytest.mark.parametrize(
    ("licence", "allowed", "taken"),
    [
        ("MIT OR GPL-3.0-only", ("MIT",), True),
        ("MIT OR LicenseRef-Ours", (), True),
        ("MIT AND GPL-3.0-only", ("MIT",), False),
        ("MIT OR (GPL-3.0-only AND ISC)", ("GPL-3.0-only",), False),
        ("MIT OR GPL-3.0-only AND ISC", ("gpl-3.0", "isc"), True),
        ("(MIT OR GPL-3.0-only) AND ISC", ("MIT",), False),
        ("Apache-2.0 WITH LLVM-exception", ("Apache-2.0",), True),
        ("Apache-2.0", ("Apache-2.0 WITH LLVM-exception",), False),
        ("GPL-2.0-or-later", ("GPL-2.0-only",), False),
        ("LicenseRef-Ours AND MIT", ("MIT", "licenseref-ours"), True),
    ],
)
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


@pytest.fixture
def tree(tmp_path):
    """Files that state a licence, a folder with a licence of its own, and a file of which nothing is said."""
    root = tmp_path / "tree"
    (root / "bsd").mkdir(parents=True)
    (root / "bsd" / "LICENSE").write_text("Redistribution and use in source and binary forms", encoding="utf-8")
    (root / "bsd" / "of_folder.cu").write_text(KERNEL, encoding="utf-8")
    (root / "bsd" / "own.cu").write_text(f"// SPDX-License-Identifier: GPL-3.0-only\n{KERNEL}", encoding="utf-8")
    (root / "none.cu").write_text(KERNEL, encoding="utf-8")
    return root


def imported(tmp_path, **options) -> dict[str, dict]:
    folder = tmp_path / "work" / "import" / "tree"
    take_in(tmp_path / "work", tmp_path / "tree", name="tree", revision="1", **options)
    return {row["source"]["file"]: row for row in lines(folder / "rows.jsonl")}


def test_a_file_states_its_licence_before_its_folder_and_the_folder_before_the_user(tmp_path, tree):
    found = {name: row["source"] for name, row in imported(tmp_path, licence="ISC").items()}
    assert {name: (each["licence"], each["licence_from"]) for name, each in found.items()} == {
        "bsd/of_folder.cu": ("BSD-2-Clause", "LICENSE"),
        "bsd/own.cu": ("GPL-3.0-only", "code"),
        "none.cu": ("ISC", "user"),
    }


def test_what_the_code_of_a_row_says_of_itself_is_not_overruled(tmp_path):
    header = "// SPDX-License-Identifier: GPL-3.0-only\n"
    rows = [
        {"code": header + KERNEL},
        {"code": header + KERNEL, "licence": "MIT"},
        {"code": KERNEL, "cpu_code": header},
    ]
    rows += [{"code": KERNEL}, {"code": "// SPDX-License-Identifier: MIT\n" + KERNEL, "licence": "MIT"}]
    path = put(tmp_path / "rows.jsonl", rows)
    take_in(tmp_path, path, licence="MIT")
    found = [row["source"] for row in lines(tmp_path / "import" / "rows.jsonl" / "rows.jsonl")]
    assert [(each["licence"], each["licence_from"]) for each in found] == [
        ("GPL-3.0-only", "code"),
        ("GPL-3.0-only AND MIT", "row, code"),
        ("GPL-3.0-only", "code"),
        ("MIT", "user"),
        ("MIT", "row"),
    ]
    assert take_in(tmp_path / "mit", path, licence="MIT", allow=("MIT",)).kept == 2


@pytest.mark.parametrize("columns", ["", "code=cu"])
def test_a_licence_is_found_however_its_column_is_spelt(tmp_path, columns):
    given = [
        {"license": "GPL-3.0-only"},
        {"licenses": ["MIT", "ISC"]},
        {"licence": "ISC"},
        {"license": None},
        {"License": "0BSD"},
    ]
    given.append({"license": 5})
    path = put(tmp_path / "rows.jsonl", [{"cu" if columns else "code": KERNEL, **row} for row in given])
    summary = take_in(tmp_path, path, columns=columns, licence="MIT")
    found = [row["source"]["licence"] for row in lines(tmp_path / "import" / "rows.jsonl" / "rows.jsonl")]
    assert found == ["GPL-3.0-only", "ISC AND MIT", "ISC", "MIT", "0BSD"] and summary.reasons == {"wrong_type": 1}
