"""Reports on judged runs, as Markdown, CSV and one self-contained HTML page.

`collect` reads the results files and `numbers` computes rates and tests. `tables` and `sections` turn the numbers into
ordered tables of cells. `page` writes these as HTML, and `write` as Markdown and CSV.

Nothing is imported here: many commands print a table (`cells`), and only few need scipy.
"""
