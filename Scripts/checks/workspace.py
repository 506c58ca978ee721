"""Folders where a bug can be planted: an overlay over the package, or a copy of it."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path


class Workspace(ABC):
    """A folder with the package, where files may change and commands run.

    When it is opened, its sources are those of the package.
    """

    # The path of the folder for this process.
    root: Path

    @abstractmethod
    def __enter__(self) -> Workspace: ...

    @abstractmethod
    def __exit__(self, *_: object) -> None: ...

    @abstractmethod
    def inside(self, command: Sequence[str]) -> list[str]:
        """Returns the command that runs a command in the folder."""

    def write(self, path: str, text: str) -> None:
        """Writes a file in the folder."""
        (self.root / path).write_bytes(text.encode())

    @contextmanager
    def started(
        self, command: Sequence[str], log: Path, environment: Mapping[str, str] | None = None
    ) -> Iterator[subprocess.Popen]:
        """Starts a command in the folder that appends its output to a file."""
        with log.open("ab") as output, started(
            self.inside(command), env=environment, stdout=output, stderr=subprocess.STDOUT
        ) as process:
            yield process


class Overlay(Workspace):
    """Covers the package's folder with an overlay, in namespaces of its own.

    The processes inside see changed files in the package's own folder, and continue its existing
    build. The changes are in a temporary folder. When this process ends, even if killed, its end of
    a pipe closes. Then the first process of the PID namespace ends, the kernel kills all others in
    it and removes the mounts, and the shell outside removes the temporary folder.
    """

    # The first process inside. It prints its ID as seen from outside, and stays until the pipe
    # closes.
    FIRST = """
      read -r id rest </proc/self/stat
      mount -t proc proc /proc
      mount --bind . "$1/package"
      mount -t overlay overlay \
        -o "lowerdir=$1/package,upperdir=$1/changes,workdir=$1/work" "$PWD"
      echo "$id"
      cat
    """
    # The kernel leaves a folder that its owner may not read.
    OUTSIDE = """
      folder=$1
      shift
      "$@"
      chmod u+rwx "$folder/work/work" 2>/dev/null
      rm -rf --one-file-system "$folder"
    """

    def __init__(self, package: Path) -> None:
        self._package = package

    def obstacle(self) -> str | None:
        """Returns why no overlay can be mounted here, or None."""
        try:
            with self:
                return None
        except OSError as error:
            return str(error)

    def __enter__(self) -> Overlay:
        folder = Path(tempfile.mkdtemp(prefix="mutants-")).resolve()
        if folder.is_relative_to(self._package):
            folder.rmdir()
            raise OSError(f"the folder for temporary files, {folder.parent}, is in the package")
        for name in ("package", "changes", "work"):
            (folder / name).mkdir()
        unshare = ["unshare", "--mount", "--pid", "--fork", "--kill-child"]
        if os.geteuid() != 0:
            unshare.append("--map-root-user")
        first = ["sh", "-ec", self.FIRST, "sh", str(folder)]
        # In its own session, it survives Ctrl-C until its pipe closes.
        self._holder = subprocess.Popen(
            ["sh", "-c", self.OUTSIDE, "sh", str(folder), *unshare, *first],
            cwd=self._package, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, start_new_session=True)
        self._first = self._holder.stdout.readline().strip()
        if not self._first:
            reason = self._holder.stderr.read().strip()
            self.__exit__()
            raise OSError(reason)
        self.root = Path(f"/proc/{self._first}/root{self._package}")
        return self

    def __exit__(self, *_: object) -> None:
        self._holder.communicate()

    def inside(self, command: Sequence[str]) -> list[str]:
        enter = ["nsenter", "--target", self._first, "--mount", "--pid"]
        if os.geteuid() != 0:
            # Inside, this user is root, but the tests must not run as root.
            enter += ["--user", "--preserve-credentials", "unshare", "--user",
                      f"--map-user={os.geteuid()}", f"--map-group={os.getegid()}"]
        return [*enter, "sh", "-c", 'cd "$0" && exec "$@"', str(self._package), *command]


class Copy(Workspace):
    """A copy of the files that git would commit now, with its own build."""

    def __init__(self, package: Path, folder: Path) -> None:
        self._package = package
        self._folder = folder
        self.root = folder / "copy"
        self.root.mkdir(parents=True, exist_ok=True)

    def __enter__(self) -> Copy:
        """Writes only the files that differ, so that there is little to build."""
        self._git("now", "add", "--all")
        tree = self._git("now", "write-tree").strip()
        self._git("index", f"--work-tree={self.root}", "read-tree", "--reset", "-u", tree)
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def _git(self, index: str, *arguments: str) -> str:
        environment = {**os.environ, "GIT_INDEX_FILE": str(self._folder / index)}
        return subprocess.run(
            ["git", *arguments], cwd=self._package, env=environment, check=True,
            stdout=subprocess.PIPE, text=True).stdout

    def inside(self, command: Sequence[str]) -> list[str]:
        return ["sh", "-c", 'cd "$0" && exec "$@"', str(self.root), *command]


@contextmanager
def started(command: Sequence[str], **options) -> Iterator[subprocess.Popen]:
    """Starts a command in its own session, and kills its processes if it is not done."""
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, start_new_session=True, **options)
    try:
        yield process
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
