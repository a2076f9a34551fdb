#!/usr/bin/env bash
# What a release must pass beside .ci/run: every feature by itself, licences and advisories, the public interface against the last
# release, packages that compile. Needs a network; installs what it runs into target/ci/release. About 40 minutes on two cores the first time.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=$PWD/target/ci/release
export PATH="$root/bin:$PATH"

installed() { command -v "$1" > /dev/null || cargo install --quiet --locked --root "$root" "$1"; }
installed cargo-hack
installed cargo-deny

echo "==> each feature by itself"
cargo hack check --quiet --workspace --each-feature --no-dev-deps --ignore-private

echo "==> errors for formats that are not built"
cargo test --quiet -p sinew-io --lib --no-default-features --features images without_

echo "==> licences, sources, versions"
cargo deny check licenses sources bans
echo "==> advisories"
cargo deny check advisories

echo "==> public interface"
if tag=$(git describe --tags --abbrev=0 2>/dev/null); then
  installed cargo-semver-checks
  cargo semver-checks --baseline-rev "$tag"
else
  echo "skipped: no tag, so no release to compare with"
fi

echo "==> packages, compiled"
cargo package --quiet --workspace --exclude sinew-fuzz --exclude sinew-testkit --exclude sinew-py --exclude xtask

echo "==> Python package, built and installed"
python3 -m venv "$root/python"
"$root/python/bin/pip" install --quiet "maturin>=1.16,<2"
"$root/python/bin/maturin" build --release --locked -m bindings/sinew-py/Cargo.toml -o "$root/wheels"
.ci/python "$root"/wheels/sinew_deform-*.whl

echo "==> Blender extension, built and installed"
"$root/python/bin/pip" install --quiet bpy==5.0.1 "numpy<2" pytest==9.2.0
PYTHON="$root/python/bin/python" .ci/blender "$root"/wheels/sinew_deform-*.whl
echo "==> all good"
