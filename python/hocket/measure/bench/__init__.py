"""Measuring collectives as programs see them: what ``hocket bench`` does.

``request`` says which messages, ``measure`` is what each rank does, ``bounds`` what no schedule can beat,
``statistics`` turns times into figures and shows them.
"""
