"""What the page holds: numbers as in fit.json, trajectories as in trajectories.npz, spectra that find what was put in."""

import base64
import json
from dataclasses import replace

import numpy as np
import pytest
from drawn import fit, residual, robot, spoiled, wrong
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from surefoot.errors import SurefootError
from surefoot.report import fit_content, fits_content, html, write
from surefoot.report.motion import SAMPLES, derivative
from surefoot.report.page import packed
from surefoot.report.residual import residuals


def opened(pack):
    """An array as the page reads it."""
    raw = base64.b64decode(pack["data"])
    if pack.get("float"):
        return np.frombuffer(raw, "<f4").astype(float)
    whole = np.frombuffer(raw, "<i2").astype(float).reshape(pack["shape"])
    return np.where(whole == -32768, np.nan, whole * pack["step"])


def test_the_numbers_are_those_of_fit_json(tmp_path):
    content = fit_content(fit(), robot())
    assert content["fit"] == json.loads((fit().save(tmp_path) / "fit.json").read_text(encoding="utf-8"))
    np.testing.assert_allclose(content["rmse"], fit().rmse)
    assert content["units"]["delay"] == ["s"]
    assert content["shared"] == ["delay"]
    assert content["twins"] == [(0, 2), (1, 3)]


def test_the_trajectories_are_those_of_the_fit_to_a_sixteenth_bit():
    scores = [*fit().recordings, *fit().held_out]
    content = fit_content(fit(), robot())
    assert [rec["held_out"] for rec in content["recordings"]] == [False, True, True]
    for rec, score in zip(content["recordings"], scores, strict=True):
        assert rec["every"] == 1
        np.testing.assert_allclose(opened(rec["time"]) + rec["start"], score.time, atol=1e-6)
        for key, true in (("measured", score.measured), ("target", score.target), ("error", score.simulated - score.measured),
                          ("no_model", score.no_model - score.measured)):  # fmt: skip
            np.testing.assert_allclose(opened(rec[key]).T, true, atol=np.abs(true).max() / 32767)


@settings(max_examples=50, deadline=None)
@given(arrays(float, (3, 5), elements=st.floats(-1e6, 1e6) | st.just(np.nan) | st.just(np.inf)))
def test_packing_keeps_every_number_to_its_step_and_makes_gaps_of_what_is_not_finite(values):
    back, step = opened(packed(values)), packed(values)["step"]
    finite = np.isfinite(values)
    assert (np.isnan(back) == ~finite).all()
    assert np.abs(back - values)[finite].max(initial=0.0) <= 0.5001 * step


def test_a_long_fit_is_thinned_and_says_so():
    score, times = fit().recordings[0], 60
    tiled = {key: np.tile(getattr(score, key), (times, 1)) for key in ("measured", "simulated", "no_model", "target")}
    long = replace(score, time=np.arange(times * len(score.time)) * 0.0025, **tiled)
    content = fit_content(spoiled(recordings=(long,), held_out=()), robot())
    assert content["recordings"][0]["every"] == int(np.ceil(long.measured.size / SAMPLES)) > 1
    assert len(json.dumps(content)) < 6e6


def test_the_delta_portrait_has_a_baseline_where_it_saw_the_same_recording():
    score = fit().recordings[0]
    other = spoiled(recordings=(replace(score, simulated=score.no_model),), held_out=())
    with_other = fit_content(fit(), robot(), baseline=other)
    assert list(with_other["portrait"][0]) == ["no model", "baseline", "fitted"]
    assert with_other["portrait"][0]["baseline"] == with_other["portrait"][0]["no model"]
    assert list(with_other["portrait"][1]) == ["no model", "fitted"]
    gap = {name: np.nanstd(opened(cloud["q"])) for name, cloud in with_other["portrait"][0].items()}
    assert gap["fitted"] < 0.1 * gap["no model"]


def test_a_baseline_of_other_recordings_is_refused():
    with pytest.raises(SurefootError, match="neither fitted to nor scored on"):
        fit_content(fit(), robot(), baseline=spoiled(recordings=(replace(fit().recordings[0], hash="f" * 16),), held_out=()))


def test_a_derivative_of_a_sine_is_a_cosine():
    t = np.arange(0, 2, 0.0025)
    grid, (q, v) = derivative(t, np.sin(3 * t)[:, None])
    np.testing.assert_allclose(q[:, 0], np.sin(3 * grid), atol=1e-6)
    np.testing.assert_allclose(v[20:-20, 0], 3 * np.cos(3 * grid[20:-20]), atol=1e-3)


# --- what is left ------------------------------------------------------------------------------------------------------------
def hints(one):
    return residuals(one.recordings[0])["hints"]


def test_what_a_good_fit_leaves_is_noise():
    assert all("noise" in " ".join(told) for told in hints(fit()))


@pytest.mark.parametrize(
    ("cause", "order", "shape"),
    [
        ("damping or delay", 1, lambda x: x),
        ("inertia", 2, lambda x: x),
        ("dry friction", 1, np.sign),
        ("gravity", 0, lambda x: x),
    ],
)
def test_what_a_wrong_model_leaves_is_traced_to_its_cause(cause, order, shape):
    def left(time, measured):
        _, (made,) = derivative(time, measured, (order,))
        return 0.02 * shape(made) / np.std(shape(made), axis=0)

    for told in hints(residual(left)):
        assert cause in " ".join(told)


def test_a_resonance_is_named_by_its_frequency():
    rng = np.random.default_rng(0)
    left = lambda t, q: 1e-4 * rng.standard_normal(q.shape) + 1e-3 * np.sin(2 * np.pi * 37 * t)[:, None]  # noqa: E731
    assert all("a line at 37.0 Hz" in " ".join(told) for told in hints(residual(left)))


def test_the_density_holds_the_residuals_power():
    made = residuals(residual(lambda t, q: 1e-3 * np.random.default_rng(1).standard_normal(q.shape)).recordings[0])
    f, density = np.array(made["f"]), np.array(made["density"])
    power = np.trapezoid(density**2, f, axis=1)
    np.testing.assert_allclose(power, 1e-6, rtol=0.15)


# --- frequency response ------------------------------------------------------------------------------------------------------
def test_the_fitted_simulator_answers_a_frequency_as_the_robot_does_and_hq_is_near():
    content = fit_content(fit(), robot())
    for joint in content["frequency"][0]["joints"]:
        seen, made, ideal = (joint[key] for key in ("measured", "simulated", "analytic"))
        low = np.array(seen["f"]) < 6.0
        gap = np.array(seen["magnitude"], float) - np.array(made["magnitude"], float)
        assert np.abs(gap[low]).max() < 0.3  # dB
        assert np.nanmin(np.array(seen["coherence"])[low]) > 0.9
        slow = np.interp(1.0, ideal["f"], ideal["magnitude"])
        assert abs(slow - np.interp(1.0, seen["f"], np.array(seen["magnitude"], float))) < 3.0


def test_without_a_command_or_a_robot_there_is_less_and_the_page_says_so():
    score = fit().recordings[0]
    none = np.zeros((0, 0))
    old = spoiled(recordings=(replace(score, target=none),), held_out=(), labels=(), matrix=none, checks=())
    content = fit_content(old)
    assert (content["frequency"], content["matrix"], content["scene"]) == ([None], None, None)
    assert "target" not in content["recordings"][0]
    bare = fit_content(spoiled(held_out=()))
    assert "analytic" not in bare["frequency"][0]["joints"][0]


# --- refused -----------------------------------------------------------------------------------------------------------------
def test_a_fit_without_its_trajectories_is_refused():
    bare = replace(fit().recordings[0], measured=np.zeros((0, 0)))
    with pytest.raises(SurefootError, match=r"trajectories\.npz is missing"):
        fit_content(spoiled(recordings=(bare,)), robot())


def test_another_robot_is_refused_by_name():
    from surefoot.robot import Robot

    with pytest.raises(SurefootError, match=r"LF_HIP.*single_drive.*--robot"):
        fit_content(fit(), Robot.load("single_drive"))


# --- several -----------------------------------------------------------------------------------------------------------------
def test_fits_that_agree_are_green_and_a_joint_that_changed_is_found():
    moved = fit().dynamics.friction + np.array([0, 0.05, 0, 0])
    other = spoiled(
        dynamics=fit().dynamics.replace(friction=moved), low=fit().low.replace(friction=moved - 1e-3),
        high=fit().high.replace(friction=moved + 1e-3),
    )  # fmt: skip
    assert fits_content({"monday": fit(), "tuesday": fit()})["verdict"]["colour"] == "green"
    content = fits_content({"monday": fit(), "tuesday": other})
    assert [(r["name"], r["joint"], r["apart"]) for r in content["rows"] if r["apart"]] == [
        ("friction", "LF_KNEE", [["monday", "tuesday"]])
    ]
    assert "1 of 17 parameters differ" in content["verdict"]["text"]
    html(content)


def test_fits_of_different_robots_have_nothing_to_compare():
    dynamics = fit().dynamics
    names = tuple(f"other_{joint}" for joint in fit().joints)
    rename = lambda d: type(d)(joints=names, **d.arrays())  # noqa: E731
    other = spoiled(joints=names, dynamics=rename(dynamics), low=rename(fit().low), high=rename(fit().high))
    with pytest.raises(SurefootError, match="no joint in common"):
        fits_content({"a": fit(), "b": other})


# --- the file ----------------------------------------------------------------------------------------------------------------
def test_the_page_is_one_file_that_names_no_address_and_keeps_text_from_becoming_markup(tmp_path):
    evil = "</script><script>alert(1)</script><b>"
    page = write(fit_content(spoiled(robot=evil, findings=(evil,)), robot()), tmp_path / "deep" / "page.html").read_text("utf-8")
    assert "<script>alert" not in page
    assert page.count("<script") == 2
    text = page.split('id="content">')
    assert json.loads(text[1].split("</script>")[0])["fit"]["robot"] == evil
    assert "http://" not in page.replace("http://www.w3.org", "")
    assert "https://" not in page
    assert "connect-src 'none'" in page
    assert [p.name for p in (tmp_path / "deep").iterdir()] == ["page.html"]


def test_a_page_that_cannot_be_written_is_said_in_a_sentence(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(SurefootError, match="cannot write the page"):
        write(fit_content(fit()), tmp_path / "file" / "page.html")


def test_a_fit_that_is_wrong_can_be_drawn_too():
    html(fit_content(wrong(), robot()))
