#!/usr/bin/env python3
# Copyright 2024 The Cave Authors.
# SPDX-License-Identifier: MIT
"""Reads caves.

import nothing: this line is prose.
"""
from __future__ import annotations

import os
from typing import (
    Any,
    Iterable,
)

DEPTH = 3


def first(path: str) -> str:
    text = """
def not_a_definition():
    pass
"""
    return path + text


# Belongs to `second`.
@staticmethod
def second(paths: Iterable[str]) -> Any:
    for path in paths:
        if os.path.exists(path):
            return first(path)
    return None


class Cave:
    """A cave."""

    def __init__(self) -> None:
        self.rooms = []

    def add(self, room: str) -> None:
        self.rooms.append(room)

    def long(self) -> int:
        total = 0
        for room in self.rooms:
            total += len(room)

        for room in self.rooms:
            total += len(room)

        for room in self.rooms:
            total += len(room)

        for room in self.rooms:
            total += len(room)

        for room in self.rooms:
            total += len(room)

        for room in self.rooms:
            total += len(room)

        return total
