"use strict";
// Links and joints as three.js draws them: what solids of a scene look like, and the symbols of joints.

const Denoc = {};

// numbers from base64, little-endian as every processor that runs a browser
Denoc.bytes = (text) => {
  const bytes = atob(text), made = new Uint8Array(bytes.length);
  for (let k = 0; k < bytes.length; k++) made[k] = bytes.charCodeAt(k);
  return made.buffer;
};
Denoc.numbers = (text) => new Float64Array(Denoc.bytes(text));

Denoc.BOX = {
  corners: [0, 1, 2, 3, 4, 5, 6, 7].flatMap((k) => [0, 1, 2].map((j) => (k >> j & 1 ? 1 : -1))),
  faces: [[0, 1, 3, 2], [4, 5, 7, 6], [0, 1, 5, 4], [2, 3, 7, 6], [0, 2, 6, 4], [1, 3, 7, 5]].flatMap(([a, b, c, d]) => [a, b, c, a, c, d]),
};

Denoc.LOOKS = {
  rod: 0xb9c1cc, thin: 0xd9dde3, tube: 0x97a1af, rail: 0x6b7480, plate: 0xcfd6de, ball: 0xb9c1cc, ground: 0xb09a7c,
  free: 0x6b7480, actuated: 0x1f83c4, passive: 0xf2f4f7, cut: 0xe07b39, centre: 0x222222, point: 0x009e73,
  force: 0x7b3fa0, reaction: 0xd55e00,
};

Denoc.BODIES = new Set(["box", "cylinder", "sphere", "capsule", "mesh"]); // what robot files give their links
Denoc.THROUGH = 0.35; // the opacity of bodies that let what is within them be seen

Denoc.Solids = class {
  constructor(scene) {
    this.unit = 0.02 * scene.size; this.meshes = scene.meshes; this.read = new Map(); this.through = false;
  }

  material(colour, opacity = 1) {
    return new THREE.MeshLambertMaterial({ color: colour, transparent: opacity < 1, opacity, side: THREE.DoubleSide });
  }

  solid(solid) {
    if (Denoc.BODIES.has(solid.kind)) return Object.assign(this.body(solid), { userData: { body: true } });
    const colour = Denoc.LOOKS[solid.kind], points = solid.points.map((p) => new THREE.Vector3(...p));
    if (solid.kind === "plate") return this.plate(points, solid.radius, colour);
    if (solid.kind === "ground") return this.ground(points[0], points[1], solid.radius, colour);
    if (solid.kind === "ball") {
      const ball = new THREE.Mesh(new THREE.SphereGeometry(solid.radius, 14, 10), this.material(colour));
      ball.position.copy(points[0]);
      return ball;
    }
    const radius = solid.kind === "rail" ? 0.5 * solid.radius : solid.radius;
    return this.between(points[0], points[1], radius, this.material(colour, solid.kind === "tube" ? 0.75 : 1), true);
  }

  // what the robot's file gives a link
  body(solid) {
    const given = solid.colour, points = solid.points.map((p) => new THREE.Vector3(...p));
    const colour = given ? new THREE.Color().setRGB(given[0], given[1], given[2], "srgb") : Denoc.LOOKS.rod;
    const material = this.material(colour);
    material.userData.opacity = given ? given[3] : 1;
    this.seen(material);
    if (solid.kind === "box" || solid.kind === "mesh") {
      const { corners, faces } = solid.kind === "box" ? Denoc.BOX : this.mesh(solid.mesh);
      return this.surface(points, corners, faces, material);
    }
    if (solid.kind !== "sphere") return this.between(points[0], points[1], solid.radius, material, solid.kind === "capsule", true);
    const ball = new THREE.Mesh(new THREE.SphereGeometry(solid.radius, 32, 20), material);
    ball.position.copy(points[0]);
    return ball;
  }

  // the corners of a surface, from -1 to 1 in its box, and the three of each face
  mesh(name) {
    if (!this.read.has(name)) {
      const { points, faces } = this.meshes.find((one) => one.name === name);
      const corners = Float32Array.from(new Int16Array(Denoc.bytes(points)), (x) => x / 32767);
      this.read.set(name, { corners, faces: new Uint32Array(Denoc.bytes(faces)) });
    }
    return this.read.get(name);
  }

  // a surface in the box with these eight corners, of which the x changes first
  surface(box, corners, faces, material) {
    const middle = box[0].clone().add(box[7]).multiplyScalar(0.5), v = new THREE.Vector3();
    const axes = [1, 2, 4].map((k) => box[k].clone().sub(box[0]).multiplyScalar(0.5)), places = new Float32Array(3 * faces.length);
    faces.forEach((corner, k) => {
      v.copy(middle);
      for (let j = 0; j < 3; j++) v.addScaledVector(axes[j], corners[3 * corner + j]);
      v.toArray(places, 3 * k);
    });
    const geometry = new THREE.BufferGeometry();
    geometry.setAttribute("position", new THREE.BufferAttribute(places, 3));
    geometry.computeVertexNormals();
    return new THREE.Mesh(geometry, material);
  }

  between(a, b, radius, material, round = false, large = radius > 2.5 * this.unit) { // the small have few faces, for slow computers
    const way = b.clone().sub(a), length = way.length();
    const geometry = round ? new THREE.CapsuleGeometry(radius, length, large ? 8 : 2, large ? 28 : 9)
      : new THREE.CylinderGeometry(radius, radius, length, large ? 40 : 12);
    const mesh = new THREE.Mesh(geometry, material);
    mesh.position.copy(a).addScaledVector(way, 0.5);
    mesh.quaternion.setFromUnitVectors(new THREE.Vector3(0, 1, 0), way.normalize());
    return mesh;
  }

  plate(points, half, colour) {
    const normal = points[1].clone().sub(points[0]).cross(points[2].clone().sub(points[0])).normalize();
    const n = points.length, corners = [];
    for (const side of [half, -half]) for (const p of points) corners.push(...p.clone().addScaledVector(normal, side).toArray());
    const faces = [];
    for (let k = 1; k < n - 1; k++) faces.push(0, k, k + 1, n, n + k + 1, n + k);
    for (let k = 0; k < n; k++) { const j = (k + 1) % n; faces.push(k, n + k, j, j, n + k, n + j); }
    const geometry = new THREE.BufferGeometry();
    geometry.setAttribute("position", new THREE.BufferAttribute(new Float32Array(corners), 3));
    geometry.setIndex(faces);
    const flat = geometry.toNonIndexed();
    flat.computeVertexNormals();
    return new THREE.Mesh(flat, this.material(colour));
  }

  ground(at, down, size, colour) {
    const group = new THREE.Group();
    const cone = new THREE.Mesh(new THREE.ConeGeometry(1.2 * size, 1.7 * size, 4), this.material(colour));
    cone.position.y = -0.85 * size; cone.rotation.y = Math.PI / 4;
    const slab = new THREE.Mesh(new THREE.BoxGeometry(2.6 * size, 0.18 * size, 2.6 * size), this.material(colour));
    slab.position.y = -1.75 * size;
    group.add(cone, slab);
    group.position.copy(at);
    group.quaternion.setFromUnitVectors(new THREE.Vector3(0, -1, 0), down.clone().normalize());
    return group;
  }

  triad(length) {
    const ends = [], colours = [], tints = [[0.8, 0.2, 0.2], [0.18, 0.55, 0.24], [0.2, 0.33, 0.8]];
    for (let k = 0; k < 3; k++) {
      const end = [0, 0, 0]; end[k] = length;
      ends.push(0, 0, 0, ...end); colours.push(...tints[k], ...tints[k]);
    }
    const geometry = new THREE.BufferGeometry();
    geometry.setAttribute("position", new THREE.BufferAttribute(new Float32Array(ends), 3));
    geometry.setAttribute("color", new THREE.BufferAttribute(new Float32Array(colours), 3));
    return new THREE.LineSegments(geometry, new THREE.LineBasicMaterial({ vertexColors: true }));
  }

  // gives a body's material the opacity that is wanted now
  seen(material) {
    material.opacity = material.userData.opacity * (this.through ? Denoc.THROUGH : 1);
    material.transparent = material.opacity < 1; material.depthWrite = !material.transparent; material.needsUpdate = true;
  }

  // the symbol of a joint, which looks along z
  symbol(joint) {
    const group = new THREE.Group(), unit = this.unit;
    const colour = Denoc.LOOKS[joint.cut ? "cut" : joint.actuated ? "actuated" : "passive"];
    const material = this.material(colour), z = new THREE.Vector3(0, 0, 1);
    const bar = (radius, half, axis = z) => this.between(axis.clone().multiplyScalar(-half * unit), axis.clone().multiplyScalar(half * unit), radius * unit, material);
    const ball = (radius) => new THREE.Mesh(new THREE.SphereGeometry(radius * unit, 12, 8), material);
    const box = (x, y, zz) => new THREE.Mesh(new THREE.BoxGeometry(2 * x * unit, 2 * y * unit, 2 * zz * unit), material);
    if (joint.type === "revolute") group.add(bar(1.1, 1.3));
    else if (joint.type === "helical") {
      group.add(bar(0.8, 2.2));
      for (let k = -2; k <= 2; k++) {
        const ring = new THREE.Mesh(new THREE.TorusGeometry(0.9 * unit, 0.18 * unit, 5, 14), material);
        ring.position.z = 0.85 * k * unit; ring.rotation.x = 0.18;
        group.add(ring);
      }
    } else if (joint.type === "cylindrical") group.add(bar(1.0, 2.6));
    else if (joint.type === "prismatic") group.add(box(1.5, 1.5, 2.0));
    else if (joint.type === "planar") group.add(box(2.2, 2.2, 0.4));
    else if (joint.type === "fixed") group.add(box(0.7, 0.7, 0.7));
    else if (joint.type === "universal") group.add(ball(0.9), bar(0.4, 2.0, new THREE.Vector3(1, 0, 0)), bar(0.4, 2.0, new THREE.Vector3(0, 1, 0)));
    else if (joint.type === "rolling" && joint.radius) { // the wheel itself, thin enough to see what turns it
      const wheel = this.between(new THREE.Vector3(0, 0, -0.6 * unit), new THREE.Vector3(0, 0, 0.6 * unit), joint.radius, this.material(colour, 0.6));
      const spoke = this.between(new THREE.Vector3(0, 0, 0), new THREE.Vector3(0.92 * joint.radius, 0, 0), 0.4 * unit, this.material(Denoc.LOOKS.rail));
      group.add(wheel, spoke);
    } else if (joint.radius) group.add(new THREE.Mesh(new THREE.SphereGeometry(joint.radius, 32, 20), this.material(colour, 0.6)));
    else if (joint.type !== "free") group.add(ball(1.25));
    return group;
  }

  // the opaque things of a link as one, since each thing takes a slow computer's time, and whose joints' symbols they are
  merge(group) {
    group.updateMatrixWorld(true);
    const home = group.matrixWorld.clone().invert(), things = [], owners = [], made = { position: [], normal: [], color: [] };
    group.traverse((thing) => { if (thing.isMesh && !thing.material.transparent && !thing.userData.body && !thing.userData.extra) things.push(thing); });
    if (things.length < 2) return;
    for (const thing of things) {
      const geometry = (thing.geometry.index ? thing.geometry.toNonIndexed() : thing.geometry).applyMatrix4(home.clone().multiply(thing.matrixWorld));
      const { color } = thing.material, count = geometry.attributes.position.count;
      owners.push({ from: made.position.length / 9, joint: this.jointOf(thing, group) });
      for (const name of ["position", "normal"]) for (const x of geometry.attributes[name].array) made[name].push(x);
      for (let k = 0; k < count; k++) made.color.push(color.r, color.g, color.b);
      thing.removeFromParent(); thing.geometry.dispose(); thing.material.dispose(); geometry.dispose();
    }
    const whole = new THREE.BufferGeometry();
    for (const [name, values] of Object.entries(made)) whole.setAttribute(name, new THREE.BufferAttribute(new Float32Array(values), 3));
    const material = this.material(0xffffff);
    material.vertexColors = true;
    group.add(Object.assign(new THREE.Mesh(whole, material), { userData: { owners } }));
  }

  jointOf(thing, group) {
    for (; thing !== group; thing = thing.parent) if (thing.userData.joint) return thing.userData.joint;
    return null;
  }
};
