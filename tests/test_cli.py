"""The command line: what each command prints, and that no mistake of the user's ends in a traceback."""

import functools
import json
import subprocess
import sys
import warnings

import numpy as np
import pytest

from surefoot.cli import main
from surefoot.commands.words import MANY, gather
from surefoot.identify import identify as the_verb
from surefoot.record import Recording
from surefoot.record.excitation import chirp, steps
from surefoot.robot import JointDynamics, Robot
from surefoot.simulate.rehearsal import rehearse

LEG = """<mujoco model="leg"><worldbody><body name="thigh"><joint name="LF_HIP" axis="1 0 0" range="-120 120"/>
    <inertial pos="0 0.01 -0.1" mass="0.8" diaginertia="0.004 0.004 0.001"/>
    <body name="shank" pos="0 0 -0.2"><joint name="LF_KNEE" axis="0.2 0.98 0" range="-120 120"/>
      <inertial pos="0.02 0.01 -0.1" mass="0.4" diaginertia="0.002 0.002 0.0005"/></body></body></worldbody></mujoco>"""
TOML = """[robot]
name = "leg"
model = "leg.xml"
[[joint]]
stiffness = 20.0
damping = 0.3
"""


@functools.cache
def recordings():
    """A chirp, other gains and steps of a leg whose dynamics are known."""
    import tempfile
    from pathlib import Path

    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "leg.xml").write_text(LEG)
        (Path(folder) / "leg.toml").write_text(TOML)
        robot = Robot.load(Path(folder) / "leg.toml")
    truth = JointDynamics(
        joints=robot.joints, armature=[0.012, 0.008], damping=[0.2, 0.15], friction=[0.1, 0.08], bias=[0.02, -0.01], delay=[0.006]
    )
    motion = chirp(robot, duration=8.0, stop_hz=8.0, amplitude=0.3)
    world = {"noise": 2e-4, "resolution": 1e-4}
    return {
        "chirp": rehearse(robot, truth, motion, name="chirp", **world),
        "gains": rehearse(robot, truth, motion, stiffness=35.0, damping=0.8, name="gains", seed=1, **world),
        "steps": rehearse(robot, truth, steps(robot, duration=4.0), name="steps", seed=2, **world),
    }


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A user's folder: a robot and three recordings."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "leg.xml").write_text(LEG)
    (tmp_path / "leg.toml").write_text(TOML)
    for rec in recordings().values():
        rec.save(tmp_path / f"{rec.name}.npz")
    return tmp_path


def run(capsys, *words):
    """(exit code, output, errors) of one command."""
    try:
        code = main(list(map(str, words)))
    except SystemExit as stopped:
        code = int(stopped.code or 0)
    out, err = capsys.readouterr()
    return code, out, err


def shell(here, *words):
    """The same, as the shell starts it."""
    done = subprocess.run(
        [sys.executable, "-m", "surefoot.cli", *map(str, words)],
        cwd=here,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


# --- what works --------------------------------------------------------------------------------------------------------------
def test_robots_lists_what_is_bundled(capsys):
    code, out, err = run(capsys, "robots")
    assert code == 0
    for name in ("anymal", "tytan", "minimal", "single_drive", "URDF"):
        assert name in out
    assert err == ""


def test_check_says_that_all_is_well_and_what_comes_next(here, capsys):
    code, out, _ = run(capsys, "check", "leg.toml", "chirp.npz", "gains.npz")
    assert code == 0
    assert "STOP" not in out
    assert "next: surefoot identify leg.toml chirp.npz gains.npz" in out


def test_identify_prints_every_parameter_and_writes_the_fit(here, capsys):
    code, out, err = run(capsys, "identify", "leg.toml", "chirp.npz", "--held-out", "gains.npz", "steps.npz", "--out", "fit")
    assert code == 0, err
    for word in (
        "LF_HIP",
        "LF_KNEE",
        "armature",
        "damping",
        "friction",
        "bias",
        "delay",
        "±",
        "gains",
        "steps",
        "fit/fit.json",
        "validate",
    ):
        assert word in out
    data = json.loads((here / "fit" / "fit.json").read_text())
    assert data["robot"] == "leg"
    assert [r["name"] for r in data["held_out"]] == ["gains", "steps"]
    np.testing.assert_allclose(data["parameters"]["armature"]["value"], [0.012, 0.008], rtol=0.03)
    assert (here / "fit" / "trajectories.npz").is_file()


def test_validate_replays_the_fit_on_other_recordings(here, capsys):
    run(capsys, "identify", "leg.toml", "chirp.npz", "--out", "fit")
    code, out, err = run(capsys, "validate", "fit", "gains.npz", "steps.npz", "--robot", "leg.toml")
    assert code == 0, err
    assert "gains" in out
    assert "steps" in out
    assert "no model" in out


def test_compare_ranks_models_and_says_which_is_enough(here, capsys):
    code, out, err = run(capsys, "compare", "leg.toml", "chirp.npz", "--held-out", "gains.npz", "--only", "paper", "torque-delay")
    assert code == 0, err
    assert out.index("paper") < out.index("torque-delay")
    assert "paper's model is enough" in " ".join(out.split())


def test_options_of_the_world_reach_the_fit(here, capsys):
    words = ["--extra", "load", "--fix", "bias=0", "friction:*_KNEE=0.08", "--tie", "damping:*", "--bound", "delay=0,0.02",
             "--timestep", "0.005",
             "--bias-form", "setpoint", "--method", "least-squares", "--seed", "4", "--max-iterations", "5"]  # fmt: skip
    code, _, err = run(capsys, "identify", "leg.toml", "chirp.npz", "--out", "fit", *words)
    assert code == 0, err
    data = json.loads((here / "fit" / "fit.json").read_text())
    p = data["parameters"]
    assert data["timestep"] == 0.005
    assert data["bias_form"] == "setpoint"
    assert (data["method"], data["seed"]) == ("least-squares", 4)
    assert p["bias"] == {"unit": "rad", "value": [0.0, 0.0], "low": [0.0, 0.0], "high": [0.0, 0.0], "flag": ["fixed", "fixed"]}
    assert p["friction"]["value"][1] == 0.08
    assert p["damping"]["value"][0] == p["damping"]["value"][1]
    assert "load" in p
    assert p["delay"]["value"][0] <= 0.02


def test_a_cmaes_search_is_resumed_from_its_folder(here, capsys):
    words = ["identify", "leg.toml", "steps.npz", "--method", "cmaes", "--population", "16", "--force"]
    assert run(capsys, *words, "--generations", "6", "--out", "whole")[0] == 0
    assert run(capsys, *words, "--generations", "3", "--out", "part")[0] == 0
    assert run(capsys, *words, "--generations", "6", "--out", "part", "--resume")[0] == 0
    whole, part = (json.loads((here / name / "fit.json").read_text())["parameters"] for name in ("whole", "part"))
    assert whole == part
    code, _, err = run(capsys, *words, "--generations", "6", "--out", "part", "--resume", "--seed", "5")
    assert code == 1
    assert "belongs to another search" in err


def test_a_csv_is_read_and_the_guessed_columns_are_shown(here, capsys):
    rec = recordings()["chirp"]
    head = "time,target_LF_HIP,target_LF_KNEE,position_LF_HIP,position_LF_KNEE"
    np.savetxt(here / "log.csv", np.column_stack([rec.time, rec.target, rec.position]), delimiter=",", header=head, comments="")
    code, _, err = run(capsys, "identify", "leg.toml", "log.csv", "--out", "fit")
    assert code == 0, err
    assert "columns taken as" in err


def test_joints_may_be_selected_and_prescribed(here, capsys):
    code, _, err = run(capsys, "identify", "leg.toml", "chirp.npz", "--prescribe", "*_HIP", "--out", "fit")
    assert code == 0, err
    flags = json.loads((here / "fit" / "fit.json").read_text())["parameters"]["friction"]["flag"]
    assert flags == ["fixed", "ok"]
    code, _, err = run(capsys, "validate", "fit", "gains.npz", "--robot", "leg.toml")
    assert code == 0, err


def test_help_explains_every_command(capsys):
    code, out, _ = run(capsys, "--help")
    assert code == 0
    for name in ("robots", "check", "identify", "validate", "compare", "demo"):
        assert name in out
    assert run(capsys, "identify", "--help")[0] == 0


def test_from_the_shell_it_is_the_same(here):
    code, out, err = shell(here, "identify", "leg.toml", "chirp.npz", "--out", "fit")
    assert code == 0, err
    assert "armature" in out
    code, out, err = shell(here, "validate", "fit", "nowhere.npz", "--robot", "leg.toml")
    assert code == 1
    assert out == ""
    assert err == "error: there is no file nowhere.npz.\n"


# --- what does not -----------------------------------------------------------------------------------------------------------
def arrays(**changes):
    """The chirp as a plain dictionary, as a careless logger would write it."""
    rec = recordings()["chirp"]
    return {"joints": np.array(rec.joints), "time": rec.time, "target": rec.target, "position": rec.position,
            "stiffness": rec.stiffness, "damping": rec.damping} | changes  # fmt: skip


def spoiled(name, at=None, value=None):
    data = arrays()
    data[name] = np.array(data[name])
    data[name][at] = value
    return data


def without(*names):
    return {key: value for key, value in arrays().items() if key not in names}


def one(key):
    data = arrays()
    return data | {name: data[name][:key] for name in ("time", "target", "position")}


BAD = {
    "nan in a position": (lambda: spoiled("position", (100, 1), np.nan), ["LF_KNEE", "100", "nan"]),
    "infinite target": (lambda: spoiled("target", (5, 0), np.inf), ["LF_HIP", "inf"]),
    "nan in the time": (lambda: spoiled("time", 7, np.nan), ["time", "7"]),
    "time runs backwards": (lambda: arrays(time=arrays()["time"][::-1]), ["time must increase"]),
    "repeated stamps": (lambda: spoiled("time", 4, arrays()["time"][3]), ["time must increase", "samples 3 and 4"]),
    "no position": (lambda: without("position"), ["position"]),
    "no target": (lambda: without("target"), ["target"]),
    "no time": (lambda: without("time"), ["time"]),
    "one joint too few": (lambda: arrays(position=arrays()["position"][:, :1]), ["position", "(3200, 1)"]),
    "gains of zero": (lambda: arrays(stiffness=np.zeros(2), damping=np.zeros(2)), ["stiffness", "zero"]),
    "negative gain": (lambda: arrays(stiffness=np.array([20.0, -1.0])), ["stiffness", "LF_KNEE", "-1"]),
    "gain that is no number": (lambda: arrays(damping=np.array([np.nan, 1.0])), ["damping", "LF_HIP", "nan"]),
    "text for numbers": (lambda: arrays(position=np.full((3200, 2), "x")), ["position", "numbers"]),
    "one sample": (lambda: one(1), ["1 sample", "at least 16"]),
    "no sample": (lambda: one(0), ["0 samples"]),
    "the same joint twice": (lambda: arrays(joints=np.array(["LF_HIP", "LF_HIP"])), ["LF_HIP", "more than once"]),
}


def assert_refused(result, words, here=None, code=1):
    """A sentence on stderr, an exit code, no traceback, and nothing written."""
    got, out, err = result
    assert got == code, (out, err)
    assert "Traceback" not in out + err
    assert len(err.strip().splitlines()) <= 3
    for word in words:
        assert word in err, err
    assert here is None or not (here / "out").exists()


@pytest.mark.parametrize("case", BAD)
def test_a_bad_recording_is_refused_in_a_sentence(here, capsys, case):
    make, words = BAD[case]
    np.savez(here / "bad.npz", **make())
    assert_refused(run(capsys, "identify", "leg.toml", "bad.npz", "--out", "out"), ["error: ", *words], here)
    assert_refused(
        run(capsys, "identify", "leg.toml", "chirp.npz", "--held-out", "bad.npz", "--out", "out"), ["error: ", *words], here
    )


STOPPED = {
    "degrees": (lambda rec: rec.replace(position=np.rad2deg(rec.position)), "degree"),
    "degrees all over": (lambda rec: rec.replace(position=np.rad2deg(rec.position), target=np.rad2deg(rec.target)), "degree"),
    "swapped joints": (lambda rec: rec.replace(position=rec.position[:, ::-1]), "joint"),
    "joints of another robot": (lambda rec: rec.rename({"LF_HIP": "shoulder"}), "shoulder"),
    "target copied from the measurement": (lambda rec: rec.replace(target=rec.position), "command"),
}


@pytest.mark.parametrize("case", STOPPED)
def test_a_recording_that_would_mislead_is_stopped_before_the_fit(here, capsys, case):
    make, word = STOPPED[case]
    make(recordings()["steps"]).save(here / "bad.npz")
    code, out, err = run(capsys, "check", "leg.toml", "bad.npz")
    assert code == 1
    assert "STOP" in out
    assert word in out
    assert "Traceback" not in out + err
    assert_refused(run(capsys, "identify", "leg.toml", "bad.npz", "--out", "out"), ["--force"], here)


def test_what_was_stopped_can_be_forced(here, capsys):
    rec = recordings()["steps"]
    rec.replace(position=rec.position[:, ::-1]).save(here / "bad.npz")
    code, _, err = run(capsys, "identify", "leg.toml", "bad.npz", "--out", "out", "--force", "--max-iterations", "3")
    assert code == 0, err
    assert (here / "out" / "fit.json").is_file()


FILES = {
    "empty.npz": b"",
    "text.npz": b"time,target,position\n",
    "half.npz": None,
    "empty.csv": b"",
    "head.csv": b"time,target_LF_HIP,position_LF_HIP\n",
    "ragged.csv": b"time,target_LF_HIP,position_LF_HIP\n0,1,2\n1,2\n",
    "words.csv": b"time,target_LF_HIP,position_LF_HIP\n0,one,2\n",
    "strange.csv": b"a,b,c\n1,2,3\n4,5,6\n",
    "text.pt": b"not a tensor",
    "empty.pt": b"",
    "log.mat": b"MATLAB 5.0",
    "log": b"1 2 3",
}


@pytest.mark.parametrize("name", FILES)
def test_a_damaged_or_foreign_file_is_refused_in_a_sentence(here, capsys, name):
    data = FILES[name]
    (here / name).write_bytes((here / "chirp.npz").read_bytes()[:3000] if data is None else data)
    assert_refused(run(capsys, "identify", "leg.toml", name, "--out", "out"), ["error: ", name.split(".")[0]], here)


OPTIONS = {
    "unknown robot": (["identify", "spot", "chirp.npz", "--out", "out"], ["spot", "anymal", "tytan"]),
    "a robot that is a recording": (["identify", "chirp.npz", "chirp.npz", "--out", "out"], ["chirp.npz"]),
    "no such file": (["identify", "leg.toml", "nowhere.npz", "--out", "out"], ["no file nowhere.npz"]),
    "a folder": (["identify", "leg.toml", ".", "--out", "out"], ["not a file"]),
    "fix without a value": (["--fix", "friction"], ["--fix friction", "KEY=NUMBER"]),
    "fix a word": (["--fix", "friction=much"], ["--fix friction=much"]),
    "fix two numbers": (["--fix", "delay=0,1"], ["--fix delay=0,1", "KEY=NUMBER"]),
    "fix the unknown": (["--fix", "stiction=1"], ["stiction", "armature", "friction"]),
    "fix what is off": (["--fix", "load=1"], ["load", "--extra"]),
    "fix another robot's joint": (["--fix", "friction:arm_*=1"], ["arm_*", "LF_HIP"]),
    "fix nan": (["--fix", "friction=nan"], ["friction", "nan"]),
    "fix a negative friction": (["--fix", "friction=-1"], ["friction", "-1"]),
    "fix everything": (["--fix", "armature=0", "damping=0", "friction=0", "bias=0", "delay=0"], ["every parameter is fixed"]),
    "bound with one end": (["--bound", "delay=0.1"], ["--bound delay=0.1", "LOW,HIGH"]),
    "bound upside down": (["--bound", "delay=0.1,0.0"], ["delay", "lower < upper"]),
    "endless bound": (["--bound", "friction=0,inf"], ["friction", "finite"]),
    "tie nothing": (["--tie", "arm_*"], ["arm_*", "LF_HIP"]),
    "tie the unknown": (["--tie", "stiction:*"], ["stiction", "friction"]),
    "no twins": (["--tie", "left-right"], ["twin"]),
    "timestep zero": (["--timestep", "0"], ["timestep"]),
    "timestep of a second": (["--timestep", "1"], ["timestep"]),
    "stribeck speed zero": (["--extra", "breakaway", "--stribeck-speed", "0"], ["stribeck_speed"]),
    "torque that was not measured": (["--torque-weight", "1"], ["measured torque"]),
    "gains of zero": (["--stiffness", "0", "--damping", "0"], ["stiffness", "zero"]),
    "gain in words": (["--stiffness", "stiff"], ["--stiffness"]),
    "three gains for two joints": (["--stiffness", "1", "2", "3"], ["stiffness", "3", "LF_HIP"]),
    "gain of another joint": (["--stiffness", "arm_*=3"], ["arm_*", "LF_HIP"]),
    "select nothing": (["--select", "arm_*"], ["--select arm_*", "LF_HIP"]),
    "prescribe everything": (["--prescribe", "*"], ["--force"]),
    "no column map": (["--columns", "nowhere.toml"], ["nowhere.toml"]),
    "no generation": (["--method", "cmaes", "--generations", "0"], ["generations", "at least 1"]),
    "no iteration": (["--max-iterations", "0"], ["max_iterations", "at least 1"]),
    "population of one": (["--method", "cmaes", "--population", "1", "--generations", "2"], ["population"]),
}


@pytest.mark.parametrize("case", OPTIONS)
def test_a_wrong_option_is_refused_in_a_sentence(here, capsys, case):
    words, said = OPTIONS[case]
    words = words if words[0] == "identify" else ["identify", "leg.toml", "chirp.npz", "--out", "out", *words]
    assert_refused(run(capsys, *words), ["error: ", *said], here)


USAGE = [
    ["fly"],
    ["identify"],
    ["identify", "leg.toml", "chirp.npz"],
    ["identify", "leg.toml", "chirp.npz", "--out", "out", "--method", "magic"],
    ["identify", "leg.toml", "chirp.npz", "--out", "out", "--extra", "magic"],
    ["identify", "leg.toml", "chirp.npz", "--out", "out", "--delay-on", "both"],
    ["identify", "leg.toml", "chirp.npz", "--out", "out", "--seed", "x"],
    ["identify", "leg.toml", "chirp.npz", "--out", "out", "--warp"],
    ["compare", "leg.toml", "chirp.npz"],
    ["validate"],
]


@pytest.mark.parametrize("words", USAGE, ids=" ".join)
def test_wrong_usage_ends_with_the_usage_and_not_with_a_traceback(here, capsys, words):
    code, out, err = run(capsys, *words)
    assert code != 0
    assert "Traceback" not in out + err
    assert (out + err).strip()
    assert not (here / "out").exists()


ELSEWHERE = {
    "check without a recording": (["check", "leg.toml"], ["recording"]),
    "identify without a recording": (["identify", "leg.toml", "--out", "out"], ["recording"]),
    "validate nothing": (["validate", "nowhere", "chirp.npz"], ["no fit in nowhere"]),
    "validate without a recording": (["validate", "fit", "--robot", "leg.toml"], ["recording"]),
    "compare an unknown model": (
        ["compare", "leg.toml", "chirp.npz", "--held-out", "gains.npz", "--only", "magic"],
        ["magic", "paper"],
    ),
    "demo of a robot without dynamics": (["demo", "--robot", "leg.toml", "--out", "out"], ["leg.toml", "anymal"]),
    "demo of no robot": (["demo", "--robot", "spot", "--out", "out"], ["spot", "anymal"]),
}


@pytest.mark.parametrize("case", ELSEWHERE)
def test_other_commands_refuse_in_a_sentence_too(here, capsys, case):
    words, said = ELSEWHERE[case]
    if words[1] == "fit":
        the_verb(Robot.load(here / "leg.toml"), [recordings()["chirp"]]).save(here / "fit")
    assert_refused(run(capsys, *words), ["error: ", *said], here)


def test_a_fit_of_another_robot_is_not_validated(here, capsys):
    the_verb(Robot.load(here / "leg.toml"), [recordings()["chirp"]]).save(here / "fit")
    assert_refused(run(capsys, "validate", "fit", "chirp.npz", "--robot", "anymal"), ["error: ", "LF_HIP"])


def test_a_damaged_fit_is_not_validated(here, capsys):
    the_verb(Robot.load(here / "leg.toml"), [recordings()["chirp"]]).save(here / "fit")
    (here / "fit" / "fit.json").write_text("{")
    assert_refused(run(capsys, "validate", "fit", "chirp.npz", "--robot", "leg.toml"), ["error: ", "not a fit"])


def test_an_out_that_cannot_be_written_is_said(here, capsys):
    (here / "taken").write_text("a file")
    assert_refused(run(capsys, "identify", "leg.toml", "chirp.npz", "--out", "taken"), ["error: ", "taken", "--out"])


def test_ctrl_c_before_anything_was_found_is_no_traceback(here, capsys, monkeypatch):
    def interrupted(*args, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("surefoot.identify.identify", interrupted)
    code, out, err = run(capsys, "identify", "leg.toml", "chirp.npz", "--out", "out")
    assert code == 130
    assert "interrupted" in err
    assert "Traceback" not in out + err
    assert not (here / "out").exists()


MISTAKES = [
    ["identify", "leg.toml", "bad.npz", "--out", "out"],
    ["identify", "spot", "chirp.npz", "--out", "out"],
    ["identify", "--nonsense"],
]


@pytest.mark.parametrize("words", MISTAKES, ids=" ".join)
def test_from_the_shell_a_mistake_is_a_sentence_too(here, words):
    np.savez(here / "bad.npz", **spoiled("position", (100, 1), np.nan))
    code, out, err = shell(here, *words)
    assert code in (1, 2)
    assert "Traceback" not in out + err
    assert err.strip()
    assert not (here / "out").exists()


def test_no_command_warns(here, capsys):
    """What NumPy or a library would mutter is nothing for the user."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert run(capsys, "check", "leg.toml", "steps.npz")[0] in (0, 1)
        assert run(capsys, "identify", "leg.toml", "steps.npz", "--out", "out", "--force")[0] == 0


def test_a_recording_loaded_by_hand_is_the_one_that_was_saved(here):
    assert Recording.load(here / "chirp.npz").hash == recordings()["chirp"].hash


# --- options, files and folders ----------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "words",
    [["--fix", "bias=0", "friction=0.1"], ["--fix", "bias=0", "--fix", "friction=0.1"], ["--fix=bias=0", "--fix=friction=0.1"]],
)
def test_a_repeated_option_counts_as_often_as_it_is_said(words):
    assert gather(["identify", "r", *words, "--seed", "1"])[2:] == ["--fix", "bias=0", "friction=0.1", "--seed", "1"]


@pytest.mark.parametrize("option", MANY)
def test_every_option_of_many_values_may_be_repeated(option):
    assert gather([f"--{option}", "a", "--seed", "1", f"--{option}", "b"]) == [f"--{option}", "a", "b", "--seed", "1"]


REFUSED = {
    "two seeds": (["--seed", "1", "--seed", "2"], ["--seed", "twice"]),
    "one parameter fixed twice": (["--fix", "bias=0", "--fix", "bias=1"], ["--fix", "bias", "twice"]),
    "negative seed": (["--seed", "-1"], ["--seed is -1"]),
    "negative torque weight": (["--torque-weight", "-1"], ["--torque-weight", ">= 0"]),
    "torque weight nan": (["--torque-weight", "nan"], ["--torque-weight", "finite"]),
    "gain in words": (["--stiffness", "abc"], ["--stiffness abc", "'*_KFE=85'"]),
    "resume another method": (["--resume"], ["--resume", "cmaes"]),
    "time scale zero": (["--time-scale", "0"], ["--time-scale"]),
    "end before start": (["--start", "3", "--end", "2"], ["--start 3", "--end 2"]),
    "rename nothing": (["--rename", "a"], ["--rename a", "OLD=NEW"]),
    "rename the unknown": (["--rename", "a=b"], ["'a'", "LF_HIP"]),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_contradiction_is_refused(here, capsys, case):
    words, said = REFUSED[case]
    result = run(capsys, "identify", "leg.toml", "chirp.npz", "--out", "out", *words)
    assert_refused(result, ["error: ", *said], here)
    assert "x=" not in result[2]


@pytest.mark.parametrize(
    "words", [["identify", "leg.toml", "chirp.npz", "--method", "cmaes"], ["identify", "leg.toml", "chirp.npz"], ["demo"]]
)
def test_an_out_that_is_a_file_is_refused_before_any_work(here, capsys, monkeypatch, words):
    def worked(*args, **options):
        raise AssertionError("the work began")

    (here / "taken").write_text("a file")
    monkeypatch.setattr("surefoot.identify.identify", worked)
    assert_refused(run(capsys, *words, "--out", "taken"), ["error: ", "taken", "--out"])


def test_a_robot_file_that_is_no_text_is_refused(here, capsys):
    (here / "bad.toml").write_bytes(b'[robot]\nname = "\xff"\n')
    assert_refused(run(capsys, "check", "bad.toml", "chirp.npz"), ["error: ", "bad.toml", "UTF-8"])


def test_stamps_that_say_their_unit_are_not_scaled_twice(here, capsys):
    """A column called timestamp_ms is seconds when it has been read."""
    time = np.arange(400) * 2
    rows = np.column_stack([time, *(0.1 * np.sin(0.01 * time) for _ in range(4))])
    names = "timestamp_ms,target_LF_HAA,target_LF_HFE,position_LF_HAA,position_LF_HFE"
    np.savetxt("log.csv", rows, delimiter=",", header=names, comments="")
    assert main(["check", "anymal", "log.csv", "--time-scale", "0.001"]) == 1
    assert "leave out --time-scale" in capsys.readouterr().err


def test_degrees_milliseconds_and_other_names_are_read_and_said_again(here, capsys):
    rec = recordings()["chirp"]
    odd = rec.replace(time=1e3 * rec.time, target=np.rad2deg(rec.target), position=np.rad2deg(rec.position), velocity=None)
    odd.rename({"LF_HIP": "a"}).save(here / "odd.npz")
    options = ["--rename", "a=LF_HIP", "--degrees", "--time-scale", "0.001", "--end", "6.0"]
    code, out, err = run(capsys, "check", "leg.toml", "odd.npz", *options)
    assert code == 0, (out, err)
    assert f"next: surefoot identify leg.toml odd.npz --out fit/ {' '.join(options)}" in out


def test_an_error_of_the_system_is_a_sentence(here, capsys, monkeypatch):
    def full(*args, **options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("surefoot.identify.identify", full)
    assert_refused(run(capsys, "identify", "leg.toml", "chirp.npz", "--out", "out"), ["error: ", "No space left"])
