"""From recordings to joint dynamics, the verb itself: what a user gets, for clean and for unruly recordings."""

import re

import numpy as np
import pytest
from machines import LEGS, PENDULUM, SHAFT, errors, hidden, legs, machine, pendulum, recorded

import surefoot
from surefoot.errors import SurefootError
from surefoot.identify import evolution, identify, search
from surefoot.identify.answer import score
from surefoot.identify.fit import Fit
from surefoot.identify.stop import Stop
from surefoot.identify.unknowns import Unknowns
from surefoot.record.excitation import Excitation
from surefoot.simulate.physics import Physics
from surefoot.simulate.rehearsal import rehearse
from surefoot.simulate.replay import replay


def worst(fit, truth, *names):
    gap = errors(fit.dynamics, truth)
    return max(gap[name] for name in names or ("armature", "damping", "friction", "bias", "delay"))


def bits(fit):
    return {key: value for key, value in fit.to_dict().items() if key != "seconds"}


def test_the_package_is_the_verb():
    robot, truth, rec = pendulum()
    assert worst(surefoot.identify(robot, [rec]), truth) < 1e-6


def test_a_perfect_fit_reports_perfect_errors_and_sharp_intervals():
    robot, truth, rec = legs()
    fit = identify(robot, [rec])
    assert worst(fit, truth) < 1e-6
    assert fit.rmse.max() < 1e-9
    assert min(s.rmse_no_model.min() for s in fit.recordings) > 1e-2
    assert fit.findings == ()
    assert {flag for row in (fit.flags[name] for name in fit.parameters) for flag in row} == {"ok"}


def test_the_same_seed_gives_the_same_bits():
    robot, truth, _ = legs()
    rec = recorded(robot, truth, seconds=2.0, noise=1e-3)
    assert bits(identify(robot, [rec], seed=3)) == bits(identify(robot, [rec], seed=3))


def test_the_reported_error_is_that_of_the_reported_answer():
    robot, truth, _ = legs()
    rec = recorded(robot, truth, seconds=2.0, noise=2e-3)
    fit = identify(robot, [rec])
    again = replay(robot, rec, fit.dynamics)
    np.testing.assert_allclose(fit.rmse, np.sqrt(((again.position - rec.position) ** 2).mean(axis=0)), rtol=1e-9)
    np.testing.assert_allclose(fit.recordings[0].simulated, again.position, atol=1e-12)
    np.testing.assert_allclose(fit.loss, (fit.rmse**2).sum(), rtol=1e-9)
    np.testing.assert_allclose(fit.rmse, 2e-3, rtol=0.1)  # nothing but the noise is left


def test_no_model_is_the_robot_with_ideal_joints():
    robot, _, rec = pendulum()
    fit = identify(robot, [rec])
    ideal = replay(robot, rec, fit.dynamics.no_model(rec.joints))
    np.testing.assert_allclose(fit.recordings[0].no_model, ideal.position, atol=1e-12)


def test_intervals_of_a_noisy_fit_contain_most_of_the_truth():
    robot = machine(LEGS)
    hits = []
    for seed in range(6):
        truth = hidden(robot, seed)
        fit = identify(robot, [recorded(robot, truth, noise=1e-3, colour=0.6, seed=seed)])
        for name in ("armature", "damping", "friction", "bias", "delay"):
            inside = (getattr(fit.low, name) <= getattr(truth, name)) & (getattr(truth, name) <= getattr(fit.high, name))
            hits += inside.tolist()
    assert len(hits) == 6 * 17
    assert np.mean(hits) >= 0.88  # of 0.95; the spread of 102 draws is 0.02


def test_recordings_under_different_gains_are_fitted_together():
    robot, truth, _ = pendulum()
    gains = ((30.0, 0.6), (15.0, 0.3))
    first, second = (recorded(robot, truth, seconds=2.0, stiffness=p, damping=d, noise=1e-3, seed=int(p)) for p, d in gains)
    both, one = identify(robot, [first, second]), identify(robot, [first])
    assert worst(both, truth, "armature", "damping", "delay") < 0.02
    assert len(both.recordings) == 2
    for name in ("armature", "damping"):
        assert (getattr(both.high, name) - getattr(both.low, name) < getattr(one.high, name) - getattr(one.low, name)).all()


def test_held_out_recordings_are_scored_and_not_fitted():
    robot, truth, rec = pendulum()
    other = recorded(robot, truth, seconds=2.0, stiffness=60.0, damping=2.0, name="other")
    ruined = other.replace(position=other.position + 0.1, name="ruined")
    fit = identify(robot, [rec], held_out=[other, ruined])
    assert worst(fit, truth) < 1e-6
    assert [s.name for s in fit.held_out] == ["other", "ruined"]
    assert fit.held_out[0].total < 1e-9
    assert fit.held_out[1].total == pytest.approx(0.1, rel=0.2)


def test_the_order_of_the_joints_in_the_recording_does_not_matter():
    robot, truth, _ = legs()
    rec = recorded(robot, truth, seconds=2.0, noise=1e-3, name="rec")
    shuffled = rec.select(["RF_KNEE", "LF_HIP", "RF_HIP", "LF_KNEE"])
    one, two = identify(robot, [rec], held_out=[shuffled]), identify(robot, [shuffled], held_out=[rec])
    assert one.joints == two.joints == robot.joints
    assert one.dynamics == two.dynamics
    assert one.flags == two.flags
    np.testing.assert_array_equal(one.rmse, two.rmse)


def test_a_robot_may_record_some_of_its_joints_only():
    """The other leg is held: the fit of this one is its own."""
    robot, truth, rec = legs()
    fit = identify(robot, [rec.select(["LF_KNEE", "LF_HIP"])])
    assert fit.joints == ("LF_HIP", "LF_KNEE")
    assert worst(fit, truth.ordered_for(fit.joints)) < 1e-6


@pytest.mark.parametrize("rate", [100.0, 1000.0, 333.0])
def test_the_log_may_be_faster_or_slower_than_the_world(rate):
    robot, truth, _ = pendulum()
    rec = recorded(robot, truth, rate=rate, top=6.0)
    assert rec.rate == pytest.approx(rate)
    assert worst(identify(robot, [rec]), truth) < 1e-5


def test_irregular_stamps_are_taken_as_they_are():
    robot, truth, _ = pendulum()
    steady = recorded(robot, truth)
    time = np.cumsum(np.random.default_rng(0).uniform(0.001, 0.005, 1300))
    target = np.interp(time, steady.time, steady.target[:, 0])[:, None]
    rec = rehearse(robot, truth, Excitation(joints=robot.joints, time=time, target=target))
    assert np.diff(rec.time).std() > 1e-3
    assert worst(identify(robot, [rec]), truth) < 1e-5


def test_a_prescribed_joint_follows_its_measurement_and_the_others_are_found():
    robot, truth, rec = legs()
    fit = identify(robot, [rec.prescribe("LF_HIP")])
    assert fit.flags["friction"] == ("fixed", "ok", "ok", "ok")
    assert np.isnan(fit.rmse).tolist() == [True, False, False, False]
    gap = {
        name: np.abs(getattr(fit.dynamics, name)[1:] / getattr(truth, name)[1:] - 1).max()
        for name in ("armature", "damping", "friction")
    }
    assert max(gap.values()) < 0.02  # the hip's motion is known at the samples only
    assert fit.dynamics.armature[0] == 0


def test_samples_that_are_not_valid_may_hold_anything():
    robot, truth, rec = pendulum()
    valid = np.arange(len(rec.time))[:, None] % 50 < 40
    assert worst(identify(robot, [rec.replace(valid=valid, position=np.where(valid, rec.position, 3.0))]), truth) < 1e-6


def extra_case(name):
    """A robot that needs one optional parameter, and how it is asked for."""
    robot = machine(PENDULUM if name in ("tilt", "gain_scale") else LEGS)
    n, core = robot.n, hidden(robot)
    cases = {
        "load": (core.replace(load=np.linspace(-0.3, 0.4, n)), Unknowns(extra=("load",)), Physics()),
        "breakaway": (core.replace(breakaway=0.5 * core.friction), Unknowns(extra=("breakaway",)), Physics()),
        "load_friction": (core.replace(load_friction=np.linspace(0.1, 0.4, n)), Unknowns(extra=("load_friction",)), Physics()),
        "cutoff": (core.replace(cutoff=[15.0]), Unknowns(extra=("cutoff",)), Physics()),
        "tilt": (core.replace(tilt=[0.0, 0.15], bias=0 * core.bias), Unknowns(extra=("tilt",), fixed={"bias": 0.0}), Physics()),
        "gain_scale": (core.replace(gain_scale=[0.8]), Unknowns(extra=("gain_scale",)), Physics()),
        "joint delays": (core.replace(delay=np.linspace(0.002, 0.011, n)), Unknowns(joint_delays=True), Physics()),
        "torque delay": (core, Unknowns(), Physics(delay_on="torque")),
        "setpoint bias": (core, Unknowns(), Physics(bias_form="setpoint")),
        "timestep": (core, Unknowns(), Physics(timestep=0.001)),
    }
    return robot, *cases[name]


@pytest.mark.parametrize(
    "name",
    [
        "load",
        "breakaway",
        "load_friction",
        "cutoff",
        "tilt",
        "gain_scale",
        "joint delays",
        "torque delay",
        "setpoint bias",
        "timestep",
    ],
)
def test_what_real_robots_need_beyond_the_paper_is_found_too(name):
    robot, truth, unknowns, physics = extra_case(name)
    rec = recorded(robot, truth, physics=physics)
    fit = identify(robot, [rec], unknowns=unknowns, physics=physics)
    checked = [n for n in fit.parameters if n != "tilt"]
    assert worst(fit, truth, *checked) < 1e-5
    if name == "tilt":  # roll turns about the pendulum's own plane: it is not there to see
        assert fit.dynamics.tilt[1] == pytest.approx(0.15, abs=1e-6)
        assert fit.flags["tilt"] == ("ok", "ok") or fit.flags["tilt"][0] in ("not identified", "weak")
    assert fit.physics == physics


@pytest.mark.parametrize("name", ["load", "cutoff", "joint delays", "torque delay"])
def test_a_model_without_it_does_not_explain_the_motion(name):
    robot, truth, _, physics = extra_case(name)
    assert identify(robot, [recorded(robot, truth, physics=physics)]).rmse.max() > 1e-5


def test_measured_torque_sharpens_what_position_hides():
    """A stiff drive: the position says little about the joint, the torque much."""
    robot, truth, _ = pendulum()
    blind = recorded(robot, truth, seconds=2.0, stiffness=2000.0, damping=20.0, noise=1e-3)
    torque = replay(robot, blind, truth).torque
    rec = blind.replace(torque=torque + 0.05 * np.random.default_rng(1).standard_normal(torque.shape))
    plain, aided = identify(robot, [rec]), identify(robot, [rec], torque_weight=20.0)
    for name in ("armature", "friction"):
        assert getattr(aided.high, name) - getattr(aided.low, name) < 0.5 * (getattr(plain.high, name) - getattr(plain.low, name))
    assert worst(aided, truth, "armature", "damping") < 0.1


# --- what cannot be known ----------------------------------------------------------------------------------------------------
def test_the_bias_of_a_vertical_axis_is_not_identified_and_stays_zero():
    robot = machine(SHAFT)
    fit = identify(robot, [recorded(robot, hidden(robot), noise=1e-4)])
    assert fit.flags["bias"] == ("not identified",)
    assert fit.dynamics.bias[0] == 0.0
    assert "gravity" in next(f for f in fit.findings if "bias" in f)
    assert worst(fit, hidden(robot), "armature", "damping", "friction", "delay") < 0.05


@pytest.mark.parametrize("noise", [0.0, 1e-4])
def test_gains_inertia_and_damping_scale_together_without_gravity(noise):
    robot = machine(SHAFT)
    fit = identify(robot, [recorded(robot, hidden(robot), noise=noise)], unknowns=Unknowns(extra=("gain_scale",)))
    for name in ("gain_scale", "armature", "damping", "friction"):
        assert fit.flags[name] == ("not identified",)
    assert any("gain_scale" in a or "gain_scale" in b for a, b, _ in fit.correlation)
    assert any("hang a known mass" in f for f in fit.findings)


def test_a_joint_that_does_not_move_has_nothing_to_say():
    robot = machine(SHAFT)
    time = np.arange(800) / 400
    still = Excitation(joints=robot.joints, time=time, target=np.zeros((800, 1)))
    fit = identify(robot, [rehearse(robot, hidden(robot), still, noise=1e-5)])
    for name in ("armature", "damping", "bias", "delay"):
        assert fit.flags[name] == ("not identified",)


def test_a_parameter_at_its_bound_is_flagged():
    robot, truth, rec = pendulum()
    fit = identify(robot, [rec], unknowns=Unknowns(bounds={"damping": (0.0, 0.8 * truth.damping[0])}))
    assert fit.flags["damping"] == ("at upper bound",)
    assert any("--bound damping=LOW,HIGH" in f for f in fit.findings)


def test_a_model_that_is_wrong_is_not_hidden_by_narrow_intervals():
    """The log says half the gain that was in force."""
    robot, truth, _ = pendulum()
    rec = recorded(robot, truth, noise=1e-4)
    right, wrong = (identify(robot, [r]) for r in (rec, rec.with_gains(rec.stiffness / 2, rec.damping / 2)))
    assert not any("does not explain" in f for f in right.findings)
    assert any("does not explain" in f and "swing" in f and "gains" in f for f in wrong.findings)


def test_drives_that_saturate_are_reported():
    robot, truth, _ = pendulum()
    weak = robot.replace(torque_limit=[2.0])
    fit = identify(weak, [recorded(weak, truth)])
    assert fit.recordings[0].saturated[0] > 0.02
    assert any("saturated" in f and "swing" in f for f in fit.findings)
    assert worst(fit, truth, "armature", "damping", "delay") < 1e-4  # the limit is known, so the rest is found


# --- the paper's method ------------------------------------------------------------------------------------------------------
SMALL = {"method": "cmaes", "population": 32, "generations": 12}


def test_cmaes_reports_the_best_candidate_that_it_evaluated(monkeypatch):
    robot, _, rec = pendulum()
    rec, seen = rec.between(0.5, 2.0), []
    tell = evolution.Evolution.tell
    monkeypatch.setattr(evolution.Evolution, "tell", lambda self, x, loss: seen.append((x, loss)) or tell(self, x, loss))
    fit = identify(robot, [rec], **SMALL)
    points, losses = np.concatenate([x for x, _ in seen]), np.concatenate([loss for _, loss in seen])
    best = points[np.argmin(losses)]
    width = {"delay": 0.04, "bias": 0.4}
    for k, name in ((3, "bias"), (4, "delay")):
        low = {"delay": 0.0, "bias": -0.2}[name]
        assert getattr(fit.dynamics, name)[0] == pytest.approx(low + (best[k] + 1) / 2 * width[name], rel=1e-12)
    np.testing.assert_allclose(fit.loss, losses.min(), rtol=1e-3)  # searched in single precision
    np.testing.assert_allclose(score(robot, rec, fit.dynamics, Physics()).rmse, fit.rmse, rtol=1e-12)
    assert fit.rollouts >= 32 * len(fit.history)


def interrupt_at(iteration):
    def tell(progress):
        if progress.iteration == iteration:
            raise KeyboardInterrupt

    return tell


def test_cmaes_interrupted_and_resumed_is_the_same_fit_bit_for_bit(tmp_path):
    robot, _, rec = pendulum()
    rec, path = rec.between(0.5, 2.0), tmp_path / "search.npz"
    whole = identify(robot, [rec], seed=2, **SMALL)
    part = identify(robot, [rec], seed=2, **SMALL, checkpoint=path, tell=interrupt_at(4))
    assert part.stop == Stop.INTERRUPTED
    assert part.loss > whole.loss
    rest = identify(robot, [rec], seed=2, **SMALL, checkpoint=path, resume=True)
    same = bits(whole) | {"rollouts": 0}
    assert bits(rest) | {"rollouts": 0} == same


def test_resume_without_a_saved_search_begins_one(tmp_path):
    robot, _, rec = pendulum()
    rec = rec.between(0.5, 1.5)
    fit = identify(robot, [rec], **SMALL, checkpoint=tmp_path / "search.npz", resume=True)
    assert len(fit.history) == 12


@pytest.mark.parametrize("change", ["recording", "unknowns", "seed", "population", "physics", "robot", "held command"])
def test_another_search_is_not_resumed(tmp_path, change):
    robot, _, rec = pendulum()
    rec, path = rec.between(0.5, 1.0), tmp_path / "search.npz"
    few = {"method": "cmaes", "population": 8, "generations": 2, "checkpoint": path}
    identify(robot, [rec], **few)
    options = few | {"seed": {"seed": 1}, "population": {"population": 16}, "physics": {"physics": Physics(timestep=0.005)},
                     "unknowns": {"unknowns": Unknowns(fixed={"bias": 0.0})}}.get(change, {})  # fmt: skip
    other = {"recording": rec.with_gains(31.0, 0.6), "held command": rec.replace(command_hold=True)}.get(change, rec)
    machine_ = robot.replace(model=robot.model.replace('mass="1.2"', 'mass="1.3"')) if change == "robot" else robot
    assert change != "robot" or machine_.model != robot.model
    with pytest.raises(SurefootError, match="belongs to another search"):
        identify(machine_, [rec if change not in ("recording", "held command") else other], **options, resume=True)


def test_ctrl_c_keeps_the_best_so_far():
    robot, _, rec = legs()
    fit = identify(robot, [rec], tell=interrupt_at(1))
    assert fit.stop == Stop.INTERRUPTED
    assert fit.rmse.max() < 0.5 * min(s.rmse_no_model.max() for s in fit.recordings)
    assert isinstance(fit, Fit)


def test_hybrid_looks_elsewhere_when_its_guesses_are_bad(monkeypatch):
    robot, truth, rec = pendulum()
    monkeypatch.setattr(search, "_guesses", lambda problem: np.full((1, problem.space.size), 0.95))
    wide = Unknowns(bounds={"delay": (0.0, 0.25), "armature": (0.0, 3.0)})
    stages = []
    fit = identify(robot, [rec], unknowns=wide, tell=lambda p: stages.append(p.stage))
    lost = identify(robot, [rec], unknowns=wide, method="least-squares")
    assert "cma-es" in stages
    assert worst(fit, truth) < 1e-6
    assert fit.loss < 1e-6 * lost.loss


# --- what is refused ---------------------------------------------------------------------------------------------------------
def test_what_cannot_be_fitted_is_said_in_a_sentence():
    robot, _, rec = legs()
    frail = {"armature": (0.0, 1e-4), "damping": (0.0, 1e-3), "friction": (0.0, 1e-3)}
    cases = [
        (lambda: identify(robot, []), "no recording to fit"),
        (lambda: identify(robot, [rec], method="magic"), "magic.*hybrid, cmaes, least-squares"),
        (lambda: identify(robot, [rec], engine="warp"), "warp.*auto, kernel, mujoco"),
        (lambda: identify(robot, [rec.rename({"LF_HIP": "arm"})]), "unknown joint.*arm.*LF_HIP"),
        (lambda: identify(robot, [rec, rec.select(["LF_HIP"])]), "lacks LF_KNEE"),
        (lambda: identify(robot, [rec], held_out=[rec.select(["LF_HIP"])]), "lacks LF_KNEE"),
        (lambda: identify(robot, [rec, rec.prescribe("LF_HIP")]), "prescribe different joints"),
        (lambda: identify(robot, [rec.prescribe(*rec.joints)]), "every joint is prescribed"),
        (lambda: identify(robot, [rec], torque_weight=1.0), "measured torque"),
        (lambda: identify(robot, [rec.with_gains(1e7, 0.0)], unknowns=Unknowns(bounds=frail)), "diverged.*--timestep"),
    ]
    for call, words in cases:
        with pytest.raises(SurefootError) as raised:
            call()
        assert re.search(words, str(raised.value)), words


def test_mujoco_itself_fits_the_same():
    robot, truth, rec = pendulum()
    fit = identify(robot, [rec.between(0.0, 1.0)], engine="mujoco", method="least-squares", max_iterations=8)
    assert worst(fit, truth, "armature", "damping", "delay") < 1e-4


def test_a_held_out_recording_has_the_same_joints_prescribed():
    """A joint that follows its measured motion in the fit does so where the fit is scored."""
    robot, _, rec = legs()
    fit = identify(robot, [rec.prescribe("LF_HIP")], held_out=[rec])
    np.testing.assert_array_equal(fit.held_out[0].rmse, fit.recordings[0].rmse)


def test_samples_that_are_not_compared_do_not_dilute_the_loss():
    """Half of the samples masked leaves the time mean of noise what it was."""
    robot, truth, _ = legs()
    rec = recorded(robot, truth, seconds=3.0, noise=1e-3)
    valid = np.ones(rec.position.shape, bool)
    valid[1::2] = False
    whole, half = (identify(robot, [r]).loss for r in (rec, rec.replace(valid=valid)))
    assert half == pytest.approx(whole, rel=0.1)


def test_a_search_that_was_cut_short_says_so_instead_of_explaining_its_flags():
    """Reasons for wide intervals would be fiction where the search has not converged."""
    robot, _, rec = legs()
    fit = identify(robot, [rec], method="cmaes", population=8, generations=2)
    assert "did not converge" in fit.findings[0]
    assert not any("identified" in finding for finding in fit.findings)
