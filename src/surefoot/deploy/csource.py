"""A policy as one C file: weights, observation, network, targets and their saturation, with nothing to link but the C library."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from surefoot.deploy.layers import Layers, read_layers
from surefoot.deploy.policy import Policy, Specification

Array = np.ndarray

HEAD = """/* {robot}: a policy as plain C99, made by surefoot from policy.onnx. Do not edit.
 *
 * Once:                     surefoot_policy p; surefoot_reset(&p);
 * Every {period:g} ms:  surefoot_act(&p, linear_velocity, angular_velocity, gravity, command, position, velocity);
 * At every state:           surefoot_targets(&p, position, target);
 *
 * In base axes: linear_velocity [m/s], angular_velocity [rad/s], gravity (a unit vector); command: forward, left [m/s], turn
 * [rad/s], cut to the range of the training. position: encoders [rad]; velocity [rad/s]; target [rad]. Joints in this order:
{joints}
 * The drives must have these gains: surefoot_stiffness [N m/rad], surefoot_damping [N m s/rad].
 *
 * Watching over stale data, tilt and voltage is yours: see surefoot.deploy.watchdog.
 * Sums are taken in SUREFOOT_SUM; define it as float where double is slow: actions then differ by about 1e-5.
 */
#include <math.h>

#ifndef SUREFOOT_SUM
#define SUREFOOT_SUM double
#endif
#define SUREFOOT_JOINTS {n}
#define SUREFOOT_OBSERVATIONS {inputs}
#define SUREFOOT_WIDEST {widest}

typedef struct {{
    float action[SUREFOOT_JOINTS]; /* the network's last */
}} surefoot_policy;

"""

BODY = """
static void surefoot_linear(const float *w, const float *b, const float *x, float *y, int rows, int columns, int elu)
{
    for (int i = 0; i < rows; ++i) {
        SUREFOOT_SUM sum = b[i];
        for (int j = 0; j < columns; ++j)
            sum += (SUREFOOT_SUM)w[i * columns + j] * (SUREFOOT_SUM)x[j];
        y[i] = (float)(elu && sum < 0 ? expm1(sum) : sum);
    }
}

/* The network alone: action from observation. */
void surefoot_network(const float *observation, float *action)
{
    float a[SUREFOOT_WIDEST], b[SUREFOOT_WIDEST];
    for (int i = 0; i < SUREFOOT_OBSERVATIONS; ++i)
        a[i] = (observation[i] - surefoot_mean[i]) / surefoot_std[i];
@LAYERS@}

static float surefoot_clip(float x, float low, float high) { return x < low ? low : x > high ? high : x; }

/* No last action: before the first step, and after every stop. */
void surefoot_reset(surefoot_policy *p)
{
    for (int i = 0; i < SUREFOOT_JOINTS; ++i)
        p->action[i] = 0.0f;
}

/* One control step. */
void surefoot_act(surefoot_policy *p, const float *linear_velocity, const float *angular_velocity, const float *gravity,
                  const float *command, const float *position, const float *velocity)
{
    float o[SUREFOOT_OBSERVATIONS];
    for (int i = 0; i < 3; ++i) {
        o[i] = linear_velocity[i];
        o[3 + i] = angular_velocity[i];
        o[6 + i] = gravity[i];
        o[9 + i] = surefoot_clip(command[i], surefoot_command_low[i], surefoot_command_high[i]);
    }
    for (int i = 0; i < SUREFOOT_JOINTS; ++i) {
        o[12 + i] = position[i] - surefoot_posture[i];
        o[12 + SUREFOOT_JOINTS + i] = velocity[i];
        o[12 + 2 * SUREFOOT_JOINTS + i] = p->action[i];
    }
    surefoot_network(o, p->action);
}

/* Targets for the drives: where a joint is in the soft band inside a hard limit, no torque is asked for toward the limit. */
void surefoot_targets(const surefoot_policy *p, const float *position, float *target)
{
    for (int i = 0; i < SUREFOOT_JOINTS; ++i) {
        const float u = surefoot_posture[i] + surefoot_action_scale * p->action[i], q = position[i];
        const float low = surefoot_lower[i], high = surefoot_upper[i], band = surefoot_soft_band[i];
        const float up = surefoot_clip((q - (high - band)) / band, 0.0f, 1.0f);
        const float down = surefoot_clip(((low + band) - q) / band, 0.0f, 1.0f);
        target[i] = u;
        if (up > 0.0f && u > high)
            target[i] -= up * (u - high);
        if (down > 0.0f && u < low)
            target[i] -= down * (u - low);
    }
}
"""


def c_source(spec: Specification, layers: Layers) -> str:
    """The whole file as text."""
    n, inputs = len(spec.joints), len(spec.observation)
    widest = max(inputs, *(len(w) for w in layers.weights))
    joints = "\n".join(f" *   {i:2d} {joint}" for i, joint in enumerate(spec.joints))
    rows = {
        "mean": layers.mean, "std": layers.std, "posture": spec.posture, "stiffness": spec.stiffness, "damping": spec.damping,
        "lower": spec.lower, "upper": spec.upper, "soft_band": spec.soft_band, "command_low": spec.command_low,
        "command_high": spec.command_high,
    }  # fmt: skip
    text = HEAD.format(robot=spec.robot, joints=joints, n=n, inputs=inputs, widest=widest, period=1e3 * spec.period)
    text += f"static const float surefoot_action_scale = {_number(spec.action_scale)};\n"
    for name, row in rows.items():
        shared = "" if name in ("stiffness", "damping") else "static "
        text += f"{shared}const float surefoot_{name}[{len(row)}] = {_list(row)};\n"
    for k, (w, b) in enumerate(zip(layers.weights, layers.biases, strict=True)):
        text += f"static const float surefoot_w{k}[{w.size}] = {_list(w)};\n"
        text += f"static const float surefoot_b{k}[{b.size}] = {_list(b)};\n"
    return text + BODY.replace("@LAYERS@", _calls(layers))


def write(policy: Path, out: Path) -> Path:
    """Write the C file of a policy.onnx."""
    spec = Policy.load(policy).spec
    layers = read_layers(policy)
    out.write_text(c_source(spec, layers), encoding="ascii", errors="backslashreplace")
    return out


def _calls(layers: Layers) -> str:
    """One call per layer, between two buffers."""
    lines, last = [], len(layers.weights) - 1
    for k, w in enumerate(layers.weights):
        here, there = ("a", "b") if k % 2 == 0 else ("b", "a")
        there = "action" if k == last else there
        lines.append(
            f"    surefoot_linear(surefoot_w{k}, surefoot_b{k}, {here}, {there}, {w.shape[0]}, {w.shape[1]}, {int(k < last)});\n"
        )
    return "".join(lines)


def _list(values: Array) -> str:
    """Numbers in braces, eight a line."""
    words = [_number(x) for x in np.ravel(values)]
    return "{\n" + "".join("    " + ", ".join(words[i : i + 8]) + ",\n" for i in range(0, len(words), 8)) + "}"


def _number(x: float) -> str:
    """A float32, exactly; infinity is the largest."""
    largest = float(np.finfo(np.float32).max)
    return f"{float(np.float32(min(max(x, -largest), largest))).hex()}f"
