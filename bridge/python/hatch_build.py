"""Puts the program rnt and librntuple into the wheel, and the platform that they are for into the wheel's name.

build.py names them by environment variables. Without these, the wheel is for any platform and has neither.
"""

from __future__ import annotations

import os
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class ProgramHook(BuildHookInterface):  # type: ignore[type-arg]
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        program, platform = os.environ.get("RNTUPLE_WHEEL_PROGRAM"), os.environ.get("RNTUPLE_WHEEL_PLATFORM")
        if program and platform:
            name = "rnt.exe" if platform.startswith("win") else "rnt"
            build_data["force_include"][program] = "rntuple/bin/" + name
            library = os.environ.get("RNTUPLE_WHEEL_LIBRARY")
            if library:
                build_data["force_include"][library] = "rntuple/lib/" + os.path.basename(library)
            build_data["tag"] = "py3-none-" + platform
            build_data["pure_python"] = False
