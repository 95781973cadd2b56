"""Measuring collectives as programs see them: what ``hocket bench`` does.

``sizes`` says which messages, ``measure`` is what each rank does, ``bounds`` what no schedule can beat,
``statistics`` turns times into figures, ``table`` shows them, ``job`` starts ranks where there are none yet.
"""
