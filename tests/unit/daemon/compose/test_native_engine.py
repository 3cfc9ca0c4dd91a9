"""llama.cpp built for this processor: when a build is used, and how it is made."""

import json
import platform
import shutil
import subprocess
from pathlib import Path

import pytest

from aeond.daemon.compose import native_engine
from aeond.daemon.compose.native_engine import BUILT, mark, usable, why_unusable, write_mark


def test_a_build_for_this_processor_and_version_is_used(tmp_path: Path) -> None:
    """A complete build is usable, and an empty or missing folder is neither usable nor a problem."""
    assert not usable(tmp_path)
    assert not usable(tmp_path / "missing")
    assert why_unusable(tmp_path) == ""
    write_mark(tmp_path)
    assert usable(tmp_path)
    assert why_unusable(tmp_path) == ""


@pytest.mark.parametrize(
    ("key", "value", "why"),
    [
        ("version", "0.1", "it is version 0.1"),
        ("abilities", "other", "another processor"),
        ("machine", "riscv64", "another processor"),
        ("recipe", "other", "in another way"),
    ],
)
def test_another_version_or_processor_is_refused(tmp_path: Path, key: str, value: str, why: str) -> None:
    """A build of another version, for a processor with other instructions or made in another way is not used."""
    (tmp_path / BUILT).write_text(json.dumps({**mark(), key: value}))
    assert not usable(tmp_path)
    assert why in why_unusable(tmp_path)


def test_a_record_without_a_recipe_is_an_older_one(tmp_path: Path) -> None:
    """A build that does not say how it was made is not used, and that is said."""
    record = dict(mark())
    del record[native_engine.RECIPE]
    (tmp_path / BUILT).write_text(json.dumps(record))
    assert not usable(tmp_path)
    assert "in another way" in why_unusable(tmp_path)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"version": 1}'])
def test_a_broken_record_is_refused(tmp_path: Path, text: str) -> None:
    """A record that cannot be read makes the build unusable."""
    (tmp_path / BUILT).write_text(text)
    assert not usable(tmp_path)
    assert "cannot be read" in why_unusable(tmp_path)


def test_the_order_of_abilities_does_not_matter(tmp_path: Path) -> None:
    """The same instructions in another order are the same processor; one fewer is another one."""
    files = {}
    for name, flags in (("some", "avx avx2 fma"), ("same", "fma avx2 avx"), ("fewer", "avx avx2")):
        files[name] = tmp_path / name
        files[name].write_text(f"processor\t: 0\nflags\t\t: {flags}\nbugs\t: none\n")
    assert mark(files["some"]) == mark(files["same"])
    assert mark(files["some"]) != mark(files["fewer"])


def test_the_build_is_of_the_installed_version(tmp_path: Path) -> None:
    """The source distribution of exactly the installed version is built, without parts that need other sources."""
    command = native_engine.build_command(tmp_path)
    assert command[-1] == f"xllamacpp=={mark()['version']}"
    assert command[command.index("--target") + 1] == str(tmp_path)
    environment = native_engine.build_environment(tmp_path, {"PATH": "/usr/bin", "CXXFLAGS": "-O2"})
    assert environment["PATH"] == "/usr/bin"
    assert "-DLLAMA_LLGUIDANCE=OFF" in environment["CMAKE_ARGS"]
    assert environment["CXXFLAGS"] == f"-O2 -include {tmp_path / native_engine.HEADER}"


@pytest.mark.skipif(platform.machine() != "x86_64", reason="tiles are a part of x86-64")
def test_the_compiler_keeps_the_whole_configuration_of_tiles(tmp_path: Path) -> None:
    """A configuration of tiles that is written on the stack is there when it is loaded."""
    compiler = shutil.which("g++")
    if compiler is None:
        pytest.skip("no g++ here")
    flags = native_engine.build_environment(tmp_path, {})["CXXFLAGS"].split()
    source = tmp_path / "tiles.cpp"
    source.write_text(
        "#include <immintrin.h>\n"
        "struct Tiles { unsigned char palette, start, reserved[14]; unsigned short bytes[16]; unsigned char rows[16]; };\n"
        "void load() { Tiles tiles = {}; tiles.palette = 1; tiles.rows[4] = 77; _tile_loadconfig(&tiles); }\n"
    )
    made = subprocess.run(
        [compiler, "-O3", "-mamx-tile", *flags, "-S", str(source), "-o", "-"],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert "$77" in made.stdout.partition("ldtilecfg")[0]


def test_the_build_is_tried_with_the_smallest_model(tmp_path: Path) -> None:
    """The check reads a prompt with the smallest model of all folders; without one it only loads the build."""
    places = (tmp_path / "none", tmp_path / "some", tmp_path / "more")
    for place in places[1:]:
        place.mkdir()
        (place / f"{place.name}.gguf").write_bytes(b"x" * len(list(tmp_path.iterdir())))
    assert native_engine.check_command(tmp_path, places)[-1] == str(tmp_path / "some" / "some.gguf")
    assert native_engine.check_command(tmp_path, places[:1])[-1] == str(tmp_path)


def test_missing_tools_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a compiler the packages to install are named."""
    monkeypatch.setattr("shutil.which", lambda _name: None)
    assert set(native_engine.missing_tools()) >= {"cmake", "make", "g++"}
