"""The fit folder: what it holds, that it comes back as it was, and that a damaged one is said in a sentence."""

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from machines import legs, recorded

from surefoot.errors import SurefootError
from surefoot.identify.finding import Finding
from surefoot.identify.fit import Fit, Score
from surefoot.identify.identify import identify
from surefoot.identify.unknowns import Unknowns
from surefoot.robot.dynamics import PARAMETERS, JointDynamics
from surefoot.simulate.physics import Physics


@pytest.fixture(scope="module")
def fit():
    """Two legs with noise, one held-out recording, an optional parameter, and a user's choices."""
    robot, truth, _ = legs()
    fitted = recorded(robot, truth, seconds=2.0, noise=1e-3, name="chirp")
    other = recorded(robot, truth, seconds=2.0, stiffness=30.0, damping=1.0, noise=1e-3, seed=1, name="other gains")
    chosen = Unknowns(extra=("cutoff",), fixed={"bias:LF_HIP": 0.0}, tied=("armature:*_KNEE",), bounds={"delay": (0.0, 0.03)})
    return identify(robot, [fitted], held_out=[other], unknowns=chosen, physics=Physics(bias_form="setpoint"), seed=5)


@pytest.fixture
def folder(fit, tmp_path):
    return fit.save(tmp_path / "a" / "fit")


def text(folder):
    return json.loads((folder / "fit.json").read_text(encoding="utf-8"))


def test_a_saved_fit_comes_back_equal_with_its_trajectories(fit, folder):
    back = Fit.load(folder)
    assert back == fit
    assert back.dynamics == fit.dynamics
    assert (back.low, back.high) == (fit.low, fit.high)
    assert back.flags == {name: fit.flags[name] for name in fit.parameters}
    assert back.physics == fit.physics
    for mine, theirs in zip((*back.recordings, *back.held_out), (*fit.recordings, *fit.held_out), strict=True):
        for key in ("time", "measured", "simulated", "no_model", "saturated", "rmse", "rmse_no_model"):
            np.testing.assert_array_equal(getattr(mine, key), getattr(theirs, key))


def test_a_fit_is_read_from_its_folder_or_its_file(fit, folder):
    assert Fit.load(folder / "fit.json") == fit == Fit.load(str(folder))


def test_another_value_makes_another_fit(fit):
    assert replace(fit, seed=6) != fit
    assert replace(fit, dynamics=fit.dynamics.replace(delay=[0.001])) != fit
    assert fit != "a fit"


def test_fit_json_says_what_was_done_and_under_which_physics(fit, folder):
    data = text(folder)
    assert {k: data[k] for k in ("robot", "joints", "timestep", "delay_on", "bias_form", "method", "seed")} == {
        "robot": fit.robot, "joints": list(fit.joints), "timestep": 0.0025, "delay_on": "command", "bias_form": "setpoint",
        "method": "hybrid", "seed": 5,
    }  # fmt: skip
    assert data["rollouts"] == fit.rollouts > 0
    assert data["seconds"] > 0
    assert data["stop"] == fit.stop
    assert {"surefoot", "mujoco", "numpy", "python"} <= set(data["versions"])
    assert data["unknowns"] == {
        "objective": "position", "torque_weight": 0.0, "extra": ["cutoff"], "joint_delays": False,
        "fixed": {"bias:LF_HIP": 0.0}, "tied": ["armature:*_KNEE"], "bounds": {"delay": [0.0, 0.03]},
    }  # fmt: skip


def test_every_parameter_has_a_unit_and_a_value_an_interval_and_a_flag_per_joint(folder):
    data = text(folder)
    assert list(data["parameters"]) == ["armature", "damping", "friction", "bias", "delay", "cutoff"]
    for name, p in data["parameters"].items():
        assert set(p) == {"unit", "value", "low", "high", "flag"}
        assert p["unit"] == PARAMETERS[name].unit
        assert {len(p[key]) for key in ("value", "low", "high", "flag")} == {1 if name in ("delay", "cutoff") else 4}
        for low, value, high in zip(p["low"], p["value"], p["high"], strict=True):
            assert low <= value <= high
    assert data["parameters"]["bias"]["flag"][0] == "fixed"
    assert data["parameters"]["armature"]["unit"] == "kg·m²"


def test_every_recording_has_its_hash_and_its_errors_beside_no_model(fit, folder):
    data = text(folder)
    assert [r["name"] for r in data["recordings"]] == ["chirp"]
    assert [r["name"] for r in data["held_out"]] == ["other gains"]
    for r in (*data["recordings"], *data["held_out"]):
        assert len(r["hash"]) == 16
        assert len(r["rmse"]) == len(r["rmse_no_model"]) == 4
        assert max(r["rmse"]) < min(r["rmse_no_model"])


def test_the_trajectories_are_arrays_without_pickle(fit, folder):
    with np.load(folder / "trajectories.npz", allow_pickle=False) as file:
        arrays = dict(file)
    assert arrays["joints"].tolist() == list(fit.joints)
    for key in ("measured", "simulated", "no_model"):
        assert arrays[key].shape == (len(arrays["time"]), 4)
        assert arrays[key + "_1"].shape == (len(arrays["time_1"]), 4)
    rmse = np.sqrt(((arrays["simulated"] - arrays["measured"]) ** 2).mean(axis=0))
    np.testing.assert_allclose(rmse, fit.rmse)
    rmse = np.sqrt(((arrays["no_model"] - arrays["measured"]) ** 2).mean(axis=0))
    np.testing.assert_allclose(rmse, fit.recordings[0].rmse_no_model)


def test_a_fit_keeps_what_a_page_shows_commands_gains_correlations_and_what_the_check_said(fit, tmp_path):
    said = Finding(level="warn", subject="rate", message="200 Hz", remedy="record faster", joint="LF_HIP", recording="chirp")
    back = Fit.load(replace(fit, checks=(said,)).save(tmp_path / "fit"))
    assert back.checks == (said,)
    assert back.labels == fit.labels
    assert len(set(fit.labels)) == len(fit.matrix)
    np.testing.assert_array_equal(back.matrix, fit.matrix)
    np.testing.assert_allclose(np.diag(fit.matrix), 1.0)
    assert back.recordings[0].target.shape == back.recordings[0].measured.shape
    assert back.held_out[0].stiffness.tolist() == [30.0] * 4
    assert back != fit


def test_a_fit_from_before_these_were_kept_still_loads(fit, folder):
    data = text(folder)
    del data["checks"]
    for score in (*data["recordings"], *data["held_out"]):
        del score["stiffness"], score["damping"]
    (folder / "fit.json").write_text(json.dumps(data), encoding="utf-8")
    with np.load(folder / "trajectories.npz") as file:
        old = {key: value for key, value in file.items() if key.split("_1")[0] not in ("labels", "matrix", "target", "valid")}
    np.savez(folder / "trajectories.npz", **old)
    back = Fit.load(folder)
    assert (back.checks, back.labels, back.matrix.size, back.recordings[0].target.size) == ((), (), 0, 0)
    assert back.dynamics == fit.dynamics
    np.testing.assert_array_equal(back.held_out[0].simulated, fit.held_out[0].simulated)


def strict(folder):
    """fit.json read by a reader that knows no NaN and no Infinity."""

    def refuse(word):
        raise AssertionError(f"{word} is not JSON")

    return json.loads((folder / "fit.json").read_text(encoding="utf-8"), parse_constant=refuse)


def test_what_diverged_is_inf_and_what_was_not_compared_is_null_in_the_json(fit, tmp_path):
    score = replace(fit.recordings[0], rmse=np.array([np.nan, 0.1, 0.1, 0.1]), rmse_no_model=np.array([np.nan, np.inf, 0.2, 0.2]))
    unfiltered = fit.dynamics.replace(cutoff=[np.inf])
    saved = replace(fit, recordings=(score,), dynamics=unfiltered).save(tmp_path)
    data = strict(saved)
    assert data["recordings"][0]["rmse"][0] is None
    assert data["recordings"][0]["rmse_no_model"][:2] == [None, "inf"]
    assert data["parameters"]["cutoff"]["value"] == ["inf"]
    back = Fit.load(saved)
    assert np.isinf(back.dynamics.cutoff).all()
    np.testing.assert_array_equal(back.recordings[0].rmse_no_model, score.rmse_no_model)


FINITE = st.floats(0, 1e300, allow_subnormal=True)


@settings(deadline=None, max_examples=25)
@given(
    values=st.lists(FINITE, min_size=4, max_size=4),
    delay=st.floats(0, 1),
    name=st.text(max_size=8),
    history=st.lists(FINITE, max_size=3),
)
def test_any_numbers_and_any_names_survive_the_files(tmp_path_factory, values, delay, name, history):
    row = np.array(values)
    dynamics = JointDynamics(joints=("a", "b", "c", "d"), armature=row, damping=row, friction=row, bias=-row, delay=[delay])
    score = Score(name=name, hash="0" * 16, joints=dynamics.joints, rmse=row, rmse_no_model=row, samples=np.arange(4))
    made = Fit(
        robot=name, source=name, model_hash="0" * 16, joints=dynamics.joints, kinds=("hinge",) * 3 + ("slide",),
        prescribed=("a",),
        dynamics=dynamics, low=dynamics, high=dynamics, findings=(name,),
        correlation=((name, "b", delay),),
        flags={p: ("ok",) * (1 if p == "delay" else 4) for p in ("armature", "damping", "friction", "bias", "delay")},
        recordings=(score,), held_out=(), physics=Physics(), method="hybrid", seed=0, seconds=delay, rollouts=1, stop="stopped",
        history=tuple(history), versions={}, unknowns={"extra": []}, loss=delay,
    )  # fmt: skip
    folder = made.save(tmp_path_factory.mktemp("fit"))
    assert Fit.load(folder) == made
    strict(folder)


def test_a_fit_that_is_not_there_says_where_it_was_looked_for(tmp_path):
    with pytest.raises(SurefootError, match=r"there is no fit in .*surefoot identify"):
        Fit.load(tmp_path)
    with pytest.raises(SurefootError, match="there is no fit"):
        Fit.load(tmp_path / "nowhere")


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: "",
        lambda data: "not json",
        lambda data: json.dumps(data)[:-50],
        lambda data: "[]",
        lambda data: json.dumps({k: v for k, v in data.items() if k != "joints"}),
        lambda data: json.dumps(data | {"joints": data["joints"][:2]}),
        lambda data: json.dumps(data | {"parameters": {}}),
        lambda data: json.dumps(data | {"timestep": "fast"}),
        lambda data: json.dumps(data | {"recordings": 3}),
        lambda data: json.dumps(data | {"correlation": [["a", "b"]]}),
        lambda data: json.dumps(data | {"format": 99}),
    ],
)
def test_a_damaged_fit_is_said_in_a_sentence(folder, damage):
    path = folder / "fit.json"
    path.write_text(damage(text(folder)), encoding="utf-8")
    with pytest.raises(SurefootError):
        Fit.load(folder)


def test_a_fit_that_is_not_text_is_said_in_a_sentence(folder):
    (folder / "fit.json").write_bytes(b"\xff\xfe\x00\x81")
    with pytest.raises(SurefootError, match="is not a fit"):
        Fit.load(folder)


@pytest.mark.parametrize("keep", [0, 100, -40])
def test_truncated_trajectories_are_said_in_a_sentence(folder, keep):
    path = folder / "trajectories.npz"
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(SurefootError, match="is not a fit"):
        Fit.load(folder)


def test_a_fit_without_its_trajectories_is_still_a_fit(fit, folder):
    (folder / "trajectories.npz").unlink()
    back = Fit.load(folder)
    assert back.to_dict() == fit.to_dict()
    assert back != fit  # it lacks the trajectories
    assert len(back.recordings[0].time) == 0


def test_a_folder_that_cannot_be_written_is_said_in_a_sentence(fit, tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(SurefootError, match=r"cannot write the fit.*--out"):
        fit.save(tmp_path / "file" / "fit")
