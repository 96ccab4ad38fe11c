"use strict";
// A machine in space, drawn by three.js from the scene and the poses that denoc has computed.

Denoc.Viewer = class {
  constructor(canvas, labels, scene, poses, count) {
    this.canvas = canvas; this.labels = labels; this.scene = scene; this.poses = poses; this.count = count;
    this.world = new THREE.Scene();
    this.camera = new THREE.PerspectiveCamera(32, 1, 0.01, 100);
    this.renderer = new THREE.WebGLRenderer({ canvas, antialias: true, alpha: true });
    this.renderer.setPixelRatio(Math.min(window.devicePixelRatio || 1, 2));
    this.world.add(new THREE.HemisphereLight(0xffffff, 0x8a8f98, 2.2));
    this.solids = new Denoc.Solids(scene); this.unit = this.solids.unit;
    this.shown = { names: true, frames: false, centres: false, trails: true, forces: true, through: false };
    this.follows = false;
    this.scratch = { a: new THREE.Quaternion(), b: new THREE.Quaternion(), u: new THREE.Vector3(), v: new THREE.Vector3() };
    this.groups = new Map();
    this.extras = { frames: [], centres: [] };
    for (const part of scene.parts) this.addPart(part);
    this.joints = scene.joints.filter((joint) => !joint.ghost).map((joint) => ({ ...joint })); // with their symbols
    for (const joint of this.joints) this.addJoint(joint);
    for (const group of this.groups.values()) this.solids.merge(group);
    this.addTrails();
    this.arrows = [];
    this.lookAtAll();
    this.controls = new THREE.OrbitControls(this.camera, canvas);
    this.controls.target.copy(this.middle);
    this.controls.enableDamping = false;
    this.controls.addEventListener("change", () => { this.dirty = true; });
    const sun = new THREE.DirectionalLight(0xffffff, 1.6);
    this.camera.add(sun);
    sun.position.set(0.6, 1.0, 0.8);
    this.world.add(this.camera);
    this.names = [];
    this.addNames();
    this.place(0);
    this.resize();
  }

  // ---- a machine that runs: places of links as they come

  live(links, most) {
    this.linkNames = links; this.most = most;
    for (const line of this.trails) { line.geometry.dispose(); this.world.remove(line); }
    this.trails = this.trailPoints.map(([part, at]) => {
      const geometry = new THREE.BufferGeometry();
      geometry.setAttribute("position", new THREE.BufferAttribute(new Float32Array(3 * most), 3));
      geometry.setDrawRange(0, 0);
      const line = new THREE.Line(geometry, new THREE.LineBasicMaterial({ color: Denoc.LOOKS.point }));
      line.frustumCulled = false; line.visible = this.shown.trails;
      this.world.add(line);
      return Object.assign(line, { part: this.scene.parts[part].name, at });
    });
    this.forget();
  }

  // places: for each link its origin and the rows of its rotation
  placed(places) {
    const frame = this.frame || (this.frame = new THREE.Matrix4()), { u, v } = this.scratch;
    this.linkNames.forEach((name, k) => {
      const p = places.subarray(12 * k, 12 * k + 12), group = this.groups.get(name);
      frame.set(p[3], p[4], p[5], p[0], p[6], p[7], p[8], p[1], p[9], p[10], p[11], p[2], 0, 0, 0, 1);
      frame.decompose(group.position, group.quaternion, v);
    });
    this.world.updateMatrixWorld(true);
    for (const line of this.trails) {
      const positions = line.geometry.attributes.position;
      if (this.left === this.most) positions.array.copyWithin(0, 3);
      u.copy(line.at).applyMatrix4(this.groups.get(line.part).matrixWorld).toArray(positions.array, 3 * Math.min(this.left, this.most - 1));
      positions.needsUpdate = true;
      line.geometry.setDrawRange(0, Math.min(this.left + 1, this.most));
    }
    this.left = Math.min(this.left + 1, this.most);
    if (this.follows) this.pursue();
    else this.followed = null;
    this.dirty = true;
  }

  forget() { this.left = 0; }

  // other solids, where the sliders change lengths
  rebuilt(scene) {
    if (!scene) return;
    for (const group of this.groups.values()) {
      group.traverse((thing) => { if (thing.geometry) { thing.geometry.dispose(); thing.material.dispose(); } });
      this.world.remove(group);
    }
    this.groups.clear(); this.extras = { frames: [], centres: [] };
    this.scene = scene;
    for (const part of scene.parts) this.addPart(part);
    this.joints = scene.joints.filter((joint) => !joint.ghost).map((joint) => ({ ...joint })); // with their symbols
    for (const joint of this.joints) this.addJoint(joint);
    for (const group of this.groups.values()) this.solids.merge(group);
    this.labels.replaceChildren(); this.names = [];
    this.addNames();
    for (const [what, wanted] of Object.entries(this.shown)) this.show(what, wanted);
  }

  lookAtPlaces(links, all) {
    const low = new THREE.Vector3(Infinity, Infinity, Infinity), high = low.clone().negate(), v = this.scratch.v;
    for (const places of all) {
      this.placed(places);
      for (const part of this.scene.parts) for (const solid of part.solids) {
        for (const p of solid.kind === "ground" ? solid.points.slice(0, 1) : solid.points) {
          v.fromArray(p).applyMatrix4(this.groups.get(part.name).matrixWorld); this.widen(low, high, v, solid);
        }
      }
    }
    if (low.x <= high.x) {
      this.middle = low.clone().add(high).multiplyScalar(0.5);
      this.reach = Math.max(high.distanceTo(low) / 2, 0.3 * this.scene.size) + 3 * this.unit;
    }
    this.forget();
    this.home();
  }

  ray(event) {
    const box = this.canvas.getBoundingClientRect();
    const at = new THREE.Vector2((event.clientX - box.x) / box.width * 2 - 1, 1 - (event.clientY - box.y) / box.height * 2);
    const caster = new THREE.Raycaster();
    caster.setFromCamera(at, this.camera);
    return caster;
  }

  // the link under the pointer
  picked(event) {
    const hits = this.ray(event).intersectObjects([...this.groups.values()], true).filter((hit) => hit.object.isMesh);
    for (const hit of hits) {
      const owner = (hit.object.userData.owners || []).findLast((one) => one.from <= hit.faceIndex);
      if (owner && owner.joint) return owner.joint; // the link that the joint moves
      for (let thing = hit.object; thing; thing = thing.parent) {
        if (thing.userData.joint) return thing.userData.joint; // the link that the joint moves
        for (const [name, group] of this.groups) if (group === thing) return name === "base" ? null : name;
      }
    }
    return null;
  }

  // the angle about a joint's axis, or the way along it, at which the pointer is
  along(joint, event) {
    const group = joint.group || this.joints.find((one) => one.name === joint.name).group, ray = this.ray(event).ray;
    const at = group.getWorldPosition(new THREE.Vector3()), turn = group.getWorldQuaternion(new THREE.Quaternion());
    const [x, y, z] = [[1, 0, 0], [0, 1, 0], [0, 0, 1]].map((e) => new THREE.Vector3(...e).applyQuaternion(turn));
    if (joint.type === "revolute") {
      const hit = ray.intersectPlane(new THREE.Plane().setFromNormalAndCoplanarPoint(z, at), new THREE.Vector3());
      if (!hit || hit.distanceTo(at) < 1e-6) return null;
      hit.sub(at);
      const fixed = this.fixedAxes || (this.fixedAxes = new Map());
      if (!fixed.has(joint.name)) fixed.set(joint.name, [x.clone(), y.clone()]);
      return Math.atan2(hit.dot(y), hit.dot(x));
    }
    const across = ray.direction.clone().cross(z), normal = across.clone().cross(z);
    if (normal.lengthSq() < 1e-6) return null;
    const hit = ray.intersectPlane(new THREE.Plane().setFromNormalAndCoplanarPoint(normal.normalize(), at), new THREE.Vector3());
    const zero = this.groups.get(joint.between[0]).getWorldPosition(new THREE.Vector3());
    return hit ? hit.sub(zero).dot(z) : null;
  }

  addPart(part) {
    const group = new THREE.Group();
    this.groups.set(part.name, group);
    this.world.add(group);
    for (const solid of part.solids) group.add(this.solids.solid(solid));
    if (!part.ghost) {
      const axes = this.solids.triad((part.name === "base" ? 3.6 : 2.4) * this.unit);
      group.add(axes); this.extras.frames.push(axes);
    }
    if (part.centre && part.mass && !part.ghost) {
      const ball = new THREE.Mesh(new THREE.SphereGeometry(0.55 * this.unit, 10, 8), this.solids.material(Denoc.LOOKS.centre));
      ball.position.fromArray(part.centre);
      ball.userData.extra = true;
      group.add(ball); this.extras.centres.push(ball);
    }
  }

  addJoint(joint) {
    const group = this.solids.symbol(joint);
    const [x, y, w] = joint.axes, frame = new THREE.Matrix4();
    frame.set(x[0], x[1], x[2], joint.at[0], y[0], y[1], y[2], joint.at[1], w[0], w[1], w[2], joint.at[2], 0, 0, 0, 1);
    frame.decompose(group.position, group.quaternion, group.scale);
    group.userData.joint = joint.between[1];
    this.groups.get(joint.carrier).add(group);
    joint.group = group;
  }

  addNames() {
    for (const joint of this.joints) {
      if (joint.type === "fixed") continue;
      const label = document.createElement("span");
      label.className = "name";
      label.textContent = joint.name; // never as markup: names come from files
      this.labels.append(label);
      this.names.push({ label, group: joint.group, across: 7 * joint.name.length + 4 });
    }
  }

  addTrails() {
    this.trails = [];
    const index = new Map(this.scene.parts.map((part, k) => [part.name, k]));
    let points = this.scene.points.map((point) => [index.get(point.link), new THREE.Vector3(...point.at)]);
    if (!points.length) {
      const parents = new Set(this.scene.joints.map((joint) => joint.between[0]));
      points = this.scene.parts.map((part, k) => [k, part]).filter(([k, part]) => k && !parents.has(part.name) && !part.ghost)
        .map(([k, part]) => [k, new THREE.Vector3(...(part.centre || [0, 0, 0]))]);
    }
    this.trailPoints = points;
    for (const [part, at] of points) {
      const path = new Float32Array(3 * this.count), place = new THREE.Vector3();
      for (let k = 0; k < this.count; k++) {
        this.pose(part, k, this.scratch.u, this.scratch.a);
        place.copy(at).applyQuaternion(this.scratch.a).add(this.scratch.u).toArray(path, 3 * k);
      }
      const geometry = new THREE.BufferGeometry();
      geometry.setAttribute("position", new THREE.BufferAttribute(path, 3));
      const line = new THREE.Line(geometry, new THREE.LineBasicMaterial({ color: Denoc.LOOKS.point }));
      line.frustumCulled = false;
      this.trails.push(line); this.world.add(line);
    }
  }

  // arrows: {joint, values: [Float64Array] along z, or three of them in base axes, kind}; the longest is a fifth of the machine
  addArrows(rows) {
    let most = { force: 0, reaction: 0 };
    for (const row of rows) for (let k = 0; k < this.count; k++) {
      most[row.kind] = Math.max(most[row.kind], Math.hypot(...row.values.map((x) => x[k])) || 0);
    }
    for (const row of rows) {
      const joint = this.joints.find((one) => one.name === row.joint);
      if (!joint || !most[row.kind]) continue;
      const arrow = new THREE.Group(), material = this.solids.material(Denoc.LOOKS[row.kind]);
      const shaft = new THREE.Mesh(new THREE.CylinderGeometry(0.3 * this.unit, 0.3 * this.unit, 1, 10), material);
      const tip = new THREE.Mesh(new THREE.ConeGeometry(0.9 * this.unit, 2.2 * this.unit, 14), material);
      shaft.position.y = 0.5;
      arrow.add(shaft, tip);
      this.world.add(arrow);
      this.arrows.push({ ...row, joint, arrow, shaft, tip, scale: 0.25 * this.scene.size / most[row.kind] });
    }
  }

  placeArrows(k) {
    const { u, v, a } = this.scratch;
    for (const one of this.arrows) {
      if (one.values.length === 3) v.set(one.values[0][k], one.values[1][k], one.values[2][k]);
      else v.set(0, 0, one.values[0][k]).applyQuaternion(one.joint.group.getWorldQuaternion(a));
      const length = v.length() * one.scale;
      one.arrow.visible = this.shown.forces && length > 0.05 * this.unit;
      if (!one.arrow.visible) continue;
      one.joint.group.getWorldPosition(u);
      one.arrow.position.copy(u);
      one.arrow.quaternion.setFromUnitVectors(this.yAxis || (this.yAxis = new THREE.Vector3(0, 1, 0)), v.normalize());
      one.shaft.scale.y = length; one.shaft.position.y = length / 2; one.tip.position.y = length;
    }
  }

  // ---- positions

  pose(part, k, place, turn) {
    const at = 7 * (k * this.scene.parts.length + part), p = this.poses;
    place.set(p[at], p[at + 1], p[at + 2]);
    turn.set(p[at + 3], p[at + 4], p[at + 5], p[at + 6]);
  }

  // places the machine at frame k + share, between two frames by the shortest turn
  place(k, share = 0) {
    const { a, b, u, v } = this.scratch, next = Math.min(k + 1, this.count - 1);
    this.scene.parts.forEach((part, n) => {
      const group = this.groups.get(part.name);
      this.pose(n, k, u, a);
      if (share > 0) { this.pose(n, next, v, b); u.lerp(v, share); a.slerp(b, share); }
      group.position.copy(u); group.quaternion.copy(a);
    });
    this.world.updateMatrixWorld(true);
    for (const line of this.trails) line.geometry.setDrawRange(0, k + 1);
    this.placeArrows(share > 0.5 ? next : k);
    if (this.follows) this.pursue();
    else this.followed = null;
    this.dirty = true;
  }

  pursue() {
    const { u, v } = this.scratch;
    this.centroid(u);
    if (this.followed) { v.copy(u).sub(this.followed); this.camera.position.add(v); this.controls.target.add(v); }
    (this.followed || (this.followed = new THREE.Vector3())).copy(u);
  }

  centroid(into) {
    into.set(0, 0, 0);
    let n = 0;
    this.scene.parts.forEach((part, k) => { if (k && !part.ghost) { into.add(this.groups.get(part.name).position); n++; } });
    return n ? into.divideScalar(n) : into;
  }

  lookAtAll() {
    const low = new THREE.Vector3(Infinity, Infinity, Infinity), high = low.clone().negate();
    const { u, a, v } = this.scratch, step = Math.max(1, Math.floor(this.count / 60));
    for (let k = 0; k < this.count; k += step) this.scene.parts.forEach((part, n) => {
      this.pose(n, k, u, a);
      for (const solid of part.solids) for (const p of solid.kind === "ground" ? solid.points.slice(0, 1) : solid.points) {
        v.fromArray(p).applyQuaternion(a).add(u); this.widen(low, high, v, solid);
      }
    });
    if (!(low.x <= high.x)) { low.set(-1, -1, -1); high.set(1, 1, 1); }
    this.middle = low.clone().add(high).multiplyScalar(0.5);
    this.reach = Math.max(high.distanceTo(low) / 2, 0.3 * this.scene.size) + 3 * this.unit;
    this.home();
  }

  // room for a solid with this point
  widen(low, high, at, solid) {
    const radius = Denoc.BODIES.has(solid.kind) ? solid.radius : 0;
    low.min(at.addScalar(-radius)); high.max(at.addScalar(2 * radius));
  }

  home() {
    const up = new THREE.Vector3(...this.scene.up), eye = new THREE.Vector3();
    if (this.scene.flat) {
      eye.set(...this.scene.flat);
      if (Math.abs(eye.dot(up)) > 0.5) up.set(...[0, 1, 2].map((k) => (k === (Math.abs(eye.x) > 0.5 ? 1 : 0) ? 1 : 0)));
    } else {
      const least = [0, 1, 2].reduce((best, k) => (Math.abs(this.scene.up[k]) < Math.abs(this.scene.up[best]) - 1e-9 ? k : best), 0);
      const first = new THREE.Vector3().setComponent(least, 1);
      first.addScaledVector(up, -first.dot(up)).normalize();
      const side = up.clone().cross(first), azimuth = -58 * Math.PI / 180, height = 24 * Math.PI / 180;
      eye.copy(first).multiplyScalar(Math.cos(azimuth)).addScaledVector(side, Math.sin(azimuth));
      eye.multiplyScalar(Math.cos(height)).addScaledVector(up, Math.sin(height));
    }
    this.camera.up.copy(up);
    this.camera.position.copy(this.middle).addScaledVector(eye, this.distance());
    this.camera.near = 0.02 * this.reach; this.camera.far = 60 * this.reach;
    this.camera.lookAt(this.middle);
    this.camera.updateProjectionMatrix();
    if (this.controls) { this.controls.target.copy(this.middle); this.controls.update(); }
    this.dirty = true;
  }

  distance() {
    const half = this.camera.fov * Math.PI / 360, narrow = Math.min(1, this.camera.aspect);
    return this.reach / Math.sin(Math.atan(Math.tan(half) * narrow));
  }

  turn(across, up) { // by the keyboard
    const offset = this.camera.position.clone().sub(this.controls.target);
    offset.applyAxisAngle(this.camera.up, across);
    const side = this.camera.up.clone().cross(offset).normalize(), turned = offset.clone().applyAxisAngle(side, -up);
    if (turned.clone().normalize().cross(this.camera.up).length() > 0.05) offset.copy(turned);
    this.camera.position.copy(this.controls.target).add(offset);
    this.controls.update();
  }

  zoom(factor) {
    const offset = this.camera.position.clone().sub(this.controls.target).multiplyScalar(factor);
    this.camera.position.copy(this.controls.target).add(offset);
    this.controls.update();
  }

  show(what, wanted) {
    this.shown[what] = wanted;
    for (const thing of this.extras[what] || []) thing.visible = wanted;
    for (const line of this.trails) line.visible = this.shown.trails;
    if (what === "through") this.seeThrough(wanted);
    if (what === "forces") for (const one of this.arrows) one.arrow.visible = wanted;
    this.labels.hidden = !this.shown.names;
    this.dirty = true;
  }

  // whether bodies let the joints within them be seen
  seeThrough(wanted) {
    this.solids.through = wanted;
    for (const group of this.groups.values()) group.traverse((thing) => { if (thing.userData.body) this.solids.seen(thing.material); });
  }

  get hasBodies() { return this.scene.parts.some((part) => part.solids.some((solid) => Denoc.BODIES.has(solid.kind))); }

  resize() {
    const width = this.canvas.clientWidth, height = this.canvas.clientHeight;
    if (!width || !height) return;
    this.renderer.setSize(width, height, false);
    this.width = width; this.height = height;
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
    if (!this.sized) { this.sized = true; this.home(); }
    this.dirty = true;
  }

  draw() {
    if (!this.dirty) return;
    this.dirty = false;
    this.renderer.render(this.world, this.camera);
    if (this.shown.names) this.drawNames();
  }

  // names beside their joints; one that would cover another is left out until the view changes
  drawNames() {
    const { width, height } = this, v = this.scratch.v, taken = []; // sizes asked of the page here would lay it out anew
    for (const one of this.names) {
      one.group.getWorldPosition(v).project(this.camera);
      const x = Math.round((v.x + 1) / 2 * width + 8), y = Math.round((1 - v.y) / 2 * height - 18), across = one.across;
      const free = !taken.some(([a, b, w]) => Math.abs(b - y) < 14 && x < a + w && a < x + across);
      const seen = v.z < 1 && x > 0 && x + across < width && y > 0 && y < height && free;
      if (seen) taken.push([x, y, across]);
      const at = seen ? `translate(${x}px, ${y}px)` : "";
      if (at === one.at) continue;
      if (!seen || !one.at) one.label.style.display = seen ? "" : "none";
      if (seen) one.label.style.transform = at;
      one.at = at;
    }
  }

  // where the joints are in base axes, for whoever checks
  origins() {
    const made = {};
    for (const joint of this.joints) made[joint.name] = joint.group.getWorldPosition(new THREE.Vector3()).toArray();
    return made;
  }

  // the box in base axes around the bodies that the robot's file gives each link
  bodies() {
    const made = {}, v = new THREE.Vector3();
    for (const [name, group] of this.groups) group.traverse((thing) => {
      if (!thing.userData.body) return;
      const [low, high] = made[name] || (made[name] = [[1, 1, 1].map((x) => x / 0), [-1, -1, -1].map((x) => x / 0)]);
      const at = thing.geometry.attributes.position;
      for (let k = 0; k < at.count; k++) {
        v.fromBufferAttribute(at, k).applyMatrix4(thing.matrixWorld).toArray().forEach((x, j) => { low[j] = Math.min(low[j], x); high[j] = Math.max(high[j], x); });
      }
    });
    return made;
  }

  places() {
    const made = {};
    for (const [name, group] of this.groups) made[name] = [...group.position.toArray(), ...group.quaternion.toArray()];
    return made;
  }
};
