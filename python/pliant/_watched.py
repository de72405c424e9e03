# SPDX-License-Identifier: Apache-2.0
"""Long work on a thread of its own, so that the thread that asked can draw a bar and hear Ctrl-C."""

from __future__ import annotations

import json
import threading
from typing import Any, Protocol

from pliant._progress import Bar

_LOOK_SECONDS = 0.1


class Run(Protocol):
    """A sweep or a design search of the core."""

    def run(self) -> str: ...
    def stop(self) -> None: ...
    def progress(self) -> Any: ...


def run_watched(name: str, run: Run, unit: str, progress: bool) -> tuple[dict[str, Any], bool]:
    """What the run gave, and whether somebody pressed Ctrl-C."""
    answer: list[str] = []
    failure: list[BaseException] = []
    over = threading.Event()  # a join() that is interrupted may take a thread for dead that is not

    def work() -> None:
        try:
            answer.append(run.run())
        except BaseException as error:  # raised again below, in the thread that asked
            failure.append(error)
        finally:
            over.set()

    worker = threading.Thread(target=work, name=f"pliant {name}")
    worker.start()
    interrupted = False
    with Bar(name, 0, unit, progress) as bar:
        while not over.is_set():
            try:
                over.wait(_LOOK_SECONDS)
                done, total, note = run.progress()
                if total:
                    bar.show(done, total, note)
            except KeyboardInterrupt:
                run.stop()
                interrupted = True
    if failure:
        raise failure[0]
    return json.loads(answer[0]), interrupted
