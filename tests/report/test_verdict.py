"""The verdict: when a fit is called ready, when it is doubted, and when it must not be used."""

from dataclasses import replace

import numpy as np
import pytest
from drawn import fit, flagged, residual, spoiled, wrong

from surefoot.identify.stop import Stop
from surefoot.report.verdict import MEANINGS, lights, verdict


def judged(one):
    found = lights(one)
    return verdict(one, found), {light.joint: light for light in found}


def test_a_fit_that_finds_everything_is_green_and_says_how_well_it_follows():
    (colour, text), found = judged(fit())
    assert colour == "green"
    assert {light.colour for light in found.values()} == {"green"}
    assert text.startswith("Ready to use: all 17 parameters are well identified.")
    apart = np.sqrt(np.mean([s.rmse**2 for s in fit().held_out]))
    assert f"to {1e3 * np.sqrt(np.mean(fit().rmse ** 2)):.3g} mrad rms" in text
    assert f"to {1e3 * apart:.3g} mrad on recordings that it has not seen" in text


@pytest.mark.parametrize("flag", ["weak", "not identified", "at lower bound", "at upper bound"])
def test_a_parameter_that_is_not_well_identified_makes_its_joint_and_the_fit_yellow(flag):
    (colour, text), found = judged(flagged("friction", 1, flag))
    assert colour == "yellow"
    assert "16 of 17 parameters are well identified" in text
    assert [joint for joint, light in found.items() if light.colour == "yellow"] == ["LF_KNEE"]
    assert any("friction" in reason for reason in found["LF_KNEE"].reasons)


def test_a_weak_delay_is_nobodys_joint_but_everybodys_doubt():
    (colour, _), found = judged(flagged("delay", 0, "weak"))
    assert colour == "yellow"
    assert {light.colour for light in found.values()} == {"green"}


def test_what_the_user_fixed_is_no_doubt():
    (colour, text), _ = judged(flagged("bias", 0, "fixed"))
    assert colour == "green"
    assert "all 16 parameters" in text


def test_a_joint_whose_motion_is_left_unexplained_is_red_and_so_is_the_fit():
    (colour, text), found = judged(residual(lambda t, q: np.array([0.0, 0.0, 0.2, 0.0]) * np.sin(5 * t)[:, None]))
    assert colour == "red"
    assert text.startswith("Not ready: RF_HIP left poorly explained.")
    assert [joint for joint, light in found.items() if light.colour == "red"] == ["RF_HIP"]


def test_wrong_gains_are_not_called_ready():
    assert judged(wrong())[0][0] != "green"


def test_an_error_that_grows_on_what_the_fit_has_not_seen_is_a_doubt():
    score = fit().held_out[0]
    worse = replace(score, rmse=np.where(np.arange(4) == 3, 0.05 * np.std(score.measured, axis=0), score.rmse))
    _, found = judged(spoiled(held_out=(worse,)))
    assert found["RF_KNEE"].colour == "yellow"
    assert "which the fit has not seen" in found["RF_KNEE"].reasons[0]


def test_a_simulation_that_diverged_is_red():
    score = fit().held_out[0]
    _, found = judged(spoiled(held_out=(replace(score, rmse=np.array([np.inf, *score.rmse[1:]])),)))
    assert found["LF_HIP"].colour == "red"
    assert "all of the motion in 'steps' is left unexplained" in found["LF_HIP"].reasons


def test_a_joint_that_follows_its_measured_motion_is_neither_good_nor_bad():
    (colour, _), found = judged(spoiled(prescribed=("LF_HIP",)))
    assert (found["LF_HIP"].colour, colour) == ("grey", "green")


def test_a_search_that_was_interrupted_gives_no_answer():
    (colour, text), _ = judged(spoiled(stop=str(Stop.INTERRUPTED)))
    assert colour == "red"
    assert "did not converge" in text


def test_a_fit_without_held_out_recordings_says_so():
    assert "no recording was held back" in judged(spoiled(held_out=()))[0][1]


def test_every_flag_that_a_fit_can_have_has_a_meaning():
    assert set(MEANINGS) == {"ok", "weak", "not identified", "at lower bound", "at upper bound", "fixed"}
