"""What `make docs` adds to the pages of docs/: the API reference, written from the package itself.

| module | what it knows |
|---|---|
| `catalog.py` | which symbols there are: one entry an object, with all its public paths |
| `locations.py` | where an object is defined: file and line |
| `signatures.py` | how an object is called, with types |
| `docstrings.py` | a docstring as Markdown |
| `example.py` | which example an entry has |
| `programs.py` | how examples are run |
| `sample_programs.py` | examples made of the samples of ops |
| `handwritten.py`, `snippets/` | examples that somebody wrote |
| `pages.py`, `sources.py` | the pages of symbols and namespaces, and of the source files that they link to |
| `hook.py` | MkDocs calls this: it puts the pages into the site |
"""
