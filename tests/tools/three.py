"""Builds the part of three.js that the pages use, engine/record/pages/three.min.js, from the package that npm brings.

    python tests/tools/three.py

The versions and the checksum of the result are pinned here: the same versions give the same bytes. The licence of
three.js goes beside the bundle.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = ROOT / "engine" / "record" / "pages"
PACKAGES = ("three@0.187.0", "esbuild@0.28.2")
SHA256 = "c801b318d38165d4a0531c15632056da317fa6baefbd835da634a2bc58dae619"
ENTRY = """
export {
  BoxGeometry, BufferAttribute, BufferGeometry, CapsuleGeometry, Color, ConeGeometry, CylinderGeometry,
  DirectionalLight, DoubleSide, Group, HemisphereLight, Line, LineBasicMaterial, LineSegments, Matrix4, Mesh,
  MeshLambertMaterial, PerspectiveCamera, Plane, Quaternion, Raycaster, Scene, SphereGeometry, TorusGeometry, Vector2,
  Vector3, WebGLRenderer,
} from "three";
export { OrbitControls } from "three/addons/controls/OrbitControls.js";
"""
BUNDLE = ("--bundle", "--minify", "--format=iife", "--global-name=THREE", "--target=es2020", "--legal-comments=none")


def built(home: Path) -> bytes:
    """The bundle's bytes, made in an empty folder."""
    (home / "entry.js").write_text(ENTRY, encoding="utf-8")
    (home / "package.json").write_text("{}", encoding="utf-8")
    quiet = ("--no-audit", "--no-fund", "--ignore-scripts", "--no-package-lock")
    subprocess.run(["npm", "install", *quiet, *PACKAGES], cwd=home, check=True)
    tool = home / "node_modules" / ".bin" / "esbuild"
    subprocess.run([str(tool), "entry.js", *BUNDLE, "--outfile=three.min.js"], cwd=home, check=True)
    return (home / "three.min.js").read_bytes()


def main() -> None:
    """Builds the bundle, compares its checksum, and puts it and the licence into their folder."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        bundle = built(home)
        found = hashlib.sha256(bundle).hexdigest()
        if found != SHA256:
            sys.exit(f"the bundle has another checksum: {found}")
        (PAGES / "three.min.js").write_bytes(bundle)
        shutil.copy(home / "node_modules" / "three" / "LICENSE", PAGES / "three.LICENSE.txt")


if __name__ == "__main__":
    main()
