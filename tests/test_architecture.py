"""The shape of the package: who may import whom, what an import costs, what every file owes its reader."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import surefoot

ROOT = Path(surefoot.__file__).parent
EVERY = sorted(ROOT.rglob("*.py"))
GUESTS = [path for path in EVERY if '"""Runs in ' in path.read_text(encoding="utf-8")[:12]]
"""Scripts that run in another simulator's own environment, where surefoot is not."""
FILES = [path for path in EVERY if path not in GUESTS and "templates" not in path.parts]
CORE = ("errors", "robot", "record", "simulate", "identify")  # each may import those before it
MAY = {part: set(CORE[: i + 1]) for i, part in enumerate(CORE)} | {
    "__init__": set(),
    "export": {*CORE, "export"},
    "networks": {*CORE, "networks"},  # trained from recordings, started from a fit; torch stays in there
    "deploy": {"errors", "robot", "record", "deploy"},
    "train": {"errors", "robot", "simulate", "deploy", "train"},
    "analyze": {"errors", "robot", "record", "simulate", "analyze"},  # reads motions, measured or simulated, not fits
    "report": {*CORE, "analyze", "train", "report"},  # it draws what others found, and computes only what a drawing needs
    "demo": set(CORE),
    "commands": {*CORE, "export", "networks", "deploy", "train", "analyze", "report", "demo", "commands"},
    "cli": {"errors", "commands"},
}
HOME = {  # heavy libraries and the only folders that may use them
    "torch": ("train", "networks"),
    "rsl_rl": ("train",),
    "tensordict": ("train",),
    "onnx": ("train",),
    "bayes_opt": ("identify",),
    "plotly": ("report",),
    "onnxruntime": ("deploy", "export"),
    "mujoco": ("simulate", "robot", "export", "train"),
    "llvmlite": ("simulate",),
    "mujoco_warp": ("simulate",),
    "warp": ("simulate",),
    "matplotlib": (),
    "numba": (),
}
HEAVY = ("mujoco", "llvmlite", "scipy", "numpy", "cmaes", "bayes_opt", "rich", "tyro", "torch", "plotly", "matplotlib")


def name_of(path):
    return str(path.relative_to(ROOT))


def part_of(path):
    """The folder of a file, or its own name at the top."""
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def type_only(node):
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)


def imports(path, *, everywhere):
    """Modules that a file imports when it runs: at its top, or anywhere in it."""
    found, open_nodes = [], [ast.parse(path.read_text(encoding="utf-8"))]
    while open_nodes:
        node = open_nodes.pop()
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name_of(path)}: relative import"
            found += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        elif type_only(node):
            open_nodes += node.orelse
        elif everywhere or not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            open_nodes += ast.iter_child_nodes(node)
    return found


def parts_imported(path):
    modules = [module.split(".") for module in imports(path, everywhere=True)]
    return {module[1] for module in modules if module[0] == "surefoot" and len(module) > 1}


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_data_flows_one_way(path):
    """robot <- record <- simulate <- identify <- the command line, and nothing imports that."""
    part = part_of(path)
    assert part in MAY, f"{part} has no place in the order yet; decide where it belongs"
    folders = {p.name for p in ROOT.iterdir() if p.is_dir()} | {p.stem for p in ROOT.glob("*.py")}
    assert parts_imported(path) & folders <= MAY[part]


def test_the_walk_sees_imports_wherever_they_stand(tmp_path):
    path = tmp_path / "sample.py"
    path.write_text(
        "import a.b\nfrom typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import hidden\nelse:\n    import shown\n"
        "def f():\n    from c import d\nclass K:\n    import e\n"
    )
    assert sorted(imports(path, everywhere=True)) == ["a.b", "c", "c.d", "e", "shown", "typing", "typing.TYPE_CHECKING"]
    assert "c" not in imports(path, everywhere=False)


def test_nothing_imports_a_guest_and_a_guest_imports_nothing_of_ours():
    names = {path.stem for path in GUESTS}
    for path in FILES:
        assert not names & {module.split(".")[-1] for module in imports(path, everywhere=True)}
    for path in GUESTS:
        assert not [module for module in imports(path, everywhere=True) if module.split(".")[0] == "surefoot"]


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_heavy_libraries_stay_at_home(path):
    roots = {module.split(".")[0] for module in imports(path, everywhere=True)}
    assert [name for name in roots & set(HOME) if part_of(path) not in HOME[name]] == []


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_engines_are_imported_inside_functions_only(path):
    roots = {module.split(".")[0] for module in imports(path, everywhere=False)}
    assert not roots & {"mujoco", "llvmlite"}


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_only_the_command_line_prints(path):
    calls = [node.func.id for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
             if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)]  # fmt: skip
    assert "print" not in calls or part_of(path) in ("cli", "commands")


def is_public(name):
    return not name.startswith("_")


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_everything_public_says_what_it_is(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert ast.get_docstring(tree), f"{name_of(path)} does not say what it is for"
    kinds = (ast.FunctionDef, ast.ClassDef)
    owners = [tree, *(node for node in tree.body if isinstance(node, ast.ClassDef) and is_public(node.name))]
    silent = [
        node.name
        for owner in owners
        for node in owner.body
        if isinstance(node, kinds) and is_public(node.name) and not ast.get_docstring(node)
    ]
    assert not silent


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_files_are_short_enough_to_read(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 400


def fresh(code):
    """What a new Python prints."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_importing_surefoot_loads_nothing_heavy():
    code = f"""
import sys
import surefoot
print(*[name for name in {HEAVY} if name in sys.modules])
"""
    loaded = fresh(code)
    assert loaded == []


def test_reading_and_recording_need_no_engine():
    code = """
import sys, surefoot
surefoot.Recording, surefoot.JointDynamics, surefoot.Robot, surefoot.SurefootError, surefoot.drive_torque, surefoot.chirp
print(*[name for name in ("mujoco", "llvmlite", "cmaes", "rich", "tyro") if name in sys.modules])
"""
    assert fresh(code) == []


def test_every_name_of_the_package_is_there_and_no_other():
    assert sorted({*surefoot._HOME, "identify", "__version__"}) == sorted(surefoot.__all__)
    for name in surefoot.__all__:
        assert getattr(surefoot, name) is not None
    with pytest.raises(AttributeError, match="magic"):
        surefoot.magic  # noqa: B018


def test_the_package_can_be_called_by_its_verb():
    assert callable(surefoot.identify)
    assert surefoot.identify.Fit is surefoot.Fit
