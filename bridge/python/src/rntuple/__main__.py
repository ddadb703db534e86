"""python -m rntuple runs rnt."""

from ._program import main

main()
