"""surefoot run, analyze and csource, as they are typed."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from surefoot.cli import main
from surefoot.record.run import Run
from surefoot.robot import Robot

sys.path.insert(0, str(Path(__file__).parent / "deploy"))
from policies import standing


@pytest.fixture(scope="module")
def policy(tmp_path_factory):
    """A policy that stands, as the folder of a training."""
    folder = tmp_path_factory.mktemp("training")
    standing(folder / "policy.onnx")
    return str(folder)


def run(policy, out, *more):
    return main(["run", policy, "--hardware", "virtual:3", "--seconds", "0.3", "--out", str(out), "--no-video", *more])


def test_run_then_analyze(policy, tmp_path, capsys):
    out = tmp_path / "run.npz"
    assert run(policy, out, "--command", "-0.5 0 0") == 0
    said = capsys.readouterr().out
    assert "a step of the controller with the network took" in said
    assert f"next: surefoot analyze {out}" in said.replace("\n", "")
    taken = Run.load(out)
    assert taken.notes["hardware"] == "virtual:3"
    assert taken["command"].min() == -0.5
    assert main(["analyze", str(out), "--json", str(tmp_path / "run.json")]) == 0
    figures = json.loads((tmp_path / "run.json").read_text())
    assert {"velocity", "fell", "cot", "coe", "cod", "col"} <= figures.keys()
    assert figures["fell"] is False
    assert "there is no cost of transport" in capsys.readouterr().err


def test_a_fault_leaves_a_run_and_an_exit_code(policy, tmp_path, capsys):
    out = tmp_path / "run.npz"
    assert run(policy, out, "--command", "0 0 0", "--fault", "nan@1") == 1
    error = capsys.readouterr().err
    assert "the IMU gives nan" in error
    assert "The joints were damped." in error
    assert str(out) in error
    assert "the IMU gives nan" in Run.load(out).stop
    assert main(["analyze", str(out)]) == 0
    assert "the run ended before its time" in capsys.readouterr().err


def test_a_command_beyond_the_training_is_cut_and_said(policy, tmp_path, capsys):
    assert run(policy, tmp_path / "run.npz", "--command", "2 0 0") == 0
    assert "cut to the range that the policy was trained with" in capsys.readouterr().err
    assert Run.load(tmp_path / "run.npz")["command"].max() == 1.0


@pytest.mark.parametrize(
    ("more", "said"),
    [((), "give one of --command"), (("--command", "1 0 0", "--keyboard"), "give one of --command"),
     (("--command", "1 0"), "expected three numbers"), (("--command", "fast"), "expected three numbers"),
     (("--script", "none.csv"), "cannot read the script"), (("--command", "1 0 0", "--fault", "fire@1"), "unknown fault"),
     (("--command", "1 0 0", "--fault", "stuck:KNEE@1"), "unknown joint"),
     (("--command", "1 0 0", "--robot", "tytan"), "stiffness")],
)  # fmt: skip
def test_what_cannot_be_meant_is_refused_before_anything_moves(policy, tmp_path, capsys, more, said):
    assert run(policy, tmp_path / "run.npz", *more) == 1
    assert said in capsys.readouterr().err
    assert not (tmp_path / "run.npz").exists()


def test_without_a_bundled_policy_the_way_to_one_is_said(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("surefoot.deploy.bundled.bundled_policies", lambda: ())
    assert run("anymal", tmp_path / "run.npz", "--command", "1 0 0") == 1
    assert "Train one with surefoot train anymal" in capsys.readouterr().err
    assert run("nowhere/policy.onnx", tmp_path / "run.npz", "--command", "1 0 0") == 1
    assert "neither a bundled robot" in capsys.readouterr().err


def test_other_names_than_npz_and_other_times_are_refused(policy, tmp_path, capsys):
    assert run(policy, tmp_path / "run.csv", "--command", "1 0 0") == 1
    assert "must end in .npz" in capsys.readouterr().err
    line = ["run", policy, "--hardware", "virtual:3", "--out", str(tmp_path / "r.npz"), "--command", "1 0 0"]
    assert main([*line, "--seconds", "-1"]) == 1
    assert "--seconds is -1" in capsys.readouterr().err


def test_analyze_says_what_it_cannot_read(tmp_path, capsys):
    assert main(["analyze", str(tmp_path / "none.npz")]) == 1
    assert "surefoot run ROBOT" in capsys.readouterr().err


def test_csource_writes_one_file(policy, tmp_path, capsys):
    assert main(["csource", policy, "--out", str(tmp_path / "policy.c")]) == 0
    text = (tmp_path / "policy.c").read_text()
    assert "surefoot_act" in text
    assert Robot.load("anymal").joints[0] in text
    assert main(["csource", policy, "--out", str(tmp_path / "policy.txt")]) == 1
    assert "ends in .c or .h" in capsys.readouterr().err


def test_running_needs_no_torch(policy, tmp_path):
    """The whole of run and analyze without torch, rsl_rl or onnx: only the extra `deploy`."""
    line = ["run", policy, "--hardware", "virtual:3", "--seconds", "0.1", "--out", str(tmp_path / "r.npz"), "--no-video",
            "--command", "0 0 0"]  # fmt: skip
    code = f"""
import sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("torch", "rsl_rl", "onnx", "tensordict"):
            raise ImportError(name)
sys.meta_path.insert(0, Missing())
from surefoot.cli import main
assert main({line!r}) == 0
assert main(["analyze", {str(tmp_path / "r.npz")!r}]) == 0
assert main(["csource", {policy!r}, "--out", {str(tmp_path / "p.c")!r}]) == 0
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
