// A robot of capsules that plays its recording: forward kinematics, a camera to turn, and shaded sticks on a canvas.

const Vec = {
  add: (a, b) => [a[0] + b[0], a[1] + b[1], a[2] + b[2]],
  sub: (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]],
  scale: (a, k) => [a[0] * k, a[1] * k, a[2] * k],
  cross: (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]],
  norm: (a) => Math.hypot(a[0], a[1], a[2]),
};

const Quat = {
  times: (a, b) => [
    a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
    a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
    a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
    a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
  ],
  about: (axis, angle) => [Math.cos(angle / 2), ...Vec.scale(axis, Math.sin(angle / 2))],
  /** v + 2 w (u × v) + 2 u × (u × v) */
  turn: (q, v) => {
    const u = [q[1], q[2], q[3]], t = Vec.scale(Vec.cross(u, v), 2);
    return Vec.add(Vec.add(v, Vec.scale(t, q[0])), Vec.cross(u, t));
  },
};

/** Pose of every link for joint positions `at(axis)`: parent, offset, then each axis about its anchor. */
function poses(links, at) {
  const out = [];
  for (const link of links) {
    const parent = link.parent < 0 ? { p: [0, 0, 0], q: [1, 0, 0, 0] } : out[link.parent];
    let p = Vec.add(parent.p, Quat.turn(parent.q, link.position)), q = Quat.times(parent.q, link.rotation);
    for (const axis of link.axes) {
      const moved = at(axis) - axis.reference;
      if (axis.slide) p = Vec.add(p, Quat.turn(q, Vec.scale(axis.axis, moved)));
      else {
        const anchor = Vec.add(p, Quat.turn(q, axis.anchor));
        q = Quat.times(q, Quat.about(axis.axis, moved));
        p = Vec.sub(anchor, Quat.turn(q, axis.anchor));
      }
    }
    out.push({ p, q });
  }
  return out;
}

window.surefoot.poses = poses;

/** Over the measured robot the simulated one is drawn this thin: its core, which leaves the measured hull where they differ. */
const CORE = 0.4;

class Scene extends Canvas {
  /** geometry: links, capsules, bias; `source()` gives {time, measured, simulated} of what is chosen; rows by joint. */
  constructor({ geometry, source, told }) {
    super("measured and simulated robot in motion", 380);
    Object.assign(this, { geometry, source, told, yaw: -0.9, pitch: 0.25, zoom: 1, time: 0, speed: 1, playing: false, side: false, gain: 1 });
    this.moves = [];
    for (const { parent, axes } of geometry.links) this.moves.push(axes.some((axis) => axis.column >= 0) || (parent >= 0 && this.moves[parent]));
    this.frame();
    this.listen();
  }

  /** Centre and size of the robot at rest, so that all of it is seen. */
  frame() {
    const resting = this.capsules((axis) => axis.rest), points = resting.flatMap((c) => [c.a, c.b]);
    const low = [0, 1, 2].map((k) => Math.min(...points.map((p) => p[k]))), high = [0, 1, 2].map((k) => Math.max(...points.map((p) => p[k])));
    this.centre = low.map((v, k) => (v + high[k]) / 2);
    this.extent = 0.5 * Math.hypot(...low.map((v, k) => high[k] - v)) + 2 * Math.max(...resting.map((c) => c.radius));
  }

  capsules(at) {
    const frames = poses(this.geometry.links, at), world = { p: [0, 0, 0], q: [1, 0, 0, 0] };
    return this.geometry.capsules.map(({ link, start, end, radius }) => {
      const { p, q } = link < 0 ? world : frames[link];
      return { a: Vec.add(p, Quat.turn(q, start)), b: Vec.add(p, Quat.turn(q, end)), radius, moves: link >= 0 && this.moves[link] };
    });
  }

  /** Joint positions at the time shown, linear between samples. */
  position(time, rows, i, bias) {
    const share = i ? Math.min(1, Math.max(0, (this.time - time[i - 1]) / (time[i] - time[i - 1] || 1))) : 0;
    return (axis) => {
      if (axis.column < 0) return axis.rest;
      const row = rows[axis.column], before = row[Math.max(0, i - 1)];
      const value = before + share * (row[i] - before);
      return (Number.isFinite(value) ? value : axis.rest) + bias[axis.column];
    };
  }

  paint() {
    const context = this.begin();
    if (!context) return;
    const { time, measured, simulated } = this.source(), { bias } = this.geometry;
    this.time = Math.min(Math.max(this.time, time[0]), time[time.length - 1]);
    const i = Math.min(time.length - 1, lowerBound(time, this.time));
    const shifted = this.gain === 1 ? simulated : simulated.map((row, j) => ({ length: row.length, ...near(row, measured[j], i, this.gain) }));
    const real = this.capsules(this.position(time, measured, i, bias)), model = this.capsules(this.position(time, shifted, i, bias));
    const narrow = this.width / 2;
    if (this.side) {
      this.group(context, [[real, "measured", 1]], narrow / 2, narrow);
      this.group(context, [[model, "simulated", 1]], 1.5 * narrow, narrow);
    } else this.group(context, [[real, "measured", 1], [model.filter((c) => c.moves), "simulated", CORE]], narrow, this.width);
    this.told(this.time, time);
    this.done();
  }

  group(context, robots, middle, width) {
    const scale = (0.6 * Math.min(width, this.height * 1.25) * this.zoom) / this.extent;
    const [cy, sy, cp, sp] = [Math.cos(this.yaw), Math.sin(this.yaw), Math.cos(this.pitch), Math.sin(this.pitch)];
    const far = 5 * this.extent;
    const project = (point) => {
      const [x, y, z] = Vec.sub(point, this.centre), u = cy * x + sy * y, v = -sy * x + cy * y;
      const depth = cp * v - sp * z, k = far / (far + depth);
      return { x: middle + u * scale * k, y: this.height / 2 - (sp * v + cp * z) * scale * k, depth, k: scale * k };
    };
    const sticks = robots.flatMap(([capsules, name, size]) => capsules.map((c) => {
      const a = project(c.a), b = project(c.b), nearer = size < 1 ? 2 * c.radius : 0;
      return { a, b, ra: size * c.radius * a.k, rb: size * c.radius * b.k, name, depth: (a.depth + b.depth) / 2 - nearer };
    }));
    sticks.sort((p, q) => q.depth - p.depth);
    for (const stick of sticks) this.stick(context, stick);
  }

  /** The outline of two discs, lit from above left. */
  stick(context, { a, b, ra, rb, name }) {
    const length = Math.hypot(b.x - a.x, b.y - a.y), angle = Math.atan2(b.y - a.y, b.x - a.x);
    const tilt = length > Math.abs(ra - rb) ? Math.acos((ra - rb) / length) : 0;
    context.beginPath();
    if (length <= Math.abs(ra - rb) + 0.5) context.arc(a.x, a.y, Math.max(ra, rb), 0, 7);
    else {
      context.arc(a.x, a.y, ra, angle + tilt, angle - tilt);
      context.arc(b.x, b.y, rb, angle - tilt, angle + tilt);
      context.closePath();
    }
    const [nx, ny] = length > 0.5 ? [-(b.y - a.y) / length, (b.x - a.x) / length] : [0.7, 0.7];
    const up = ny > 0 || (ny === 0 && nx > 0) ? -1 : 1, r = Math.max(ra, rb), x = (a.x + b.x) / 2, y = (a.y + b.y) / 2;
    const shade = context.createLinearGradient(x + up * nx * r, y + up * ny * r, x - up * nx * r, y - up * ny * r);
    const base = channels(colour(name === "measured" ? "robot" : "simulated"));
    const mixed = (k) => `rgb(${base.map((c) => Math.round(k > 0 ? c + (255 - c) * k : c * (1 + k))).join(",")})`;
    shade.addColorStop(0, mixed(0.1));
    shade.addColorStop(0.3, mixed(0.35));
    shade.addColorStop(1, mixed(-0.45));
    context.fillStyle = shade;
    context.fill();
  }

  play(on) {
    this.playing = on;
    let before = null;
    const step = (now) => {
      if (!this.playing || !this.canvas.isConnected) return;
      const { time } = this.source(), end = time[time.length - 1];
      if (before !== null) this.time += (this.speed * (now - before)) / 1000;
      if (this.time >= end) this.time = time[0];
      before = now;
      this.paint();
      requestAnimationFrame(step);
    };
    if (on) requestAnimationFrame(step);
  }

  listen() {
    const { canvas } = this;
    let held = null;
    canvas.addEventListener("pointerdown", (event) => { held = [event.clientX, event.clientY]; canvas.setPointerCapture(event.pointerId); });
    canvas.addEventListener("pointermove", (event) => {
      if (!held) return;
      this.yaw -= (event.clientX - held[0]) * 0.01;
      this.pitch = Math.max(-1.5, Math.min(1.5, this.pitch + (event.clientY - held[1]) * 0.01));
      held = [event.clientX, event.clientY];
      Frame.draw(this);
    });
    for (const kind of ["pointerup", "pointercancel"]) canvas.addEventListener(kind, () => (held = null));
    canvas.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.metaKey) return; // plain scrolling belongs to the page
      event.preventDefault();
      this.zoom = Math.max(0.4, Math.min(5, this.zoom * Math.exp(-0.002 * event.deltaY)));
      Frame.draw(this);
    }, { passive: false });
    canvas.addEventListener("keydown", (event) => {
      const turn = { ArrowLeft: [0.1, 0], ArrowRight: [-0.1, 0], ArrowUp: [0, 0.1], ArrowDown: [0, -0.1] }[event.key];
      if (!turn) return;
      event.preventDefault();
      this.yaw += turn[0];
      this.pitch = Math.max(-1.5, Math.min(1.5, this.pitch + turn[1]));
      Frame.draw(this);
    });
  }
}

/** The two samples around i of a simulated row, their distance to the measured one enlarged. */
function near(simulated, measured, i, gain) {
  const out = {};
  for (const k of [Math.max(0, i - 1), i]) out[k] = measured[k] + gain * (simulated[k] - measured[k]);
  return out;
}
